"""Where the screen stands, in words that still mean something after the script was changed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from yota.tape import Call, Tape, Var
from yotaview.capture import Capture, Row
from yotaview.model.breaks import BreakError
from yotaview.model.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class OpPlace:
    """An op by its number and by what it is: function, phase, statement, and which of those."""

    number: int
    name: str
    reverse: bool
    statement: str
    nth: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A row by name and number among those of its name, a call, an op; breakpoints and looks.

    `breaks` are those on an op, each with its condition or '' in `whens`; `watches` the watched
    ops; `specs` the other breakpoints as written.
    """

    row: str
    nth: int
    call: int | None
    at: OpPlace
    breaks: tuple[OpPlace, ...]
    view: str
    theme: str
    whens: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    watches: tuple[OpPlace, ...] = ()

    def text(self) -> str:
        """Return the standing as JSON."""
        return json.dumps(asdict(self))


def read_standing(text: str) -> Standing:
    """Return what `Standing.text` wrote; raises ValueError."""
    try:
        found: dict[str, Any] = json.loads(text)
        at = OpPlace(**found.pop("at"))
        breaks, watches = (
            tuple(OpPlace(**b) for b in found.pop(key, ())) for key in ("breaks", "watches")
        )
        return Standing(at=at, breaks=breaks, watches=watches, **found)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a place of the screen: {error}") from error


def standing(session: Session, view: str, theme: str) -> Standing:
    """Return where a session stands."""
    rows, row = session.capture.rows, session.row
    same = [k for k, r in enumerate(rows) if r.name == row.name]
    named = Names(session)
    tests = [e.test for e in session.stops.breaks(session.row_index)]
    watched = [e.watch for e in session.stops.watches(session.row_index)]
    numbers = [t for t in tests if t.where.kind == "number" and Var(t.where.number) in session.tape]
    numbered = [(Var(t.where.number), t.text.partition(" if ")[2]) for t in numbers]
    return Standing(
        row.name,
        same.index(session.row_index),
        session.call.number if session.call is not None else None,
        named.place(session.at),
        tuple(named.place(v) for v, _ in numbered),
        view,
        theme,
        tuple(when for _, when in numbered),
        tuple(t.text for t in tests if t.where.kind != "number"),
        tuple(named.place(w.var) for w in watched if w.kind == "op" and w.var is not None),
    )


def stand(capture: Capture, wanted: Standing) -> tuple[Session, str]:
    """Return a session where another run stood, and what is not as it was, in words."""
    told: list[str] = []
    session = Session(capture, _row(capture.rows, wanted, told))
    _open_call(session, wanted.call, told)
    named = Names(session)
    found = named.find(wanted.at)
    if found is None:
        told.append(f"no {wanted.at.name} of this statement any more")
    elif not named.failed:
        session.goto(found)
    _set_stops(session, named, wanted, told)
    return session, "; ".join(told)


def _set_stops(session: Session, named: Names, wanted: Standing, told: list[str]) -> None:
    """Set the breakpoints and watches that still mean an op."""
    breaks = [named.find(b) for b in wanted.breaks]
    whens = wanted.whens or ("",) * len(breaks)
    texts = [
        f"{v} if {when}" if when else str(v) for v, when in zip(breaks, whens, strict=False) if v
    ]
    lost = len(breaks) - len(texts)
    for text in (*texts, *wanted.specs):
        try:
            session.break_at(text)
        except BreakError:
            lost += 1
    for place in wanted.watches:
        if (found := named.find(place)) is not None:
            session.stops.add_watch(str(found), session)
    if lost:
        count = len(breaks) + len(wanted.specs)
        told.append(f"{lost} of {count} breakpoints mean no op any more")


def _row(rows: Sequence[Row], wanted: Standing, told: list[str]) -> int | None:
    same = [k for k, r in enumerate(rows) if r.name == wanted.row and len(r.tape)]
    if not same:
        told.append(f"no tape of {wanted.row} in this run")
        return None
    return same[min(wanted.nth, len(same) - 1)]


def _open_call(session: Session, number: int | None, told: list[str]) -> None:
    kept = [c.number for c in session.row.calls]
    if number is None or not kept or session.call is None:
        return
    near = min(kept, key=lambda n: abs(n - number))
    if near != number:
        told.append(f"call {number} is not kept in this run: call {near}")
    if near != session.call.number:
        session.open_call(near)


class Names:
    """The ops of an open tape by what they are."""

    def __init__(self, session: Session) -> None:
        self.session, self.tape = session, session.tape
        self.failed = session.failed_here
        self.counts: dict[tuple[str, bool, str], list[Var]] = {}
        for var, _ in self.tape:
            self.counts.setdefault(self.key(var), []).append(var)

    def key(self, var: Var) -> tuple[str, bool, str]:
        """Return function, phase and statement of an op."""
        return op_name(self.tape, var), self.tape.is_reverse(var), self.statement(var)

    def statement(self, var: Var) -> str:
        """Return the user's line that an op comes from."""
        frames = self.tape[var].origin.frames
        line = self.session.source_line(frames[0]) if frames else None
        return line.strip() if line else ""

    def place(self, var: Var) -> OpPlace:
        """Return an op by its number and by what it is."""
        key = self.key(var)
        return OpPlace(var.id, *key, self.counts[key].index(var))

    def find(self, place: OpPlace) -> Var | None:
        """Return the op that is the same in this run; None where the script has no such op."""
        key = (place.name, place.reverse, place.statement)
        same = self.counts.get(key, [])
        if same:
            return same[min(place.nth, len(same) - 1)]
        return self._of_statement(place.statement)

    def _of_statement(self, statement: str) -> Var | None:
        found: Iterable[Var] = (
            v for (_, _, text), vs in self.counts.items() if text == statement != "" for v in vs
        )
        return min(found, default=None)


def op_name(tape: Tape, var: Var) -> str:
    """Return the name of an op's function, or the kind of what is no call."""
    op = tape[var]
    return op.name if isinstance(op, Call) else type(op).__name__.lower()
