"""Rules of spaced points, differences between neighbours, and interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.choices import through_nan
from yota.rules.functional import cast, place, scatter
from yota.rules.index import along
from yota.rules.registry import composed, defvjp, unbroadcast, zero

Array = Any


# Points between two ends.


def shares(position: int, num: int, endpoint: bool) -> Array:
    """Return how much of each point is start (0) or stop (1)."""
    t = np.linspace(0.0, 1.0, num, endpoint)
    return t if position else 1 - t


def linspace_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one end of an even spacing."""

    def pulled(
        dy: Any, y: Any, start: Array, stop: Array, num: int = 50, endpoint: bool = True,
        retstep: bool = False, dtype: Any = None, axis: int = 0, **_: Any,
    ) -> Array:  # fmt: skip
        g = np.moveaxis(dy[0] if retstep else dy, axis, -1)
        dx = np.sum(g * shares(position, num, endpoint), axis=-1)
        gaps = num - 1 if endpoint else num
        if retstep and gaps > 0:
            step = dy[1] / gaps
            dx = dx + (step if position else -step)
        return unbroadcast(dx, np.shape((start, stop)[position]))

    return pulled


def geomspace_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one end of a geometric spacing: y = start^(1-t) stop^t."""

    def pulled(
        dy: Array, y: Array, start: Array, stop: Array, num: int = 50, endpoint: bool = True,
        dtype: Any = None, axis: int = 0,
    ) -> Array:  # fmt: skip
        end = (start, stop)[position]
        g = np.moveaxis(dy * y, axis, -1)
        dx = np.sum(g * shares(position, num, endpoint), axis=-1) / end
        return unbroadcast(dx, np.shape(end))

    return pulled


def logspace_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one end of a spacing of exponents."""

    def pulled(
        dy: Array, y: Array, start: Array, stop: Array, num: int = 50, endpoint: bool = True,
        base: Array = 10.0, dtype: Any = None, axis: int = 0,
    ) -> Array:  # fmt: skip
        g = np.moveaxis(dy * y, axis, -1)
        dx = np.sum(g * shares(position, num, endpoint), axis=-1) * np.log(base)
        return unbroadcast(dx, np.shape((start, stop)[position]))

    return pulled


def logspace_base_vjp(
    dy: Array, y: Array, start: Array, stop: Array, num: int, endpoint: bool, base: Array,
    dtype: Any = None, axis: int = 0,
) -> Array:  # fmt: skip
    """Pull back to the base of a spacing of exponents."""
    ends = np.broadcast_arrays(start, stop, base)
    exponents = np.linspace(ends[0], ends[1], num, endpoint, axis=-1)
    g = np.moveaxis(dy * y, axis, -1) * exponents
    return unbroadcast(np.sum(g, axis=-1) / base, np.shape(base))


# Differences.


def diff_vjp(which: str) -> Callable[..., Array]:
    """Return the rule of differences: those of the cotangent, with the opposite sign, n times."""

    def pulled(
        dy: Array, y: Array, a: Array, n: int = 1, axis: int = -1, prepend: Any = None,
        append: Any = None,
    ) -> Array:  # fmt: skip
        for _ in range(n):
            shape = list(np.shape(dy))
            shape[axis] = 1
            edge = cast(np.zeros(shape), dy.dtype)
            dy = -np.diff(np.concatenate([edge, dy, edge], axis=axis), axis=axis)
        parts = {"prepend": prepend, "a": a, "append": append}
        if n == 0:  # NumPy returns `a` alone
            return dy if which == "a" else np.zeros_like(parts[which])
        start = 0
        for name, part in parts.items():
            length = _length(part, axis)
            if name == which:
                piece = dy[along(axis, np.ndim(dy), slice(start, start + length))]
                return unbroadcast(piece, np.shape(part))
            start += length
        raise KeyError(which)

    return pulled


def _length(part: Any, axis: int) -> int:
    if part is None or part is np._NoValue:
        return 0
    return int(np.shape(part)[axis]) if np.ndim(part) else 1


def ediff1d_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of differences of a flattened array (0), or of what stands at its ends."""

    def pulled(
        dy: Array, y: Array, ary: Array, to_end: Array = None, to_begin: Array = None
    ) -> Array:
        before = 0 if to_begin is None else np.size(to_begin)
        after = np.size(dy) - (0 if to_end is None else np.size(to_end))
        if position == 1:
            return np.reshape(dy[after:], np.shape(to_end))
        if position == 2:
            return np.reshape(dy[:before], np.shape(to_begin))
        inner = place(dy[before:after], slice(1, after - before + 1), (after - before + 2,))
        dx = -np.diff(inner) if np.size(ary) else inner[:0]
        return np.reshape(dx, np.shape(ary))

    return pulled


def trapezoid_vjp(
    dy: Array, y: Array, values: Array, x: Array = None, dx: Array = 1.0, axis: int = -1
) -> Array:
    """Give each value half of the widths beside it."""
    if not np.size(values):
        return np.zeros_like(values)
    g = np.expand_dims(dy, axis) * (_widths(values, x, dx, axis) * 0.5)
    return unbroadcast(_beside(g, axis, 1), np.shape(values))


def trapezoid_points_vjp(
    dy: Array, y: Array, values: Array, x: Array, dx: Array = 1.0, axis: int = -1
) -> Array:
    """Give each point the value of the piece before it less that of the piece behind."""
    if not np.size(values):
        return np.zeros_like(x)
    g = _beside(np.expand_dims(dy, axis) * _means(values, axis), axis, -1)
    if np.ndim(x) == 1:
        g = np.moveaxis(g, axis, -1)
    return unbroadcast(g, np.shape(x))


def trapezoid_width_vjp(
    dy: Array, y: Array, values: Array, x: Array, dx: Array, axis: int = -1
) -> Array:
    """Give the width the sum of the values; beside points it counts for nothing."""
    if x is not None:
        return np.zeros_like(dx)
    return unbroadcast(np.expand_dims(dy, axis) * _means(values, axis), np.shape(dx))


def _widths(values: Array, x: Array, dx: Array, axis: int) -> Array:
    if x is None:
        return dx * np.ones(np.shape(_means(values, axis)))
    if np.ndim(x) > 1:
        return np.diff(x, axis=axis)
    tail = np.ndim(values) - 1 - axis % np.ndim(values)
    return np.reshape(np.diff(x), (-1, *(1,) * tail))


def _means(values: Array, axis: int) -> Array:
    ndim = np.ndim(values)
    right, left = values[along(axis, ndim, slice(1, None))], values[along(axis, ndim, slice(-1))]
    return (left + right) * 0.5


def _beside(g: Array, axis: int, sign: int) -> Array:
    """Hand what each gap gets to the points at its ends; the left one gets it times `sign`."""
    widths = [(0, 0)] * np.ndim(g)
    before, after = list(widths), list(widths)
    before[axis], after[axis] = (1, 0), (0, 1)
    left = np.pad(g, after)
    return np.pad(g, before) + (left if sign > 0 else -left)


# The gradient: slopes of the gaps, and between two gaps their mean, weighed with the other's width.


def gradient_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of the array (0) or of a spacing, a number or coordinates, behind it."""

    def pulled(
        dy: Any, y: Any, f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1
    ) -> Array:
        ndim = np.ndim(f)
        axes = range(ndim) if axis is None else axis if type(axis) in (tuple, list) else (axis,)
        steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
        parts = dy if type(y) in (tuple, list) else (dy,)
        total: Array = 0.0
        for n, (g, step, k) in enumerate(zip(parts, steps, axes, strict=True)):
            last = np.moveaxis(g, k, -1)
            if position == 0:
                total = total + np.moveaxis(_to_values(last, step, edge_order), -1, k)
            elif len(varargs) == 1 or n == position - 1:
                total = total + _to_spacing(last, np.moveaxis(f, k, -1), step, edge_order)
        return total

    return pulled


def _gaps(step: Array, n: int) -> Array:
    return np.diff(step) if np.ndim(step) else step * np.ones(n - 1)


def _to_values(g: Array, step: Array, edge_order: int) -> Array:
    h = _gaps(step, np.shape(g)[-1])
    return _beside(_to_slopes(g, h, edge_order) / h, -1, -1)


def _to_slopes(g: Array, h: Array, edge_order: int) -> Array:
    """Pull back to the slopes of the gaps."""
    left = h[1:] / (h[:-1] + h[1:])
    inner, first, last = g[..., 1:-1], g[..., :1], g[..., -1:]
    slopes = _behind(inner * left, 0, 1) + _behind(inner * (1 - left), 1, 0)
    n = np.shape(h)[0]
    if edge_order == 2:
        # one half of the change from gap to gap on, measured between their middles
        far_first, far_last = first * (1 - left[:1]), last * left[-1:]
        slopes = slopes - _behind(far_first, 1, n - 2) - _behind(far_last, n - 2, 1)
        first, last = first + far_first, last + far_last
    return slopes + _behind(first, 0, n - 1) + _behind(last, n - 1, 0)


def _behind(part: Array, before: int, after: int) -> Array:
    return np.pad(part, [(0, 0)] * (np.ndim(part) - 1) + [(before, after)])


def _to_spacing(g: Array, f: Array, step: Array, edge_order: int) -> Array:
    """Pull back to a number, or to coordinates: through the slopes, and through their weights."""
    h = _gaps(step, np.shape(f)[-1])
    s = np.diff(f) / h
    weighed, m = g[..., 1:-1], np.shape(f)[-1] - 2
    if edge_order == 2:
        weighed = weighed - _behind(g[..., :1], 0, m - 1) - _behind(g[..., -1:], m - 1, 0)
    both = weighed * (s[..., :-1] - s[..., 1:]) / ((h[:-1] + h[1:]) ** 2)
    dh = -_to_slopes(g, h, edge_order) * s / h
    dh = dh + _behind(both * h[:-1], 1, 0) - _behind(both * h[1:], 0, 1)
    dh = np.sum(dh, axis=tuple(range(np.ndim(f) - 1)))
    return _beside(dh, -1, -1) if np.ndim(step) else np.sum(dh)


# Interpolation.


def interp_vjp(part: str) -> Callable[..., Array]:
    """Return the rule of np.interp for one operand.

    At a given point the piece to its right counts, at the last one that to its left.  Outside the
    value is `left` or `right`, by default that of the first or the last point.
    """

    def pulled(
        dy: Array, y: Array, x: Array, xp: Array, fp: Array, left: Any = None, right: Any = None,
        period: Any = None,
    ) -> Array:  # fmt: skip
        if period is None:
            return _to_part(part, dy, x, xp, fp, left, right)
        if part in ("left", "right"):
            return np.zeros_like(left if part == "left" else right)
        # NumPy reduces to one period, sorts, and goes on for one point at either end.
        order = np.argsort(np.remainder(xp, period))
        order = order[[-1, *range(np.shape(xp)[0]), 0]]
        turns = np.zeros(np.shape(order))
        turns[0], turns[-1] = -1.0, 1.0
        points = np.remainder(xp, period)[order] + turns * period
        g = _to_part(part, dy, np.remainder(x, period), points, np.take(fp, order), None, None)
        return g if part == "x" else scatter(g, (order,), np.shape(xp))

    return pulled


def _to_part(part: str, dy: Array, x: Array, xp: Array, fp: Array, left: Any, right: Any) -> Any:
    below, above = np.less(x, xp[0]), np.greater(x, xp[-1])
    if part == "left":
        return unbroadcast(np.where(below, dy, 0), np.shape(left))
    if part == "right":
        return unbroadcast(np.where(above, dy, 0), np.shape(right))
    inside, n = np.logical_not(np.logical_or(below, above)), np.shape(xp)[0]
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
    k1 = np.minimum(k + 1, n - 1)
    width = np.take(xp, k1) - np.take(xp, k)
    slope = (np.take(fp, k1) - np.take(fp, k)) / width if n > 1 else 0.0 * dy
    if part == "x":
        return through_nan(dy, np.where(inside, dy * slope, 0), x)
    t = np.clip((x - np.take(xp, k)) / width, 0, 1) if n > 1 else 0.0 * x
    if part == "xp":
        g = np.where(inside, -dy * slope, 0)
    else:
        kept = np.where(below, left is None, np.where(above, right is None, True))
        g = np.where(kept, dy, 0)
    return scatter(g * (1 - t), (k,), np.shape(xp)) + scatter(g * t, (k1,), np.shape(xp))


defvjp(np.linspace, linspace_vjp(0), linspace_vjp(1), zero)
defvjp(np.geomspace, geomspace_vjp(0), geomspace_vjp(1), zero)
defvjp(np.logspace, logspace_vjp(0), logspace_vjp(1), zero, zero, logspace_base_vjp)
defvjp(
    np.diff,
    diff_vjp("a"),
    zero,
    zero,
    diff_vjp("prepend"),
    diff_vjp("append"),
    keywords={"prepend": diff_vjp("prepend"), "append": diff_vjp("append")},
)
defvjp(np.ediff1d, *map(ediff1d_vjp, range(3)))
defvjp(np.gradient, gradient_vjp(0), rest=gradient_vjp)
defvjp(np.interp, *map(interp_vjp, ("x", "xp", "fp", "left", "right")))
defvjp(np.trapezoid, trapezoid_vjp, trapezoid_points_vjp, trapezoid_width_vjp)
if hasattr(np, "trapz"):
    composed(np.trapz)(np.trapezoid)
