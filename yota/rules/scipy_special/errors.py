"""Error functions, the normal distribution, exponential and related integrals of scipy.special."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from yota.rules.registry import is_complex
from yota.rules.scipy_special.table import Array, defined, parts, pulls, slopes

ROOT_PI = math.sqrt(math.pi)
ROOT_HALF = math.sqrt(0.5)
ROOT_TAU = math.sqrt(2 * math.pi)
SLOPE_AT_0 = 2 / ROOT_PI
FAR = 30.0


def tail(x: Array, sign: float) -> Array:
    """Return s - 3 s^2 + 15 s^3 - 105 s^4 + 945 s^5 with s = 1/(2 x^2); all plus if `sign` is."""
    inverse = 1 / x
    s = inverse * inverse * 0.5
    t = s * sign
    return s * (1 + t * (3 + t * (15 + t * (105 + t * 945))))


def erfcx_slope(x: Array, y: Array) -> Array:
    """Return the slope 2xy - 2/sqrt(pi) of erfcx; far out, where that cancels, by DLMF 7.12.1."""
    far = np.greater(np.absolute(x), FAR)
    if is_complex(x):
        far = np.logical_and(far, np.greater_equal(np.real(x), 0))
    else:
        far = np.greater(x, FAR)
    series = tail(np.where(far, x, FAR), -1.0) * -SLOPE_AT_0
    return np.where(far, series, 2 * x * y - SLOPE_AT_0)


def dawson_slope(x: Array, y: Array) -> Array:
    """Return the slope 1 - 2xy of Dawson's integral; far out, where that cancels, by its series."""
    near = 1 - 2 * x * y
    if is_complex(x):
        return near
    far = np.greater(np.absolute(x), FAR)
    return np.where(far, -tail(np.where(far, x, FAR), 1.0), near)


def density(x: Array) -> Array:
    """Return the density of the normal distribution."""
    return np.exp(x * x * -0.5) * (1 / ROOT_TAU)


def mills(x: Array) -> Array:
    """Return the slope of log Phi, density over distribution, precise in both tails."""
    left = np.less(x, 0)
    low = 2 / (special.erfcx(np.where(left, x, 0) * -ROOT_HALF) * ROOT_TAU)
    right = np.where(left, 0, x)
    return np.where(left, low, density(right) / special.ndtr(right))


def voigt_parts(y: Array, x: Array, sigma: Array, gamma: Array) -> tuple[Array, Array]:
    """Return w'(z) / (2 sigma^2 sqrt(pi)) and z, which is (x + i gamma) / (sigma sqrt(2))."""
    z = (x + 1j * gamma) / sigma * ROOT_HALF
    return wofz_slope(z, special.wofz(z)) / (2 * ROOT_PI * sigma * sigma), z


def wofz_slope(z: Array, w: Array) -> Array:
    """Return the slope of w(z) = erfcx(-iz)."""
    return -1j * erfcx_slope(-1j * z, w)


def voigt_sigma_slope(y: Array, x: Array, sigma: Array, gamma: Array) -> Array:
    """Return the slope of Voigt's profile in sigma."""
    slope, z = voigt_parts(y, x, sigma, gamma)
    return -y / sigma - np.real(slope * z) * (2 * ROOT_HALF)


def expn_slope(n: Array, x: Array) -> Array:
    """Return the slope -E(n-1, x) of an exponential integral (DLMF 8.19.13)."""
    first = np.less_equal(n, 0)
    below = special.expn(np.where(first, 0, n - 1), x)
    return -np.where(first, np.exp(-x) * (1 + x) / (x * x), below)


def spence_slope(x: Array) -> Array:
    """Return log(x) / (1 - x); near 1, -F(1, 1; 2; 1 - x) (DLMF 15.4.1)."""
    near = np.less(np.absolute(x - 1), 0.5)
    far_x, near_x = np.where(near, 2, x), np.where(near, x, 1)
    series = special.hyp2f1(1.0, 1.0, 2.0, 1 - near_x)
    return np.where(near, -series, np.log(far_x) / (1 - far_x))


# Error functions: DLMF 7.10.
slopes("erf", lambda y, x: np.exp(-x * x) * SLOPE_AT_0)
slopes("erfc", lambda y, x: np.exp(-x * x) * -SLOPE_AT_0)
slopes("erfi", lambda y, x: np.exp(x * x) * SLOPE_AT_0)
slopes("erfcx", lambda y, x: erfcx_slope(x, y))
slopes("dawsn", lambda y, x: dawson_slope(x, y))
slopes("wofz", lambda y, z: wofz_slope(z, y))
slopes("erfinv", lambda y, x: np.exp(y * y) * (ROOT_PI / 2))
slopes("erfcinv", lambda y, x: np.exp(y * y) * (-ROOT_PI / 2))
slopes(
    "voigt_profile",
    lambda y, x, s, g: np.real(voigt_parts(y, x, s, g)[0]),
    voigt_sigma_slope,
    lambda y, x, s, g: -np.imag(voigt_parts(y, x, s, g)[0]),
)

# The normal and the logistic distribution.
slopes("ndtr", lambda y, x: density(x))
slopes("ndtri", lambda y, p: ROOT_TAU * np.exp(y * y * 0.5))
slopes("log_ndtr", lambda y, x: mills(x))
slopes("ndtri_exp", lambda y, p: 1 / mills(y))
slopes(
    "owens_t",
    lambda y, h, a: density(h) * special.erf(a * h * ROOT_HALF) * -0.5,
    lambda y, h, a: np.exp(h * h * (1 + a * a) * -0.5) / (2 * math.pi * (1 + a * a)),
)
slopes("expit", lambda y, x: y * special.expit(-x))
slopes("logit", lambda y, p: defined(y, 1 / (p * (1 - p))))
slopes("log_expit", lambda y, x: special.expit(-x))

# Integrals: DLMF 6.2, 7.2, 8.19, 25.12.
slopes("exp1", lambda y, x: defined(y, -np.exp(-x) / x))
slopes("expi", lambda y, x: np.exp(x) / x)
slopes("expn", None, lambda y, n, x: defined(y, expn_slope(n, x)))
slopes("spence", lambda y, x: spence_slope(x))
pulls(
    "sici",
    lambda dy, y, x: parts(dy, lambda: np.sinc(x / math.pi), lambda: np.cos(x) / x),
)
pulls(
    "shichi",
    lambda dy, y, x: parts(dy, lambda: np.sinc(x * (1j / math.pi)), lambda: np.cosh(x) / x),
)
pulls(
    "fresnel",
    lambda dy, y, x: parts(
        dy, lambda: np.sin(x * x * (math.pi / 2)), lambda: np.cos(x * x * (math.pi / 2))
    ),
)
