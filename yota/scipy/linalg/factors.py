"""Cholesky and LU factorizations, eigenvalues and singular values, norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as _linalg

from yota.errors import RuleError
from yota.rules.linalg import pinv_vjp
from yota.rules.norms import norm_vjp
from yota.rules.products import h, t
from yota.rules.registry import conj, defvjp, find_box, nondiff, primitive, refuse
from yota.rules.spectra import cholesky_vjp, eigh_vjp, eigvalsh_vjp, svd_vjp, svdvals_vjp
from yota.scipy.linalg.systems import outer, same, solve_triangular
from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper("yota.scipy.linalg", "scipy.linalg")


@primitive
def factor_matrix(a: Array, lower: bool = False, check_finite: bool = True) -> Array:
    """Return the matrix of `scipy.linalg.cho_factor`, whose other triangle is that of `a`."""
    return _linalg.cho_factor(a, lower, check_finite=check_finite)[0]


def factor_vjp(dy: Array, y: Array, a: Array, lower: bool = False, *options: Any) -> Array:
    """Pull back through the factor in one triangle, and the other one left as it was."""
    keep, other = (np.tril, np.triu(dy, 1)) if lower else (np.triu, np.tril(dy, -1))
    return cholesky_vjp(keep(dy), keep(y), a, upper=not lower) + other


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """Return `scipy.linalg.cho_factor(a, lower)`, also of traced matrices."""
    if find_box((a,)) is None:
        made: tuple[Any, bool] = _linalg.cho_factor(a, lower, overwrite_a, check_finite)
        return made
    return factor_matrix(a, lower, check_finite), lower


def cho_solve_vjp(position: int) -> Callable[..., Any]:
    """Return the rule of the factor (0) or of the right-hand side (1)."""

    def pulled(dy: Array, y: Array, c_and_lower: Any, b: Array, **options: Any) -> Any:
        c, lower = c_and_lower
        g = conj(cho_solve(c_and_lower, conj(dy)))
        if position == 1:
            return g
        m = outer(g, y, b)
        m = m + h(m)
        if lower:
            return np.tril(m @ conj(np.tril(c))), None
        return np.triu(conj(np.triu(c)) @ m), None

    return pulled


@nondiff
def order_of_rows(piv: Array) -> Array:
    """Return which row of the matrix stands where after LAPACK's interchanges."""
    order = np.arange(len(piv))
    for k, other in enumerate(piv):
        order[[k, other]] = order[[other, k]]
    return order


def triangles(lu: Array) -> tuple[Array, Array]:
    """Return the two factors that share a matrix."""
    n = np.shape(lu)[-1]
    return np.tril(lu, -1) + np.eye(n), np.triu(lu)


def lu_factor_vjp(dy: Any, y: Any, a: Array, **options: Any) -> Array:
    """Pull back through P A = L U of a square matrix (Giles 2008, 2.2; de Hoog et al. 2011)."""
    if np.ndim(a) != 2 or np.shape(a)[0] != np.shape(a)[1]:
        raise RuleError("the derivative of lu_factor is known for one square matrix")
    dlu, (lu, piv) = dy[0], y
    low, up = triangles(lu)
    middle = np.tril(t(low) @ dlu, -1) + np.triu(dlu @ t(up))
    left = solve_triangular(lu, middle, 1, True, True)
    whole = t(solve_triangular(lu, t(left), 0, False))
    return whole[np.argsort(order_of_rows(piv))]


def lu_solve_vjp(position: int) -> Callable[..., Any]:
    """Return the rule of the factors (0) or of the right-hand side (1)."""

    def pulled(
        dy: Array, y: Array, lu_and_piv: Any, b: Array, trans: int = 0, **options: Any
    ) -> Any:
        turn = conj if trans == 2 else same
        g = turn(lu_solve(lu_and_piv, turn(dy), 1 if trans == 0 else 0))
        if position == 1:
            return g
        lu, piv = lu_and_piv
        low, up = triangles(lu)
        m = outer(g, y, b) if trans == 0 else turn(outer(y, g, b))
        m = m[order_of_rows(piv)]
        return np.tril(m @ t(up), -1) + np.triu(t(low) @ m), None

    return pulled


def eigh_rule(values_only: bool) -> Callable[..., Array]:
    """Return the rule of the eigenvalues of a Hermitian matrix, with or without the vectors."""

    def pulled(
        dy: Any, y: Any, a: Array, b: Any = None, *, lower: bool = True,
        eigvals_only: bool = values_only, type: int = 1, check_finite: bool = True,
        driver: Any = None, **subsets: Any,
    ) -> Array:  # fmt: skip
        refuse("eigh", "reduce the problem to a plain one first", b=b)
        refuse("eigh", "take the part of all that is wanted", **subsets)
        rule = eigvalsh_vjp if eigvals_only else eigh_vjp
        return rule(dy, y, a, "L" if lower else "U")

    return pulled


def svd_rule(
    dy: Any, y: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True, **options: Any
) -> Array:
    """Pull back through the singular value decomposition."""
    return svd_vjp(dy, y, a, full_matrices, compute_uv)


def pinv_rule(
    dy: Array, y: Array, a: Array, *, atol: Any = None, rtol: Any = None,
    return_rank: bool = False, check_finite: bool = True,
) -> Array:  # fmt: skip
    """Pull back through the pseudo-inverse of constant rank."""
    refuse("pinv", "leave it away", atol=atol, rtol=rtol, return_rank=return_rank)
    return pinv_vjp(dy, y, a)


def norm_rule(
    dy: Array, y: Array, a: Array, ord: Any = None, axis: Any = None, keepdims: bool = False,
    **options: Any,
) -> Array | None:  # fmt: skip
    """Pull back through a norm; NumPy's value of it, for LAPACK's need not equal any row's sum."""
    return norm_vjp(dy, np.linalg.norm(a, ord, axis, keepdims), a, ord, axis, keepdims)


defvjp(factor_matrix, factor_vjp)
cholesky = wrap(
    _linalg.cholesky,
    lambda dy, y, a, lower=False, **options: cholesky_vjp(dy, y, a, upper=not lower),
)
cho_solve = wrap(_linalg.cho_solve, cho_solve_vjp(0), cho_solve_vjp(1))
lu_factor = wrap(_linalg.lu_factor, lu_factor_vjp)
lu_solve = wrap(_linalg.lu_solve, lu_solve_vjp(0), lu_solve_vjp(1))
eigh = wrap(_linalg.eigh, eigh_rule(False))
eigvalsh = wrap(_linalg.eigvalsh, eigh_rule(True))
svd = wrap(_linalg.svd, svd_rule)
svdvals = wrap(_linalg.svdvals, lambda dy, y, a, **options: svdvals_vjp(dy, y, a))
pinv = wrap(_linalg.pinv, pinv_rule)
norm = wrap(_linalg.norm, norm_rule)
