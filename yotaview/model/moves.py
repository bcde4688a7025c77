"""Steps in time by op, part or statement, and back: each way back is the inverse of the way on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yotaview.model.parts import part_back, part_onward
from yotaview.model.stepper import Stepper
from yotaview.model.timeline import Entry, Timeline

if TYPE_CHECKING:
    from yotaview.model.session import Session

INVERSE = {"previous": "next", "back_into": "into", "back_finish": "finish"}
MOVES = (*INVERSE, *INVERSE.values())
KEPT = 1_000


@dataclass(frozen=True, slots=True)
class Taken:
    """Steps that were taken at once: which, how many were asked for, from where to where."""

    unit: tuple[str, bool]
    count: int
    start: Stepper
    end: Stepper


class Trail:
    """The steps onward that led here, for as long as nothing else moved the position."""

    def __init__(self) -> None:
        self.steps: list[Taken] = []

    def add(self, taken: Taken) -> None:
        """Note steps onward; what does not end where they begin is forgotten."""
        if self.steps and self.steps[-1].end != taken.start:
            self.steps.clear()
        self.steps.append(taken)
        del self.steps[:-KEPT]

    def undo(self, unit: tuple[str, bool], count: int, here: Stepper) -> Taken | None:
        """Take back the last steps if they were such, no more than `count`, and ended here."""
        last = self.steps[-1] if self.steps else None
        if last is None or (last.unit, last.end) != (unit, here) or last.count > count:
            self.steps.clear()
            return None
        return self.steps.pop()


class Folds:
    """The boxes of a folded list: `n` leaves the innermost one, `f` the outermost."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline

    def onward(self, action: str, stepper: Stepper) -> Stepper:
        """Move to where the box ends."""
        return stepper.to(self._box(action, stepper.index).end)

    def back(self, action: str, stepper: Stepper) -> Stepper:
        """Move to where the box begins; from there to where the one before in time does."""
        index = stepper.index
        start = self._box(action, index).start
        if index == start and start:
            start = self._box("next", start - 1).start
        return stepper.to(start)

    def _box(self, action: str, index: int) -> Entry:
        entries = self.timeline.entries(min(index, len(self.timeline.order) - 1))
        return next(e for e in entries if (e.is_ops if action == "next" else e.is_open))


def take_steps(
    session: Session, action: str, count: int = 1, *, folds: Folds | None = None
) -> None:
    """Take `next`, `into`, `finish` or their inverses `count` times, over boxes where they fold.

    Back leads where the same steps onward began, also from the middle of a statement or an op.
    """
    if action not in INVERSE:
        start = session.stepper
        session.stepper = _moved(session, action, count, folds)
        if session.stepper != start:
            unit = action, folds is not None
            session.trail.add(Taken(unit, count, start, session.stepper))
        return
    unit = INVERSE[action], folds is not None
    while count > 0:
        undone = session.trail.undo(unit, count, session.stepper)
        if undone is None:
            session.stepper = _moved(session, unit[0], count, folds, back=True)
            return
        session.stepper, count = undone.start, count - undone.count


def _moved(
    session: Session, unit: str, count: int, folds: Folds | None, *, back: bool = False
) -> Stepper:
    here = session.stepper
    if unit != "into" and folds is not None:
        box = folds.back if back else folds.onward
        return _repeat(here, count, lambda s: box(unit, s))
    if unit == "finish":
        statement = _statement_before if back else _next_statement
        return _repeat(here, count, lambda s: statement(session, s))
    if unit == "next" or folds is not None:
        return here.back(count) if back else here.next(count)
    part = part_back if back else part_onward
    return _repeat(here, count, lambda s: part(session.opened, s))


def _repeat(stepper: Stepper, count: int, move: Callable[[Stepper], Stepper]) -> Stepper:
    for _ in range(count):
        there = move(stepper)
        if there == stepper:
            break
        stepper = there
    return stepper


def _next_statement(session: Session, stepper: Stepper) -> Stepper:
    """Move to the first op of the next statement, to the last op behind the last one."""
    starts = session.opened.groups.starts
    run = session.opened.groups.run_at(stepper.index) + 1
    return stepper.to(starts[run] if run < len(starts) else len(stepper) - 1)


def _statement_before(session: Session, stepper: Stepper) -> Stepper:
    """Move to the first op of this statement, from there to that of the one before."""
    groups, index = session.opened.groups, stepper.index
    return stepper.to(groups.starts[groups.run_at(max(index - 1, 0))] if groups.starts else 0)
