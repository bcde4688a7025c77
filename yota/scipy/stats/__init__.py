"""`scipy.stats` for traced values: densities and probabilities, also in their parameters.

Every other name is SciPy's own.
"""

from __future__ import annotations

from typing import Any

from scipy import stats as _stats

from yota.scipy.stats.continuous import continuous
from yota.scipy.stats.discrete import discrete
from yota.scipy.stats.multivariate import dirichlet, multivariate_normal

norm = continuous("norm")
uniform = continuous("uniform")
expon = continuous("expon")
laplace = continuous("laplace")
logistic = continuous("logistic")
lognorm = continuous("lognorm")
t = continuous("t")
chi2 = continuous("chi2")
gamma = continuous("gamma")
beta = continuous("beta")
poisson = discrete("poisson")
binom = discrete("binom")
bernoulli = discrete("bernoulli")

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "laplace",
    "logistic",
    "lognorm",
    "multivariate_normal",
    "norm",
    "poisson",
    "t",
    "uniform",
]


def __getattr__(name: str) -> Any:
    return getattr(_stats, name)


def __dir__() -> list[str]:
    return dir(_stats)
