"""Rules of reductions and of running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.choices import through_nan
from yota.rules.functional import cast
from yota.rules.registry import (
    Live,
    conj,
    defvjp,
    is_complex,
    nondiff,
    real_dtype,
    refuse,
    refuse_real,
    unbroadcast,
    zero,
)

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
    if axis is None or ndim == 0:  # a number may be reduced along an axis 0 that it lacks
        return tuple(range(ndim))
    return tuple(k % ndim for k in (axis if isinstance(axis, tuple) else (axis,)))


def count(x: Array, axis: Axis, where: Array = True) -> Array:
    """Return how many elements each slice holds; an array with the reduced axes if masked."""
    if where is True:
        return math.prod(np.shape(x)[k] for k in axes_of(x, axis))
    mask = np.broadcast_to(where, np.shape(x))
    return np.sum(mask, axis=axis, dtype=real_dtype(x), keepdims=True)


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


def sum_initial_vjp(dy: Array, y: Array, a: Array, *_: Any, **__: Any) -> Array:
    """Pull back to what a sum starts from."""
    return np.sum(dy)


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


def spread_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, *, where: Array = True, mean: Array = None,
    correction: float | None = None,
) -> Array:  # fmt: skip
    """Pull back through the mean square of the deviations, to each deviation."""
    refuse_real("a variance", dtype, a)
    if is_complex(mean) and not is_complex(a):  # NumPy squares the complex deviations
        refuse("a variance of real numbers", "give a real mean", mean="complex")
    ddof = ddof if correction is None else correction
    centre = np.mean(a, axis=axis, keepdims=True, **masked(where)) if mean is None else mean
    scaled = restore(dy, a, axis, keepdims) / (count(a, axis, where) - ddof)
    dx = scaled * (2 * conj(a - centre))
    return dx if where is True else np.where(where, dx, 0)


def var_vjp(dy: Array, y: Array, a: Array, *args: Any, **options: Any) -> Array:
    """Pull back to what deviates: a mean that was computed is stationary, one given is fixed."""
    return unbroadcast(spread_vjp(dy, y, a, *args, **options), np.shape(a))


def var_mean_vjp(dy: Array, y: Array, a: Array, *args: Any, mean: Array, **options: Any) -> Array:
    """Pull back to a mean that was given."""
    return unbroadcast(-spread_vjp(dy, y, a, *args, mean=mean, **options), np.shape(mean))


def std_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, **options: Any,
) -> Array:  # fmt: skip
    """Pull back through the root of the variance; 0 for a constant slice."""
    return var_vjp(halved(dy, y), y, a, axis, dtype, out, ddof, keepdims, **options)


def halved(dy: Array, y: Array) -> Array:
    """Pull back through the root of a variance; 0 where it is 0."""
    still = np.equal(y, 0)
    return np.where(still, 0, dy / (2 * np.where(still, 1, y)))


def std_mean_vjp(dy: Array, y: Array, a: Array, *args: Any, **options: Any) -> Array:
    """Pull back to a mean that was given."""
    return var_mean_vjp(halved(dy, y), y, a, *args, **options)


def around_nans_vjp(rule: Callable[..., Array]) -> Callable[..., Array]:
    """Return a rule that leaves NaNs out by a mask."""

    def pulled(
        dy: Array, y: Array, a: Array, *args: Any, where: Array = True, **options: Any
    ) -> Array:
        return rule(dy, y, a, *args, where=present(a, where), **options)

    return pulled


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
    hit, share = extreme_shares(dy, y, a, axis, keepdims, initial, where)
    return np.where(hit, share, 0)


def extreme_shares(
    dy: Array, y: Array, a: Array, axis: Axis, keepdims: bool, initial: Any, where: Array
) -> tuple[Array, Array]:
    """Return which elements are the extreme, and what each of them, and `initial`, gets."""
    y = restore(y, a, axis, keepdims)
    hit = np.equal(a, y)
    if where is not True:
        hit = np.logical_and(hit, where)
    hits = np.sum(hit, axis=axis, dtype=real_dtype(a), keepdims=True)
    if initial is not None:
        hits = hits + np.equal(y, in_dtype_of(y, initial))
    return hit, restore(dy, a, axis, keepdims) / np.maximum(hits, 1)


def extreme_initial_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to the value that an extreme starts from; it shares with the elements it equals."""
    _, share = extreme_shares(dy, y, a, axis, keepdims, initial, where)
    hit = np.equal(restore(y, a, axis, keepdims), in_dtype_of(y, initial))
    return np.sum(np.where(hit, share, 0))


def in_dtype_of(y: Array, initial: Array) -> Array:
    """Return what an extreme starts from as NumPy compares it: in the result's dtype."""
    dtype = np.result_type(y)
    return initial if np.result_type(initial) == dtype else cast(initial, dtype)


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


def prod_initial_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 1, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to what a product starts from."""
    refuse_real("a product", dtype, a)
    return np.sum(dy * np.prod(a, axis=axis, keepdims=keepdims, where=where))


def nanprod_initial_vjp(
    dy: Array, y: Array, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = 1, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to what a product starts from, around the NaNs."""
    seen = present(a, where)
    return prod_initial_vjp(dy, y, a, axis, dtype, out, keepdims, initial, seen)


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


_fn: Any
_rule: Any
_rest = (zero,) * 4
for _fn, _rules, _options in (
    (np.sum, (sum_vjp, sum_initial_vjp), {"live": Live.MOVES, "sees": through_where(5)}),
    (np.nansum, (nansum_vjp, sum_initial_vjp), {"live": Live.SELECTS}),
    (np.prod, (prod_vjp, prod_initial_vjp), {"sees": through_where(5)}),
    (np.nanprod, (nanprod_vjp, nanprod_initial_vjp), {"sees": around_nans(5)}),
):
    defvjp(_fn, _rules[0], *_rest, _rules[1], keywords={"initial": _rules[1]}, **_options)
defvjp(np.mean, mean_vjp, live=Live.MOVES, sees=through_where())
defvjp(np.nanmean, nanmean_vjp, live=Live.SELECTS)
defvjp(np.average, average_vjp, None, average_weights_vjp)
for _fn, _rule, _mean_rule in ((np.var, var_vjp, var_mean_vjp), (np.std, std_vjp, std_mean_vjp)):
    defvjp(_fn, _rule, sees=through_where(), keywords={"mean": _mean_rule})
    defvjp(
        getattr(np, f"nan{_fn.__name__}"),
        around_nans_vjp(_rule),
        sees=around_nans(),
        keywords={"mean": around_nans_vjp(_mean_rule)},
    )
for _fn, _rule in (
    (np.max, extreme_vjp),
    (np.min, extreme_vjp),
    (np.amax, extreme_vjp),
    (np.amin, extreme_vjp),
    (np.nanmax, number_extreme_vjp),
    (np.nanmin, number_extreme_vjp),
):
    defvjp(
        _fn, _rule, zero, zero, zero, extreme_initial_vjp,
        live=Live.SELECTS, keywords={"initial": extreme_initial_vjp},
    )  # fmt: skip
defvjp(np.ptp, ptp_vjp)
for _fn in (np.all, np.any, np.count_nonzero, np.array_equal, np.array_equiv, np.allclose):
    nondiff(_fn)
for _fn in (np.isclose, np.argmax, np.argmin, np.nanargmax, np.nanargmin):
    nondiff(_fn)
