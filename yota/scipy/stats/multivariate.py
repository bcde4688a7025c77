"""The multivariate normal and the Dirichlet distribution."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from yota.errors import RuleError
from yota.rules.products import column, t
from yota.rules.registry import find_box
from yota.rules.scipy_special.table import ratio
from yota.rules.spectra import fold
from yota.scipy.stats.distribution import Distribution, wrap
from yota.tracing import array

Array = Any
_normal = stats.multivariate_normal


# The multivariate normal distribution.


def mirrored(cov: Array) -> Array:
    """Return the symmetric matrix of which SciPy reads the lower triangle."""
    return np.tril(cov) + t(np.tril(cov, -1))


def normal_vjp(position: int, logarithm: bool) -> Callable[..., Array]:
    """Return the rule of x, mean or covariance (Petersen and Pedersen 2012, 8.1)."""

    def pulled(dy: Array, y: Array, x: Array, mean: Array, cov: Array) -> Array:
        weights = column(np.reshape(dy if logarithm else dy * y, (-1,)))
        full = mirrored(cov)
        off = np.reshape(x, (-1, np.shape(mean)[0])) - mean
        solved = t(np.linalg.solve(full, t(off)))
        if position == 0:
            return np.reshape(-weights * solved, np.shape(x))
        if position == 1:
            return np.sum(weights * solved, axis=0)
        g = t(weights * solved) @ solved - np.sum(weights) * np.linalg.inv(full)
        return fold(g * 0.5, True)

    return pulled


def entropy_vjp(dy: Array, y: Array, mean: Any, cov: Array) -> Array:
    """Pull back through half the logarithm of the determinant, and a constant."""
    return fold(dy * 0.5 * np.linalg.inv(mirrored(cov)), True)


def normal_parameters(mean: Any, cov: Any) -> tuple[Any, Any]:
    """Return mean and covariance as vector and matrix, as SciPy reads them."""
    if isinstance(cov, stats.Covariance):
        raise RuleError("multivariate_normal of traced values takes the covariance as an array")
    cov = array(1.0 if cov is None else cov)
    mean = None if mean is None else np.ravel(array(mean))
    if mean is None:
        mean = np.zeros(np.shape(cov)[0] if np.ndim(cov) == 2 else 1)
    n = np.shape(mean)[0]
    if n == 1:
        return mean, np.reshape(cov, (1, 1))
    if np.ndim(cov) == 0:
        return mean, cov * np.eye(n)
    return mean, np.diag(cov) if np.ndim(cov) == 1 else cov


def _op(method: str, *rules: Any, names: str) -> Callable[..., Any]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(k, kind) for k in names.split()])
    owner, _, last = method.partition(".")
    fn = getattr(getattr(stats, owner), last)
    return wrap(fn, *rules, name=f"{owner}_{last}", path=method, signature=signature, complete=True)


def _each(method: str, rule: Callable[..., Any], names: str, *options: Any) -> Callable[..., Any]:
    rules = [rule(k, *options) for k in range(len(names.split()))]
    return _op(method, *rules, names=names)


_logpdf = _each("multivariate_normal.logpdf", normal_vjp, "x mean cov", True)
_pdf = _each("multivariate_normal.pdf", normal_vjp, "x mean cov", False)
_entropy = _op("multivariate_normal.entropy", None, entropy_vjp, names="mean cov")


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """Return the log density of the normal distribution at the points in the last axis of x."""
    return _density("logpdf", _logpdf, x, mean, cov, allow_singular)


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """Return the density of the normal distribution at the points in the last axis of x."""
    return _density("pdf", _pdf, x, mean, cov, allow_singular)


def _density(name: str, op: Callable[..., Any], x: Any, mean: Any, cov: Any, singular: bool) -> Any:
    if find_box((x, mean, cov)) is None:
        return getattr(_normal, name)(x, mean, cov, singular)
    if singular:
        raise RuleError("no derivative is known of multivariate_normal with allow_singular")
    return op(array(x), *normal_parameters(mean, cov))


def entropy(mean: Any = None, cov: Any = 1) -> Any:
    """Return the differential entropy of the normal distribution."""
    if find_box((mean, cov)) is None:
        return _normal.entropy(mean, cov)
    return _entropy(None, normal_parameters(mean, cov)[1])


# The Dirichlet distribution.


def dirichlet_terms(dy: Array, x: Array, alpha: Array) -> tuple[Array, Array, Array]:
    """Return cotangents, all coordinates and the concentrations with as many axes."""
    rest = np.shape(x)[1:]
    alpha = np.reshape(alpha, (-1, *(1,) * len(rest)))
    if np.shape(x)[0] < np.shape(alpha)[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    return np.reshape(dy, rest), x, alpha


def dirichlet_vjp(logarithm: bool) -> Callable[..., Array]:
    """Return the rule of the point, one coordinate of which may be left to the sum of 1."""

    def pulled(dy: Array, y: Array, x: Array, alpha: Array) -> Array:
        dy, full, alpha = dirichlet_terms(dy if logarithm else dy * y, x, alpha)
        n = np.shape(x)[0]
        dx = dy * ratio(alpha - 1, full)
        return dx if n == np.shape(full)[0] else dx[:n] - dx[n:]

    return pulled


def dirichlet_alpha_vjp(logarithm: bool) -> Callable[..., Array]:
    """Return the rule of the concentrations."""

    def pulled(dy: Array, y: Array, x: Array, alpha: Array) -> Array:
        dy, full, _ = dirichlet_terms(dy if logarithm else dy * y, x, alpha)
        logs = np.sum(dy * np.log(full), axis=tuple(range(1, np.ndim(full))))
        return logs + np.sum(dy) * (special.psi(np.sum(alpha)) - special.psi(alpha))

    return pulled


dirichlet_ops = {
    name: _op(f"dirichlet.{name}", dirichlet_vjp(log), dirichlet_alpha_vjp(log), names="x alpha")
    for name, log in (("logpdf", True), ("pdf", False))
}
multivariate_normal = Distribution(
    "multivariate_normal", {"logpdf": logpdf, "pdf": pdf, "entropy": entropy}
)
dirichlet = Distribution("dirichlet", dirichlet_ops)
