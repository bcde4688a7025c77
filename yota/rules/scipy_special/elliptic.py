"""Elliptic integrals and functions of scipy.special, by Carlson's symmetric forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from yota.rules.scipy_special.table import Array, defined, parts, pulls, slopes

CLOSE = 1e-3


def two_cubes(y: Array, x: Array, z: Array) -> Array:
    """Return the integral over t > 0 of (t+y)^(-1/2) ((t+x)(t+z))^(-3/2).

    The difference of two RD (DLMF 19.16.5); where x and z are close, a series in their distance.
    """
    close = np.less(np.absolute(x - z), CLOSE * np.absolute(x + z))
    apart = np.where(close, 1, x - z)
    far = (special.elliprd(y, x, z) - special.elliprd(y, z, x)) / apart * (2 / 3)
    middle, half = np.where(close, (x + z) * 0.5, 1), np.where(close, (x - z) * 0.5, 0)
    argument = 1 - np.where(close, y, 1) / middle
    square = (half / middle) * (half / middle)
    near = sum(
        c * square**k * special.hyp2f1(0.5, 2.5 + 2 * k, 3.5 + 2 * k, argument) / (2.5 + 2 * k)
        for k, c in enumerate((1.0, 1.5, 1.875))
    )
    return np.where(close, near * np.power(middle, -2.5), far)


def rd_slope(y: Array, z: Array, x: Array) -> Array:
    """Return the slope of RD(x, y, z) in x."""
    return two_cubes(y, x, z) * -0.75


def rd_last_slope(f: Array, x: Array, y: Array, z: Array) -> Array:
    """Return the slope of RD(x, y, z) in z: it is homogeneous of degree -3/2."""
    along_x = times(x, lambda x: rd_slope(y, z, x))
    along_y = times(y, lambda y: rd_slope(x, z, y))
    return -(1.5 * f + along_x + along_y) / z


def times(x: Array, slope: Callable[[Array], Array]) -> Array:
    """Return x times a slope that grows more slowly than 1/x towards 0."""
    none = np.equal(x, 0)
    some = np.where(none, 1, x)
    return np.where(none, 0, some * slope(some))


def rg_slope(x: Array, y: Array, z: Array) -> Array:
    """Return the slope of RG in x."""
    rest = times(x, lambda x: special.elliprd(y, z, x))
    return (special.elliprf(x, y, z) - rest * (1 / 3)) * 0.25


def reduced(phi: Array) -> tuple[Array, Array, Array]:
    """Return the whole half turns in an angle, and sine and squared cosine of the rest."""
    turns = np.rint(phi / math.pi)
    rest = phi - turns * math.pi
    cosine = np.cos(rest)
    return turns, np.sin(rest), cosine * cosine


def whole_turns(turns: Array, slope: Callable[[Array], Array], n: Array) -> Array:
    """Return what whole half turns add; none add nothing, though the slope at n = 0 is infinite."""
    none = np.equal(turns, 0)
    return np.where(none, 0, 2 * turns * slope(np.where(none, 1, n)))


def first_slope(phi: Array, m: Array) -> Array:
    """Return the slope of F(phi | m) in m: DLMF 19.25.5 and 19.18.1."""
    turns, s, c2 = reduced(phi)
    part = s * s * s * special.elliprd(c2, 1.0, 1 - m * s * s)
    return (part + whole_turns(turns, lambda n: special.elliprd(0.0, 1.0, n), 1 - m)) * (1 / 6)


def second_slope(phi: Array, m: Array) -> Array:
    """Return the slope of E(phi | m) in m, (E - F) / (2m): DLMF 19.25.9."""
    turns, s, c2 = reduced(phi)
    part = s * s * s * special.elliprd(c2, 1 - m * s * s, 1.0)
    return (part + whole_turns(turns, lambda n: special.elliprd(0.0, n, 1.0), 1 - m)) * (-1 / 6)


def delta(phi: Array, m: Array) -> Array:
    """Return sqrt(1 - m sin(phi)^2)."""
    s = np.sin(phi)
    return np.sqrt(1 - m * s * s)


def ellipj_vjp(dy: Array, y: Array, u: Array, m: Array) -> Array:
    """Pull back through sn, cn, dn and the amplitude to the argument (DLMF 22.13)."""
    s, c, d, _ = y
    return parts(dy, lambda: c * d, lambda: -s * d, lambda: -m * s * c, lambda: d)


def ellipj_parameter_vjp(dy: Array, y: Array, u: Array, m: Array) -> Array:
    """Pull back to the parameter: the amplitude turns so that F(phi | m) stays u."""
    s, c, d, phi = y
    turn = -d * first_slope(phi, m)
    return parts(
        dy,
        lambda: c * turn,
        lambda: -s * turn,
        lambda: -(0.5 * s * s + m * s * c * turn) / d,
        lambda: turn,
    )


# Carlson's forms: DLMF 19.18.
slopes(
    "elliprf",
    lambda f, x, y, z: special.elliprd(y, z, x) * (-1 / 6),
    lambda f, x, y, z: special.elliprd(x, z, y) * (-1 / 6),
    lambda f, x, y, z: special.elliprd(x, y, z) * (-1 / 6),
)
slopes(
    "elliprc",
    lambda f, x, y: special.elliprd(y, y, x) * (-1 / 6),
    lambda f, x, y: special.elliprd(x, y, y) * (-1 / 3),
)
slopes(
    "elliprd",
    lambda f, x, y, z: rd_slope(y, z, x),
    lambda f, x, y, z: rd_slope(x, z, y),
    rd_last_slope,
)
slopes(
    "elliprg",
    lambda f, x, y, z: rg_slope(x, y, z),
    lambda f, x, y, z: rg_slope(y, x, z),
    lambda f, x, y, z: rg_slope(z, x, y),
)

# Legendre's: complete, then incomplete.
slopes("ellipk", lambda y, m: special.elliprd(0.0, 1.0, 1 - m) * (1 / 6))
slopes("ellipkm1", lambda y, p: special.elliprd(0.0, 1.0, p) * (-1 / 6))
slopes("ellipe", lambda y, m: special.elliprd(0.0, 1 - m, 1.0) * (-1 / 6))
slopes(
    "ellipkinc",
    lambda y, phi, m: defined(y, 1 / delta(phi, m)),
    lambda y, phi, m: first_slope(phi, m),
)
slopes(
    "ellipeinc",
    lambda y, phi, m: defined(y, delta(phi, m)),
    lambda y, phi, m: second_slope(phi, m),
)
pulls("ellipj", ellipj_vjp, ellipj_parameter_vjp)
