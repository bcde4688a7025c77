"""Rules of running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.reduce import around_nans
from yota.rules.registry import Live, defvjp, real_dtype, refuse_real

Array = Any


def cumsum_vjp(
    dy: Array, y: Array, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
) -> Array:
    """Sum the cotangents from the far end."""
    return np.reshape(backward_cumsum(dy, axis), np.shape(a))


def backward_cumsum(dy: Array, axis: int | None) -> Array:
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
    axis = axis if np.ndim(a) else None
    flat = np.reshape(a, (math.prod(np.shape(a)),)) if axis is None else np.moveaxis(a, axis, -1)
    g = dy if axis is None else np.moveaxis(dy, axis, -1)
    p = y if axis is None else np.moveaxis(y, axis, -1)
    if np.shape(flat)[-1] == 0:
        return np.zeros_like(a)
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
            behind = (slice(None),) * (axis % max(np.ndim(x), 1)) + (slice(1, None),)
            dy, y = dy[behind], y[behind]
        return rule(dy, y, x, axis, dtype)

    return pulled


defvjp(np.cumsum, cumsum_vjp, live=Live.MOVES)
defvjp(np.nancumsum, nancumsum_vjp, live=Live.SELECTS)
defvjp(np.cumprod, cumprod_vjp)
defvjp(np.nancumprod, nancumprod_vjp, sees=around_nans())
if hasattr(np, "cumulative_sum"):
    defvjp(np.cumulative_sum, cumulative_vjp(cumsum_vjp), live=Live.MOVES)
    defvjp(np.cumulative_prod, cumulative_vjp(cumprod_vjp))
