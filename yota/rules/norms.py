"""Rules of norms and condition numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.rules.elementwise import slope_of_abs
from yota.rules.linalg import inv_vjp
from yota.rules.products import row
from yota.rules.reduce import Axis, axes_of, extreme_vjp, restore
from yota.rules.registry import conj, defvjp, is_complex, real_dtype

Array = Any


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
    return np.where(still, 0, dy * (slope_of_abs(x) * ratio ** (order - 1)))


def norm_vjp(
    dy: Array, y: Array, x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Array | None:
    """Pull back through a norm of vectors or matrices; at 0 the slope is taken as 0."""
    axes = axes_of(x, axis)
    if ord is None or ord == "fro" or len(axes) == 1:
        return vector_norm_vjp(dy, y, x, axis, keepdims, None if ord == "fro" else ord)
    return matrix_norm_of(dy, y, x, ord, axes, keepdims)


def matrix_norm_of(
    dy: Array, y: Array, x: Array, order: Any, axes: tuple[int, ...], keepdims: bool
) -> Array:
    """Pull back through a norm that is one of matrices only.

    Of equal singular values the first counts; of equal sums each gets an equal share.
    """
    g = np.moveaxis(restore(dy, x, axes, keepdims), axes, (-2, -1))
    top = np.moveaxis(restore(y, x, axes, keepdims), axes, (-2, -1))
    a = np.moveaxis(x, axes, (-2, -1))
    if order in (2, -2, "nuc"):
        dx = _spectral(g, top, a, order)
    else:
        along = -2 if order in (1, -1) else -1
        sums = np.sum(np.absolute(a), axis=along, keepdims=True)
        across = -1 if along == -2 else -2
        dx = extreme_vjp(g, top, sums, across, None, True) * slope_of_abs(a)
    return np.moveaxis(dx, (-2, -1), axes)


def _spectral(g: Array, top: Array, a: Array, order: Any) -> Array:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if order == "nuc" or not np.shape(s)[-1]:
        # A singular value of 0 has the slope 0, as |x| has at 0.
        ds = np.where(np.equal(s, 0), 0, g[..., 0])
    else:
        at = 0 if order == 2 else -1
        ds = g[..., 0] * np.eye(np.shape(s)[-1], dtype=real_dtype(a))[at]
    return (conj(u) * row(ds)) @ conj(vh)


def vector_norm_rule(
    dy: Array, y: Array, x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Array | None:
    """Pull back through a norm of vectors; at 0 the slope is taken as 0."""
    return vector_norm_vjp(dy, y, x, axis, keepdims, ord)


def matrix_norm_rule(
    dy: Array, y: Array, x: Array, /, *, keepdims: bool = False, ord: Any = "fro"
) -> Array | None:
    """Pull back through a norm of matrices; at 0 the slope is taken as 0."""
    return norm_vjp(dy, y, x, ord, (-2, -1), keepdims)


def cond_vjp(dy: Array, y: Array, x: Array, p: Any = None) -> Array:
    """Pull back through the norm of the matrix times that of its inverse."""
    dy = np.real(dy) if is_complex(dy) else dy  # some versions give it as a complex number
    if p in (None, 2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        over, under = (0, -1) if p != -2 else (-1, 0)
        picks = np.eye(np.shape(s)[-1], dtype=real_dtype(x))
        d_over, d_under = dy / s[..., under], -dy * y / s[..., under]
        ds = np.expand_dims(d_over, -1) * picks[over] + np.expand_dims(d_under, -1) * picks[under]
        return (conj(u) * row(ds)) @ conj(vh)
    b = np.linalg.inv(x)
    norm_x, norm_b = (np.linalg.norm(m, p, (-2, -1)) for m in (x, b))
    dx = norm_vjp(dy * norm_b, norm_x, x, p, (-2, -1))
    return dx + inv_vjp(norm_vjp(dy * norm_x, norm_b, b, p, (-2, -1)), b, x)


defvjp(np.linalg.norm, norm_vjp)
defvjp(np.linalg.cond, cond_vjp)
defvjp(np.linalg.vector_norm, vector_norm_rule)
defvjp(np.linalg.matrix_norm, matrix_norm_rule)
