"""Bessel, Airy, Kelvin and Struve functions of scipy.special; the orders have no derivative."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from yota.rules.registry import is_complex
from yota.rules.scipy_special.table import Array, named, parts, pulls, real_only, real_part, slopes

RGAMMA_HALF = 1 / math.sqrt(math.pi)
ODD_ORDERS = (7.0, 5.0, 3.0, 1.0)


def between(fn: Array, sign: float) -> Callable[..., Array]:
    """Return the slope (f(v-1) + sign f(v+1)) / 2 of a Bessel function (DLMF 10.6.1, 10.29.1)."""

    def slope(y: Array, v: Array, z: Array) -> Array:
        below, above = fn(v - 1.0, z), fn(v + 1.0, z)
        return (below + above if sign > 0 else below - above) * 0.5

    return slope


def scaled_along(fn: Array, sign: float, imaginary: bool) -> Callable[..., Array]:
    """Return the rule of a function times exp(-|part of z|), which is not holomorphic."""

    def pulled(dy: Array, y: Array, v: Array, z: Array) -> Array:
        smooth = dy * between(fn, sign)(y, v, z)
        if imaginary and not is_complex(z):
            return smooth
        drawn = np.real(dy * y) if is_complex(y) else dy * y
        if imaginary:
            return smooth + 1j * (np.sign(np.imag(z)) * drawn)
        return smooth - np.sign(real_part(z)) * drawn

    return pulled


def spherical(fn: Array, below: float, above: float) -> Callable[..., Array]:
    """Return the slope (b n f(n-1) + a (n+1) f(n+1)) / (2n+1) (DLMF 10.51.2)."""

    def slope(y: Array, n: Array, z: Array) -> Array:
        first = fn(np.maximum(n - 1, 0), z) * (below * n)
        return (first + fn(n + 1, z) * (above * (n + 1))) / (2 * n + 1)

    return slope


def struve_slope(fn: Array, sign: float) -> Callable[..., Array]:
    """Return the slope of a Struve function (DLMF 11.4.27, 11.4.28)."""

    def slope(y: Array, v: Array, x: Array) -> Array:
        power = np.power(x * 0.5, v) * special.rgamma(v + 1.5) * RGAMMA_HALF
        return (fn(v - 1.0, x) + sign * fn(v + 1.0, x) + power) * 0.5

    return slope


def airy_vjp(dy: Array, y: Array, z: Array) -> Array:
    """Pull back through Ai, Ai', Bi and Bi', which solve w'' = zw."""
    return parts(dy, lambda: y[1], lambda: z * y[0], lambda: y[3], lambda: z * y[2])


def airye_vjp(dy: Array, y: Array, z: Array) -> Array:
    """Pull back through Airy functions scaled with exp(+-2/3 z^(3/2)), z real."""
    real_only("airye", z)
    root = np.sqrt(np.where(np.greater(z, 0), z, 0))
    return parts(
        dy,
        lambda: y[1] + root * y[0],
        lambda: z * y[0] + root * y[1],
        lambda: y[3] - root * y[2],
        lambda: z * y[2] - root * y[3],
    )


def kelvin_vjp(dy: Array, y: Array, x: Array) -> Array:
    """Pull back through ber + i bei, ker + i kei and their slopes, which solve w'' + w'/x = iw."""
    return parts(
        dy,
        lambda: y[2],
        lambda: y[3],
        lambda: 1j * y[0] - y[2] / x,
        lambda: 1j * y[1] - y[3] / x,
    )


def rest_over_x(x: Array) -> Array:
    """Return (1 - J0(x)) / x, near 0 by the other even orders (DLMF 10.12.4, 10.6.1)."""
    near = np.less(np.absolute(x), 0.5)
    far, close = np.where(near, 1, x), np.where(near, x, 0)
    series = sum((special.jv(k, close) + special.jv(k + 2, close)) / (k + 1) for k in ODD_ORDERS)
    return np.where(near, series, (1 - special.j0(far)) / far)


def besselpoly_slope(y: Array, a: Array, power: Array, v: Array) -> Array:
    """Return the slope in a of the integral of x^power J_v(2ax) from 0 to 1."""
    below, above = (special.besselpoly(a, power + 1, v + k) for k in (-1.0, 1.0))
    return below - above


# Of any order.
slopes("jv", None, between(special.jv, -1.0))
slopes("yv", None, between(special.yv, -1.0))
slopes("yn", None, between(special.yv, -1.0))
slopes("iv", None, between(special.iv, 1.0))
slopes("kv", None, lambda y, v, z: -between(special.kv, 1.0)(y, v, z))
slopes("kn", None, lambda y, v, z: -between(special.kv, 1.0)(y, v, z))
slopes("hankel1", None, between(special.hankel1, -1.0))
slopes("hankel2", None, between(special.hankel2, -1.0))

# Scaled with an exponential.
pulls("jve", None, scaled_along(special.jve, -1.0, True))
pulls("yve", None, scaled_along(special.yve, -1.0, True))
pulls("ive", None, scaled_along(special.ive, 1.0, False))
slopes("kve", None, lambda y, v, z: y - between(special.kve, 1.0)(y, v, z))
slopes("hankel1e", None, lambda y, v, z: between(special.hankel1e, -1.0)(y, v, z) - 1j * y)
slopes("hankel2e", None, lambda y, v, z: between(special.hankel2e, -1.0)(y, v, z) + 1j * y)

# Of order 0 and 1.
slopes("j0", lambda y, x: -special.j1(x))
slopes("j1", lambda y, x: (special.j0(x) - special.jv(2.0, x)) * 0.5)
slopes("y0", lambda y, x: -special.y1(x))
slopes("y1", lambda y, x: (special.y0(x) - special.yv(2.0, x)) * 0.5)
slopes("i0", lambda y, x: special.i1(x))
slopes("i1", lambda y, x: (special.i0(x) + special.iv(2.0, x)) * 0.5)
slopes("k0", lambda y, x: -special.k1(x))
slopes("k1", lambda y, x: (special.k0(x) + special.kv(2.0, x)) * -0.5)
slopes("i0e", lambda y, x: special.i1e(x) - np.sign(x) * y)
slopes("i1e", lambda y, x: (special.i0e(x) + special.ive(2.0, x)) * 0.5 - np.sign(x) * y)
slopes("k0e", lambda y, x: y - special.k1e(x))
slopes("k1e", lambda y, x: y - (special.k0e(x) + special.kve(2.0, x)) * 0.5)

# Spherical ones.
slopes("_spherical_jn", None, spherical(named("_spherical_jn"), 1.0, -1.0))
slopes("_spherical_yn", None, spherical(named("_spherical_yn"), 1.0, -1.0))
slopes("_spherical_in", None, spherical(named("_spherical_in"), 1.0, 1.0))
slopes("_spherical_kn", None, spherical(named("_spherical_kn"), -1.0, -1.0))

# Airy, Kelvin and Struve functions: DLMF 9.2, 10.61, 11.2.
pulls("airy", airy_vjp)
pulls("airye", airye_vjp)
pulls("kelvin", kelvin_vjp)
slopes("ber", lambda y, x: special.berp(x))
slopes("bei", lambda y, x: special.beip(x))
slopes("ker", lambda y, x: special.kerp(x))
slopes("kei", lambda y, x: special.keip(x))
slopes("berp", lambda y, x: -special.bei(x) - y / x)
slopes("beip", lambda y, x: special.ber(x) - y / x)
slopes("kerp", lambda y, x: -special.kei(x) - y / x)
slopes("keip", lambda y, x: special.ker(x) - y / x)
slopes("struve", None, struve_slope(special.struve, -1.0))
slopes("modstruve", None, struve_slope(special.modstruve, 1.0))

# Integrals.
pulls("itj0y0", lambda dy, y, x: parts(dy, lambda: special.j0(x), lambda: special.y0(x)))
pulls("iti0k0", lambda dy, y, x: parts(dy, lambda: special.i0(x), lambda: special.k0(x)))
pulls(
    "it2j0y0",
    lambda dy, y, x: parts(dy, lambda: rest_over_x(x), lambda: -special.y0(x) / x),
)
slopes("it2struve0", lambda y, x: -special.struve(0.0, x) / x)
slopes("itmodstruve0", lambda y, x: special.modstruve(0.0, x))
slopes("besselpoly", besselpoly_slope, None, None)
