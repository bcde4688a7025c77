"""What was odd before a value was NaN: the first large, denormal, constant or saturated value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Call, Tape, Var
from yotaview.model.summary import format_number, numeric

LARGE = 1e6
SATURATES = {np.tanh: (-1.0, 1.0)}
SPREADS = {
    np.subtract, np.multiply, np.divide, np.add, np.matmul, np.exp, np.log, np.sqrt, np.square,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Oddity:
    """A value that is finite but odd, and why."""

    var: Var
    text: str


def oddities_before(tape: Tape, values: Mapping[Var, Any], var: Var) -> list[Oddity]:
    """Return the first oddity of each kind among what an op is made of, in tape order."""
    found: dict[str, Oddity] = {}
    with np.errstate(all="ignore"):
        for v in sorted(ancestors(tape, var)):
            for kind, text in _odd(tape, v, values.get(v)):
                found.setdefault(kind, Oddity(v, text))
    return sorted(found.values(), key=lambda o: o.var)


def ancestors(tape: Tape, var: Var) -> set[Var]:
    """Return the ops that an op is made of."""
    seen: set[Var] = set()
    stack = [var]
    while stack:
        op = tape[stack.pop()]
        for operand in op.operands if isinstance(op, Call) else ():
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return seen


def _odd(tape: Tape, var: Var, value: Any) -> list[tuple[str, str]]:
    x = numeric(value)
    if x is None or not x.size or x.dtype.kind not in "fc":
        return []
    size, info = np.abs(x), np.finfo(x.dtype)
    finite = size[np.isfinite(size)]
    if not finite.size:
        return []
    found = []
    top, limit = finite.max(), min(LARGE, float(info.max) / 64)
    if top > limit:
        found.append(("large", f"|x| up to {format_number(top)}, above {format_number(limit)}"))
    small = finite[(finite > 0) & (finite < info.tiny)]
    if small.size:
        found.append(("denormal", f"denormal: {format_number(small[0])}, digits are lost"))
    op = tape[var]
    if isinstance(op, Call) and not tape.is_reverse(var):
        found += _shape_of_values(op, x)
    return found


def _shape_of_values(op: Call, x: np.ndarray[Any, Any]) -> list[tuple[str, str]]:
    found = []
    if op.fn in (np.std, np.var) and np.any(x == 0):
        found.append(("constant", "zero variance"))
    elif x.size > 1 and x.ndim and op.fn in SPREADS and np.all(x == x.flat[0]):
        found.append(("constant", f"zero variance: every element is {format_number(x.flat[0])}"))
    edges = SATURATES.get(op.fn, ())  # type: ignore[call-overload]  # asked of every function
    at_edge = int(sum(np.count_nonzero(x == e) for e in edges))
    if at_edge:
        found.append(("saturated", f"saturated: {at_edge} of {x.size} elements at ±1, slope 0"))
    return found
