"""Forms that keep every bit: numbers for arrays that repeat one, operands for their copies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.aliasing import is_one_complex
from yota.passes.algebra import Known
from yota.passes.work import Work
from yota.tape import Call, Constant, Op, Spec, Var, format_call

# Elementwise functions whose results are correctly rounded in every loop that NumPy has for them.
ROUNDED = {
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.absolute, np.square, np.sqrt,
    np.maximum, np.minimum, np.greater, np.greater_equal, np.less, np.less_equal, np.equal,
    np.not_equal, np.logical_and, np.logical_or, np.logical_not,
}  # fmt: skip
_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_FILLS: dict[Any, Any] = {np.zeros_like: False, np.ones_like: True}


def is_real_array(spec: Spec | None) -> bool:
    """Tell whether values are arrays of float32 or float64."""
    return spec is not None and spec.kind == "array" and spec.dtype in _REAL


def count(spec: Spec) -> int:
    """Return the number of elements."""
    return math.prod(spec.shape)


def axes_of(op: Call, ndim: int) -> tuple[int, ...] | None:
    """Return the axes of a plain reduction, None where it has other options than keepdims."""
    known = dict(op.kwargs)
    if len(op.args) > 2 or not {"axis", "keepdims"}.issuperset(known):
        return None
    axis = op.args[1] if len(op.args) == 2 else known.get("axis")
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(a % ndim for a in given)) if all(type(a) is int for a in given) else None


def expand_means(work: Work) -> None:
    """Write `mean(x)` as the sum and the division that NumPy makes of it."""
    for var, op in work.calls(np.mean):
        spec = work.spec(op.args[0])
        if spec is None or not is_real_array(spec) or op.spec.dtype != spec.dtype:
            continue
        axes = axes_of(op, len(spec.shape))
        if axes is None:
            continue
        n = math.prod(spec.shape[a] for a in axes)
        if n:
            total = work.call(var, op.spec, np.sum, *op.args, **dict(op.kwargs))
            work.exchange(var, "means: a sum over a count", np.divide, total, n)


def number_repeated(work: Work) -> None:
    """Let elementwise calls read one number instead of an array that repeats it."""
    numbers = _repeated_numbers(work)
    for fn in list(ROUNDED):
        for var, op in work.calls(fn):
            for at, x in enumerate(op.args):
                number = numbers.get(x) if type(x) is Var else None
                if number is not None and _may_stand_for(work, op, at, ()):
                    args = (*op.args[:at], number, *op.args[at + 1 :])
                    op = _reading(work, var, op, args, f"numbers: {x} repeats one number")


def _repeated_numbers(work: Work) -> dict[Var, Any]:
    """Return the number that all elements of an array are, for those arrays that repeat one."""
    known, numbers = Known(work.tape), dict[Var, Any]()
    for var, op in work.ops.items():
        number = _repeated(var, op, known, numbers)
        if number is not None and number == number:
            numbers[var] = op.spec.dtype.type(number)
    return {v: n for v, n in numbers.items() if work.ops[v].spec.shape}


def _repeated(var: Var, op: Op, known: Known, numbers: dict[Var, Any]) -> Any:
    """Return the number that a value consists of, None where its elements may differ."""
    if op.spec.kind not in ("array", "scalar") or not isinstance(op, Call):
        return known.number(var) if op.spec.kind in ("array", "scalar") else None
    if op.fn in _FILLS and len(op.args) == 1 and not op.kwargs:
        return _FILLS[op.fn]
    if op.fn is np.broadcast_to:
        return numbers.get(op.args[0])
    if op.fn not in ROUNDED or op.kwargs or op.spec.kind == "scalar":
        return None
    operands = [numbers.get(x) if type(x) is Var else x for x in op.args]
    return None if None in operands else _quietly(op, operands)


def _quietly(op: Call, operands: list[Any]) -> Any:
    """Return an elementwise function of numbers, None where it warns."""
    try:
        with np.errstate(all="raise"):
            number = op.fn(*operands)
    except ArithmeticError:
        return None
    return number if number.dtype == op.spec.dtype else None


def _reading(work: Work, var: Var, op: Call, args: tuple[Any, ...], why: str) -> Call:
    work.exchange(var, why, op.fn, *args, **dict(op.kwargs))
    changed = work.ops[var]
    if not isinstance(changed, Call):
        raise TypeError(changed)
    return changed


def _may_stand_for(work: Work, op: Call, at: int, shape: tuple[int, ...]) -> bool:
    """Tell whether operand `at` may have `shape` without another shape or layout of the result."""
    if op.kwargs or op.spec.kind != "array" or len(op.args) != 2 or is_one_complex(op.spec):
        return False
    spec = work.spec(op.args[1 - at])
    if spec is None or spec.kind != "array":
        return False
    fills = spec.shape == op.spec.shape
    if not fills and np.broadcast_shapes(spec.shape, shape) != op.spec.shape:
        return False
    return len(op.spec.shape) < 2 or (fills and spec.order == op.spec.order and spec.order in "CF")


def read_through(work: Work) -> None:
    """Let elementwise calls read an operand itself instead of a copy broadcast to full size."""
    for fn in list(ROUNDED):
        for var, op in work.calls(fn):
            for at, x in enumerate(op.args):
                if work.call_of(x, np.broadcast_to, np.expand_dims, np.reshape) is None:
                    continue
                source = _unbroadcast(work, x)
                if source is None or not _is_alike(work, x, source):
                    continue
                if _may_stand_for(work, op, at, work.ops[source].spec.shape):
                    args = (*op.args[:at], source, *op.args[at + 1 :])
                    why = f"broadcasts: {x} repeats {source}, which broadcasts by itself"
                    op = _reading(work, var, op, args, why)


def drop_ones(work: Work) -> None:
    """Leave out products with one, which the other forms bring to light."""
    for var, op in work.calls(np.multiply):
        if (x := times(work, op, 1.0)) is not None:
            work.put(var, x, f"ones: {format_call(op)} changes no bit")


def times(work: Work, op: Call, number: float) -> Var | None:
    """Return what a product multiplies by this number, if the result has its type and layout."""
    for x, y in (op.args, op.args[::-1]):
        if _is_number(work, y, number) and _gives_back(work, op, x):
            return x  # type: ignore[no-any-return]  # a Var
    return None


def _is_number(work: Work, x: Any, number: float) -> bool:
    if type(x) is Var:
        op = work.ops[x]
        x = op.value if isinstance(op, Constant) and not op.spec.shape else None
    if isinstance(x, np.ndarray):
        x = x[()]
    return isinstance(x, int | float | np.number) and type(x) is not bool and bool(x == number)


def _gives_back(work: Work, op: Call, x: Any) -> bool:
    """Tell whether a result has the type and layout of an operand."""
    same = type(x) is Var and is_real_array(op.spec) and work.spec(x) == op.spec
    return same and op.spec.order in "CF" and not op.kwargs


def _unbroadcast(work: Work, x: Any) -> Var | None:
    """Return what an array repeats along axes that broadcasting adds by itself."""
    found = None
    while (op := work.call_of(x, np.broadcast_to, np.expand_dims, np.reshape)) is not None:
        source = op.args[0]
        if type(source) is not Var or (op.kwargs and op.fn is not np.broadcast_to):
            break
        if op.fn is not np.broadcast_to and not _adds_in_front(work, op, source):
            break
        x = found = source
    return found


def _adds_in_front(work: Work, op: Call, source: Var) -> bool:
    before, after = work.ops[source].spec.shape, op.spec.shape
    extra = len(after) - len(before)
    return extra >= 0 and after[:extra] == (1,) * extra and after[extra:] == before


def _is_alike(work: Work, x: Any, source: Var) -> bool:
    """Tell whether a source promotes other operands as its broadcast does."""
    have, want = work.ops[source].spec, work.ops[x].spec
    return have.dtype == want.dtype and have.kind in ("array", "scalar")
