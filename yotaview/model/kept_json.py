"""What the user set on a run as JSON; what is not of this form is refused, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from yotaview.model.forms import CodecError, Json
from yotaview.model.kept import Kept, KeptBreak, KeptFork, KeptMark, KeptWatch, Written
from yotaview.model.places import OpPlace, RowPlace

MOST, MOST_EDITS, MOST_OPS = 500, 100, 50
MOST_TEXT, MOST_NUMBER = 600, 10**9


def kept_json(kept: Sequence[Kept]) -> Json:
    """Return all that is set, by its kind."""
    return {
        name: [asdict(k) for k in kept if type(k) is kind] for name, (kind, _) in READERS.items()
    }


def read_kept(told: Json) -> tuple[list[Kept], list[str]]:
    """Return all that is set, and what could not be read, in words."""
    found: list[Kept] = []
    faults: list[str] = []
    for name, (_, read) in READERS.items():
        listed = told.get(name, [])
        if not isinstance(listed, list):
            faults.append(f"the {name} cannot be read")
            continue
        if len(listed) > MOST:
            faults.append(f"{MOST} of {len(listed):,} {name} read")
        bad = 0
        for one in listed[:MOST]:
            try:
                found.append(read(one))
            except (CodecError, KeyError, TypeError, AttributeError):
                bad += 1
        if bad:
            faults.append(f"{bad} of {len(listed):,} {name} cannot be read")
    return found, faults


def read_op(j: Json) -> OpPlace:
    """Return an op; raises CodecError or KeyError."""
    return OpPlace(
        number(j["number"]),
        text(j["name"]),
        truth(j["reverse"]),
        text(j["statement"]),
        number(j["nth"]),
        text(j.get("within", "")),
        number(j.get("kth", 0)),
        number(j.get("count", 0)),
    )


def read_row(j: Json) -> RowPlace:
    """Return a row; raises CodecError or KeyError."""
    return RowPlace(text(j["name"]), number(j["nth"]))


def _written(j: Json) -> Written:
    return Written(text(j["text"]), tuple(map(read_op, _listed(j["ops"], MOST_OPS))))


def _mark(j: Json) -> KeptMark:
    letter = text(j["letter"])
    if len(letter) != 1 or not letter.isalpha():
        raise CodecError("not a letter")
    at = None if j["at"] is None else read_op(j["at"])
    return KeptMark(letter, read_row(j["row"]), optional(j["call"]), at, number(j["todo"]))


def _break(j: Json) -> KeptBreak:
    row = None if j["row"] is None else read_row(j["row"])
    line = tuple(map(text, _listed(j["line"], 3)))
    if len(line) not in (0, 3):
        raise CodecError("neither a line with those beside it nor none")
    return KeptBreak(_written(j["what"]), row, truth(j["enabled"]), line)


def _watch(j: Json) -> KeptWatch:
    return KeptWatch(_written(j["what"]), read_row(j["row"]), truth(j["enabled"]))


def _fork(j: Json) -> KeptFork:
    edits = tuple(map(_written, _listed(j["edits"], MOST_EDITS)))
    if not edits:
        raise CodecError("a what-if without an edit")
    own = number(j["number"])
    if not own:
        raise CodecError("what-if 0 is what was recorded")
    return KeptFork(read_row(j["row"]), optional(j["call"]), own, edits, truth(j["shown"]))


READERS: dict[str, tuple[type, Callable[[Json], Kept]]] = {
    "marks": (KeptMark, _mark),
    "breakpoints": (KeptBreak, _break),
    "watches": (KeptWatch, _watch),
    "what-ifs": (KeptFork, _fork),
}


def number(x: Any) -> int:
    """Return a number that counts something; raises CodecError."""
    if type(x) is not int or not 0 <= x <= MOST_NUMBER:
        raise CodecError(f"not a number: {str(x)[:40]}")
    return x


def optional(x: Any) -> int | None:
    """Return a number or None; raises CodecError."""
    return None if x is None else number(x)


def text(x: Any) -> str:
    """Return a text of bounded length; raises CodecError."""
    if not isinstance(x, str) or len(x) > MOST_TEXT:
        raise CodecError(f"not a text of up to {MOST_TEXT} characters: {str(x)[:40]}")
    return x


def truth(x: Any) -> bool:
    """Return a bool; raises CodecError."""
    if type(x) is not bool:
        raise CodecError(f"neither true nor false: {str(x)[:40]}")
    return x


def _listed(x: Any, most: int) -> list[Any]:
    if not isinstance(x, list) or len(x) > most:
        raise CodecError(f"not a list of up to {most}")
    return x
