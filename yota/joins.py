"""Arrays joined from parts that can be computed where they are to stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from yota.aliasing import is_elementwise, takes_out
from yota.tape import Call, Tape, Var

# From so many parts on, a copy of what is handed out costs less than joining it.
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class Join:
    """A call that joins parts along an axis, and where each part begins and ends.

    `whole` is the call whose memory it stands in: itself, or one that joins these parts too.
    `inside` are the parts that are computed in place; the others are copied.
    """

    var: Var
    parts: tuple[Var, ...]
    starts: tuple[int, ...]
    whole: Var
    axis: int = 0
    is_stack: bool = False
    inside: frozenset[Var] = frozenset()

    def place(self, at: int) -> tuple[int, int]:
        """Return where a part begins and ends."""
        return self.starts[at], self.starts[at + 1]

    def index(self, at: int) -> Any:
        """Return the index of a part in the whole."""
        start, stop = self.place(at)
        item = start if self.is_stack else slice(start, stop)
        return (*(slice(None),) * self.axis, item) if self.axis else item


def find_joins(tape: Tape) -> dict[Var, Join]:
    """Return the calls that join parts of which half or more can be computed in place."""
    return _Search(tape).run()


class _Search:
    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.handed_out = set(tape.outputs)
        self.found: dict[Var, Join] = {}
        self.taken: dict[Var, Join] = {}

    def run(self) -> dict[Var, Join]:
        joins = [j for v, op in self.tape if (j := _as_join(v, op, self.tape)) is not None]
        if joins:
            self.users = self.tape.users()
        for join in sorted(joins, key=lambda j: (j.axis, -len(j.parts))):
            if join.var not in self.handed_out or len(join.parts) >= _FEWEST:
                self.try_join(join)
        return self.found

    def try_join(self, join: Join) -> None:
        # what is to stand within another one cannot stand where its own parts do
        whole = self.taken.get(join.parts[0]) if join.var not in self.taken else None
        if whole is not None and (part := _part_of(join, whole)) is not None:
            self.found[join.var] = part
            return
        inside = [v for v in join.parts if v not in self.taken and self.is_placeable(v, join)]
        if 2 * len(inside) >= len(join.parts):
            join = replace(join, inside=frozenset(inside))
            self.found[join.var] = join
            self.taken |= dict.fromkeys(inside, join)

    def is_placeable(self, var: Var, join: Join) -> bool:
        """Tell whether a part can be computed where it is to stand."""
        op = self.tape[var]
        if var in self.found and self.found[var].whole != var:
            return False
        if var in self.handed_out or op.spec.order != "C" or not takes_out(op, self.tape):
            return False
        # columns of a table are no memory that a product or a view of another shape can take
        return not join.axis or (
            isinstance(op, Call) and is_elementwise(op) and self.users[var] == [join.var]
        )


def _as_join(var: Var, op: Any, tape: Tape) -> Join | None:
    if not isinstance(op, Call) or op.fn not in (np.concatenate, np.stack) or op.spec.order != "C":
        return None
    along = dict(op.kwargs).get("axis", 0) if len(op.args) == 1 else op.args[1]
    parts = op.args[0]
    if type(along) is not int or type(parts) not in (tuple, list) or len(op.args) > 2:
        return None
    if len(op.kwargs) > 1 or not all(_may_stand(v, op, tape) for v in parts):
        return None
    axis, is_stack = along % len(op.spec.shape), op.fn is np.stack
    if len(set(parts)) != len(parts) or (is_stack and axis):
        return None
    starts = [0]
    for v in parts:
        starts.append(starts[-1] + (1 if is_stack else tape[v].spec.shape[axis]))
    return Join(var, tuple(parts), tuple(starts), var, axis, is_stack)


def _may_stand(x: Any, op: Call, tape: Tape) -> bool:
    spec = tape[x].spec if type(x) is Var else None
    return spec is not None and spec.kind == "array" and spec.dtype == op.spec.dtype


def _part_of(join: Join, whole: Join) -> Join | None:
    """Return a join as a run of the parts of another one, None if it is not."""
    start = whole.parts.index(join.parts[0])
    if whole.parts[start : start + len(join.parts)] != join.parts or whole.axis != join.axis:
        return None
    starts = whole.starts[start : start + len(join.parts) + 1]
    return replace(join, starts=starts, whole=whole.var)
