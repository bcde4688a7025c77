"""Where `c` and `C` stop: breakpoints, what changes a watched value, and alerts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.model.breaks import Break, BreakError, parse_break
from yotaview.model.expressions import ExpressionError
from yotaview.model.hits import Hits, hits_of
from yotaview.model.values import check_names
from yotaview.model.watches import Watch, changes, parse_watch

if TYPE_CHECKING:
    from yotaview.model.session import Session

AT_ONCE = 0.05


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint that was set; one that means no op by its number holds for every row."""

    test: Break
    row: int | None = None
    enabled: bool = True

    @property
    def text(self) -> str:
        """The breakpoint as written."""
        return self.test.text


@dataclass(frozen=True, slots=True)
class Watching:
    """A watch that was set, of one row."""

    watch: Watch
    row: int
    enabled: bool = True

    @property
    def text(self) -> str:
        """The watch as written."""
        return self.watch.text


Entry = Breakpoint | Watching


class Stops:
    """The breakpoints and watches of a session, in the order in which they were set."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def of(self, row: int) -> list[Entry]:
        """Return those that hold for a row, breakpoints first."""
        found = [e for e in self.entries if e.row in (None, row)]
        return sorted(found, key=lambda e: isinstance(e, Watching))

    def breaks(self, row: int) -> list[Breakpoint]:
        """Return the breakpoints that hold for a row."""
        return [e for e in self.of(row) if isinstance(e, Breakpoint)]

    def watches(self, row: int) -> list[Watching]:
        """Return the watches of a row."""
        return [e for e in self.of(row) if isinstance(e, Watching)]

    def add_break(self, text: str, session: Session) -> Breakpoint:
        """Set a breakpoint as written, once; raises BreakError."""
        test = parse_break(text)
        try:
            check_names(test.names, session.tape)
        except ExpressionError as error:
            raise BreakError(str(error)) from error
        row = session.row_index if test.is_local else None
        return self.put(Breakpoint(test, row))  # type: ignore[return-value]  # what was given

    def add_watch(self, text: str, session: Session) -> Watching:
        """Watch what is written, once; raises ExpressionError."""
        watch = parse_watch(text, session.opened)
        return self.put(Watching(watch, session.row_index))  # type: ignore[return-value]  # same

    def put(self, entry: Entry) -> Entry:
        """Set a breakpoint or watch, in the place of one that is the same."""
        same = next((e for e in self.entries if _key(e) == _key(entry)), None)
        if same is not None:
            self.entries[self.entries.index(same)] = entry
        else:
            self.entries.append(entry)
        return entry

    def remove(self, entry: Entry) -> None:
        """Take a breakpoint or watch away."""
        self.entries.remove(entry)

    def switch(self, entry: Entry) -> Entry:
        """Disable a breakpoint or watch, or enable it again."""
        new = replace(entry, enabled=not entry.enabled)
        self.entries[self.entries.index(entry)] = new
        return new

    def toggle(self, session: Session) -> bool:
        """Set a breakpoint on the op at the position or clear it; tell whether it is set now."""
        number = session.at.id
        there = [e for e in self.breaks(session.row_index) if _is_on(e.test, number)]
        for entry in there:
            self.entries.remove(entry)
        if not there:
            self.add_break(f"%{number}", session)
        return not there


def _key(entry: Entry) -> tuple[type, str, int | None]:
    return type(entry), entry.text, entry.row


def _is_on(test: Break, number: int) -> bool:
    return test.where.kind == "number" and test.where.number == number


@dataclass(frozen=True, slots=True)
class Stop:
    """A position at which the run stops, and everything that stops it there."""

    index: int
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """The reasons in one line."""
        return "; ".join(self.reasons)


class _Listed:
    """Positions that are known beforehand, with what happens there."""

    def __init__(self, points: Sequence[tuple[int, str]]) -> None:
        self.points = dict(points)
        self.places = sorted(self.points)

    def from_here(self, index: int, *, forward: bool) -> Iterator[int]:
        if forward:
            return iter(self.places[bisect_right(self.places, index) :])
        return reversed(self.places[: bisect_left(self.places, index)])

    def reason(self, index: int) -> str:
        return self.points.get(index, "")


class _Asked:
    """The places of a breakpoint, asked as they come."""

    def __init__(self, hits: Hits, text: str) -> None:
        self.hits, self.text = hits, text
        self.known = frozenset(hits.places) if not isinstance(hits.places, range) else hits.places

    def from_here(self, index: int, *, forward: bool) -> Iterator[int]:
        return self.hits.from_here(index, forward=forward)

    def reason(self, index: int) -> str:
        if index in self.known and self.hits.holds(index):
            return f"breakpoint {self.text}"
        return ""


def sources_of(session: Session) -> list[_Listed | _Asked]:
    """Return everything that stops a run in the open call; what is disabled does not."""
    opened, positions = session.opened, session.stepper.positions
    found: list[_Listed | _Asked] = [
        _Listed([(positions[a.var], f"{a.level}: {a.var} {a.text}") for a in session.alarms])
    ]
    for entry in session.stops.of(session.row_index):
        if not entry.enabled:
            continue
        if isinstance(entry, Breakpoint):
            found.append(_Asked(hits_of(opened, entry.test), entry.text))
        else:
            points = (
                (c.index, f"watch {entry.text}: {c.text}") for c in changes(opened, entry.watch)
            )
            found.append(_Listed(list(points)))
    return found


class Search:
    """Looks for the stop that is `count` stops away, in pieces so that it can be given up."""

    def __init__(self, session: Session, *, forward: bool, count: int = 1) -> None:
        self.sources = sources_of(session)
        self.forward, self.count = forward, count
        stepper = session.stepper
        self.start = stepper.index - (1 if forward and stepper.todo else 0)
        self.stop: Stop | None = None
        self.passed = self.asked = 0
        self.done = False
        self._work = self._run()

    def run(self, seconds: float | None = None) -> bool:
        """Look on for a while, to the end without a limit; tell whether the search is over."""
        end = None if seconds is None else monotonic() + seconds
        for _ in self._work:
            if end is not None and monotonic() > end:
                return False
        self.done = True
        return True

    def _run(self) -> Iterator[None]:
        index = self.start
        while self.passed < self.count:
            best: int | None = None
            for source in self.sources:
                for place in source.from_here(index, forward=self.forward):
                    if best is not None and (place >= best if self.forward else place <= best):
                        break
                    self.asked += 1
                    yield
                    if source.reason(place):
                        best = place
                        break
            if best is None:
                return
            index, self.passed = best, self.passed + 1
            reasons = (s.reason(best) for s in self.sources)
            self.stop = Stop(best, tuple(r for r in reasons if r))


def fenced(session: Session, index: int) -> int | None:
    """Return the position of the seed where going back to `index` would pass it, None elsewhere."""
    start = session.tape.reverse_start
    seed = session.stepper.positions.get(start) if start is not None else None
    if seed is None or not index < seed < session.stepper.index:
        return None
    return seed


def known_hits(session: Session) -> frozenset[Var]:
    """Return the ops at which enabled breakpoints stop, as far as that is known."""
    opened, entries = session.opened, session.stops.breaks(session.row_index)
    known = {e.text: hits_of(opened, e.test) for e in entries if e.enabled}
    for hits in known.values():
        if not hits.asked:
            hits.look(AT_ONCE)
    # asked for by every pane that is drawn: made anew only where a hit was found since
    key = tuple((text, len(hits.found)) for text, hits in known.items())
    kept: tuple[object, frozenset[Var]] = opened.memo.get("known hits", (None, frozenset()))
    if kept[0] != key:
        order = session.stepper.order
        found = frozenset(order[k] for hits in known.values() for k in tuple(hits.found))
        kept = opened.memo["known hits"] = (key, found)
    return kept[1]
