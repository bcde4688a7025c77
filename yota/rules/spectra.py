"""Rules of eigenvalues, singular values and the decompositions behind them.

Vectors of equal values are determined up to a rotation only, those of complex matrices up to a
phase: a function that depends on the choice has no derivative, and RuleError says so.  Equal means
equal to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.products import column, h, row, t
from yota.rules.registry import conj, defvjp, is_complex, real_dtype, refuse

Array = Any
USE_EIGH = "use np.linalg.eigh, whose rule knows which triangle is read"


def equal_to_rounding(w: Array) -> Array:
    """Tell which pairs of values a decomposition cannot tell apart, each from itself included."""
    size = np.max(np.absolute(w), axis=-1, keepdims=True, initial=0)
    limit = 4 * np.shape(w)[-1] * np.finfo(real_dtype(w)).eps * size
    return np.less_equal(np.absolute(row(w) - column(w)), row(limit))


def over_gaps(m: Array, w: Array, same: Array) -> Array:
    """Return m[i, j] / (w[j] - w[i]), 0 on the diagonal."""
    return np.where(same, 0, m / np.where(same, 1, row(w) - column(w)))


def refuse_rotation(name: str, same: Array, *turned: Array) -> None:
    """Raise RuleError if a cotangent asks for a rotation among the vectors of equal values."""
    off_diagonal = np.logical_and(same, np.logical_not(np.eye(np.shape(same)[-1], dtype=bool)))
    for m in turned:
        if np.any(np.logical_and(off_diagonal, np.not_equal(m, 0))):
            raise RuleError(
                f"no derivative of {name} is known where the vectors of equal values are used: "
                "they are determined up to a rotation only; use the values alone (eigvalsh, "
                "svdvals), or a matrix whose values differ"
            )


def refuse_phase(name: str, *turned: Array) -> None:
    """Raise RuleError if a cotangent depends on the phases of complex vectors.

    `turned` holds V' dV; what does not depend on them has a diagonal without imaginary part.
    """
    total = sum(np.diagonal(m, axis1=-2, axis2=-1) for m in turned)
    size = sum(np.sum(np.absolute(m), axis=(-2, -1)) for m in turned)
    limit = np.sqrt(np.finfo(real_dtype(total)).eps) * np.expand_dims(size, -1)
    if np.any(np.greater(np.absolute(np.imag(total)), limit)):
        raise RuleError(
            f"no derivative of {name} is known where the phase of a complex vector counts: it is "
            "determined by no more than how LAPACK works; use what does not depend on it, as |v| "
            "or v @ v.conj().T"
        )


def diagonal_matrix(d: Array) -> Array:
    """Return matrices with the last axis of `d` on the diagonal."""
    return column(d) * np.eye(np.shape(d)[-1], dtype=real_dtype(d))


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
    return fold(conj(s), not upper)


# Eigenvalues.


def eigh_vjp(dy: Any, y: Any, a: Array, UPLO: Any = "L") -> Array:  # noqa: N803  # NumPy's name
    """Pull back to the triangle that is read (Giles 2008, "Matrix derivative results", 3.1).

    RuleError where vectors of equal eigenvalues, or the phase of complex ones, would count.
    """
    (dw, dv), (w, v) = dy, y
    turned, same = t(v) @ dv, equal_to_rounding(w)
    refuse_rotation("np.linalg.eigh", same, turned)
    if is_complex(v):
        refuse_phase("np.linalg.eigh", turned)
    g = conj(v) @ (diagonal_matrix(dw) + over_gaps(turned, w, same)) @ t(v)
    return fold(g, UPLO.upper() == "L")


def eigvalsh_vjp(dy: Array, y: Array, a: Array, UPLO: Any = "L") -> Array:  # noqa: N803  # NumPy's name
    """Pull back to the triangle that is read.

    Equal eigenvalues with unequal cotangents are a kink: this is one of the slopes that meet there.
    """
    v = np.linalg.eigh(a, UPLO)[1]
    return fold((conj(v) * row(dy)) @ t(v), UPLO.upper() == "L")


def eig_vjp(dy: Any, y: Any, a: Array) -> Array:
    """Pull back through eigenvalues and vectors (Boeddeker et al. 2017, 4.77).

    LAPACK gives vectors of length 1 whose largest component is real.  RuleError where vectors of
    equal eigenvalues would count.
    """
    (dw, dv), (w, v) = dy, y
    if is_complex(v):
        dv = _with_real_pivot(dv, v)
    turned, same = t(v) @ dv, equal_to_rounding(w)
    own = np.real(turned) * np.eye(np.shape(a)[-1], dtype=real_dtype(a))
    turned = turned - t(v) @ conj(v) @ own
    refuse_rotation("np.linalg.eig", same, turned)
    return np.linalg.solve(t(v), (diagonal_matrix(dw) + over_gaps(turned, w, same)) @ t(v))


def _with_real_pivot(dv: Array, v: Array) -> Array:
    """Take from each column's cotangent what would turn its phase: the largest entry stays real."""
    size = np.absolute(v)
    largest = np.equal(size, np.max(size, axis=-2, keepdims=True))
    pivot = np.logical_and(largest, np.equal(np.cumsum(largest, axis=-2), 1))
    turn = np.imag(np.sum(dv * v, axis=-2, keepdims=True))
    return dv - np.where(pivot, 1j * turn / np.where(pivot, v, 1), 0)


def eigvals_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Pull back through the eigenvalues; not finite for a matrix without a basis of vectors."""
    w, v = np.linalg.eig(a)
    # LAPACK may order the eigenvalues otherwise when it computes the vectors too.
    nearest = np.argmin(np.absolute(column(w) - row(y)), axis=-1)
    dw = np.take_along_axis(dy, nearest, axis=-1)
    return np.linalg.solve(t(v), column(dw) * t(v))


# Singular values.


def svd_vjp(
    dy: Any, y: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True,
    hermitian: bool = False,
) -> Array:  # fmt: skip
    """Pull back through the decomposition (Townsend 2016, "Differentiating the SVD").

    RuleError where vectors of equal singular values, or of 0 beside a longer side, the phase of
    complex ones, or vectors beyond the shorter side would count.
    """
    refuse("np.linalg.svd", USE_EIGH, hermitian=hermitian)
    if not compute_uv:
        return svdvals_vjp(dy, y, a)
    k = min(np.shape(a)[-2:])
    (du, ds, dvh), (u, s, vh) = dy, y
    refuse_beyond("np.linalg.svd", du[..., k:], dvh[..., k:, :])
    return _thin_svd(du[..., :k], ds, h(dvh[..., :k, :]), u[..., :k], s, h(vh[..., :k, :]))


def refuse_beyond(name: str, *spare: Array) -> None:
    """Raise RuleError if vectors that the decomposition only fills up with have a cotangent."""
    if any(np.size(g) and bool(np.any(np.not_equal(g, 0))) for g in spare):
        raise RuleError(
            f"no derivative of {name} is known where the vectors beyond the shorter side count: "
            "they are any that complete the basis; use the others, or the decomposition without "
            "them (full_matrices=False, mode='reduced')"
        )


def _thin_svd(du: Array, ds: Array, dv: Array, u: Array, s: Array, v: Array) -> Array:
    m, n = np.shape(u)[-2], np.shape(v)[-2]
    turned_u, turned_v, same = t(u) @ du, t(v) @ dv, equal_to_rounding(s)
    refuse_rotation("np.linalg.svd", same, turned_u, turned_v)
    if is_complex(u):
        refuse_phase("np.linalg.svd", turned_u, turned_v)
    both = over_gaps(turned_u - h(turned_u) + (turned_v - h(turned_v)), s, same)
    apart = turned_u - h(turned_u) - (turned_v - h(turned_v))
    total = row(s) + column(s)
    apart = np.where(same, 0, apart / np.where(same, 1, total))
    g = conj(u) @ (diagonal_matrix(ds) + (both + apart) * 0.5) @ t(v)
    if is_complex(u):
        phases = diagonal_matrix(np.imag(np.diagonal(turned_u, axis1=-2, axis2=-1)))
        g = g + 1j * (conj(u) @ over_values(phases, s, False)) @ t(v)
    if m < n:
        spare = h(dv) - (h(dv) @ conj(v)) @ t(v)
        return g + conj(u) @ over_values(spare, s, True)
    if m > n:
        spare = du - conj(u) @ (t(u) @ du)
        return g + over_values(spare, s, False) @ t(v)
    return g


def over_values(g: Array, s: Array, across: bool) -> Array:
    """Return g / s by columns, or across rows; RuleError where vectors of the value 0 count."""
    size = np.max(s, axis=-1, keepdims=True, initial=0)
    none = np.less_equal(s, 4 * max(np.shape(g)[-2:]) * np.finfo(real_dtype(s)).eps * size)
    none, s = (column(none), column(s)) if across else (row(none), row(s))
    if np.any(np.logical_and(none, np.not_equal(g, 0))):
        raise RuleError(
            "no derivative of np.linalg.svd is known where vectors of the singular value 0 count: "
            "they are determined by no more than the others"
        )
    return np.where(none, 0, g / np.where(none, 1, s))


def svdvals_vjp(dy: Array, y: Array, a: Array, /) -> Array:
    """Pull back through the singular values."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return (conj(u) * row(dy)) @ conj(vh)


# Triangular factors.


def qr_vjp(dy: Any, y: Any, a: Array, mode: str = "reduced") -> Array:
    """Pull back through a QR decomposition of full rank (Walter and Lehmann 2010).

    RuleError where the vectors that mode "complete" adds would count.
    """
    m, n = np.shape(a)[-2:]
    if mode == "r":
        q, r = np.linalg.qr(a)
        dq, dr = np.zeros_like(q), conj(dy)
    elif mode in ("reduced", "complete"):
        k = min(m, n)
        refuse_beyond("np.linalg.qr", dy[0][..., k:])
        dq, dr = conj(dy[0][..., :k]), conj(dy[1][..., :k, :])
        q, r = y[0][..., :k], y[1][..., :k, :]
    else:
        raise RuleError(f"no derivative is known of np.linalg.qr with mode {mode!r}: use 'reduced'")
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


defvjp(np.linalg.cholesky, cholesky_vjp)
defvjp(np.linalg.eigh, eigh_vjp)
defvjp(np.linalg.eigvalsh, eigvalsh_vjp)
defvjp(np.linalg.eig, eig_vjp)
defvjp(np.linalg.eigvals, eigvals_vjp)
defvjp(np.linalg.svd, svd_vjp)
defvjp(np.linalg.svdvals, svdvals_vjp)
defvjp(np.linalg.qr, qr_vjp)
