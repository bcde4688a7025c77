"""The parts of an op that `s` walks: read its operands, compute, write, and what that adds to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yota.tape import Call, Var
from yotaview.model.stepper import Stepper

if TYPE_CHECKING:
    from yotaview.model.opened import Opened

READ, COMPUTE, WRITE, ACCUMULATE = "read", "compute", "write", "accumulate"
Parts = tuple[tuple[str, int], ...]
# each part with how many lie ahead of it; the last one of an op is the op done
SHORT: Parts = ((READ, 3), (COMPUTE, 2), (WRITE, 0))
LONG: Parts = ((READ, 3), (COMPUTE, 2), (WRITE, 1), (ACCUMULATE, 0))
GIVEN: Parts = ((WRITE, 0),)


@dataclass(frozen=True, slots=True)
class Gain:
    """What an op gives to a cotangent: term `number` of `count`."""

    primal: Var
    number: int
    count: int

    @property
    def complete(self) -> bool:
        """Tell whether nothing more is added."""
        return self.number == self.count


def gains_of(opened: Opened, var: Var) -> list[Gain]:
    """Return the cotangents that an op begins, adds to or completes."""
    found: dict[Var, list[Gain]] | None = opened.memo.get("gains")
    if found is None:
        found = opened.memo["gains"] = {}
        for primal, terms in opened.terms.items():
            for k, term in enumerate(terms, 1):
                found.setdefault(term.total, []).append(Gain(primal, k, len(terms)))
    return found.get(var, [])


def parts_of(opened: Opened, var: Var) -> Parts:
    """Return the parts of an op; inputs and constants are given in one."""
    if not isinstance(opened.tape[var], Call):
        return GIVEN
    return LONG if gains_of(opened, var) else SHORT


def part_name(opened: Opened, stepper: Stepper) -> str:
    """Return the part at the position, '' where whole ops are walked."""
    if stepper.whole or stepper.beyond:
        return ""
    return next(n for n, todo in parts_of(opened, stepper.at) if todo == stepper.todo)


def part_onward(opened: Opened, stepper: Stepper) -> Stepper:
    """Move one part on, into the next op behind the last."""
    ahead = [t for _, t in _parts(opened, stepper, stepper.index) if t < stepper.todo]
    if ahead:
        return stepper.within(stepper.index, ahead[0])
    there = stepper.index + 1
    if there >= len(stepper):
        return stepper
    return stepper.within(there, _parts(opened, stepper, there)[0][1])


def part_back(opened: Opened, stepper: Stepper) -> Stepper:
    """Move one part back, to the end of the op before at the first."""
    before = [t for _, t in _parts(opened, stepper, stepper.index) if t > stepper.todo]
    if before:
        return stepper.within(stepper.index, before[-1])
    return stepper.within(stepper.index - 1, 0) if stepper.index else stepper


def _parts(opened: Opened, stepper: Stepper, index: int) -> Parts:
    return GIVEN if index >= len(stepper.order) else parts_of(opened, stepper.order[index])
