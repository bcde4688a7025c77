"""Forms that sum with BLAS: sums and sums of products as dots, products as dots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.kernels import CHUNK, dot_in_chunks, sum_in_chunks
from yota.passes.forms.exact import axes_of, count, is_real_array
from yota.passes.work import Work
from yota.rules.functional import getitem
from yota.tape import Call, Spec, Var

# NumPy's own sum is as quick for longer arrays.
_LONGEST_WHOLE = 1 << 14


def sum_products(work: Work) -> None:
    """Sum a product of two arrays as their dot."""
    for var, op in work.calls(np.sum):
        x = op.args[0]
        pair = _factors(work, x) if _is_whole(work, var, op) else None
        if pair is None:
            continue
        work.swallow(x, var, f"products: it is summed as the dot of its factors by {var}")
        why = f"products: the dot of {pair[0]} and {pair[1]} for the sum of their products"
        first, second = (_flat(work, var, v) for v in pair)
        if count(work.ops[x].spec) <= CHUNK:
            work.exchange(var, why, np.dot, first, second)
        else:
            work.exchange(var, why, dot_in_chunks, first, second)


def _is_whole(work: Work, var: Var, op: Call) -> bool:
    """Tell whether a call sums all of a real array into a number."""
    spec = work.spec(op.args[0])
    if not is_real_array(spec) or spec is None or not work.is_free(var):
        return False
    axes = axes_of(op, len(spec.shape))
    return op.spec.kind == "scalar" and op.spec.dtype == spec.dtype and axes is not None


def _factors(work: Work, x: Any) -> tuple[Var, Var] | None:
    op = work.call_of(x, np.multiply, np.square)
    if op is None or op.kwargs or work.only_user(x) is None or not work.is_free(x):
        return None
    pair = op.args if op.fn is np.multiply else op.args * 2
    alike = all(work.spec(v) == op.spec for v in pair) and op.spec.order == "C"
    return (pair[0], pair[1]) if alike and count(op.spec) else None


def _flat(work: Work, at: Var, x: Var) -> Var:
    spec = work.ops[x].spec
    if len(spec.shape) == 1:
        return x
    flat = Spec("array", spec.dtype, (count(spec),), "C")
    return work.call(at, flat, np.reshape, x, (-1,))


def sum_with_ones(work: Work) -> None:
    """Sum over the first or last axes as a product with ones."""
    known: dict[Any, Var] = {}
    for var, op in work.calls(np.sum):
        spec = work.spec(op.args[0])
        if spec is None or not is_real_array(spec) or not work.is_free(var):
            continue
        axes = axes_of(op, len(spec.shape))
        if axes is None or not axes or spec.order != "C" or op.spec.dtype != spec.dtype:
            continue
        n, rest = math.prod(spec.shape[a] for a in axes), count(op.spec)
        if n < 2 or not rest or (rest == 1 and n > _LONGEST_WHOLE):
            continue
        _sum(work, var, op, axes, _ones(work, var, n, spec.dtype, known))


def _ones(work: Work, at: Var, n: int, dtype: Any, known: dict[Any, Var]) -> Var:
    n = min(n, CHUNK)
    if (n, dtype) not in known:
        known[n, dtype] = work.constant(np.ones(n, dtype), work.ops[at].origin)
    return known[n, dtype]


def _sum(work: Work, var: Var, op: Call, axes: tuple[int, ...], ones: Var) -> None:
    x = op.args[0]
    spec = work.ops[x].spec
    ndim, n = len(spec.shape), math.prod(spec.shape[a] for a in axes)
    shape: tuple[int, ...]
    if axes == tuple(range(len(axes))):
        shape, first = (n, count(spec) // n), True
    elif axes == tuple(range(ndim - len(axes), ndim)):
        shape, first = (count(spec) // n, n), False
    else:
        return
    if n > CHUNK and not first:
        return
    if len(axes) == ndim:
        shape = (n,)
    table = x
    if spec.shape != shape:
        table = work.call(var, Spec("array", spec.dtype, shape, "C"), np.reshape, x, shape)
    operands = (ones, table) if first else (table, ones)
    fn = np.dot if n <= CHUNK else sum_in_chunks
    why = f"sums: a product with ones for the sum of {x}"
    short = shape[1:] if first else shape[:1]
    if op.spec.shape == short:
        work.exchange(var, why, fn, *operands)
        return
    total = work.call(var, Spec("array", spec.dtype, short, "C"), fn, *operands)
    work.exchange(var, why, np.reshape, total, op.spec.shape)


def multiply_with_dot(work: Work) -> None:
    """Reach BLAS by np.dot, which has less to do before than np.matmul."""
    for var, op in work.calls(np.matmul):
        specs = [work.spec(x) for x in op.args]
        if op.kwargs or not work.is_free(var) or len(specs) != 2:
            continue
        plain = all(s is not None and is_real_array(s) and len(s.shape) <= 2 for s in specs)
        if plain and all(s is not None and s.dtype == op.spec.dtype for s in specs):
            work.exchange(var, "dots: np.dot for np.matmul", np.dot, *op.args)


def multiply_with_vector(work: Work) -> None:
    """Multiply a matrix by a vector instead of by a matrix of one column."""
    for var, op in work.calls(getitem):
        product = work.call_of(op.args[0], np.matmul)
        if product is None or product.kwargs or not work.is_free(var, op.args[0]):
            continue
        matrix, column = product.args
        spread = work.call_of(column, np.expand_dims)
        specs = (work.spec(matrix), work.spec(column))
        if spread is None or not all(s is not None and is_real_array(s) for s in specs):
            continue
        is_last = op.args[1] == (Ellipsis, 0) and spread.args[1:] == (-1,) and not spread.kwargs
        vector = spread.args[0]
        if is_last and len(specs[0].shape) == 2 and len(work.ops[vector].spec.shape) == 1:  # type: ignore[union-attr]
            work.exchange(var, "vectors: a vector for a column", np.matmul, matrix, vector)
            work.swallow(op.args[0], var, f"vectors: {var} has its elements")
