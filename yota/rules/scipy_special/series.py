"""Hypergeometric functions, orthogonal polynomials and wave functions of scipy.special."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from yota.rules.scipy_special.table import Array, defined, named, parts, pulls, slopes

DEGREE = math.pi / 180
# Farther out SciPy changes to a series of few digits.
NEAR = 5.8


def lower(n: Array) -> Array:
    """Return the degree below, that of 0 being 0: its factor is 0."""
    if type(n) is int:
        return n - 1 if n else 0
    return np.where(np.equal(n, 0), 0, n - 1)


def jacobi_slope(n: Array, a: Array, b: Array, x: Array) -> Array:
    """Return the slope of a Jacobi polynomial (DLMF 18.9.15)."""
    factor = np.where(np.equal(n, 0), 0, (n + a + b + 1) * 0.5)
    return factor * special.eval_jacobi(lower(n), a + 1, b + 1, x)


def shifted_jacobi_slope(y: Array, n: Array, p: Array, q: Array, x: Array) -> Array:
    """Return the slope of a shifted Jacobi polynomial, p - q > -1 and q > 0 (DLMF 18.1.2)."""
    a, b = p - q, q - 1
    slope = 2 * jacobi_slope(n, a, b, 2 * x - 1) / special.binom(2 * n + p - 1, n)
    return np.where(np.logical_and(np.greater(a, -1), np.greater(b, -1)), slope, math.nan)


def gegenbauer_slope(n: Array, a: Array, x: Array) -> Array:
    """Return the slope of a Gegenbauer polynomial (DLMF 18.9.19)."""
    factor = np.where(np.equal(n, 0), 0, 2 * a)
    return factor * special.eval_gegenbauer(lower(n), a + 1, x)


def laguerre_slope(n: Array, a: Array, x: Array) -> Array:
    """Return the slope of a Laguerre polynomial (DLMF 18.9.23)."""
    return np.where(np.equal(n, 0), 0, -1) * special.eval_genlaguerre(lower(n), a + 1.0, x)


def second_order(
    rate: Callable[..., Array], trusted: Callable[..., Array] | None = None
) -> Callable[..., Array]:
    """Return the rule of a function and its slope, of which `rate` gives the second derivative.

    Outside of what `trusted` says, SciPy's values contradict its slopes: NaN.
    """

    def pulled(dy: Array, y: Array, *args: Array) -> Array:
        found = parts(dy, lambda: y[1], lambda: rate(y, *args))
        return found if trusted is None else np.where(trusted(*args), found, math.nan)

    return pulled


def parabolic(y: Array, v: Array, x: Array) -> Array:
    """Return the second derivative of a parabolic cylinder function (DLMF 12.2.4)."""
    return (x * x * 0.25 - v - 0.5) * y[0]


def mathieu(eigenvalue: Array) -> Callable[..., Array]:
    """Return the rule of an angular Mathieu function of x in degrees (DLMF 28.2.1)."""

    def pulled(dy: Array, y: Array, m: Array, q: Array, x: Array) -> Array:
        level = 2 * q * np.cos(x * (2 * DEGREE)) - eigenvalue(m, q)
        return parts(dy, lambda: y[1] * DEGREE, lambda: level * y[0] * DEGREE)

    return pulled


def modified_mathieu(
    eigenvalue: Array, trusted: Callable[..., Array] | None = None
) -> Callable[..., Array]:
    """Return the rule of a radial Mathieu function (DLMF 28.20.1)."""

    def rate(y: Array, m: Array, q: Array, x: Array) -> Array:
        return (eigenvalue(m, q) - 2 * q * np.cosh(2 * x)) * y[0]

    return second_order(rate, trusted)


def both_positive(m: Array, q: Array, x: Array) -> Array:
    """Tell where the second solution of Mathieu's modified equation is trusted."""
    return np.logical_and(np.greater(q, 0), np.greater_equal(x, 0))


def legendre_slope(y: Array, m: Array, v: Array, x: Array) -> Array:
    """Return the slope of an associated Legendre function inside (-1, 1) (DLMF 14.10.5)."""
    rest = np.where(np.less(np.absolute(x), 1), x * x - 1, math.nan)
    return (v * x * y - (v + m) * special.lpmv(m, v - 1, x)) / rest


# Hypergeometric functions in their argument: DLMF 13.3.15, 13.3.22, 15.5.1, 16.3.1, 10.46.
slopes("hyp0f1", None, lambda y, b, z: special.hyp0f1(b + 1, z) / b)
slopes("hyp1f1", None, None, lambda y, a, b, z: special.hyp1f1(a + 1, b + 1, z) * (a / b))
slopes(
    "hyp2f1",
    None,
    None,
    None,
    lambda y, a, b, c, z: special.hyp2f1(a + 1, b + 1, c + 1, z) * (a * b / c),
)
slopes("hyperu", None, None, lambda y, a, b, x: defined(y, -a * special.hyperu(a + 1, b + 1, x)))
slopes(
    "wright_bessel",
    None,
    None,
    lambda y, a, b, x: defined(y, special.wright_bessel(a, a + b, x)),
)
slopes(
    "log_wright_bessel",
    None,
    None,
    lambda y, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - y),
)

# Orthogonal polynomials: DLMF 18.7, 18.9(iii).
slopes("eval_jacobi", None, None, None, lambda y, n, a, b, x: jacobi_slope(n, a, b, x))
slopes("eval_gegenbauer", None, None, lambda y, n, a, x: gegenbauer_slope(n, a, x))
slopes("eval_legendre", None, lambda y, n, x: gegenbauer_slope(n, 0.5, x))
slopes("eval_sh_legendre", None, lambda y, n, x: 2 * gegenbauer_slope(n, 0.5, 2 * x - 1))
slopes("eval_chebyt", None, lambda y, n, x: n * special.eval_chebyu(lower(n), x))
slopes("eval_sh_chebyt", None, lambda y, n, x: 2 * n * special.eval_chebyu(lower(n), 2 * x - 1))
slopes("eval_chebyc", None, lambda y, n, x: n * special.eval_chebyu(lower(n), x * 0.5))
slopes("eval_chebyu", None, lambda y, n, x: gegenbauer_slope(n, 1.0, x))
slopes("eval_sh_chebyu", None, lambda y, n, x: 2 * gegenbauer_slope(n, 1.0, 2 * x - 1))
slopes("eval_chebys", None, lambda y, n, x: 0.5 * gegenbauer_slope(n, 1.0, x * 0.5))
slopes("eval_genlaguerre", None, None, lambda y, n, a, x: laguerre_slope(n, a, x))
slopes("eval_laguerre", None, lambda y, n, x: laguerre_slope(n, 0.0, x))
slopes("eval_hermite", None, lambda y, n, x: 2 * n * special.eval_hermite(lower(n), x))
slopes("eval_hermitenorm", None, lambda y, n, x: n * special.eval_hermitenorm(lower(n), x))
slopes("eval_sh_jacobi", None, None, None, shifted_jacobi_slope)
slopes("lpmv", None, None, legendre_slope)

# Solutions of w'' = (...) w that come with their slope: DLMF 12.2.
pulls("pbdv", None, second_order(parabolic, lambda v, x: np.greater(x, -NEAR)))
pulls("pbvv", None, second_order(parabolic, lambda v, x: np.less(np.absolute(x), NEAR)))
pulls("pbwa", None, second_order(lambda y, a, x: (a - x * x * 0.25) * y[0]))
pulls("mathieu_cem", None, None, mathieu(special.mathieu_a))
pulls("mathieu_sem", None, None, mathieu(special.mathieu_b))
pulls("mathieu_modcem1", None, None, modified_mathieu(special.mathieu_a))
pulls("mathieu_modsem1", None, None, modified_mathieu(special.mathieu_b))
pulls("mathieu_modcem2", None, None, modified_mathieu(special.mathieu_a, both_positive))
pulls("mathieu_modsem2", None, None, modified_mathieu(special.mathieu_b, both_positive))

# Kolmogorov's and Smirnov's distributions: their densities are ufuncs of SciPy's without a rule.
slopes("kolmogorov", lambda y, x: named("_kolmogp")(x))
slopes("kolmogi", lambda y, p: 1 / named("_kolmogp")(y))
slopes("smirnov", None, lambda y, n, d: named("_smirnovp")(n, d))
slopes("smirnovi", None, lambda y, n, p: 1 / named("_smirnovp")(n, y))
