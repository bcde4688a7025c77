"""Arrays joined from parts that can be computed where they are to stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.aliasing import takes_out
from yota.tape import Call, Tape, Var


@dataclass(frozen=True, slots=True)
class Join:
    """A call that joins parts along the first axis, and where each part begins and ends.

    `whole` is the call whose memory it stands in: itself, or one that joins these parts too.
    `inside` are the parts that are computed in place; the others are copied.
    """

    var: Var
    parts: tuple[Var, ...]
    starts: tuple[int, ...]
    whole: Var
    inside: frozenset[Var] = frozenset()

    def place(self, at: int) -> tuple[int, int]:
        """Return where a part begins and ends."""
        return self.starts[at], self.starts[at + 1]


def find_joins(tape: Tape) -> dict[Var, Join]:
    """Return the calls that join parts of which half or more can be computed in place."""
    handed_out = set(tape.outputs)
    found: dict[Var, Join] = {}
    taken: dict[Var, Join] = {}
    calls = [j for v, op in tape if (j := _as_join(v, op, tape)) is not None]
    for join in sorted(calls, key=lambda j: -len(j.parts)):
        if join.var in handed_out:
            continue
        whole = taken.get(join.parts[0])
        if whole is not None and (part := _part_of(join, whole)) is not None:
            found[join.var] = part
            continue
        inside = [v for v in join.parts if v not in taken and _is_placeable(v, tape, handed_out)]
        if 2 * len(inside) >= len(join.parts):
            join = Join(join.var, join.parts, join.starts, join.var, frozenset(inside))
            found[join.var] = join
            taken |= dict.fromkeys(inside, join)
    return found


def _as_join(var: Var, op: Any, tape: Tape) -> Join | None:
    if not isinstance(op, Call) or op.fn not in (np.concatenate, np.stack) or op.spec.order != "C":
        return None
    along = dict(op.kwargs).get("axis", 0) if len(op.args) == 1 else op.args[1]
    parts = op.args[0]
    if along != 0 or type(parts) not in (tuple, list) or len(op.args) > 2 or len(op.kwargs) > 1:
        return None
    if not all(type(v) is Var and tape[v].spec.dtype == op.spec.dtype for v in parts):
        return None
    if len(set(parts)) != len(parts) or not all(tape[v].spec.kind == "array" for v in parts):
        return None
    starts = [0]
    for v in parts:
        starts.append(starts[-1] + (1 if op.fn is np.stack else tape[v].spec.shape[0]))
    return Join(var, tuple(parts), tuple(starts), var)


def _part_of(join: Join, whole: Join) -> Join | None:
    """Return a join as a run of the parts of another one, None if it is not."""
    start = whole.parts.index(join.parts[0])
    if whole.parts[start : start + len(join.parts)] != join.parts:
        return None
    starts = whole.starts[start : start + len(join.parts) + 1]
    return Join(join.var, join.parts, starts, whole.var)


def _is_placeable(var: Var, tape: Tape, handed_out: set[Var]) -> bool:
    op = tape[var]
    return var not in handed_out and op.spec.order == "C" and takes_out(op, tape)
