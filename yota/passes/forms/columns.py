"""The form that takes a maximum along a short last axis column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.kernels import max_by_columns, min_by_columns
from yota.passes.forms.exact import axes_of, count, is_real_array
from yota.passes.work import Work
from yota.tape import Call, Spec, Var

_KERNELS = {
    np.max: max_by_columns, np.amax: max_by_columns,
    np.min: min_by_columns, np.amin: min_by_columns,
}  # fmt: skip
_MOST = 16
# Rows for each column from which the loop over columns is the quicker one.
_FEWEST = 32


def reduce_by_columns(work: Work) -> None:
    """Take the maximum or minimum of each of many short rows by comparing whole columns."""
    for fn, kernel in _KERNELS.items():
        for var, op in work.calls(fn):
            spec = work.spec(op.args[0])
            if spec is not None and work.is_free(var) and _pays(op, spec):
                _reduce(work, var, op, spec, kernel)


def _pays(op: Call, spec: Spec) -> bool:
    if not is_real_array(spec) or spec.order != "C" or len(spec.shape) < 2:
        return False
    columns = spec.shape[-1]
    if axes_of(op, len(spec.shape)) != (len(spec.shape) - 1,) or not 2 <= columns <= _MOST:
        return False
    return count(spec) >= _FEWEST * columns * columns


def _reduce(work: Work, var: Var, op: Call, spec: Spec, kernel: Any) -> None:
    x, columns = op.args[0], spec.shape[-1]
    rows = count(spec) // columns
    table = x
    if len(spec.shape) > 2:
        flat = Spec("array", spec.dtype, (rows, columns), "C")
        table = work.call(var, flat, np.reshape, x, (rows, columns))
    why = "columns: compared column by column"
    if op.spec.shape == (rows,):
        work.exchange(var, why, kernel, table)
        return
    best = work.call(var, Spec("array", spec.dtype, (rows,), "C"), kernel, table)
    work.exchange(var, why, np.reshape, best, op.spec.shape)
