"""Rules of reductions and of running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.elementwise import slope_of_abs, through_nan
from yota.rules.registry import Live, conj, defvjp, nondiff, refuse_real

Array = Any
Axis = int | tuple[int, ...] | None


def restore(r: Array, x: Array, axis: Axis, keepdims: bool) -> Array:
    """Give a reduction's result, or its cotangent, the reduced axes of `x` back as length 1."""
    ndim = np.ndim(x)
    if keepdims or ndim == 0 or axis == ():
        return r
    return np.expand_dims(r, tuple(range(ndim)) if axis is None else axis)


def spread(r: Array, x: Array, axis: Axis, keepdims: bool, where: Array = True) -> Array:
    """Hand each element of `x` the cotangent of its slice, 0 where `where` left it out."""
    full = np.broadcast_to(restore(r, x, axis, keepdims), np.shape(x))
    return full if where is True else np.where(where, full, 0)


def axes_of(x: Array, axis: Axis) -> tuple[int, ...]:
    """Return the reduced axes as nonnegative numbers."""
    ndim = np.ndim(x)
    if axis is None:
        return tuple(range(ndim))
    return tuple(k % ndim for k in (axis if isinstance(axis, tuple) else (axis,)))


def count(x: Array, axis: Axis, where: Array = True) -> Array:
    """Return how many elements each slice holds; an array with the reduced axes if masked."""
    if where is True:
        return math.prod(np.shape(x)[k] for k in axes_of(x, axis))
    mask = np.broadcast_to(where, np.shape(x))
    return np.sum(mask, axis=axis, dtype=real_dtype(x), keepdims=True)


def real_dtype(x: Array) -> Any:
    """Return the dtype of |x|, so that counts and weights do not widen single precision."""
    dtype = getattr(x, "dtype", np.dtype(float))
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return dtype if dtype.kind == "f" else np.dtype(float)


def masked(where: Array) -> dict[str, Array]:
    """Return the `where` option, if there is one to pass on."""
    return {} if where is True else {"where": where}


# Sums and means.


def sum_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 0, where: Array = True,
) -> Array:  # fmt: skip
    """Give every summand the cotangent of its sum."""
    return spread(dy, a, axis, keepdims, where)


def mean_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, *, where: Array = True,
) -> Array:  # fmt: skip
    """Give every element its share of the mean's cotangent."""
    return spread(restore(dy, a, axis, keepdims) / count(a, axis, where), a, axis, True, where)


def nansum_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 0, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back as sum does, around the NaNs."""
    return spread(dy, a, axis, keepdims, present(a, where))


def nanmean_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, *, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back as mean does, around the NaNs."""
    return mean_vjp(dy, y, a, axis, dtype, out, keepdims, where=present(a, where))


def present(a: Array, where: Array = True) -> Array:
    """Return the mask of what a nan-function looks at."""
    there = np.logical_not(np.isnan(a))
    return there if where is True else np.logical_and(there, where)


def through_where(position: int = 99) -> Callable[..., Any]:
    """Return what a reduction sees; `where` may stand at this place behind its first operand."""

    def sees(a: Array, *args: Any, **options: Any) -> Any:
        where = args[position] if position < len(args) else options.get("where", True)
        if where is True or where is np._NoValue:
            return None
        return lambda: np.broadcast_to(where, np.shape(a))

    return sees


def around_nans(position: int = 99) -> Callable[..., Any]:
    """Return what a nan-function sees; `where` may stand at this place."""
    shown = through_where(position)

    def sees(a: Array, *args: Any, **options: Any) -> Any:
        masked = shown(a, *args, **options)
        return lambda: present(a) if masked is None else present(a, masked())

    return sees


def average_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, weights: Array = None,
    returned: bool = False, *, keepdims: bool = False,
) -> Array:  # fmt: skip
    """Pull a weighted average back to what is averaged."""
    dy = restore(dy[0] if returned else dy, a, axis, keepdims)
    if weights is None:
        return spread(dy / count(a, axis), a, axis, True)
    w = aligned_weights(a, axis, weights)
    return dy * (w / np.sum(w, axis=axis, keepdims=True))


def average_weights_vjp(
    dy: Array, y: Array, a: Array, axis: Axis, weights: Array,
    returned: bool = False, *, keepdims: bool = False,
) -> Array:  # fmt: skip
    """Pull a weighted average back to its weights."""
    w = aligned_weights(a, axis, weights)
    mean = restore(y[0] if returned else y, a, axis, keepdims)
    total = np.sum(w, axis=axis, keepdims=True)
    dw = restore(dy[0] if returned else dy, a, axis, keepdims) * ((a - mean) / total)
    if returned:
        dw = dw + restore(dy[1], a, axis, keepdims)
    if np.shape(weights) == np.shape(a):
        return dw
    axes = axes_of(a, axis)
    dw = np.sum(dw, axis=tuple(k for k in range(np.ndim(a)) if k not in axes))
    return np.transpose(dw, [int(k) for k in np.argsort(np.argsort(axes))])


def aligned_weights(a: Array, axis: Axis, weights: Array) -> Array:
    """Return the weights, given along `axis` only, in a shape that broadcasts against `a`."""
    if np.shape(weights) == np.shape(a):
        return weights
    axes = axes_of(a, axis)
    w = np.transpose(weights, [int(k) for k in np.argsort(axes)])
    shape = tuple(n if k in axes else 1 for k, n in enumerate(np.shape(a)))
    return np.broadcast_to(np.reshape(w, shape), np.shape(a))


# Spread.


def var_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, *, where: Array = True, mean: Array = None,
    correction: float | None = None,
) -> Array:  # fmt: skip
    """Pull back through the mean square of the deviations."""
    refuse_real("a variance", dtype, a)
    ddof = ddof if correction is None else correction
    centre = np.mean(a, axis=axis, keepdims=True, **masked(where)) if mean is None else mean
    scaled = restore(dy, a, axis, keepdims) / (count(a, axis, where) - ddof)
    dx = scaled * (2 * conj(a - centre))
    return dx if where is True else np.where(where, dx, 0)


def std_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, **options: Any,
) -> Array:  # fmt: skip
    """Pull back through the root of the variance; 0 for a constant slice."""
    still = np.equal(y, 0)
    halved = np.where(still, 0, dy / (2 * np.where(still, 1, y)))
    return var_vjp(halved, y, a, axis, dtype, out, ddof, keepdims, **options)


def nanvar_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, *, where: Array = True, **options: Any,
) -> Array:  # fmt: skip
    """Pull back as var does, around the NaNs."""
    seen = present(a, where)
    return var_vjp(dy, y, a, axis, dtype, out, ddof, keepdims, where=seen, **options)


def nanstd_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, *, where: Array = True, **options: Any,
) -> Array:  # fmt: skip
    """Pull back as std does, around the NaNs."""
    seen = present(a, where)
    return std_vjp(dy, y, a, axis, dtype, out, ddof, keepdims, where=seen, **options)


# Extremes.


def extreme_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to where the extreme stands, ties share equally; a NaN is what made it NaN."""
    dx = number_extreme_vjp(dy, y, a, axis, out, keepdims, initial, where)
    return through_nan(spread(dy, a, axis, keepdims, where), dx, a)


def number_extreme_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to where the extreme of the numbers stands; ties share equally."""
    hit = np.equal(a, restore(y, a, axis, keepdims))
    if where is not True:
        hit = np.logical_and(hit, where)
    hits = np.sum(hit, axis=axis, dtype=real_dtype(a), keepdims=True)
    share = restore(dy, a, axis, keepdims) / np.maximum(hits, 1)
    return np.where(hit, share, 0)


def ptp_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False
) -> Array:
    """Pull back as the maximum less the minimum does."""
    high = np.max(a, axis=axis, keepdims=keepdims)
    low = np.min(a, axis=axis, keepdims=keepdims)
    high_dx = extreme_vjp(dy, high, a, axis, None, keepdims)
    return high_dx - extreme_vjp(dy, low, a, axis, None, keepdims)


# Products.


def prod_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 1, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back with the product of the others, found without a division: zeros are no matter."""
    refuse_real("a product", dtype, a)
    kept = a if where is True else np.where(where, a, 1)
    dx = restore(dy, a, axis, keepdims) * products_of_others(kept, axes_of(a, axis))
    dx = dx if type(initial) is int and initial == 1 else dx * initial
    return dx if where is True else np.where(where, dx, 0)


def nanprod_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 1, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back as prod does, around the NaNs."""
    seen = present(a, where)
    return prod_vjp(dy, y, a, axis, dtype, out, keepdims, initial, seen)


def products_of_others(x: Array, axes: tuple[int, ...]) -> Array:
    """Return for each element the product of all others along `axes`, by a tree of pairs."""
    rest = tuple(k for k in range(np.ndim(x)) if k not in axes)
    order = rest + axes
    moved = np.transpose(x, order)
    shape = np.shape(moved)
    lead = shape[: len(rest)]
    flat = np.reshape(moved, (*lead, math.prod(shape[len(rest) :])))
    others = np.reshape(_others_along_last(flat), shape)
    return np.transpose(others, [int(k) for k in np.argsort(order)])


def _others_along_last(x: Array) -> Array:
    lead, n = np.shape(x)[:-1], np.shape(x)[-1]
    if n <= 1:
        return np.ones_like(x)
    padded = np.concatenate([x, np.ones((*lead, 1), real_dtype(x))], axis=-1) if n % 2 else x
    left, right = padded[..., 0::2], padded[..., 1::2]
    outside = _others_along_last(left * right)
    pairs = np.stack([outside * right, outside * left], axis=-1)
    return np.reshape(pairs, (*lead, n + n % 2))[..., :n]


# Running sums and products.


def cumsum_vjp(
    dy: Array, y: Array, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
) -> Array:
    """Sum the cotangents from the far end."""
    return np.reshape(backward_cumsum(dy, 0 if axis is None else axis), np.shape(a))


def backward_cumsum(dy: Array, axis: int) -> Array:
    """Return the sum over all elements from here to the end."""
    return np.flip(np.cumsum(np.flip(dy, axis), axis=axis), axis)


def nancumsum_vjp(
    dy: Array, y: Array, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
) -> Array:
    """Pull back as cumsum does, around the NaNs."""
    return np.where(np.isnan(a), 0, cumsum_vjp(dy, y, a, axis))


def cumprod_vjp(
    dy: Array, y: Array, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
) -> Array:
    """Pull back without a division: the product before, times a recurrence from the far end."""
    refuse_real("a product", dtype, a)
    flat = np.reshape(a, (math.prod(np.shape(a)),)) if axis is None else np.moveaxis(a, axis, -1)
    g = dy if axis is None else np.moveaxis(dy, axis, -1)
    p = y if axis is None else np.moveaxis(y, axis, -1)
    if np.shape(flat)[-1] == 0:
        return dy
    before = shifted(p, 1, 1)
    factors = np.flip(shifted(np.flip(flat, -1), 1, 1), -1)
    dx = before * np.flip(recurrence(np.flip(factors, -1), np.flip(g, -1)), -1)
    return np.reshape(dx, np.shape(a)) if axis is None else np.moveaxis(dx, -1, axis)


def nancumprod_vjp(
    dy: Array, y: Array, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
) -> Array:
    """Pull back as cumprod does, around the NaNs."""
    gone = np.isnan(a)
    return np.where(gone, 0, cumprod_vjp(dy, y, np.where(gone, 1, a), axis, dtype))


def shifted(x: Array, by: int, fill: int) -> Array:
    """Shift along the last axis; `fill` enters at the front."""
    shape = np.shape(x)
    head = np.full((*shape[:-1], by), fill, real_dtype(x))
    return np.concatenate([head, x[..., : shape[-1] - by]], axis=-1)


def recurrence(a: Array, b: Array) -> Array:
    """Return s with s[k] = b[k] + a[k] * s[k-1] along the last axis, in log2(n) steps.

    Recursive doubling: Hillis and Steele, Data Parallel Algorithms, 1986.
    """
    n, by = np.shape(b)[-1], 1
    while by < n:
        b = b + a * shifted(b, by, 0)
        a = a * shifted(a, by, 0)
        by *= 2
    return b


def cumulative_vjp(rule: Callable[..., Array]) -> Callable[..., Array]:
    """Adapt a running rule to the array API's names."""

    def pulled(
        dy: Array, y: Array, x: Array, /, *, axis: int | None = None, dtype: Any = None,
        out: Any = None, include_initial: bool = False,
    ) -> Array:  # fmt: skip
        axis = 0 if axis is None else axis
        if include_initial:
            behind = (slice(None),) * (axis % np.ndim(x)) + (slice(1, None),)
            dy, y = dy[behind], y[behind]
        return rule(dy, y, x, axis, dtype)

    return pulled


# Norms of vectors; those of matrices stand in linalg.


def vector_norm_vjp(
    dy: Array, y: Array, x: Array, axis: Axis, keepdims: bool, order: float | None
) -> Array | None:
    """Pull back through a p-norm over one or more axes; at 0 the slope is taken as 0."""
    if order == 0:
        return None
    if order in (math.inf, -math.inf):
        return extreme_vjp(dy, y, np.absolute(x), axis, None, keepdims) * slope_of_abs(x)
    dy, y = restore(dy, x, axis, keepdims), restore(y, x, axis, keepdims)
    if order == 1:
        return dy * slope_of_abs(x)
    still = np.equal(y, 0)
    y = np.where(still, 1, y)
    if order is None or order == 2:
        return np.where(still, 0, dy / y) * conj(x)
    ratio = np.absolute(x) / y
    return np.where(still, 0, dy) * (slope_of_abs(x) * ratio ** (order - 1))


_fn: Any
defvjp(np.sum, sum_vjp, live=Live.MOVES, sees=through_where(5))
defvjp(np.nansum, nansum_vjp, live=Live.SELECTS)
defvjp(np.mean, mean_vjp, live=Live.MOVES, sees=through_where())
defvjp(np.nanmean, nanmean_vjp, live=Live.SELECTS)
defvjp(np.average, average_vjp, None, average_weights_vjp)
defvjp(np.var, var_vjp, sees=through_where())
defvjp(np.std, std_vjp, sees=through_where())
defvjp(np.nanvar, nanvar_vjp, sees=around_nans())
defvjp(np.nanstd, nanstd_vjp, sees=around_nans())
for _fn in (np.max, np.min, np.amax, np.amin):
    defvjp(_fn, extreme_vjp, live=Live.SELECTS)
for _fn in (np.nanmax, np.nanmin):
    defvjp(_fn, number_extreme_vjp, live=Live.SELECTS)
defvjp(np.ptp, ptp_vjp)
defvjp(np.prod, prod_vjp, sees=through_where(5))
defvjp(np.nanprod, nanprod_vjp, sees=around_nans(5))
defvjp(np.cumsum, cumsum_vjp, live=Live.MOVES)
defvjp(np.nancumsum, nancumsum_vjp, live=Live.SELECTS)
defvjp(np.cumprod, cumprod_vjp)
defvjp(np.nancumprod, nancumprod_vjp, sees=around_nans())
if hasattr(np, "cumulative_sum"):
    defvjp(np.cumulative_sum, cumulative_vjp(cumsum_vjp), live=Live.MOVES)
    defvjp(np.cumulative_prod, cumulative_vjp(cumprod_vjp))

for _fn in (np.all, np.any, np.count_nonzero, np.array_equal, np.array_equiv, np.allclose):
    nondiff(_fn)
for _fn in (np.isclose, np.argmax, np.argmin, np.nanargmax, np.nanargmin):
    nondiff(_fn)
