"""Where a tape repeats itself: the rounds of a loop of the user's, written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from yota.rules.functional import getitem
from yota.tape import Call, Tape, Var

# Fewer rounds are written out one by one.
FEWEST = 8
# Shorter stretches are not worth a loop.
SHORTEST = 24
_WINDOWS = (48, 16, 6)


@dataclass(frozen=True, slots=True)
class Region:
    """Calls from place `start` on that repeat `rounds` times with this period."""

    start: int
    period: int
    rounds: int

    @property
    def stop(self) -> int:
        """The place behind the last call."""
        return self.start + self.period * self.rounds


def regions(keys: Sequence[int]) -> list[Region]:
    """Return the stretches in which a sequence repeats itself, none of which overlap.

    Long windows come first: a row of equal calls inside a round is no loop of its own.
    """
    found: list[Region] = []
    if not may_repeat(keys):
        return found
    for window in _WINDOWS:
        gaps, at = [], 0
        for region in sorted(found, key=lambda r: r.start):
            gaps.append((at, region.start))
            at = region.stop
        for start, stop in (*gaps, (at, len(keys))):
            found += _search(keys[start:stop], start, window)
    return sorted(found, key=lambda r: r.start)


def may_repeat(keys: Iterable[Any]) -> bool:
    """Tell whether any key is there often enough for the rounds of a loop."""
    return max(Counter(keys).values(), default=0) >= FEWEST


def _search(keys: Sequence[int], offset: int, window: int) -> Iterator[Region]:
    seen: dict[tuple[int, ...], int] = {}
    free, at = 0, 0
    while at + window <= len(keys):
        here = tuple(keys[at : at + window])
        before = seen.get(here, -1)
        seen[here] = at
        if before >= free:
            found = _extended(keys, before, at - before, free)
            if found.rounds >= FEWEST and found.rounds * found.period >= SHORTEST:
                yield Region(found.start + offset, found.period, found.rounds)
                free = at = found.stop
                continue
        at += 1


def _extended(keys: Sequence[int], start: int, period: int, free: int) -> Region:
    end = start + period
    while end < len(keys) and keys[end] == keys[end - period]:
        end += 1
    while start > free and keys[start - 1] == keys[start - 1 + period]:
        start -= 1
    return Region(start, period, (end - start) // period)


def numbered(keys: Sequence[Any]) -> list[int]:
    """Return small numbers that are equal where the keys are."""
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def rounds_of(tape: Tape) -> list[list[tuple[Var, ...]]]:
    """Return for each loop the values of each of its calls, round by round."""
    calls = [(v, op) for v, op in tape if isinstance(op, Call)]
    if len(calls) < SHORTEST or not may_repeat(id(op.fn) for _, op in calls):
        return []
    keys = numbered([skeleton(op) for _, op in calls])
    found = []
    for region in regions(keys):
        places = range(region.start, region.start + region.period)
        found.append([tuple(v for v, _ in calls[k : region.stop : region.period]) for k in places])
    return found


def skeleton(op: Call) -> Any:
    """Return what is the same of two calls that differ in what varies alone."""
    if op.fn is getitem and type(op.args[1]) is int:
        return (getitem, op.spec)
    kwargs = tuple((k, _without_vars(v)) for k, v in op.kwargs)
    return (op.fn, op.spec, _without_vars(op.args), kwargs)


def _without_vars(tree: Any) -> Any:
    kind = type(tree)
    if kind is Var:
        return None
    if kind is tuple or kind is list:
        return (kind, *map(_without_vars, tree))
    if kind is dict:
        return (dict, *((repr(k), _without_vars(v)) for k, v in tree.items()))
    if kind is slice:
        return (slice, *map(_without_vars, (tree.start, tree.stop, tree.step)))
    if kind is int:
        return (kind, tree)
    plain = kind in (float, bool, str, complex, type(None))
    return (kind, repr(tree) if plain else id(tree))
