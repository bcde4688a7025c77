"""What the passes and the shared buffers save, measured on the open call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yota.passes import optimised
from yota.tape import Call, Tape
from yotaview.model.profile import BUDGET, Profile, Subject, measure_together

if TYPE_CHECKING:
    from yota.program import Program
    from yotaview.model.opened import Opened


@dataclass(frozen=True, slots=True)
class Cost:
    """The calls of a tape, and the seconds of those that were run."""

    name: str
    calls: int
    forward: float
    reverse: float
    not_run: int

    @property
    def total(self) -> float:
        """Seconds of both passes."""
        return self.forward + self.reverse


@dataclass(frozen=True, slots=True)
class Savings:
    """One call as recorded, with CSE alone, and after all passes; bytes of buffers."""

    recorded: Cost
    with_cse: Cost
    all_passes: Cost
    runs: int
    shared: int
    unshared: int

    @property
    def costs(self) -> tuple[Cost, Cost, Cost]:
        """The three, from the dearest on."""
        return self.recorded, self.with_cse, self.all_passes


def find_savings(
    program: Program, opened: Opened, *, budget: float = BUDGET, stopped: Callable[[], bool] = bool
) -> Savings:
    """Measure the open call's tape without and with passes, in turn; times are medians."""
    tapes = {
        "recorded": program.tape,
        "CSE alone": optimised(program.tape, ["cse"]),
        "all passes": program.optimised,
    }
    subjects = [Subject(t, opened.values_on(t)[0], opened.unproven) for t in tapes.values()]
    profiles = measure_together(subjects, budget=budget, stopped=stopped)
    costs = [_cost(n, t, p) for (n, t), p in zip(tapes.items(), profiles, strict=True)]
    plan = program.plan()
    return Savings(
        costs[0], costs[1], costs[2], profiles[0].runs, plan.nbytes, plan.unshared_nbytes
    )


def _cost(name: str, tape: Tape, profile: Profile) -> Cost:
    calls = sum(isinstance(op, Call) for _, op in tape)
    return Cost(name, calls, profile.forward, profile.reverse, len(profile.not_run))
