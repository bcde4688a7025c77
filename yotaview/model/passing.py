"""What an op lets through of a cotangent, from its values: nothing at all, or next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from yota.tape import Call, Op, Tape, Var, format_call
from yotaview.model.findings import Finding
from yotaview.model.summary import format_number, numeric

SATURATED = "saturated"
# a slope that counts as none, as a share of the steepest; how many elements must have it
FLAT, MOST, FEWEST = 1e-3, 0.75, 8
GENTLER = "scale what goes in to mean 0 and deviation 1, or begin with smaller weights"
LEAKY = "begin with a bias nearer to 0, or keep a slope there: np.where(z > 0, z, 0.01 * z)"

Array = np.ndarray[Any, Any]
# the slope of y = f(x), of its steepest
SLOPES: dict[str, Callable[[Array, Array], Array]] = {
    "tanh": lambda y, x: 1 - y * y,
    "expit": lambda y, x: 4 * y * (1 - y),
    "erf": lambda y, x: np.exp(-x * x),
    "arctan": lambda y, x: 1 / (1 + x * x),
}
PRODUCTS = {"multiply", "matmul", "dot", "einsum", "inner", "outer", "tensordot", "vdot"}


def find_saturated(tape: Tape, values: Mapping[Var, Any], name: str = "") -> list[Finding]:
    """Return a note for each op whose slope is next to 0 at most elements, once a line."""
    found: dict[tuple[str, str], list[tuple[Var, str]]] = {}
    for var, op in tape:
        if tape.is_reverse(var):
            break
        if var in tape.cotangents and (told := _flat(var, op, values)):
            found.setdefault((op.origin.place, getattr(op, "name", "")), []).append((var, told))
    return [_note(tape, ops, name) for ops in found.values()]


def _note(tape: Tape, ops: list[tuple[Var, str]], name: str) -> Finding:
    (var, told), more = ops[0], f"; and so {len(ops) - 1} more of this line" if ops[1:] else ""
    op = tape[var]
    function = op.origin.frames[0].qualname if op.origin.frames else name
    return Finding(
        "flow", "note", var, told + more, op.origin.place, function, SATURATED, cure=GENTLER
    )


def _flat(var: Var, op: Op, values: Mapping[Var, Any]) -> str:
    """Say that an op is saturated; empty where it is not."""
    slope = SLOPES.get(op.name) if isinstance(op, Call) else None
    if slope is None or not isinstance(op, Call) or len(op.operands) != 1:
        return ""
    x, y = (_finite(values.get(v)) for v in (op.operands[0], var))
    if x is None or y is None or y.size < FEWEST:
        return ""
    with np.errstate(all="ignore"):
        flat = int(np.count_nonzero(slope(y, x) < FLAT))
    if flat < MOST * y.size:
        return ""
    return (
        f"{format_call(op)} is saturated: its slope is below {FLAT:g} at {flat:,} of "
        f"{y.size:,} elements; {_range(op.operands[0], x)}"
    )


def why_nothing_passes(tape: Tape, values: Mapping[Var, Any], var: Var) -> tuple[str, str]:
    """Return why an op hands on a cotangent of zeros alone, and the cure; empty if unknown."""
    op = tape[var]
    if not isinstance(op, Call):
        return "", ""
    if told := _flat(var, op, values):
        return told.partition(" is ")[2], GENTLER
    return next(_reasons(op, values), ("", ""))


def _reasons(op: Call, values: Mapping[Var, Any]) -> Iterator[tuple[str, str]]:
    known = [(v, x) for v in op.operands if (x := _finite(values.get(v))) is not None and x.size]
    if op.name in ("maximum", "minimum"):
        bound = next((a for a in op.args if isinstance(a, int | float)), None)
        side = "above" if op.name == "maximum" else "below"
        for v, x in known if bound is not None else ():
            if not (x > bound if side == "above" else x < bound).any():
                off = side == "above" and bound == 0
                told = f"{_range(v, x)}, nowhere {side} {bound:g}"
                yield (f"{told}: every unit is off", LEAKY) if off else (told, "")
    elif op.name == "where" and isinstance(op.args[0], Var):
        mask = values.get(op.args[0])
        if mask is not None and (np.all(mask) or not np.any(mask)):
            yield f"{op.args[0]} is {bool(np.all(mask))} everywhere", ""
    elif op.name in PRODUCTS:
        if any(isinstance(a, int | float) and a == 0 for a in op.args):
            yield "a factor is 0", ""
        for v, x in known:
            if not x.any():
                yield f"{v} is 0 everywhere", ""


def _range(var: Var, x: Array) -> str:
    low, high = format_number(float(x.min())), format_number(float(x.max()))
    return f"{var} is {low}" if low == high else f"{var} is between {low} and {high}"


def _finite(value: Any) -> Array | None:
    x = numeric(value)
    if x is None or x.dtype.kind not in "biuf" or not np.isfinite(x).all():
        return None
    return x
