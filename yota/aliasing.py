"""What is known of calls and memory: whose results are fresh, which compute into memory given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.kernels import KERNELS, TAKE_OUT
from yota.rules.functional import add_at, cast, place, scatter, setitem
from yota.tape import Call, Op, Spec, Tape, Var

# Functions whose result never shares memory with an operand.
_FRESH = {
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.mean, np.var, np.std, np.cumsum,
    np.cumprod, np.all, np.any,
    np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.where, np.clip,
    np.concatenate, np.stack, np.vstack, np.hstack, np.copy, np.repeat, np.tile, np.roll, np.take,
    np.zeros, np.ones, np.full, np.zeros_like, np.ones_like, np.full_like, np.tril, np.triu,
    np.take_along_axis, np.sort, np.argsort, np.argmax, np.argmin, np.linalg.inv, np.linalg.solve,
    np.linalg.det, setitem, scatter, place, add_at, cast, *KERNELS,
}  # fmt: skip

# Functions that compute the same bits into `out=` as into a new array.
_TAKES_OUT = {
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.cumsum, np.cumprod, np.mean, np.dot,
    np.concatenate, *TAKE_OUT,
}  # fmt: skip


# Functions that are lines of their own in lean code: they write a part of their result.
WRITERS = {setitem, place, add_at}


def is_writer(op: Call, tape: Tape) -> bool:
    """Tell whether a call writes a part of its result that stands where it always stands."""
    if not _is_one_of(op.fn, WRITERS) or op.kwargs or not is_basic(op.args[1]):
        return False
    value = op.args[0 if op.fn is place else 2]
    if op.fn is not add_at:
        return True
    spec = tape[value].spec if isinstance(value, Var) else None
    return spec is not None and spec.dtype == op.spec.dtype


def is_basic(index: Any) -> bool:
    """Tell whether an index names the same part of every array, without copying it."""
    items = index if type(index) is tuple else (index,)
    return all(x is None or x is Ellipsis or type(x) is int or _is_fixed(x) for x in items)


def _is_fixed(x: Any) -> bool:
    ends = (x.start, x.stop, x.step) if type(x) is slice else (x,)
    return type(x) is slice and all(e is None or type(e) is int for e in ends)


def may_alias(op: Call) -> bool:
    """Tell whether the result may share memory with an operand: so for all unknown functions."""
    return op.spec.kind not in ("scalar", "python") and not is_fresh(op)


def is_fresh(op: Call) -> bool:
    """Tell whether a function is known to return memory of its own."""
    if isinstance(op.fn, np.ufunc):
        return op.spec.dtype is None or not op.spec.dtype.hasobject
    return _is_one_of(op.fn, _FRESH)


def is_elementwise(op: Call) -> bool:
    """Tell whether element k of the result depends on elements k of the operands alone."""
    return isinstance(op.fn, np.ufunc) and op.fn.signature is None and op.fn.nout == 1


def may_overwrite(op: Call) -> bool:
    """Tell whether a call computes the same bits into the memory of one of its operands."""
    return is_elementwise(op) and not is_one_complex(op.spec)


def is_one_complex(spec: Spec) -> bool:
    """Tell whether a value is one complex element, whose products round as operands lie in memory.

    NumPy takes it over itself, or with a broadcast operand, through another loop.
    """
    return spec.dtype is not None and spec.dtype.kind == "c" and math.prod(spec.shape) == 1


def takes_out(op: Op, tape: Tape) -> bool:
    """Tell whether a call can be computed into a buffer without changing a bit."""
    if not isinstance(op, Call) or not _is_plain(op.spec) or "out" in dict(op.kwargs):
        return False
    if _is_one_of(op.fn, WRITERS):
        return is_writer(op, tape)
    if isinstance(op.fn, np.ufunc):
        return op.fn.nout == 1 and len(op.args) == op.fn.nin
    if not _is_one_of(op.fn, _TAKES_OUT) or len(op.args) > 2:
        return False
    return op.fn is not np.mean or _means_in_own_dtype(op, tape)


def _is_plain(spec: Spec) -> bool:
    if spec.kind != "array" or not spec.shape or spec.order not in "CF" or 0 in spec.shape:
        return False
    return spec.dtype.kind in "biufc" and bool(spec.dtype.isnative)


def _means_in_own_dtype(op: Call, tape: Tape) -> bool:
    # The mean of float16 is summed in float32 only without out=.
    operand = op.args[0]
    return (
        isinstance(operand, Var)
        and tape[operand].spec.dtype == op.spec.dtype
        and op.spec.dtype != np.float16
    )


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
