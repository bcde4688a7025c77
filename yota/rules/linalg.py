"""Rules of linear algebra: systems, determinants, decompositions, norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.elementwise import slope_of_abs
from yota.rules.products import column, h, row, t
from yota.rules.reduce import axes_of, extreme_vjp, real_dtype, restore, vector_norm_vjp
from yota.rules.registry import (
    conj,
    defvjp,
    is_complex,
    nondiff,
    primitive,
    refuse,
    unbroadcast,
)

Array = Any
USE_EIGH = "use np.linalg.eigh, whose rule knows which triangle is read"
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


def fold(g: Array, lower: bool) -> Array:
    """Fold a Hermitian cotangent into the one triangle that NumPy reads."""
    both = g + h(g)
    half = 1 - 0.5 * np.eye(np.shape(g)[-1], dtype=real_dtype(g))
    return (np.tril(both) if lower else np.triu(both)) * half


def cholesky_vjp(dy: Array, y: Array, a: Array, /, *, upper: bool = False) -> Array:
    """Pull back to the triangle that is read (Murray 2016, arXiv:1602.07527, eq. 10)."""
    low, g = (h(y), h(dy)) if upper else (y, dy)
    # The formula is that of the conjugate cotangent.
    g = conj(g)
    n = np.shape(a)[-1]
    middle = np.tril(h(low) @ g) * (1 - 0.5 * np.eye(n, dtype=real_dtype(a)))
    s = np.linalg.solve(h(low), h(np.linalg.solve(h(low), h(middle))))
    return fold(conj(s + h(s)) * 0.5, not upper)


# Spectra.


def gaps(w: Array) -> Array:
    """Return 1 / (w[j] - w[i]), 0 where they are equal."""
    apart = row(w) - column(w)
    same = np.equal(apart, 0)
    return np.where(same, 0, 1 / np.where(same, 1, apart))


def diagonal_matrix(d: Array) -> Array:
    """Return matrices with the last axis of `d` on the diagonal."""
    return column(d) * np.eye(np.shape(d)[-1], dtype=real_dtype(d))


def eigh_vjp(dy: Any, y: Any, a: Array, UPLO: Any = "L") -> Array:  # noqa: N803  # NumPy's name
    """Pull back to the triangle that is read; equal eigenvalues share no rotation.

    Giles 2008, "An extended collection of matrix derivative results", 3.1.
    """
    (dw, dv), (w, v) = dy, y
    middle = diagonal_matrix(dw) + gaps(w) * (t(v) @ dv)
    g = conj(v) @ middle @ t(v)
    return fold((g + h(g)) * 0.5, UPLO.upper() == "L")


def eigvalsh_vjp(dy: Array, y: Array, a: Array, UPLO: Any = "L") -> Array:  # noqa: N803  # NumPy's name
    """Pull back to the triangle that is read."""
    v = np.linalg.eigh(a, UPLO)[1]
    return fold((conj(v) * row(dy)) @ t(v), UPLO.upper() == "L")


def eig_vjp(dy: Any, y: Any, a: Array) -> Array:
    """Pull back through eigenvalues and normed eigenvectors (Boeddeker et al. 2017, 4.77)."""
    (dw, dv), (w, v) = dy, y
    f, vdv = gaps(w), t(v) @ dv
    own = np.real(vdv) * np.eye(np.shape(a)[-1])
    middle = diagonal_matrix(dw) + f * (vdv - t(v) @ conj(v) @ own)
    return np.linalg.solve(t(v), middle @ t(v))


def eigvals_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Pull back through the eigenvalues."""
    w, v = np.linalg.eig(a)
    # LAPACK may order the eigenvalues otherwise when it computes the vectors too.
    nearest = np.argmin(np.absolute(column(w) - row(y)), axis=-1)
    dw = np.take_along_axis(dy, nearest, axis=-1)
    return np.linalg.solve(t(v), column(dw) * t(v))


def svd_vjp(
    dy: Any, y: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True,
    hermitian: bool = False,
) -> Array:  # fmt: skip
    """Pull back through the thin decomposition; equal singular values share no rotation.

    Townsend 2016, "Differentiating the singular value decomposition".
    """
    refuse("np.linalg.svd", USE_EIGH, hermitian=hermitian)
    if not compute_uv:
        return svdvals_vjp(dy, y, a)
    m, n = np.shape(a)[-2:]
    if full_matrices and m != n:
        raise RuleError("no derivative is known of svd: pass full_matrices=False")
    (du, ds, dvh), (u, s, vh) = dy, y
    v, dv = h(vh), h(dvh)
    f = gaps(s * s)
    turn_u, turn_v = t(u) @ du, t(v) @ dv
    middle = f * (turn_u - h(turn_u)) * row(s) + diagonal_matrix(ds)
    middle = middle + column(s) * (f * (turn_v - h(turn_v)))
    if is_complex(u):
        middle = middle + 1j * np.imag(turn_u) * np.eye(min(m, n)) / row(s)
    g = conj(u) @ middle @ t(v)
    if m < n:
        g = g + (conj(u) / row(s)) @ dvh @ (np.eye(n) - conj(v) @ t(v))
    elif m > n:
        g = g + (np.eye(m) - conj(u) @ t(u)) @ (du / row(s)) @ t(v)
    return g


def svdvals_vjp(dy: Array, y: Array, a: Array, /) -> Array:
    """Pull back through the singular values."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return (conj(u) * row(dy)) @ conj(vh)


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


def qr_vjp(dy: Any, y: Any, a: Array, mode: str = "reduced") -> Array:
    """Pull back through a QR decomposition of full rank (Walter and Lehmann 2010)."""
    m, n = np.shape(a)[-2:]
    if mode == "r":
        q, r = np.linalg.qr(a)
        dq, dr = np.zeros_like(q), conj(dy)
    elif mode == "reduced" or (mode == "complete" and m <= n):
        (dq, dr), (q, r) = (conj(dy[0]), conj(dy[1])), y
    else:
        raise RuleError(f"no derivative is known of qr with mode {mode!r}")
    if m >= n:
        return conj(_square_qr(q, r, dq, dr))
    dq = dq + a[..., m:] @ h(dr[..., m:])
    left = _square_qr(q, r[..., :m], dq, dr[..., :m])
    return conj(np.concatenate([left, q @ dr[..., m:]], axis=-1))


def _square_qr(q: Array, r: Array, dq: Array, dr: Array) -> Array:
    middle = r @ h(dr) - h(dq) @ q
    lower = np.tril(middle, -1)
    sym = lower + h(lower) + np.real(middle) * np.eye(np.shape(r)[-1], dtype=real_dtype(r))
    return h(np.linalg.solve(r, h(dq + q @ sym)))


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
        if axes is not None:
            raise RuleError("no derivative is known of tensorsolve with axes")
        n = math.prod(np.shape(b))
        flat = [np.reshape(v, -1) for v in (dy, y)]
        dx = solve_vjp(position)(*flat, np.reshape(a, (n, n)), np.reshape(b, -1))
        return np.reshape(dx, np.shape((a, b)[position]))

    return pulled


# Norms.


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
    """Pull back through a norm that is one of matrices only."""
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
    if order == "nuc":
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


defvjp(np.linalg.inv, inv_vjp)
defvjp(np.linalg.solve, solve_vjp(0), solve_vjp(1))
defvjp(np.linalg.det, det_vjp)
defvjp(cofactors, lambda dy, y, a: second_cofactors(a, dy))
defvjp(second_cofactors, second_cofactors_vjp, lambda dy, y, a, g: second_cofactors(a, dy))
defvjp(np.linalg.slogdet, slogdet_vjp)
defvjp(np.linalg.cholesky, cholesky_vjp)
defvjp(np.linalg.eigh, eigh_vjp)
defvjp(np.linalg.eigvalsh, eigvalsh_vjp)
defvjp(np.linalg.eig, eig_vjp)
defvjp(np.linalg.eigvals, eigvals_vjp)
defvjp(np.linalg.svd, svd_vjp)
defvjp(np.linalg.svdvals, svdvals_vjp)
defvjp(np.linalg.pinv, pinv_vjp)
defvjp(np.linalg.qr, qr_vjp)
defvjp(np.linalg.matrix_power, matrix_power_vjp)
defvjp(np.linalg.multi_dot, multi_dot_vjp)
defvjp(np.linalg.lstsq, lstsq_vjp(0), lstsq_vjp(1))
defvjp(np.linalg.tensorinv, tensorinv_vjp)
defvjp(np.linalg.tensorsolve, tensorsolve_vjp(0), tensorsolve_vjp(1))
defvjp(np.linalg.norm, norm_vjp)
defvjp(np.linalg.vector_norm, vector_norm_rule)
defvjp(np.linalg.matrix_norm, matrix_norm_rule)
nondiff(np.linalg.matrix_rank)
