"""The passes, their order, and the stages that they leave."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from yota.passes.algebra import simplify
from yota.passes.cse import merge_common
from yota.passes.dce import drop_dead
from yota.passes.fold import fold_constants
from yota.passes.fuse import fuse
from yota.tape import Rewritten, Tape

Pass = Callable[[Tape], Tape]

PASSES: dict[str, Pass] = {
    "cse": merge_common,
    "fold": fold_constants,
    "algebra": simplify,
    "dce": drop_dead,
    "fuse": fuse,
}
PIPELINE = ("cse", "fold", "algebra", "dce", "fuse")


@dataclass(frozen=True, slots=True)
class Stage:
    """A tape after one step, with what the step rewrote and how long it took."""

    name: str
    tape: Tape
    rewrites: tuple[Rewritten, ...] = ()
    seconds: float = 0.0


def optimise(
    tape: Tape, passes: Sequence[str | Pass] = PIPELINE, exact: bool = False
) -> list[Stage]:
    """Run passes, given by name or as functions from tape to tape, and return a stage for each.

    With `exact` no pass changes a bit; else `fuse` may, within the bounds of its forms.
    """
    stages = []
    for name, run in [named(p, exact) for p in _listed(passes)]:
        began = time.perf_counter()
        tape = run(tape)
        stages.append(Stage(name, tape, tape.rewrites, time.perf_counter() - began))
    tape.verify()
    return stages


def optimised(tape: Tape, passes: Sequence[str | Pass] = PIPELINE, exact: bool = False) -> Tape:
    """Return the tape behind all of these passes."""
    stages = optimise(tape, passes, exact)
    return stages[-1].tape if stages else tape


def named(step: str | Pass, exact: bool = False) -> tuple[str, Pass]:
    """Return a pass with its name; raise ValueError for an unknown one."""
    if callable(step):
        return getattr(step, "__name__", type(step).__name__), step
    if step not in PASSES:
        raise ValueError(f"no pass is named {step!r}; there are {', '.join(PASSES)}")
    return step, partial(fuse, exact=True) if exact and step == "fuse" else PASSES[step]


def _listed(passes: Sequence[str | Pass]) -> Sequence[str | Pass]:
    return [passes] if isinstance(passes, str) else passes
