"""Python's arithmetic in place of NumPy's for single float64 numbers, and where the two part.

Python's functions are several times as quick on a float.  They raise, or silently give an infinite
number, where NumPy warns: code that uses them is run again with NumPy's then.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.tape import Call, Tape, Var


def add(x: float, y: float) -> float:
    """Return `x + y`."""
    return x + y


def subtract(x: float, y: float) -> float:
    """Return `x - y`."""
    return x - y


def multiply(x: float, y: float) -> float:
    """Return `x * y`."""
    return x * y


def divide(x: float, y: float) -> float:
    """Return `x / y`; raise ZeroDivisionError where NumPy warns."""
    return x / y


def negative(x: float) -> float:
    """Return `-x`."""
    return -x


def float64(x: float) -> Any:
    """Return a number as one of NumPy's."""
    return np.float64(x)


def plain(x: Any) -> float:
    """Return one of NumPy's numbers as a float."""
    return float(x)


# NumPy's function -> Python's of the same operands.
PYTHON: dict[Any, Callable[..., Any]] = {
    np.add: add, np.subtract: subtract, np.multiply: multiply, np.divide: divide,
    np.negative: negative, np.absolute: math.fabs, np.fabs: math.fabs, np.sqrt: math.sqrt,
    np.exp: math.exp, np.expm1: math.expm1, np.log: math.log, np.log1p: math.log1p,
    np.log2: math.log2, np.log10: math.log10, np.power: math.pow, np.hypot: math.hypot,
    np.sin: math.sin, np.cos: math.cos, np.tan: math.tan, np.arctan2: math.atan2,
    np.arcsin: math.asin, np.arccos: math.acos, np.arctan: math.atan,
    np.sinh: math.sinh, np.cosh: math.cosh, np.tanh: math.tanh,
    np.arcsinh: math.asinh, np.arccosh: math.acosh, np.arctanh: math.atanh,
}  # fmt: skip
SIGNS = {add: "+", subtract: "-", multiply: "*", divide: "/"}
_OURS = {add, subtract, multiply, divide, negative, *(f for f in PYTHON.values())}

# The result of these is not finite if an operand is not, of `_FIRST` if the first one is not.
_SHOW = {
    add, subtract, multiply, negative, math.sinh, math.cosh, math.asinh, math.fabs, math.sqrt,
    math.log, math.log2, math.log10, math.log1p, math.acosh, operator.add, operator.sub,
    operator.mul, operator.neg, float64, plain,
}  # fmt: skip
_FIRST = {divide, operator.truediv}
# These raise for an infinite operand.
_RAISE = {math.sin, math.cos, math.tan, math.asin, math.acos, math.atanh}
# These give nan for nan.
_PASS_NAN = {*_SHOW, *_FIRST, *_RAISE, math.exp, math.expm1, math.tanh, math.atan, math.atan2}
# These give nothing infinite for finite operands, or raise.
_TAME = {
    *_RAISE, *(_SHOW - {add, subtract, multiply, operator.add, operator.sub, operator.mul}),
    math.exp, math.expm1, math.tanh, math.atan, math.atan2, math.pow, math.hypot,
}  # fmt: skip


def is_float(tape: Tape, var: Var) -> bool:
    """Tell whether a value is a Python float."""
    spec = tape[var].spec
    return spec.kind == "python" and bool(spec.dtype == np.float64)


def uses_floats(tape: Tape) -> bool:
    """Tell whether a tape has calls of Python's arithmetic in place of NumPy's."""
    return any(isinstance(op, Call) and _is_one_of(op.fn, _OURS) for _, op in tape)


def suspects(tape: Tape) -> list[Var]:
    """Return the floats that have to be finite, so that no operation on floats went astray.

    One whose being infinite or nan shows in a later one, or raises there, is not among them.
    """
    outputs = (_float_of(tape, v) for v in tape.outputs)
    found = {v for v in outputs if is_float(tape, v) and isinstance(tape[v], Call)}
    infinite, nan = set(found), set(found)
    for var in reversed(tape.ops):
        op = tape[var]
        if not isinstance(op, Call):
            continue
        seen = var in infinite and var in nan
        if not seen and is_float(tape, var) and not _is_one_of(op.fn, _TAME):
            found.add(var)
            infinite.add(var)
            nan.add(var)
        infinite.update(_shown_by(op, var in infinite and var in nan))
        nan.update(op.operands if var in nan and _is_one_of(op.fn, _PASS_NAN) else ())
    return sorted(found)


def _float_of(tape: Tape, var: Var) -> Var:
    op = tape[var]
    return op.args[0] if isinstance(op, Call) and op.fn is float64 else var


def _shown_by(op: Call, is_shown: bool) -> list[Var]:
    """Return the operands that cannot be infinite unseen."""
    if _is_one_of(op.fn, _RAISE):
        return op.operands
    if is_shown and _is_one_of(op.fn, _FIRST):
        return [v for v in op.args[:1] if isinstance(v, Var)]
    return op.operands if is_shown and _is_one_of(op.fn, _SHOW) else []


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
