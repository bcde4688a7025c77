"""Gamma and beta functions and the distributions made of them, of scipy.special."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from yota.rules.registry import zero
from yota.rules.scipy_special.errors import density
from yota.rules.scipy_special.table import Array, defined, real_only, real_part, slopes


def trigamma(x: Array) -> Array:
    """Return the slope of psi: Hurwitz's zeta(2, x) (DLMF 25.11.12)."""
    real_only("psi", x)
    return special.zeta(2.0, x)


def rgamma_slope(y: Array, x: Array) -> Array:
    """Return the slope of 1/Gamma; left of 1/2 by reflection (DLMF 5.5.3), finite at the poles."""
    left = np.less(real_part(x), 0.5)
    low, high = np.where(left, x, 0), np.where(left, 1, x)
    sine, cosine = np.sin(low * math.pi), np.cos(low * math.pi)
    turned = special.gamma(1 - low) * (cosine - special.psi(1 - low) * sine / math.pi)
    return np.where(left, turned, -special.psi(high) * special.rgamma(high))


def gamma_density(a: Array, x: Array) -> Array:
    """Return x^(a-1) e^-x / Gamma(a), the slope of gammainc (DLMF 8.8.13)."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def beta_density(a: Array, b: Array, x: Array) -> Array:
    """Return x^(a-1) (1-x)^(b-1) / B(a, b), the slope of betainc (DLMF 8.17.1)."""
    powers = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x)
    return np.exp(powers - special.betaln(a, b))


def f_density(m: Array, n: Array, x: Array) -> Array:
    """Return the density of Fisher's distribution of m and n degrees of freedom."""
    r, a, b = m * x / n, m * 0.5, n * 0.5
    powers = special.xlogy(a - 1, r) - (a + b) * np.log1p(r)
    return np.exp(powers - special.betaln(a, b)) * m / n


def t_density(df: Array, t: Array) -> Array:
    """Return the density of Student's distribution; the normal one for infinitely many degrees."""
    normal = np.isinf(df)
    n = np.where(normal, 1, df)
    power = (n + 1) * -0.5 * np.log1p(t * t / n)
    student = np.exp(power - special.betaln(n * 0.5, 0.5)) / np.sqrt(n)
    return np.where(normal, density(t), student)


def noncentral_density(df: Array, shift: Array, x: Array) -> Array:
    """Return the density of the noncentral chi-squared distribution, by a Bessel function."""
    central = np.equal(shift, 0)
    c, order = np.where(central, 1, shift), df * 0.5 - 1
    gap = np.sqrt(x) - np.sqrt(c)
    bessel = special.ive(order, np.sqrt(c * x)) * np.power(x / c, order * 0.5)
    plain = gamma_density(df * 0.5, x * 0.5)
    return np.where(central, plain, np.exp(gap * gap * -0.5) * bessel) * 0.5


def binomial_density(k: Array, n: Array, p: Array) -> Array:
    """Return the slope in p of the chance of more than k successes among n."""
    low = np.floor(k)
    return beta_density(low + 1, n - low, p)


def tukey_slope(y: Array, power: Array) -> Array:
    """Return the slope of Tukey's lambda distribution from that of its quantile, 0 outside."""
    inside = np.logical_and(np.greater(y, 0), np.less(y, 1))
    p = np.where(inside, y, 0.5)
    slope = 1 / (np.power(p, power - 1) + np.power(1 - p, power - 1))
    return defined(y, np.where(inside, slope, 0))


# Gamma functions: DLMF 5.2, 5.15.
slopes("gamma", lambda y, x: y * special.psi(x))
slopes("gammaln", lambda y, x: special.psi(x))
slopes("loggamma", lambda y, x: defined(y, special.psi(x)))
slopes("rgamma", rgamma_slope)
slopes("psi", lambda y, x: trigamma(x))
slopes("_zeta", None, lambda y, s, q: -s * special.zeta(s + 1, q))
slopes(
    "poch",
    lambda y, a, m: y * (special.psi(a + m) - special.psi(a)),
    lambda y, a, m: y * special.psi(a + m),
)
slopes(
    "binom",
    lambda y, n, k: y * (special.psi(n + 1) - special.psi(n - k + 1)),
    lambda y, n, k: y * (special.psi(n - k + 1) - special.psi(k + 1)),
)

# Beta functions: DLMF 5.12.
slopes(
    "beta",
    lambda y, a, b: y * (special.psi(a) - special.psi(a + b)),
    lambda y, a, b: y * (special.psi(b) - special.psi(a + b)),
)
slopes(
    "betaln",
    lambda y, a, b: special.psi(a) - special.psi(a + b),
    lambda y, a, b: special.psi(b) - special.psi(a + b),
)

# Incomplete ones and their inverses; the slopes in the shapes have no closed form.
slopes("gammainc", None, lambda y, a, x: defined(y, gamma_density(a, x)))
slopes("gammaincc", None, lambda y, a, x: defined(y, -gamma_density(a, x)))
slopes("gammaincinv", None, lambda y, a, p: 1 / gamma_density(a, y))
slopes("gammainccinv", None, lambda y, a, p: -1 / gamma_density(a, y))
slopes("betainc btdtr", None, None, lambda y, a, b, x: defined(y, beta_density(a, b, x)))
slopes("betaincc", None, None, lambda y, a, b, x: defined(y, -beta_density(a, b, x)))
slopes("betaincinv btdtri", None, None, lambda y, a, b, p: 1 / beta_density(a, b, y))
slopes("betainccinv", None, None, lambda y, a, b, p: -1 / beta_density(a, b, y))

# Continuous distributions; the counts of discrete ones are rounded down, so their slope is zero.
slopes("chdtr", None, lambda y, v, x: defined(y, gamma_density(v * 0.5, x * 0.5) * 0.5))
slopes("chdtrc", None, lambda y, v, x: defined(y, gamma_density(v * 0.5, x * 0.5) * -0.5))
slopes("chdtri", None, lambda y, v, p: -2 / gamma_density(v * 0.5, y * 0.5))
slopes("fdtr", None, None, lambda y, m, n, x: defined(y, f_density(m, n, x)))
slopes("fdtrc", None, None, lambda y, m, n, x: defined(y, -f_density(m, n, x)))
slopes("fdtri", None, None, lambda y, m, n, p: 1 / f_density(m, n, y))
slopes(
    "gdtr",
    lambda y, a, b, x: defined(y, gamma_density(b, a * x) * x),
    None,
    lambda y, a, b, x: defined(y, gamma_density(b, a * x) * a),
)
slopes(
    "gdtrc",
    lambda y, a, b, x: defined(y, gamma_density(b, a * x) * -x),
    None,
    lambda y, a, b, x: defined(y, gamma_density(b, a * x) * -a),
)
slopes(
    "gdtria",
    lambda y, p, b, x: 1 / (gamma_density(b, y * x) * x),
    None,
    lambda y, p, b, x: -y / x,
)
slopes(
    "gdtrix",
    lambda y, a, b, p: -y / a,
    None,
    lambda y, a, b, p: 1 / (gamma_density(b, a * y) * a),
)
slopes("stdtr", None, lambda y, df, t: defined(y, t_density(df, t)))
slopes("stdtrit", None, lambda y, df, p: 1 / t_density(df, y))
slopes(
    "chndtr",
    lambda y, x, df, c: defined(y, noncentral_density(df, c, x)),
    None,
    lambda y, x, df, c: defined(y, -noncentral_density(df + 2, c, x)),
)
slopes(
    "chndtrix",
    lambda y, p, df, c: 1 / noncentral_density(df, c, y),
    None,
    lambda y, p, df, c: noncentral_density(df + 2, c, y) / noncentral_density(df, c, y),
)
slopes(
    "chndtrinc",
    lambda y, x, df, p: noncentral_density(df, y, x) / noncentral_density(df + 2, y, x),
    None,
    lambda y, x, df, p: -1 / noncentral_density(df + 2, y, x),
)
slopes(
    "nrdtrimn",
    lambda y, p, s, x: defined(y, -s / density(special.ndtri(p))),
    lambda y, p, s, x: defined(y, -special.ndtri(p)),
    lambda y, p, s, x: defined(y, 1.0),
)
slopes(
    "nrdtrisd",
    lambda y, m, p, x: defined(y, -1 / special.ndtri(p)),
    lambda y, m, p, x: -y / (special.ndtri(p) * density(special.ndtri(p))),
    lambda y, m, p, x: defined(y, 1 / special.ndtri(p)),
)

# Discrete distributions in their probability or mean.
slopes("pdtr", zero, lambda y, k, m: defined(y, -gamma_density(np.floor(k) + 1, m)))
slopes("pdtrc", zero, lambda y, k, m: defined(y, gamma_density(np.floor(k) + 1, m)))
slopes("pdtri", zero, lambda y, k, p: -1 / gamma_density(np.floor(k) + 1, y))
slopes("bdtr", zero, None, lambda y, k, n, p: defined(y, -binomial_density(k, n, p)))
slopes("bdtrc", zero, None, lambda y, k, n, p: defined(y, binomial_density(k, n, p)))
slopes("bdtri", zero, None, lambda y, k, n, p: -1 / binomial_density(k, n, y))
slopes("nbdtr", zero, None, lambda y, k, n, p: defined(y, beta_density(n, np.floor(k) + 1, p)))
slopes("nbdtrc", zero, None, lambda y, k, n, p: defined(y, -beta_density(n, np.floor(k) + 1, p)))
slopes("nbdtri", zero, None, lambda y, k, n, p: 1 / beta_density(n, np.floor(k) + 1, y))


# Others.
slopes("tklmbda", lambda y, x, power: tukey_slope(y, power), None)
