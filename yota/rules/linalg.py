"""Rules of linear algebra: systems, determinants, decompositions, norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.products import column, h, t
from yota.rules.registry import (
    conj,
    defvjp,
    is_complex,
    nondiff,
    primitive,
    real_dtype,
    refuse,
    takes_list,
    unbroadcast,
)
from yota.rules.shape import inverse
from yota.rules.spectra import USE_EIGH, svdvals_vjp

Array = Any
CUTS_RANK = "the slope of a matrix cut to a lower rank is another; leave it away"


# Systems, inverses, determinants.


def inv_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Pull back through A^-1: -Y' dY Y'."""
    return -(t(y) @ dy @ t(y))


def solve_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of the matrix (0) or the right-hand side (1) of a system."""

    def pulled(dy: Array, y: Array, a: Array, b: Array) -> Array:
        vector = np.ndim(b) == 1
        g = np.linalg.solve(t(a), column(dy) if vector else dy)
        if position == 0:
            return unbroadcast(-(g @ t(column(y) if vector else y)), np.shape(a))
        g = g[..., 0] if vector else g
        return unbroadcast(g, np.shape(b))

    return pulled


@primitive
def cofactors(a: Array) -> Array:
    """Return the cofactors of the matrices, the slope of the determinant; (..., n, n).

    By the singular value decomposition, so that singular matrices have theirs.
    """
    u, s, vh = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return np.asarray(sign)[..., None, None] * (u.conj() * _others(s)[..., None, :]) @ vh.conj()


@primitive
def second_cofactors(a: Array, g: Array) -> Array:
    """Return the derivative of the cofactors in the direction g, which is its own transpose.

    In the frame of the singular vectors the products of all values but two stand in it.
    """
    u, s, vh = np.linalg.svd(a)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    inner = h(u) @ g @ h(vh)
    rest = _others_but_two(s)
    diagonal = np.diagonal(inner, axis1=-2, axis2=-1)
    core = -np.swapaxes(inner, -1, -2) * rest
    n = s.shape[-1]
    core[..., range(n), range(n)] = (rest @ diagonal[..., None])[..., 0]
    return sign * u.conj() @ core @ vh.conj()


def _others(s: Array) -> Array:
    """Return for each value the product of all others in its row."""
    n = s.shape[-1]
    return np.prod(np.where(np.eye(n, dtype=bool), 1, s[..., None, :]), axis=-1)


def _others_but_two(s: Array) -> Array:
    """Return for each pair of values the product of all others in their row; 0 on the diagonal."""
    n = s.shape[-1]
    same = np.eye(n, dtype=bool)
    left_out = same[:, None, :] | same[None, :, :]
    return np.where(same, 0, np.prod(np.where(left_out, 1, s[..., None, None, :]), axis=-1))


def second_cofactors_vjp(dy: Array, y: Array, a: Array, g: Array) -> Array:
    """Pull back to the matrix, which has to be regular here."""
    b = t(np.linalg.inv(a))
    det = np.linalg.det(a)[..., None, None]
    gb, hb = b @ t(g) @ b, b @ t(dy) @ b
    both = np.sum(dy * y, axis=(-2, -1), keepdims=True) * b
    dg = np.sum(g * b, axis=(-2, -1), keepdims=True)
    dh = np.sum(dy * b, axis=(-2, -1), keepdims=True)
    return both + det * (hb @ t(g) @ b + gb @ t(dy) @ b - dh * gb - dg * hb)


def det_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Pull back with the cofactors: right at singular matrices too, up to second derivatives."""
    return dy[..., None, None] * cofactors(a)


def slogdet_vjp(dy: Any, y: Any, a: Array) -> Array:
    """Pull back through log|det A|, and through the phase of a complex determinant."""
    slope = dy[1]
    if is_complex(a):
        slope = slope - 1j * np.real(1j * dy[0] * y[0])
    return slope[..., None, None] * t(np.linalg.inv(a))


# Pseudo-inverses, powers and products.


def cuts_rank(limit: Any) -> bool:
    """Tell whether this rcond may cut singular values off that are more than rounding."""
    if limit is None or limit is np._NoValue:
        return False
    return not (type(limit) in (int, float) and limit <= 1e-15)


def pinv_vjp(
    dy: Array, y: Array, a: Array, rcond: Any = None, hermitian: bool = False, *,
    rtol: Any = None,
) -> Array:  # fmt: skip
    """Pull back through the pseudo-inverse of constant rank (Golub and Pereyra 1973, 4.12)."""
    refuse("np.linalg.pinv", USE_EIGH, hermitian=hermitian)
    refuse("np.linalg.pinv", CUTS_RANK, rcond=rcond if cuts_rank(rcond) else None)
    refuse("np.linalg.pinv", CUTS_RANK, rtol=rtol if cuts_rank(rtol) else None)
    m, n = np.shape(a)[-2:]
    g = conj(dy)
    missed, spare = np.eye(m) - a @ y, np.eye(n) - y @ a
    dx = missed @ h(g) @ y @ h(y) + h(y) @ y @ h(g) @ spare - h(y) @ g @ h(y)
    return conj(dx)


def matrix_power_vjp(dy: Array, y: Array, a: Array, n: int) -> Array:
    """Sum over the places at which the matrix stands in the product."""
    if n < 0:
        b = np.linalg.inv(a)
        return inv_vjp(matrix_power_vjp(dy, y, b, -n), b, a)
    total = 0.0 * dy
    powers = [np.linalg.matrix_power(t(a), k) for k in range(n)]
    for k in range(n):
        total = total + powers[k] @ dy @ powers[n - 1 - k]
    return total


@takes_list
def multi_dot_vjp(dy: Array, y: Array, arrays: Any, *, out: Any = None) -> Any:
    """Pull a chain of products back to each of its factors."""
    shapes = [np.shape(a) for a in arrays]
    chain = [np.reshape(a, _as_matrix(np.shape(a), k)) for k, a in enumerate(arrays)]
    rows, cols = np.shape(chain[0])[0], np.shape(chain[-1])[1]
    suffix = [np.eye(cols, dtype=real_dtype(dy))]
    for a in chain[:0:-1]:
        suffix.append(a @ suffix[-1])
    g, pulled = np.reshape(dy, (rows, cols)), []
    for a, behind, shape in zip(chain, suffix[::-1], shapes, strict=True):
        pulled.append(np.reshape(g @ t(behind), shape))
        g = t(a) @ g
    return type(arrays)(pulled)


def _as_matrix(shape: tuple[int, ...], position: int) -> tuple[int, ...]:
    if len(shape) == 2:
        return shape
    return (1, *shape) if position == 0 else (*shape, 1)


def lstsq_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of least squares, of full or constant rank: that of pinv(a) @ b."""

    def pulled(dy: Any, y: Any, a: Array, b: Array, rcond: Any = None) -> Array:
        refuse("np.linalg.lstsq", CUTS_RANK, rcond=rcond if cuts_rank(rcond) else None)
        vector = np.ndim(b) == 1
        rhs, g = (column(b), column(dy[0])) if vector else (b, dy[0])
        # As lstsq, to the precision of the type; the stubs do not know of None.
        inverse = np.linalg.pinv(a, rtol=None)  # type: ignore[call-overload]  # the stubs lack None
        misfit = None
        if np.shape(y[1])[0]:
            # The residual is stationary in the solution.
            misfit = 2 * conj(rhs - a @ (column(y[0]) if vector else y[0])) * dy[1]
        if position == 1:
            db = t(inverse) @ g if misfit is None else t(inverse) @ g + misfit
            return np.reshape(db, np.shape(b))
        da = pinv_vjp(g @ t(rhs), inverse, a) + svdvals_vjp(dy[3], y[3], a)
        return da if misfit is None else da - misfit @ t(column(y[0]) if vector else y[0])

    return pulled


def tensorinv_vjp(dy: Array, y: Array, a: Array, ind: int = 2) -> Array:
    """Pull back as inv does, the axes taken together."""
    n = math.prod(np.shape(a)[:ind])
    flat = [np.reshape(v, (n, n)) for v in (dy, y, a)]
    return np.reshape(inv_vjp(*flat), np.shape(a))


def tensorsolve_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one operand: that of solve, the axes taken together."""

    def pulled(dy: Array, y: Array, a: Array, b: Array, axes: Any = None) -> Array:
        order = [k for k in range(np.ndim(a)) if k not in (axes or ())] + list(axes or ())
        n, moved = math.prod(np.shape(b)), np.transpose(a, order)
        flat = [np.reshape(v, -1) for v in (dy, y)]
        dx = solve_vjp(position)(*flat, np.reshape(moved, (n, n)), np.reshape(b, -1))
        if position == 1:
            return np.reshape(dx, np.shape(b))
        return np.transpose(np.reshape(dx, np.shape(moved)), inverse(order))

    return pulled


defvjp(np.linalg.inv, inv_vjp)
defvjp(np.linalg.solve, solve_vjp(0), solve_vjp(1))
defvjp(np.linalg.det, det_vjp)
defvjp(cofactors, lambda dy, y, a: second_cofactors(a, dy))
defvjp(second_cofactors, second_cofactors_vjp, lambda dy, y, a, g: second_cofactors(a, dy))
defvjp(np.linalg.slogdet, slogdet_vjp)
defvjp(np.linalg.pinv, pinv_vjp)
defvjp(np.linalg.matrix_power, matrix_power_vjp)
defvjp(np.linalg.multi_dot, multi_dot_vjp)
defvjp(np.linalg.lstsq, lstsq_vjp(0), lstsq_vjp(1))
defvjp(np.linalg.tensorinv, tensorinv_vjp)
defvjp(np.linalg.tensorsolve, tensorsolve_vjp(0), tensorsolve_vjp(1))
nondiff(np.linalg.matrix_rank)
