"""A frozen cursor over a tape: a move returns a new one, at the same cost for any length."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from yota.tape import Call, Tape, Var


@dataclass(frozen=True, slots=True)
class Stepper:
    """Position `index` in `order`; `edges` are where phases begin, and the last index.

    The tape of a call that raised has one position more, behind the last op: the op that raised.
    Of the op at the position, `todo` parts lie ahead: `parts` says what an op consists of.
    """

    order: tuple[Var, ...]
    index: int = 0
    edges: tuple[int, ...] = ()
    positions: Mapping[Var, int] = field(default_factory=dict, repr=False, compare=False)
    raised: bool = False
    todo: int = 0
    whole: bool = field(default=True, compare=False)

    @classmethod
    def over(cls, tape: Tape, *, raised: bool = False) -> Stepper:
        """Return a stepper at the first op of `tape`."""
        order = tuple(tape.ops)
        positions = {v: k for k, v in enumerate(order)}
        return cls(order, 0, _edges(tape, order, positions, raised), positions, raised)

    @property
    def at(self) -> Var:
        """The op at the position, the last one behind it; raises IndexError on an empty tape."""
        return self.order[min(self.index, len(self.order) - 1)]

    @property
    def beyond(self) -> bool:
        """Tell whether the position is that of the op that raised."""
        return self.index == len(self.order)

    def __len__(self) -> int:
        return len(self.order) + self.raised

    def to(self, index: int) -> Stepper:
        """Move to an index, or to the nearest end; the op there is done."""
        return replace(self, index=max(0, min(index, len(self) - 1)), todo=0, whole=True)

    def within(self, index: int, todo: int) -> Stepper:
        """Move to a part of an op."""
        return replace(self.to(index), todo=todo, whole=False)

    def next(self, n: int = 1) -> Stepper:
        """Move `n` ops onward in time; the one under way is the first of them."""
        return self.to(self.index + n - (self.todo > 0 and n > 0))

    def back(self, n: int = 1) -> Stepper:
        """Move `n` ops back in time."""
        return self.to(self.index - n)

    def first(self) -> Stepper:
        """Move to the first op."""
        return self.to(0)

    def last(self) -> Stepper:
        """Move to the last op."""
        return self.to(len(self) - 1)

    def goto(self, var: Var) -> Stepper:
        """Move to an op; raises KeyError if it is not on the tape."""
        return self.to(self.positions[var])

    def percent(self, p: float) -> Stepper:
        """Move to a share of the tape, 0 the first op and 100 the last."""
        return self.to(round(p / 100 * (len(self) - 1)))

    def next_phase(self) -> Stepper:
        """Move to the next phase edge, or stay."""
        k = bisect_right(self.edges, self.index)
        return self.to(self.edges[k]) if k < len(self.edges) else self

    def previous_phase(self) -> Stepper:
        """Move to the previous phase edge, or stay."""
        k = bisect_left(self.edges, self.index)
        return self.to(self.edges[k - 1]) if k else self

    def reached(self, var: Var) -> bool:
        """Tell whether `var` lies at or before the position."""
        place = self.positions.get(var, len(self))
        return place < self.index or (place == self.index and self.todo < 2)

    @property
    def done(self) -> int:
        """The position up to which every value is computed."""
        return self.index - (self.todo > 1)


def _edges(
    tape: Tape, order: tuple[Var, ...], positions: Mapping[Var, int], raised: bool
) -> tuple[int, ...]:
    found = {0, len(order) - 1 + raised} if order else set()
    first_call = next((k for k, v in enumerate(order) if isinstance(tape[v], Call)), None)
    start = positions.get(tape.reverse_start) if tape.reverse_start is not None else None
    seed = positions.get(tape.seed) if tape.seed is not None else None
    found |= {k for k in (first_call, start, seed) if k is not None}
    last_seed = max((k for k in (start, seed) if k is not None), default=None)
    if last_seed is not None and last_seed + 1 < len(order):
        found.add(last_seed + 1)
    return tuple(sorted(found))
