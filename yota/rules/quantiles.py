"""Rules of medians and quantiles: each is a mean of two neighbours among the sorted elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.choices import through_nan
from yota.rules.reduce import axes_of, present, restore
from yota.rules.registry import Live, defvjp, primitive, real_dtype, refuse, zero

Array = Any
KEEP_INPUT = "the operand is needed as it was, so leave it away"
# The place among n sorted elements, from 0, is (n + growth) * q + start; other methods take steps.
PLACES = {
    "linear": (-1.0, 0.0),
    "interpolated_inverted_cdf": (0.0, -1.0),
    "hazen": (0.0, -0.5),
    "weibull": (1.0, -1.0),
    "median_unbiased": (1 / 3, -2 / 3),
    "normal_unbiased": (0.25, -0.625),
}


@primitive
def places(count: Array, q: Array, method: str, percent: int, dtype: Any) -> Array:
    """Return where quantiles of `count` sorted elements lie: 2.25 is between numbers 2 and 3.

    NumPy itself tells, of numbers that stand in order.  The axes of `q` come first.
    """
    quantile: Any = np.quantile if percent == 1 else np.percentile
    at = np.zeros(np.shape(q) + np.shape(count))
    for n in np.unique(count):
        if n > 0:
            of_n = np.asarray(quantile(np.arange(n).astype(dtype), q, method=method))
            at = np.where(count == n, of_n.reshape(np.shape(q) + (1,) * np.ndim(count)), at)
    return at


def places_vjp(
    dy: Array, y: Array, count: Array, q: Array, method: str, percent: int, dtype: Any
) -> Array | None:
    """Pull back to q; where a place would lie outside, and of methods that take steps, it is 0."""
    if method not in PLACES:
        return None
    growth, start = PLACES[method]
    q = np.reshape(q, np.shape(q) + (1,) * np.ndim(count))
    raw = (count + growth) * (q / percent) + start
    inside = np.logical_and(np.greater_equal(raw, 0), np.less(raw, count - 1))
    slope = np.where(inside, dy * ((count + growth) / percent), 0)
    return np.sum(slope, axis=tuple(range(np.ndim(slope) - np.ndim(count), np.ndim(slope))))


defvjp(places, zero, places_vjp)


def ranks(a: Array, axis: Any) -> Array:
    """Return each element's place in its sorted slice."""
    axes = axes_of(a, axis)
    rest = tuple(k for k in range(np.ndim(a)) if k not in axes)
    order = rest + axes
    moved = np.transpose(a, order)
    shape = np.shape(moved)
    lead = shape[: len(rest)]
    flat = np.reshape(moved, (*lead, math.prod(shape[len(rest) :])))
    rank = np.argsort(np.argsort(flat, axis=-1, kind="stable"), axis=-1)
    return np.transpose(np.reshape(rank, shape), [int(k) for k in np.argsort(order)])


def counted(a: Array, axis: Any, skips_nans: bool) -> Array:
    """Return how many elements each slice holds, in a shape that broadcasts against `a`."""
    if skips_nans:
        return np.sum(present(a), axis=axis, keepdims=True)
    return np.full((1,) * np.ndim(a), math.prod(np.shape(a)[k] for k in axes_of(a, axis)))


def between(dy: Array, rank: Array, at: Array, dtype: Any) -> Array:
    """Share a cotangent between the elements below and above a place, by its distance to them."""
    low = np.floor(at)
    above = (at - low).astype(dtype)
    below = np.where(np.equal(rank, low), dy * (1 - above), 0)
    return below + np.where(np.equal(rank, low + 1), dy * above, 0)


def spread_back(dy: Array, a: Array, axis: Any, at: Array, skips_nans: bool) -> Array:
    """Pull back to the elements beside each place; `at` has the axes of q in front."""
    lead = tuple(range(np.ndim(at) - np.ndim(a)))
    dx = np.sum(between(dy, ranks(a, axis), at, real_dtype(a)), axis=lead)
    if skips_nans:
        return np.where(present(a), dx, 0)
    # no comparison tells a slope where the value is NaN
    return through_nan(np.sum(dy, axis=lead), dx, a)


def with_reduced_axes(r: Array, a: Array, q: Array, axis: Any, keepdims: bool) -> Array:
    """Give a quantile's result, or its cotangent, the reduced axes behind the axes of q."""
    lead = np.ndim(q)
    if keepdims or np.ndim(a) == 0:
        return r
    return np.expand_dims(r, tuple(lead + k for k in axes_of(a, axis)))


def quantile_vjp(percent: int, skips_nans: bool) -> Callable[..., Array]:
    """Return the rule of a quantile with respect to the data.

    Equal elements are told apart by their order.  With weights, which choose one element by
    inverted_cdf, the elements that have its value share equally.
    """

    def pulled(
        dy: Array, y: Array, a: Array, q: Any, axis: Any = None, out: Any = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False,
        *, weights: Any = None, interpolation: Any = None,
    ) -> Array:  # fmt: skip
        refuse("quantiles", KEEP_INPUT, overwrite_input=overwrite_input)
        if not np.size(a):
            return np.zeros_like(a)
        keepdims = keepdims is True
        dy = with_reduced_axes(dy, a, q, axis, keepdims)
        if weights is not None:
            return equal_share(dy, with_reduced_axes(y, a, q, axis, keepdims), a, axis)
        at = placed(a, q, axis, as_method(method, interpolation), percent, skips_nans)
        return spread_back(dy, a, axis, at, skips_nans)

    return pulled


def as_method(method: str, interpolation: Any) -> str:
    """Return the method, also given under its old name."""
    return str(method if interpolation is None else interpolation)


def placed(a: Array, q: Any, axis: Any, method: str, percent: int, skips_nans: bool) -> Array:
    """Return where the quantiles of each slice lie, computed in the precision that NumPy uses."""
    dtype = np.promote_types(real_dtype(a), np.float32)
    return places(counted(a, axis, skips_nans), q, method, percent, dtype)


def equal_share(dy: Array, y: Array, a: Array, axis: Any) -> Array:
    """Pull back to the elements of each slice that have the value; `y` has q's axes in front."""
    hit = np.equal(a, y)
    hits = np.sum(hit, axis=tuple(k - np.ndim(a) for k in axes_of(a, axis)), keepdims=True)
    dx = np.where(hit, dy / np.maximum(hits, 1).astype(real_dtype(a)), 0)
    lead = np.ndim(dx) - np.ndim(a)
    return np.sum(dx, axis=tuple(range(lead))) if lead else dx


def quantile_place_vjp(percent: int, skips_nans: bool) -> Callable[..., Array]:
    """Return the rule of a quantile with respect to q: the gap that it lies in, times n.

    At an element the gap above counts, at the last one there is none; methods that take steps have
    no slope.
    """

    def pulled(
        dy: Array, y: Array, a: Array, q: Array, axis: Any = None, out: Any = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False,
        *, weights: Any = None, interpolation: Any = None,
    ) -> Array | None:  # fmt: skip
        method = as_method(method, interpolation)
        if weights is not None or not np.size(a):
            return None
        refuse("quantiles", KEEP_INPUT, overwrite_input=overwrite_input)
        dy = with_reduced_axes(dy, a, q, axis, keepdims is True)
        at = placed(a, q, axis, method, percent, skips_nans)
        low, rank = np.floor(at), ranks(a, axis)
        gap = np.where(np.equal(rank, low + 1), a, 0) - np.where(np.equal(rank, low), a, 0)
        count = counted(a, axis, skips_nans)
        return places_vjp(dy * gap, at, count, q, method, percent, None)

    return pulled


def median_vjp(skips_nans: bool) -> Callable[..., Array]:
    """Return the rule of a median: the middle element, or in halves the middle two.

    Equal elements are told apart by their order.
    """

    def pulled(
        dy: Array, y: Array, a: Array, axis: Any = None, out: Any = None,
        overwrite_input: bool = False, keepdims: bool = False,
    ) -> Array:  # fmt: skip
        refuse("np.median", KEEP_INPUT, overwrite_input=overwrite_input)
        at = (counted(a, axis, skips_nans) - 1) * 0.5
        dy = restore(dy, a, axis, keepdims is True)
        return spread_back(dy, a, axis, at, skips_nans)

    return pulled


def chosen(percent: int, skips_nans: bool) -> Callable[..., Any]:
    """Return what a quantile sees: the elements beside its places."""

    def sees(
        a: Array, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: bool = False, *, weights: Any = None,
        interpolation: Any = None,
    ) -> Any:  # fmt: skip
        def make() -> Array:
            at = placed(a, q, axis, as_method(method, interpolation), percent, skips_nans)
            return np.not_equal(spread_back(np.ones(np.shape(at)), a, axis, at, skips_nans), 0)

        return None if weights is not None else make

    return sees


for _fn, _how in {
    np.quantile: (1, False),
    np.percentile: (100, False),
    np.nanquantile: (1, True),
    np.nanpercentile: (100, True),
}.items():
    defvjp(_fn, quantile_vjp(*_how), quantile_place_vjp(*_how), sees=chosen(*_how))
defvjp(np.median, median_vjp(False), live=Live.SELECTS)
defvjp(np.nanmedian, median_vjp(True), live=Live.SELECTS)
