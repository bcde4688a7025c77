"""Powers, logarithms, angles, entropies and losses of scipy.special."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from yota.rules.elementwise import LN2, LN10, power_base_vjp, power_exponent_vjp
from yota.rules.scipy_special.table import Array, defined, pulls, ratio, slopes

DEGREE = math.pi / 180


def exprel_slope(x: Array) -> Array:
    """Return d/dx (e^x - 1)/x: exprel is M(1, 2, x) (DLMF 13.6.3), whose slope is M(2, 3, x)/2."""
    return special.hyp1f1(2.0, 3.0, x) * 0.5


def boxcox_slope(y: Array, log: Array, power: Array) -> Array:
    """Return the slope in the power of (e^(power * log) - 1) / power, log^2/2 at power 0."""
    none = np.isneginf(log)
    some = np.where(none, 0, log)
    slope = some * some * exprel_slope(power * some)
    return np.where(none, np.where(np.isfinite(y), y * y, math.nan), slope)


def inv_boxcox_slope(y: Array, x: Array, power: Array) -> Array:
    """Return the slope in the power of y = (1 + power x)^(1/power).

    log(1+t)/t is F(1, 1; 2; -t) (DLMF 15.4.1), whose slope is -F(2, 2; 3; -t)/2.
    """
    return -0.5 * y * x * x * special.hyp2f1(2.0, 2.0, 3.0, -(power * x))


def agm_slope(y: Array, this: Array, other: Array) -> Array:
    """Return the slope of the mean in one operand: agm = pi/2 / RF(0, a^2, b^2) (DLMF 19.8.5)."""
    size = np.absolute(this)
    third = special.elliprd(0.0, other * other, this * this)
    return (2 / (3 * math.pi)) * y * y * size * third


def huber_slope(delta: Array, r: Array) -> Array:
    """Return the slope in the residual: r, from delta on delta."""
    slope = np.where(np.less_equal(np.absolute(r), delta), r, delta * np.sign(r))
    return np.where(np.less(delta, 0), math.nan, slope)


def huber_delta_slope(delta: Array, r: Array) -> Array:
    """Return the slope in delta: what the residual exceeds it by."""
    size = np.absolute(r)
    slope = np.where(np.less_equal(size, delta), 0, size - delta)
    return np.where(np.less(delta, 0), math.nan, slope)


def pseudo_huber_slopes(delta: Array, r: Array) -> tuple[Array, Array]:
    """Return the slopes of delta^2 (sqrt(1 + (r/delta)^2) - 1) in both, 0 where both are 0."""
    size = np.hypot(delta, r)
    size = np.where(np.equal(size, 0), 1, size)
    size = np.where(np.less(delta, 0), math.nan, size)
    rest = r / (size + delta)
    return r * (r / size) * rest * rest, r * (delta / size)


def entropy_slope(y: Array, slope: Array) -> Array:
    """Return a slope of an entropy, NaN where the entropy is infinite by decision."""
    return np.where(np.isfinite(y), slope, math.nan)


slopes("cbrt", lambda y, x: 1 / (3 * y * y))
slopes("exp2", lambda y, x: y * LN2)
slopes("exp10", lambda y, x: y * LN10)
slopes("expm1", lambda y, x: np.exp(x))
slopes("log1p", lambda y, x: defined(y, 1 / (1 + x)))
slopes("exprel", lambda y, x: exprel_slope(x))
slopes("cosm1", lambda y, x: -np.sin(x))
slopes("sindg", lambda y, x: special.cosdg(x) * DEGREE)
slopes("cosdg", lambda y, x: special.sindg(x) * -DEGREE)
slopes("tandg", lambda y, x: (1 + y * y) * DEGREE)
slopes("cotdg", lambda y, x: (1 + y * y) * -DEGREE)
pulls(
    "radian",
    lambda dy, y, d, m, s: dy * DEGREE,
    lambda dy, y, d, m, s: dy * (DEGREE / 60),
    lambda dy, y, d, m, s: dy * (DEGREE / 3600),
)
pulls(
    "powm1",
    lambda dy, y, x, p: power_base_vjp(dy, y, x, p),
    lambda dy, y, x, p: power_exponent_vjp(dy, y + 1, x, p),
)
slopes("agm", lambda y, a, b: agm_slope(y, a, b), lambda y, a, b: agm_slope(y, b, a))
slopes("wrightomega", lambda y, x: y / (1 + y))
# z W' = W / (1 + W), and W = z e^-W.
slopes("_lambertw", lambda y, z, k, tol: np.exp(-y) / (1 + y), None, None)

# Powers that become a logarithm.
slopes(
    "boxcox",
    lambda y, x, p: defined(y, np.exp(special.xlogy(p - 1, x))),
    lambda y, x, p: boxcox_slope(y, np.log(x), p),
)
slopes(
    "boxcox1p",
    lambda y, x, p: defined(y, np.exp(special.xlog1py(p - 1, x))),
    lambda y, x, p: boxcox_slope(y, np.log1p(x), p),
)
slopes(
    "inv_boxcox",
    lambda y, x, p: np.power(y, 1 - p),
    lambda y, x, p: defined(y, inv_boxcox_slope(y, x, p)),
)
slopes(
    "inv_boxcox1p",
    lambda y, x, p: np.power(y + 1, 1 - p),
    lambda y, x, p: defined(y, inv_boxcox_slope(y + 1, x, p)),
)

# Entropies: x log y and what is made of it; 0 log 0 is 0.
slopes("xlogy", lambda y, a, b: np.log(b), lambda y, a, b: defined(y, ratio(a, b)))
slopes("xlog1py", lambda y, a, b: np.log1p(b), lambda y, a, b: defined(y, ratio(a, 1 + b)))
slopes("entr", lambda y, x: -np.log(x) - 1)
slopes(
    "rel_entr",
    lambda y, a, b: entropy_slope(y, np.log(ratio(a, b)) + 1),
    lambda y, a, b: entropy_slope(y, -ratio(a, b)),
)
slopes(
    "kl_div",
    lambda y, a, b: entropy_slope(y, np.log(ratio(a, b))),
    lambda y, a, b: entropy_slope(y, 1 - ratio(a, b)),
)

# Losses.
slopes("huber", lambda y, d, r: huber_delta_slope(d, r), lambda y, d, r: huber_slope(d, r))
slopes(
    "pseudo_huber",
    lambda y, d, r: pseudo_huber_slopes(d, r)[0],
    lambda y, d, r: pseudo_huber_slopes(d, r)[1],
)
