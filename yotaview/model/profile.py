"""Time and live memory by op, measured by replaying a kept call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yota.tape import Call, Tape, Var, map_vars
from yotaview.model.replay import quiet
from yotaview.model.stages import runs_users_code

RUNS, BUDGET = 101, 0.4


@dataclass(frozen=True, slots=True)
class Profile:
    """Seconds of each op, median of `runs` replays; bytes alive at each op in tape order."""

    seconds: dict[Var, float]
    live: tuple[int, ...]
    runs: int
    forward: float
    reverse: float
    not_run: tuple[Var, ...] = ()

    @property
    def total(self) -> float:
        """Seconds of all ops together."""
        return self.forward + self.reverse

    @property
    def peak(self) -> int:
        """The largest number of bytes alive at once."""
        return max(self.live, default=0)

    def slowest(self) -> list[Var]:
        """Return the ops by time, slowest first."""
        return sorted(self.seconds, key=lambda v: -self.seconds[v])


@dataclass(frozen=True, slots=True)
class Subject:
    """A tape with the values that its ops read; `barred` ops are not run."""

    tape: Tape
    values: Mapping[Var, Any]
    barred: Collection[Var] = ()


def measure(
    tape: Tape,
    values: Mapping[Var, Any],
    barred: Collection[Var] = (),
    *,
    runs: int = RUNS,
    budget: float = BUDGET,
) -> Profile:
    """Time every op of NumPy's or ours but `barred` ones, within about `budget` seconds."""
    return measure_together([Subject(tape, values, barred)], runs=runs, budget=budget)[0]


def measure_together(
    subjects: Sequence[Subject],
    *,
    runs: int = RUNS,
    budget: float = BUDGET,
    stopped: Callable[[], bool] = bool,
) -> list[Profile]:
    """Time tapes in turn, so that what slows the machine slows each of them.

    Each is run once at least, unless `stopped` tells that nobody waits for it any more.
    """
    prepared = [_prepare(s) for s in subjects]
    times: list[dict[Var, list[float]]] = [{v: [] for v in s.tape.ops} for s in subjects]
    end = time.perf_counter() + budget
    done = 0
    with quiet():
        while done < runs and (done == 0 or time.perf_counter() < end) and not stopped():
            for (calls, _), found in zip(prepared, times, strict=True):
                _time_once(calls, found)
            done += 1
    return [
        _profile(s.tape, found, done, not_run)
        for s, found, (_, not_run) in zip(subjects, times, prepared, strict=True)
    ]


def _profile(
    tape: Tape, times: Mapping[Var, Sequence[float]], runs: int, not_run: Sequence[Var]
) -> Profile:
    seconds = {v: statistics.median(t) if t else 0.0 for v, t in times.items()}
    reverse = sum(s for v, s in seconds.items() if tape.is_reverse(v))
    forward = sum(seconds.values()) - reverse
    return Profile(seconds, live_bytes(tape), runs, forward, reverse, tuple(not_run))


Prepared = tuple[Var, Any, tuple[Any, ...], dict[str, Any]]


def _prepare(subject: Subject) -> tuple[list[Prepared], list[Var]]:
    values, read = subject.values, subject.values.__getitem__
    calls: list[Prepared] = []
    not_run = []
    for var, op in subject.tape:
        if not isinstance(op, Call):
            continue
        known = var in values and all(v in values for v in op.operands)
        if var in subject.barred or not known or runs_users_code(op):
            not_run.append(var)
            continue
        kwargs = {k: map_vars(v, read) for k, v in op.kwargs}
        calls.append((var, op.fn, map_vars(op.args, read), kwargs))
    return calls, not_run


def _time_once(calls: Sequence[Prepared], times: dict[Var, list[float]]) -> None:
    clock = time.perf_counter
    for var, fn, args, kwargs in calls:
        start = clock()
        fn(*args, **kwargs)
        times[var].append(clock() - start)


def live_bytes(tape: Tape) -> tuple[int, ...]:
    """Return the bytes alive at each op.

    Inputs, constants and outputs count for the whole call, others until they are last read.
    """
    order = list(tape.ops)
    last = {v: k for k, v in enumerate(order)}
    for k, (_, op) in enumerate(tape):
        for operand in op.operands if isinstance(op, Call) else ():
            last[operand] = k
    last |= {v: len(order) - 1 for v in tape.outputs if v in last}
    change = [0] * (len(order) + 1)
    for k, (var, op) in enumerate(tape):
        begin, end = (k, last[var]) if isinstance(op, Call) else (0, len(order) - 1)
        change[begin] += op.spec.nbytes
        change[end + 1] -= op.spec.nbytes
    total, found = 0, []
    for step in change[:-1]:
        total += step
        found.append(total)
    return tuple(found)
