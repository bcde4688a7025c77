"""Find what a loop of the user's left on the tape: the same calls again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from yota.rounds import FEWEST, SHORTEST, Region, may_repeat, numbered, regions
from yota.rules.functional import getitem
from yota.tape import Call, Tape, Var


@dataclass(slots=True)
class Loop:
    """A region whose operands are the same, vary regularly, or are handed from round to round.

    `columns[k, at]` are the operands that vary for call `k` of the period at occurrence `at`;
    `carried` maps such an occurrence to the call of the round before that gives it.
    """

    region: Region
    vars: list[tuple[Var, ...]]
    columns: dict[tuple[int, int], tuple[Any, ...]] = field(default_factory=dict)
    carried: dict[tuple[int, int], tuple[Var, int]] = field(default_factory=dict)


def find_loops(
    live: Sequence[tuple[Var, Call]], tape: Tape, key_of: Callable[[Var, Call], Any], kept: Kept
) -> dict[int, Loop]:
    """Return loops by the place of their first call; `key_of` tells calls apart."""
    if len(live) < SHORTEST or not may_repeat(id(op.fn) for _, op in live):
        return {}
    keys = numbered([key_of(v, op) for v, op in live])
    search = _Search(live, tape, kept)
    found = (search.best(region) for region in regions(keys))
    return {loop.region.start: loop for loop in found if loop is not None}


class Kept(Protocol):
    """What is known of memory that stays from call to call."""

    def stays(self, var: Var) -> bool:
        """Tell whether a value is at hand in every round."""

    def is_placed(self, var: Var) -> bool:
        """Tell whether a value is computed into memory that stays."""

    def is_even(self, values: Sequence[Any]) -> bool:
        """Tell whether a few words say where these stand."""


def _peeled(region: Region) -> Iterator[Region]:
    """Yield a region, then the same without its first round, its last, or both."""
    for first, less in ((0, 0), (0, 1), (1, 1), (1, 2)):
        start = region.start + first * region.period
        if region.rounds - less >= FEWEST:
            yield Region(start, region.period, region.rounds - less)


class _Search:
    def __init__(self, live: Sequence[tuple[Var, Call]], tape: Tape, kept: Kept) -> None:
        self.live, self.kept = live, kept
        self.readers: dict[Var, list[int]] = {}
        for k, (_, op) in enumerate(live):
            for v in op.operands:
                self.readers.setdefault(v, []).append(k)
        self.wanted = set(tape.outputs)

    def best(self, region: Region) -> Loop | None:
        """Return the longest even loop of a region, else the longest loop."""
        first = None
        for tried in _peeled(region):
            loop = self.loop(tried)
            if loop is not None and self.is_even(loop):
                return loop
            first = first or loop
        return first

    def is_even(self, loop: Loop) -> bool:
        placed = (r for r in zip(*loop.vars, strict=True) if self.kept.is_placed(r[0]))
        return all(map(self.kept.is_even, (*loop.columns.values(), *placed)))

    def loop(self, region: Region) -> Loop | None:
        """Return a region as a loop, None where its rounds differ in more than a loop can say."""
        rounds = [
            self.live[k : k + region.period]
            for k in range(region.start, region.stop, region.period)
        ]
        loop = Loop(region, [tuple(v for v, _ in r) for r in rounds])
        place = {v: k for k, v in enumerate(loop.vars[0])}
        for k in range(region.period):
            if not self.is_alike([r[k][0] for r in rounds], region):
                return None
            occurrences = [list(varying(r[k][1])) for r in rounds]
            for at, values in enumerate(zip(*occurrences, strict=True)):
                if not self.classify(loop, k, at, values, place):
                    return None
            if not _is_unambiguous(occurrences):
                return None
        return loop

    def is_alike(self, results: list[Var], region: Region) -> bool:
        """Tell whether one call's results all have a place, or none outlives the next round."""
        placed = [self.kept.is_placed(v) for v in results]
        if all(placed):
            return True
        if any(placed):
            return False
        for number, var in enumerate(results[:-1]):
            last = region.start + (number + 2) * region.period
            if var in self.wanted or any(k >= last for k in self.readers.get(var, ())):
                return False
        return True

    def classify(
        self, loop: Loop, k: int, at: int, values: tuple[Any, ...], place: dict[Var, int]
    ) -> bool:
        """Note how one operand goes from round to round; tell whether a loop can say it."""
        first = values[0]
        if (type(first) is not Var or first not in place) and all(v == first for v in values):
            return True
        if type(first) is not Var:
            loop.columns[k, at] = values
            return True
        j = place.get(first)
        if j is not None and all(v == r[j] for v, r in zip(values, loop.vars, strict=True)):
            return True
        if all(map(self.kept.stays, values)):
            loop.columns[k, at] = values
            return True
        return self.is_carried(loop, k, at, values)

    def is_carried(self, loop: Loop, k: int, at: int, values: tuple[Any, ...]) -> bool:
        before = loop.vars[0]
        j = next((j for j, v in enumerate(before) if v == values[1]), None)
        if j is None or any(v != r[j] for v, r in zip(values[1:], loop.vars, strict=False)):
            return False
        if any(known == j and start != values[0] for start, known in loop.carried.values()):
            return False
        loop.carried[k, at] = (values[0], j)
        return not self.kept.is_placed(before[j])


def _is_unambiguous(rounds: list[list[Any]]) -> bool:
    """Tell whether an operand that stands twice in the first round does so in the others."""
    first = rounds[0]
    return all(
        x != first[at] or all(r[at] == r[other] for r in rounds)
        for at in range(len(first))
        for other, x in enumerate(first[at + 1 :], start=at + 1)
    )


def varying(op: Call) -> Iterator[Any]:
    """Yield what may differ from round to round: vars, and the whole numbers of an index."""
    if op.fn is getitem and type(op.args[1]) is int:
        yield op.args[0]
        yield op.args[1]
    else:
        yield from op.operands
