"""Continuous distributions: the rules of their functions, made of the slopes of the log density."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from yota.rules.scipy_special.errors import density, mills
from yota.rules.scipy_special.table import ratio
from yota.scipy.stats.distribution import Distribution, Op, known, make_op, shaped

Array = Any
Slope = Callable[..., Any]
TINY = float(np.nextafter(0, 1))
PARAMETERS = {"loc": 0, "scale": 1}


@dataclass(frozen=True, slots=True)
class Family:
    """The standard distribution: slopes of z and of its shapes.

    `score` and `shapes` are those of the log density, `cumulative` those of the distribution
    function in the shapes, None where unknown.  `hazard` is density over distribution function of
    a symmetric distribution, where it can be had more precisely than by their logarithms.
    """

    score: Slope
    shapes: tuple[Slope, ...] = ()
    cumulative: tuple[Slope | None, ...] = ()
    low: float | None = None
    high: float | None = None
    hazard: Slope | None = None

    def inside(self, z: Array) -> Array:
        """Return where the density is not 0 by definition; True for everywhere."""
        inside: Array = True
        if self.low is not None:
            inside = np.greater_equal(z, self.low)
        if self.high is not None:
            inside = np.logical_and(inside, np.less_equal(z, self.high))
        return inside


def less(x: Array, loc: Array) -> Array:
    """Return x - loc; the default of 0 costs nothing."""
    return x if type(loc) is int and loc == 0 else x - loc


def over(x: Array, scale: Array) -> Array:
    """Return x / scale; the default of 1 costs nothing."""
    return x if type(scale) is int and scale == 1 else x / scale


def t_shape_slope(z: Array, df: Array) -> Array:
    """Return the slope of Student's log density in the degrees of freedom, stable for many.

    psi(x + 1/2) - psi(x) - 1/(2x) and u/(1+u) - log(1+u) cancel: DLMF 5.11.2, 15.4.1.
    """
    many = np.greater(df, 40)
    n, far = np.where(many, 1, df), np.where(many, df, 40)
    w = (1 / far) * (1 / far)
    series = w * (0.5 - w * (0.25 - w * (0.5 - w * 2.125)))
    difference = special.psi((n + 1) * 0.5) - special.psi(n * 0.5) - 1 / n
    u = z * z / df
    small = np.less(u, 0.5)
    near, wide = np.where(small, u, 0), np.where(small, 1, u)
    close = -0.5 * near * near * special.hyp2f1(2.0, 2.0, 3.0, -near)
    rest = np.where(small, close, wide / (1 + wide) - np.log1p(wide))
    return 0.5 * (np.where(many, series, difference) + rest + u / (df * (1 + u)))


FAMILIES = {
    "norm": Family(lambda z: -z, hazard=mills),
    "uniform": Family(lambda z: 0.0, low=0, high=1),
    "expon": Family(lambda z: -1.0, low=0),
    "laplace": Family(lambda z: -np.sign(z)),
    "logistic": Family(lambda z: -np.tanh(z * 0.5), hazard=lambda z: special.expit(-z)),
    "lognorm": Family(
        lambda z, s: -(1 + np.log(z) / (s * s)) / z,
        (lambda z, s: (np.log(z) * np.log(z) / (s * s) - 1) / s,),
        (lambda z, s: -density(np.log(z) / s) * np.log(z) / (s * s),),
        low=TINY,
    ),
    "t": Family(lambda z, df: -z * (1 + 1 / df) / (1 + z * z / df), (t_shape_slope,), (None,)),
    "chi2": Family(
        lambda z, df: ratio(df * 0.5 - 1, z) - 0.5,
        (lambda z, df: 0.5 * (np.log(z * 0.5) - special.psi(df * 0.5)),),
        (None,),
        low=0,
    ),
    "gamma": Family(
        lambda z, a: ratio(a - 1, z) - 1,
        (lambda z, a: np.log(z) - special.psi(a),),
        (None,),
        low=0,
    ),
    "beta": Family(
        lambda z, a, b: ratio(a - 1, z) - ratio(b - 1, 1 - z),
        (
            lambda z, a, b: np.log(z) - special.psi(a) + special.psi(a + b),
            lambda z, a, b: np.log1p(-z) - special.psi(b) + special.psi(a + b),
        ),
        (None, None),
        low=0,
        high=1,
    ),
}


class Maker:
    """Makes the rules of one family; positions are those of x, the shapes, loc and scale."""

    def __init__(self, name: str) -> None:
        self.name, self.family = name, FAMILIES[name]
        self.ops: dict[str, Op] = {}

    def run(self) -> Distribution:
        """Return the distribution with its ops."""
        kinds = {
            "logpdf": self.log_density,
            "pdf": self.density,
            "cdf": self.cumulative(1.0),
            "sf": self.cumulative(-1.0),
            "logcdf": self.log_cumulative(1.0),
            "logsf": self.log_cumulative(-1.0),
            "ppf": self.quantile(1.0),
            "isf": self.quantile(-1.0),
        }
        for method, kind in kinds.items():
            variable = "q" if method in ("ppf", "isf") else "x"
            rules = [self.rule(kind, k) for k in range(len(self.family.shapes) + 3)]
            if method not in ("logpdf", "pdf"):
                for k, slope in enumerate(self.family.cumulative):
                    rules[k + 1] = rules[k + 1] if slope is not None else None
            self.ops[method] = make_op(self.name, method, variable, PARAMETERS, *rules)
        return Distribution(self.name, self.ops)

    def rule(self, kind: Callable[..., Array], position: int) -> Any:
        """Return the rule of one argument."""
        return lambda dy, y, *args: dy * kind(position, y, *args)

    def standard(self, x: Array, *parameters: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """Return z, where it lies in the support, and the shapes; z is harmless elsewhere."""
        *shapes, loc, scale = parameters
        z = over(less(x, loc), scale)
        inside = self.family.inside(z)
        return (z if inside is True else np.where(inside, z, 0.5)), inside, tuple(shapes)

    def log_density(self, position: int, y: Array, x: Array, *parameters: Array) -> Array:
        """Return the slope of the log density."""
        z, inside, shapes = self.standard(x, *parameters)
        n, scale = len(shapes), parameters[-1]
        if 0 < position <= n:
            slope = self.family.shapes[position - 1](z, *shapes)
        else:
            score = self.family.score(z, *shapes)
            slope = over(-(z * score + 1) if position == n + 2 else score, scale)
            slope = -slope if position == n + 1 else slope
        return shaped(y, inside, slope)

    def density(self, position: int, y: Array, *args: Array) -> Array:
        """Return the slope of the density."""
        return y * self.log_density(position, y, *args)

    def along(self, position: int, slope: Array, x: Array, *parameters: Array) -> Array:
        """Return the slope in x, loc or scale of what depends on z alone, from that in x."""
        n = len(parameters) - 2
        if position == 0:
            return slope
        loc, scale = parameters[-2:]
        return -slope if position == n + 1 else -slope * over(less(x, loc), scale)

    def in_shape(self, position: int, y: Array, x: Array, *parameters: Array) -> Array:
        """Return the slope of the distribution function in a shape."""
        z, inside, shapes = self.standard(x, *parameters)
        slope = self.family.cumulative[position - 1]
        return shaped(y, inside, slope(z, *shapes))  # type: ignore[misc]  # no rule where it is None

    def is_shape(self, position: int) -> bool:
        """Tell whether a position is that of a shape."""
        return 0 < position <= len(self.family.shapes)

    def cumulative(self, sign: float) -> Callable[..., Array]:
        """Return the slope of the distribution function, or of the survival function for -1."""

        def slope(position: int, y: Array, *args: Array) -> Array:
            if self.is_shape(position):
                return sign * self.in_shape(position, y, *args)
            return sign * self.along(position, self.ops["pdf"](*args), *args)

        return slope

    def log_cumulative(self, sign: float) -> Callable[..., Array]:
        """Return the slope of the logarithm of either."""

        def slope(position: int, y: Array, *args: Array) -> Array:
            if self.is_shape(position):
                return sign * self.in_shape(position, y, *args) * np.exp(-known(y))
            if self.family.hazard is None:
                share = np.exp(self.ops["logpdf"](*args) - known(y))
            else:
                z, _, _ = self.standard(*args)
                share = shaped(y, True, over(self.family.hazard(z * sign), args[-1]))
            return sign * self.along(position, share, *args)

        return slope

    def quantile(self, sign: float) -> Callable[..., Array]:
        """Return the slope of the inverse of either."""

        def slope(position: int, y: Array, q: Array, *parameters: Array) -> Array:
            if self.is_shape(position):
                share = self.in_shape(position, y, y, *parameters)
                return -share / self.ops["pdf"](y, *parameters)
            if position == 0:
                return sign / self.ops["pdf"](y, *parameters)
            loc, scale = parameters[-2:]
            return shaped(
                y, True, over(less(y, loc), scale) if position > len(parameters) - 1 else 1.0
            )

        return slope


@functools.cache
def continuous(name: str) -> Distribution:
    """Return one of SciPy's continuous distributions for traced values."""
    return Maker(name).run()
