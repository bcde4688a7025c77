"""Which calls give another shape or dtype for other values of the same types."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from yota.rules.functional import getitem
from yota.rules.registry import PRIMITIVES
from yota.tape import Call, Constant, Tape, Var, vars_in

_SHAPED_BY_VALUES = {
    np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.union1d, np.intersect1d, np.setdiff1d,
    np.setxor1d, np.trim_zeros, np.unique_all, np.unique_counts, np.unique_inverse,
    np.unique_values, np.linalg.lstsq,
}  # fmt: skip
_SHAPED_BY_OPERANDS = {np.compress, np.extract, np.repeat, np.delete, np.bincount, np.resize}
_TYPED_BY_VALUES = {
    np.linalg.eig, np.linalg.eigvals, np.poly, np.real_if_close, np.roots, np.emath.sqrt,
    np.emath.log, np.emath.log2, np.emath.log10, np.emath.logn, np.emath.power, np.emath.arcsin,
    np.emath.arccos, np.emath.arctanh,
}  # fmt: skip


def shape_varies(op: Call, tape: Tape) -> bool:
    """Tell whether the result's shape depends on values."""
    fn = op.fn
    if fn is getitem:
        return _index_varies(op.args[1], tape)
    if isinstance(fn, np.ufunc) or not _is_hashable(fn):
        return False
    if fn in _SHAPED_BY_VALUES:
        return True
    if fn is np.where:
        return len(op.args) == 1
    if fn in _SHAPED_BY_OPERANDS:
        return any(_is_integral(v, tape) for v in op.operands)
    return fn in PRIMITIVES and not (fn.__module__ or "").startswith("yota.")


def dtype_varies(op: Call, tape: Tape) -> bool:
    """Tell whether the result's dtype depends on values, as of a negative float to a half."""
    if op.fn is operator.pow:
        return op.spec.weak and op.spec.dtype.kind in "fc" and type(op.args[1]) is not int
    if getattr(op.fn, "__yota_typed_by_values__", False):
        return True
    return _is_hashable(op.fn) and op.fn in _TYPED_BY_VALUES


def _index_varies(index: Any, tape: Tape) -> bool:
    for item in index if type(index) is tuple else (index,):
        if type(item) is slice and any(True for _ in vars_in(item)):
            return True
        if any(tape[v].spec.dtype == bool and not _is_fixed(v, tape) for v in vars_in(item)):
            return True
    return False


def _is_fixed(var: Var, tape: Tape) -> bool:
    return isinstance(tape[var], Constant)


def _is_integral(var: Var, tape: Tape) -> bool:
    dtype = tape[var].spec.dtype
    return dtype is not None and dtype.kind in "biu" and not _is_fixed(var, tape)


def _is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True
