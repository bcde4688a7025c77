"""Discrete distributions, differentiated in their parameters; counts have no derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.rules.registry import zero
from yota.rules.scipy_special.gammas import beta_density, gamma_density
from yota.rules.scipy_special.table import ratio
from yota.scipy.stats.distribution import Distribution, known, make_op, shaped

Array = Any
Slope = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Family:
    """Slopes in each parameter of log mass and distribution function, None where unknown.

    The support goes from 0 to `high(*parameters)`.
    """

    mass: tuple[Slope | None, ...]
    cumulative: tuple[Slope | None, ...]
    high: Callable[..., Any]


FAMILIES = {
    "poisson": Family(
        (lambda k, mu: ratio(k, mu) - 1,),
        (lambda k, mu: -gamma_density(k + 1, mu),),
        lambda mu: np.inf,
    ),
    "binom": Family(
        (None, lambda k, n, p: ratio(k, p) - ratio(n - k, 1 - p)),
        (None, lambda k, n, p: -beta_density(k + 1, n - k, p)),
        lambda n, p: n,
    ),
    "bernoulli": Family(
        (lambda k, p: ratio(k, p) - ratio(1 - k, 1 - p),),
        (lambda k, p: -1.0,),
        lambda p: 1,
    ),
}


class Maker:
    """Makes the rules of one family; positions are those of k, the parameters and loc."""

    def __init__(self, name: str) -> None:
        self.name, self.family = name, FAMILIES[name]

    def run(self) -> Distribution:
        """Return the distribution with its ops."""
        mass, cumulative = self.family.mass, self.family.cumulative
        ops = {
            "logpmf": [self.log_mass(k) for k in range(len(mass))],
            "pmf": [self.mass(k) for k in range(len(mass))],
            "cdf": [self.probability(k, 1.0) for k in range(len(cumulative))],
            "sf": [self.probability(k, -1.0) for k in range(len(cumulative))],
            "logcdf": [self.log_probability(k, 1.0) for k in range(len(cumulative))],
            "logsf": [self.log_probability(k, -1.0) for k in range(len(cumulative))],
        }
        made = {}
        for method, rules in ops.items():
            # a mass is defined at whole numbers alone; a probability is constant between them
            count = None if method in ("logpmf", "pmf") else zero
            made[method] = make_op(self.name, method, "k", {"loc": 0}, count, *rules, count)
        return Distribution(self.name, made)

    def log_mass(self, position: int) -> Any:
        """Return the rule of the log mass in one parameter."""
        slope = self.family.mass[position]
        if slope is None:
            return None

        def pulled(dy: Array, y: Array, k: Array, *rest: Array) -> Array:
            *parameters, loc = rest
            k = k - loc
            inside = np.logical_and(np.equal(k, np.floor(k)), self.between(k, parameters))
            return dy * shaped(y, inside, slope(np.where(inside, k, 0), *parameters))

        return pulled

    def mass(self, position: int) -> Any:
        """Return the rule of the mass in one parameter."""
        rule = self.log_mass(position)
        return None if rule is None else lambda dy, y, *args: rule(dy * y, y, *args)

    def between(self, k: Array, parameters: Any) -> Array:
        """Return where a count lies in the support."""
        high = self.family.high(*parameters)
        return np.logical_and(np.greater_equal(k, 0), np.less_equal(k, high))

    def probability(self, position: int, sign: float) -> Any:
        """Return the rule of the distribution (1) or the survival function (-1)."""
        slope = self.family.cumulative[position]
        if slope is None:
            return None

        def pulled(dy: Array, y: Array, k: Array, *rest: Array) -> Array:
            *parameters, loc = rest
            k = np.floor(k - loc)
            high = self.family.high(*parameters)
            inside = np.logical_and(np.greater_equal(k, 0), np.less(k, high))
            found = slope(np.where(inside, k, 0), *parameters)
            return dy * sign * shaped(y, inside, found)

        return pulled

    def log_probability(self, position: int, sign: float) -> Any:
        """Return the rule of the logarithm of either."""
        rule = self.probability(position, sign)
        if rule is None:
            return None
        return lambda dy, y, *args: rule(dy * np.exp(-known(y)), y, *args)


@functools.cache
def discrete(name: str) -> Distribution:
    """Return one of SciPy's discrete distributions for traced values."""
    return Maker(name).run()
