"""Rules of sorting and of choosing among elements by their values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.elementwise import through_nan
from yota.rules.functional import cast, scatter
from yota.rules.reduce import axes_of, restore
from yota.rules.registry import Live, defvjp, nondiff, refuse, unbroadcast, zero

Array = Any
KEEP_INPUT = "the operand is needed as it was, so leave it away"


def sort_vjp(dy: Array, y: Array, a: Array, axis: int | None = -1, *_: Any, **__: Any) -> Array:
    """Carry each cotangent back along the permutation."""
    if axis is None:
        back = np.argsort(np.argsort(np.reshape(a, -1), kind="stable"))
        return np.reshape(np.take(dy, back), np.shape(a))
    back = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(dy, back, axis=axis)


def partition_vjp(
    dy: Array, y: Array, a: Array, kth: Any, axis: int | None = -1, *_: Any, **__: Any
) -> Array:
    """Carry each cotangent to the sorted place of its value, and from there back."""
    # np.argpartition need not permute as np.partition does.
    at = 0 if axis is None else axis
    ordered = np.take_along_axis(dy, np.argsort(y, axis=at, kind="stable"), axis=at)
    return sort_vjp(ordered, y, a, axis)


def sort_complex_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Carry each cotangent back along the permutation."""
    return sort_vjp(dy, y, a, -1)


def quantile_vjp(percent: float) -> Any:
    """Return the rule of a quantile by linear interpolation of the sorted values."""

    def pulled(
        dy: Array, y: Array, a: Array, q: Any, axis: Any = None, out: Any = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False,
        **options: Any,
    ) -> Array:  # fmt: skip
        refuse("quantiles", KEEP_INPUT, overwrite_input=overwrite_input)
        refuse("quantiles", "leave it away", **options)
        if method != "linear" or np.ndim(q):
            raise RuleError("the derivative of quantiles is known for scalar q, linear")
        n = math.prod(np.shape(a)[k] for k in axes_of(a, axis))
        at = q / percent * (n - 1)
        low = np.floor(at)
        rank = ranks(a, axis)
        dy = restore(dy, a, axis, keepdims)
        first = np.where(np.equal(rank, low), dy * (1 - (at - low)), 0)
        second = np.where(np.equal(rank, np.minimum(low + 1, n - 1)), dy * (at - low), 0)
        return through_nan(dy, first + second, a)

    return pulled


def median_vjp(
    dy: Array, y: Array, a: Array, axis: Any = None, out: Any = None,
    overwrite_input: bool = False, keepdims: bool = False,
) -> Array:  # fmt: skip
    """Pull back to the middle element, or in halves to the middle two."""
    refuse("np.median", KEEP_INPUT, overwrite_input=overwrite_input)
    n = math.prod(np.shape(a)[k] for k in axes_of(a, axis))
    rank = ranks(a, axis)
    half = restore(dy, a, axis, keepdims) * 0.5
    low = np.where(np.equal(rank, (n - 1) // 2), half, 0)
    return through_nan(half, low + np.where(np.equal(rank, n // 2), half, 0), a)


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


def select_vjp(dy: Array, y: Array, condlist: Any, choicelist: Any, default: Array = 0) -> Any:
    """Pull back to the choice whose condition is the first to hold."""
    free: Array = True
    pulled = []
    for condition, choice in zip(condlist, choicelist, strict=True):
        mask = condition if free is True else np.logical_and(free, condition)
        pulled.append(unbroadcast(np.where(mask, dy, 0), np.shape(choice)))
        unmet = np.logical_not(condition)
        free = unmet if free is True else np.logical_and(free, unmet)
    return type(choicelist)(pulled)


def select_default_vjp(
    dy: Array, y: Array, condlist: Any, choicelist: Any, default: Array
) -> Array:
    """Pull back to the default where no condition holds."""
    for condition in condlist:
        dy = np.where(condition, 0, dy)
    return unbroadcast(dy, np.shape(default))


def choose_vjp(
    dy: Array, y: Array, a: Array, choices: Any, out: Any = None, mode: str = "raise"
) -> Any:
    """Pull back to the choice that `a` numbers."""
    n = len(choices)
    at = np.mod(a, n) if mode == "wrap" else np.clip(a, 0, n - 1) if mode == "clip" else a
    parts = [
        unbroadcast(np.where(np.equal(at, k), dy, 0), np.shape(c)) for k, c in enumerate(choices)
    ]
    return type(choices)(parts) if type(choices) in (list, tuple) else np.stack(parts)


def unique_vjp(
    dy: Array, y: Array, ar: Array, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Array:  # fmt: skip
    """Pull back to the elements that have the value; equal ones share equally."""
    if not (equal_nan and sorted):
        raise RuleError("no derivative is known of np.unique with equal_nan=False or sorted=False")
    if axis is not None:
        raise RuleError("no derivative is known of np.unique with an axis")
    if return_index or return_inverse or return_counts:
        dy, y = dy[0], y[0]
    at = np.searchsorted(y, np.reshape(ar, -1))
    share = dy / np.bincount(at, minlength=1)
    return np.reshape(np.take(share, at), np.shape(ar))


# Differences and interpolation.


def diff_vjp(
    dy: Array, y: Array, a: Array, n: int = 1, axis: int = -1, prepend: Any = None,
    append: Any = None,
) -> Array:  # fmt: skip
    """Take the differences of the cotangent, with the opposite sign, once for each order."""
    for _ in range(n):
        shape = list(np.shape(dy))
        shape[axis] = 1
        edge = cast(np.zeros(shape), dy.dtype)
        dy = -np.diff(np.concatenate([edge, dy, edge], axis=axis), axis=axis)
    if prepend is None and append is None:
        return dy
    length, start = np.shape(a)[axis], 0
    if prepend is not None:
        start = np.shape(prepend)[axis] if np.ndim(prepend) else 1
    kept = [slice(None)] * np.ndim(a)
    kept[axis] = slice(start, start + length)
    return dy[tuple(kept)]


def trapezoid_vjp(
    dy: Array, y: Array, values: Array, x: Array = None, dx: Array = 1.0, axis: int = -1
) -> Array:
    """Give each value half of the widths beside it."""
    ndim = np.ndim(values)
    if x is None:
        widths = np.full(np.shape(values)[axis] - 1, 1.0) * dx
    else:
        widths = np.diff(x, axis=-1 if np.ndim(x) == 1 else axis)
    if np.ndim(widths) == 1:
        tail = ndim - 1 - axis % ndim
        widths = np.reshape(widths, (*np.shape(widths), *(1,) * tail))
    edges = [(0, 0)] * np.ndim(widths)
    k = axis % ndim - ndim
    before, after = list(edges), list(edges)
    before[k], after[k] = (1, 0), (0, 1)
    weights = (np.pad(widths, before) + np.pad(widths, after)) * 0.5
    return np.expand_dims(dy, axis) * weights


def interp_vjp(
    dy: Array, y: Array, x: Array, xp: Array, fp: Array, left: Any = None, right: Any = None,
    period: Any = None,
) -> Array:  # fmt: skip
    """Pull back to where the function is read: the slope of its piece, 0 outside."""
    refuse("np.interp", "reduce x to one period yourself, with np.mod", period=period)
    if np.shape(xp)[0] < 2:
        raise RuleError("no derivative is known of np.interp between fewer than two points")
    k = _piece(x, xp)
    slope = (np.take(fp, k + 1) - np.take(fp, k)) / (np.take(xp, k + 1) - np.take(xp, k))
    return through_nan(dy, np.where(_inside(x, xp), dy * slope, 0), x)


def interp_values_vjp(
    dy: Array, y: Array, x: Array, xp: Array, fp: Array, left: Any = None, right: Any = None,
    period: Any = None,
) -> Array:  # fmt: skip
    """Pull back to the values at both ends of the piece that is read."""
    cure = "use np.where around np.interp without it"
    refuse("np.interp with respect to fp", cure, left=left, right=right, period=period)
    if np.shape(xp)[0] < 2:
        raise RuleError("no derivative is known of np.interp between fewer than two points")
    k = _piece(x, xp)
    low, high = np.take(xp, k), np.take(xp, k + 1)
    t = np.clip((x - low) / (high - low), 0, 1)
    shape = np.shape(fp)
    return scatter(dy * (1 - t), (k,), shape) + scatter(dy * t, (k + 1,), shape)


def _piece(x: Array, xp: Array) -> Array:
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, np.shape(xp)[0] - 2)


def _inside(x: Array, xp: Array) -> Array:
    return np.logical_and(np.greater_equal(x, xp[0]), np.less_equal(x, xp[-1]))


defvjp(np.sort, sort_vjp, live=Live.MOVES)
defvjp(np.sort_complex, sort_complex_vjp, live=Live.MOVES)
defvjp(np.partition, partition_vjp, zero, live=Live.MOVES)
defvjp(np.median, median_vjp, live=Live.SELECTS)
defvjp(np.quantile, quantile_vjp(1), None, live=Live.SELECTS)
defvjp(np.percentile, quantile_vjp(100), None, live=Live.SELECTS)
defvjp(np.select, zero, select_vjp, select_default_vjp, live=Live.SELECTS)
defvjp(np.choose, zero, choose_vjp, live=Live.SELECTS)
defvjp(np.unique, unique_vjp)
defvjp(np.diff, diff_vjp)
defvjp(np.interp, interp_vjp, None, interp_values_vjp)
if hasattr(np, "trapezoid"):
    defvjp(np.trapezoid, trapezoid_vjp)

for _fn in (np.argsort, np.argpartition, np.lexsort, np.isin):
    nondiff(_fn)
