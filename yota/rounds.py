"""Where a tape repeats itself: the rounds of a loop of the user's, written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from yota.rules.functional import getitem
from yota.tape import Call, Tape, Var

# Fewer rounds are written out one by one.
FEWEST = 8
_WINDOW = 6


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


def regions(keys: Sequence[int]) -> Iterator[Region]:
    """Yield the stretches in which a sequence repeats itself, none of which overlap."""
    seen: dict[tuple[int, ...], int] = {}
    free, at = 0, 0
    while at + _WINDOW <= len(keys):
        window = tuple(keys[at : at + _WINDOW])
        before = seen.get(window, -1)
        seen[window] = at
        if before >= free:
            found = _extended(keys, before, at - before, free)
            if found.rounds >= FEWEST:
                yield found
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
    plain = kind in (int, float, bool, str, complex, type(None))
    return (kind, repr(tree) if plain else id(tree))
