"""Time and live memory by op, measured by replaying a kept call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yota.tape import Call, Tape, Var, map_vars
from yotaview.capture.functions import is_users
from yotaview.model.replay import quiet


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


def measure(
    tape: Tape,
    values: Mapping[Var, Any],
    barred: Collection[Var] = (),
    *,
    runs: int = 5,
    budget: float = 0.5,
) -> Profile:
    """Time every op of NumPy's or ours but `barred` ones, within about `budget` seconds."""
    times: dict[Var, list[float]] = {v: [] for v in tape.ops}
    calls, not_run = _prepare(tape, values, barred)
    end = time.perf_counter() + budget
    done = 0
    with quiet():
        while done < runs and (done == 0 or time.perf_counter() < end):
            _time_once(calls, times)
            done += 1
    seconds = {v: statistics.median(t) if t else 0.0 for v, t in times.items()}
    reverse = sum(s for v, s in seconds.items() if tape.is_reverse(v))
    forward = sum(seconds.values()) - reverse
    return Profile(seconds, live_bytes(tape), done, forward, reverse, tuple(not_run))


Prepared = tuple[Var, Any, tuple[Any, ...], dict[str, Any]]


def _prepare(
    tape: Tape, values: Mapping[Var, Any], barred: Collection[Var]
) -> tuple[list[Prepared], list[Var]]:
    calls: list[Prepared] = []
    not_run = []
    for var, op in tape:
        if not isinstance(op, Call):
            continue
        known = var in values and all(v in values for v in op.operands)
        if var in barred or not known or is_users(op):
            not_run.append(var)
            continue
        args = map_vars(op.args, values.__getitem__)
        calls.append((var, op.fn, args, {k: map_vars(v, values.__getitem__) for k, v in op.kwargs}))
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
