"""The first bad call of a row, by halves; and the op at which it went bad."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from yota.tape import Call, Var
from yotaview.capture import Capture, Row
from yotaview.model.goto import GotoError
from yotaview.model.predicate import (
    Predicate,
    PredicateError,
    bad_calls,
    parse_predicate,
    stop_in,
    told_at,
)
from yotaview.model.session import Session

NOT_FINITE = Predicate("nan", "nan")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found: calls by number; `opened` is the kept call that was looked into.

    `good` is the last call known to be good before `first`; what lies between was not kept, so
    that `first` is the first bad one that is known.
    """

    test: Predicate
    row: int
    first: int | None
    good: int | None = None
    opened: int | None = None
    var: Var | None = None
    place: str = ""
    text: str = ""
    replays: int = 0
    gap: str = ""


class _Search:
    """Opens kept calls of a row, each at most once, and counts them."""

    def __init__(self, capture: Capture, row: int, test: Predicate) -> None:
        self.capture, self.row_index, self.test = capture, row, test
        self.asked = test  # of the op: where a call is not finite, what it began at
        self.row: Row = capture.rows[row]
        self.stops: dict[int, Var | None] = {}
        self.session: Session | None = None

    def look(self, index: int) -> Var | None:
        """Return where a kept call meets the condition, None if nowhere."""
        if index not in self.stops:
            self.session = Session(self.capture, self.row_index, index)
            self.stops[index] = stop_in(self.session, self.asked)
        return self.stops[index]

    def at(self, index: int) -> Session:
        """Return the session of a kept call."""
        if self.session is None or self.session.call_index != index:
            self.session = Session(self.capture, self.row_index, index)
        return self.session


def first_bad(capture: Capture, row: int, text: str) -> Outcome:
    """Find the first call of a row that meets a condition, and the op where it does.

    What is counted for all calls names the call exactly, and one replay the op.  Any other
    condition is asked of kept calls by halves: it is taken to stay true once it is.  Raises
    PredicateError for a condition that cannot be read, GotoError for a row without kept calls.
    """
    test = parse_predicate(text)
    if not capture.rows[row].calls:
        raise GotoError(f"no call of {capture.rows[row].name} is kept")
    search = _Search(capture, row, test)
    return _counted(search) if test.counted else _by_halves(search)


def _counted(search: _Search) -> Outcome:
    # NaN meets no comparison: a call that is not finite is bad whatever the condition says
    held = bad_calls(search.row, search.test)
    bad = sorted({*held, *search.row.nonfinite})
    if not bad:
        return Outcome(search.test, search.row_index, None)
    first, found = bad[0], set(bad)
    numbers = [c.number for c in search.row.calls]
    at = bisect_left(numbers, first)
    index = next((k for k in range(at, len(numbers)) if numbers[k] in found), None)
    good = first - 1 or None
    if index is None:
        gap = f"call {first:,} is not kept, nor is any bad one behind it: {search.row.kept_text}"
        return Outcome(search.test, search.row_index, first, good, gap=gap)
    opened = numbers[index]
    search.asked = search.test if opened in held else NOT_FINITE
    gap = "" if opened == first else (
        f"call {first:,} is not kept ({search.row.kept_text}): "
        f"call {opened:,} is the next bad one that is"
    )  # fmt: skip
    return _told(search, index, first, good, gap)


def _by_halves(search: _Search) -> Outcome:
    calls, broken = search.row.calls, set(search.row.nonfinite)
    low, high = -1, len(calls)
    while high - low > 1:
        middle = (low + high) // 2
        # NaN meets no comparison: a call that is not finite is bad whatever the condition says
        if calls[middle].number not in broken and search.look(middle) is None:
            low = middle
        else:
            high = middle
    if high == len(calls):
        return Outcome(search.test, search.row_index, None, replays=len(search.stops))
    first, good = calls[high].number, calls[low].number if low >= 0 else None
    between = first - (good or 0) - 1
    gap = "" if not between else (
        f"{between:,} calls between {good or 0:,} and {first:,} are not kept "
        f"({search.row.kept_text}): the first bad one may be among them"
    )  # fmt: skip
    return _told(search, high, first, good, gap)


def _told(search: _Search, index: int, first: int, good: int | None, gap: str) -> Outcome:
    """Return the outcome with the op of the opened call."""
    var, session = search.look(index), search.at(index)
    opened = search.row.calls[index].number
    head = (search.test, search.row_index, first, good, opened)
    if var is None:
        text = "the op at which it begins cannot be named: its value was not kept"
        if first in search.row.nonfinite:
            text = f"NaN or infinity, and no value with {search.test.text}"
        return Outcome(*head, None, search.row.place, text, len(search.stops), gap)
    op = session.tape[var]
    name = op.name if isinstance(op, Call) else getattr(op, "name", "")
    told = f"{var} {name}: {told_at(session, var, search.asked)}"
    return Outcome(*head, var, op.origin.place, told, len(search.stops), gap)


def outcome_text(found: Outcome, row: Row) -> str:
    """Return an outcome in a line: `file.py:9: call 731 of 1,000 is the first …`."""
    name = f"tape {found.row + 1} {row.name}"
    if found.first is None:
        calls = f"{row.count:,} calls" if row.count > 1 else "the one call"
        if not found.test.counted and len(row.calls) < row.count:
            calls = f"the {len(row.calls):,} calls that are kept of {row.count:,}"
        return f"{name}: {found.test.text} in none of {calls}"
    place = f"{found.place or row.place}: "
    before = f"after {found.good:,} good" if found.good else "the very first"
    what = found.test.text
    if found.test.counted and found.first not in bad_calls(row, found.test):
        what = f"{what} or not finite"
    text = f"{place}{name}, call {found.first:,} of {row.count:,} is the first with {what}"
    parts = [f"{text} ({before})", found.text, found.gap]
    return "; ".join(p for p in parts if p)


__all__ = ["Outcome", "PredicateError", "first_bad", "outcome_text"]
