"""Where the screen stands and what is set, in words that outlive a change of the script."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from yotaview.capture import Capture
from yotaview.model.folding import read_folding
from yotaview.model.forms import CodecError
from yotaview.model.kept import Kept, kept_of
from yotaview.model.kept_json import kept_json, number, optional, read_kept, read_op, read_row, text
from yotaview.model.places import Ground, OpPlace, RowPlace
from yotaview.model.restore import set_again
from yotaview.model.session import Place, Session

LONGEST = 4 << 20
SAID = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """A row, a call and an op, with all that is set; `at` is None where it is what raised.

    `folds` is what is folded, as JSON; `faults` says what of it all could not be read.
    """

    row: RowPlace
    call: int | None
    at: OpPlace | None
    todo: int
    view: str
    theme: str
    kept: tuple[Kept, ...] = ()
    folds: Any = None
    faults: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the standing as JSON."""
        told = {
            "row": asdict(self.row),
            "call": self.call,
            "at": None if self.at is None else asdict(self.at),
            "todo": self.todo,
            "view": self.view,
            "theme": self.theme,
            "folds": self.folds,
            **kept_json(self.kept),
        }
        return json.dumps(told)


def read_standing(told: str) -> Standing:
    """Return what `Standing.text` wrote; raises ValueError.

    What is set and cannot be read is left out, and told.
    """
    if len(told) > LONGEST:
        raise ValueError(f"not a place of the screen: {len(told):,} characters")
    try:
        j: Any = _renewed(json.loads(told))
        kept, faults = read_kept(j)
        return Standing(
            read_row(j["row"]),
            optional(j["call"]),
            None if j["at"] is None else read_op(j["at"]),
            number(j["todo"]),
            text(j["view"]),
            text(j["theme"]),
            tuple(kept),
            j.get("folds"),
            tuple(faults),
        )
    except (CodecError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a place of the screen: {error}") from error


def _renewed(j: Any) -> Any:
    """Return a standing of an earlier version, which held the stops of one row, in today's form."""
    if not isinstance(j["row"], str):
        return j
    row = {"name": j["row"], "nth": j["nth"]}
    whens = j.get("whens") or [""] * len(j["breaks"])
    texts = [
        f"%{op['number']}{f' if {when}' if when else ''}"
        for op, when in zip(j["breaks"], whens, strict=False)
    ]
    numbered = zip(texts, j["breaks"], strict=False)
    breaks: list[Any] = [{"what": {"text": t, "ops": [op]}, "row": row} for t, op in numbered]
    breaks += [{"what": {"text": t, "ops": []}, "row": None} for t in j.get("specs", ())]
    watches = [
        {"what": {"text": f"%{op['number']}", "ops": [op]}, "row": row, "enabled": True}
        for op in j.get("watches", ())
    ]
    set_then = {"breakpoints": [b | {"enabled": True, "line": []} for b in breaks]}
    return {**j, "row": row, "todo": 0, **set_then, "watches": watches}


def standing(session: Session, view: str, theme: str) -> Standing:
    """Return where a session stands, and all that is set on it."""
    ground = Ground(session.capture)
    names = ground.names(session.row_index)
    return Standing(
        ground.row_place(session.row_index),
        session.call.number if session.call is not None else None,
        None if session.failed_here else names.place(session.at),
        session.stepper.todo,
        view,
        theme,
        tuple(kept_of(session, ground)),
        session.folding.told(session.tape),
    )


def stand(capture: Capture, wanted: Standing) -> tuple[Session, str]:
    """Return a session where another run stood, and what is not as it was, in words.

    Raises GotoError where no row has an op.
    """
    told: list[str] = [*wanted.faults]
    ground = Ground(capture)
    session = _at(capture, wanted, ground, told)
    _fold(session, wanted.folds, told)
    told += set_again(session, wanted.kept, ground)
    return session, _said(told)


def _fold(session: Session, folds: Any, told: list[str]) -> None:
    """Fold what was folded."""
    if folds is None:
        return
    try:
        session.folding = read_folding(folds, session.tape)
    except (CodecError, TypeError):
        told.append("what was folded cannot be read")


def set_on(session: Session, wanted: Standing) -> str:
    """Set on a session, wherever it stands, what was set; return what is not as it was."""
    told = [*wanted.faults, *set_again(session, wanted.kept, Ground(session.capture))]
    return _said(told)


def _said(told: list[str]) -> str:
    if len(told) <= SAID:
        return "; ".join(told)
    return f"{'; '.join(told[:SAID])}; {SAID} of {len(told)} shown, B lists what is lost"


def _at(capture: Capture, wanted: Standing, ground: Ground, told: list[str]) -> Session:
    """Return a session at the position, or near it."""
    row = ground.near_row(wanted.row)
    if row is None:
        told.append(f"no tape of {wanted.row.name} in this run")
        return Session(capture)
    call = ground.near_call(row, wanted.call)
    found = ground.number_of(row, call)
    if found != wanted.call and wanted.call is not None:
        told.append(f"call {wanted.call} is not kept in this run: call {found}")
    session = Session(capture, row, call if wanted.call is not None else None)
    index = _index(wanted.at, row, ground, told)
    if index is not None:
        session.put(Place(session.row_index, session.call_index, index, wanted.todo))
    return session


def _index(at: OpPlace | None, row: int, ground: Ground, told: list[str]) -> int | None:
    """Return where an op stands now, or the one near it; None where there is neither."""
    if at is None:
        return len(ground.names(row).tape)
    names = ground.names(row)
    found = names.near(at)
    if found is None:
        told.append(f"no {at.told} any more")
        return None
    if names.find(at) is None:
        told.append(f"no {at.told} any more: this is near it")
    return names.positions[found]
