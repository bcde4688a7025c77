"""Which calls may give an array of another shape for arguments of the same types."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.aliasing import is_fresh
from yota.rules.functional import cast, getitem, halt, identity, place, scatter, setitem
from yota.tape import Call, Tape, Var, vars_in

# Functions whose shape arguments are literals whenever only their first operand is a var.
_SHAPED_BY_FIRST = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims,
    np.broadcast_to, np.diagonal, np.diag, np.real, np.imag, np.flip, np.rollaxis, np.repeat,
    np.tile, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.ascontiguousarray, np.asarray,
    np.linalg.inv, np.linalg.cholesky, np.pad, np.rot90, np.fliplr, np.flipud, np.partition,
}  # fmt: skip
_KEEPS_SHAPE = {identity, halt, setitem, cast}
_SHAPED_BY_VALUES = {np.repeat, np.tile}


def may_vary(op: Call, tape: Tape) -> bool:
    """Tell whether the shape of the result may depend on values: so for all unknown functions."""
    if op.spec.kind != "array" or isinstance(op.fn, np.ufunc) or _is_one_of(op.fn, _KEEPS_SHAPE):
        return False
    if op.fn is getitem:
        return _index_may_vary(op.args[1], tape)
    if op.fn in (scatter, place):
        return any(True for _ in vars_in(op.args[2]))
    more = any(True for _ in vars_in((op.args[1:], tuple(v for _, v in op.kwargs))))
    if _is_one_of(op.fn, _SHAPED_BY_FIRST):
        return more
    return not is_fresh(op) or (more and _is_one_of(op.fn, _SHAPED_BY_VALUES))


def _index_may_vary(index: Any, tape: Tape) -> bool:
    items = index if type(index) is tuple else (index,)
    for item in items:
        if type(item) is slice and any(True for _ in vars_in(item)):
            return True
        if isinstance(item, Var) and tape[item].spec.dtype == bool:
            return True
        if type(item) in (list, tuple) and any(tape[v].spec.dtype == bool for v in vars_in(item)):
            return True
    return False


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
