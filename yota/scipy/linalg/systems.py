"""Systems of linear equations, inverses and determinants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as _linalg

from yota.errors import RuleError
from yota.rules.linalg import det_vjp, inv_vjp
from yota.rules.products import column, t
from yota.rules.registry import conj, unbroadcast
from yota.rules.spectra import fold
from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper("yota.scipy.linalg", "scipy.linalg")

HERMITIAN = ("pos", "positive definite", "her", "hermitian")
SYMMETRIC = ("sym", "symmetric")
GENERAL = (None, "gen", "general")


def as_read(g: Array, assume_a: Any, lower: bool) -> Array:
    """Fold the cotangent of a matrix into the triangle that SciPy reads under this assumption."""
    if assume_a in GENERAL:
        return g
    if assume_a in HERMITIAN:
        return fold(g, lower)
    if assume_a not in SYMMETRIC:
        raise RuleError(f"no derivative is known with assume_a={assume_a!r}: leave it away")
    both = g + t(g)
    triangle = np.tril(both) if lower else np.triu(both)
    return triangle * (1 - 0.5 * np.eye(np.shape(g)[-1]))


def outer(g: Array, x: Array, b: Array) -> Array:
    """Return -g x', for one right-hand side or for columns of them."""
    return -(column(g) @ t(column(x)) if np.ndim(b) == 1 else g @ t(x))


def solve_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of the matrix (0) or of the right-hand side (1)."""

    def pulled(
        dy: Array, y: Array, a: Array, b: Array, lower: bool = False, *, assume_a: Any = None,
        transposed: bool = False, **options: Any,
    ) -> Array:  # fmt: skip
        if np.ndim(a) > 2 and np.ndim(b) == 1:
            dx = pulled(
                column(dy), column(y), a, column(b), lower, assume_a=assume_a,
                transposed=transposed,
            )  # fmt: skip
            return dx[:, 0] if position == 1 else dx
        if assume_a in GENERAL:
            g = solve(a if transposed else t(a), dy)
        elif assume_a in HERMITIAN:
            g = conj(solve(a, conj(dy), lower=lower, assume_a=assume_a))
        else:
            g = solve(a, dy, lower=lower, assume_a=assume_a)
        if position == 1:
            return unbroadcast(g, np.shape(b))
        da = outer(y, g, b) if transposed else outer(g, y, b)
        return as_read(unbroadcast(da, np.shape(a)), assume_a, lower)

    return pulled


def inv_rule(
    dy: Array, y: Array, a: Array, *, assume_a: Any = None, lower: bool = False, **options: Any
) -> Array:
    """Pull back through the inverse."""
    return as_read(inv_vjp(dy, y, a), assume_a, lower)


TRANSPOSED = {0: 1, "N": "T", 1: 0, "T": "N", 2: 0, "C": "N"}


def triangular_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of the triangle (0) or of the right-hand side (1)."""

    def pulled(
        dy: Array, y: Array, a: Array, b: Array, trans: Any = 0, lower: bool = False,
        unit_diagonal: bool = False, **options: Any,
    ) -> Array:  # fmt: skip
        if np.ndim(a) > 2 and np.ndim(b) == 1:
            dx = pulled(column(dy), column(y), a, column(b), trans, lower, unit_diagonal)
            return dx[:, 0] if position == 1 else dx
        turn = conj if trans in (2, "C") else same
        g = turn(solve_triangular(a, turn(dy), TRANSPOSED[trans], lower, unit_diagonal))
        if position == 1:
            return unbroadcast(g, np.shape(b))
        da = outer(g, y, b) if trans in (0, "N") else turn(outer(y, g, b))
        skip = int(unit_diagonal)
        da = np.tril(da, -skip) if lower else np.triu(da, skip)
        return unbroadcast(da, np.shape(a))

    return pulled


def same(x: Array) -> Array:
    """Return `x`: what stands for the conjugate where there is none to take."""
    return x


def sylvester_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one operand of AX + XB = Q: the adjoint equation has A' and B'."""

    def pulled(dy: Array, y: Array, a: Array, b: Array, q: Array) -> Array:
        g = solve_sylvester(t(a), t(b), dy)
        return (-(g @ t(y)), -(t(y) @ g), g)[position]

    return pulled


def shifted(rows: Array, by: int) -> Array:
    """Move a row's elements `by` places on, filling with zeros."""
    n = np.shape(rows)[0]
    empty = np.zeros_like(rows[: min(abs(by), n)])
    if by >= 0:
        return np.concatenate([empty, rows[: max(n - by, 0)]])
    return np.concatenate([rows[min(-by, n) :], empty])


def banded_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of the bands (1) or of the right-hand side (2)."""

    def pulled(dy: Array, y: Array, l_and_u: Any, ab: Array, b: Array, **options: Any) -> Array:
        below, above = l_and_u
        if np.ndim(ab) != 2:
            raise RuleError("no derivative is known of solve_banded of several matrices at once")
        # Row r holds the diagonal at offset above - r; transposed it lies at the opposite one.
        offsets = [above - r for r in range(below + above + 1)]
        turned = [shifted(ab[above - o], -o) for o in range(-below, above + 1)]
        g = solve_banded((above, below), np.stack(turned), dy)
        if position == 2:
            return g
        columns, x = (column(g), column(y)) if np.ndim(b) == 1 else (g, y)
        return np.stack([-np.sum(shifted(columns, o) * x, axis=-1) for o in offsets])

    return pulled


solve = wrap(_linalg.solve, solve_vjp(0), solve_vjp(1))
inv = wrap(_linalg.inv, inv_rule)
det = wrap(_linalg.det, lambda dy, y, a, **options: det_vjp(dy, y, a))
solve_triangular = wrap(_linalg.solve_triangular, triangular_vjp(0), triangular_vjp(1))
solve_banded = wrap(_linalg.solve_banded, None, banded_vjp(1), banded_vjp(2))
solve_sylvester = wrap(_linalg.solve_sylvester, *map(sylvester_vjp, range(3)))
