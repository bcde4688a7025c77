"""A traced value in a function of SciPy's: the error names the user's line and the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.spatial
import scipy.special
import scipy.stats

import yota

A = np.eye(3) + 0.1
ONES = np.ones(3)

OFFERED: list[tuple[str, Any, Any]] = [
    ("stats.norm.logpdf", lambda t: np.sum(scipy.stats.norm.logpdf(t)), ONES),
    ("stats.norm.logpdf", lambda t: scipy.stats.norm.logpdf(1.0, loc=t), 1.0),
    ("stats.norm.logpdf", lambda t: scipy.stats.norm(t, 1.0).logpdf(1.0), 1.0),
    ("stats.t.cdf", lambda t: scipy.stats.t.cdf(t, 3.0), 1.0),
    ("stats.poisson.logpmf", lambda t: scipy.stats.poisson.logpmf(2, t), 1.0),
    ("stats.multivariate_normal", lambda t: scipy.stats.multivariate_normal(t).logpdf(ONES), ONES),
    ("stats.multivariate_normal.pdf", lambda t: scipy.stats.multivariate_normal.pdf(t), ONES),
    ("stats.dirichlet.logpdf", lambda t: scipy.stats.dirichlet.logpdf(t, ONES), ONES / 3),
    ("linalg.expm", lambda t: np.sum(scipy.linalg.expm(t)), A),
    ("linalg.solve", lambda t: np.sum(scipy.linalg.solve(A, t)), ONES),
    ("linalg.cho_factor", lambda t: scipy.linalg.cho_factor(t)[0][0, 0], A),
    ("linalg.solve_triangular", lambda t: np.sum(scipy.linalg.solve_triangular(A, t)), ONES),
    ("linalg.block_diag", lambda t: np.sum(scipy.linalg.block_diag(t, A)), A),
    ("linalg.det", lambda t: scipy.linalg.det(t), A),
    ("special.softmax", lambda t: scipy.special.softmax(t)[0], ONES),
    ("special.logsumexp", lambda t: scipy.special.logsumexp([t, t]), 1.0),
    ("special.polygamma", lambda t: scipy.special.polygamma(1, t), 1.0),
    ("special.multigammaln", lambda t: scipy.special.multigammaln(t, 2), 3.0),
    ("signal.convolve", lambda t: np.sum(scipy.signal.convolve(t, t)), ONES),
    (
        "integrate.odeint",
        lambda t: np.sum(scipy.integrate.odeint(lambda y, s: -y, t, [0.0, 1.0])),
        ONES,
    ),
]
NOT_OFFERED: list[tuple[str, Any, Any]] = [
    ("stats.cauchy.pdf", lambda t: scipy.stats.cauchy.pdf(t), 1.0),
    ("stats.gaussian_kde", lambda t: scipy.stats.gaussian_kde(t), np.arange(4.0)),
    ("linalg.cosm", lambda t: np.sum(scipy.linalg.cosm(t)), A),
    ("special.comb", lambda t: scipy.special.comb(t, 2), 3.0),
    ("optimize.minimize", lambda t: scipy.optimize.minimize(lambda x: x @ x, t).fun, ONES),
    ("interpolate.CubicSpline", lambda t: scipy.interpolate.CubicSpline([0, 1, 2], t)(0.5), ONES),
    ("spatial.distance.cdist", lambda t: np.sum(scipy.spatial.distance.cdist(t, t)), A),
]


@pytest.mark.parametrize(("path", "f", "x"), OFFERED, ids=lambda v: v if type(v) is str else "")
def test_error_names_the_twin_in_our_namespace(path: str, f: Any, x: Any) -> None:
    where = rf"test_cures.py:{f.__code__.co_firstlineno}: .*through scipy\.{path}"
    with pytest.raises(yota.TraceError, match=rf"{where}.*use yota\.scipy\.{path}"):
        yota.grad(f, x)


@pytest.mark.parametrize(("path", "f", "x"), NOT_OFFERED, ids=lambda v: v if type(v) is str else "")
def test_error_says_what_to_do_where_there_is_no_twin(path: str, f: Any, x: Any) -> None:
    with pytest.raises(yota.TraceError, match=rf"through scipy\.{path}.*yota\.primitive"):
        yota.grad(f, x)


def test_transforms_have_their_twin_in_numpy() -> None:
    with pytest.raises(yota.TraceError, match=r"through scipy\.fft\.rfft; use np\.fft\.rfft"):
        yota.grad(lambda t: np.sum(np.real(scipy.fft.rfft(t))), ONES)


def test_other_ways_out_keep_their_own_cure() -> None:
    with pytest.raises(yota.TraceError, match=r"through np\.array.*yota\.array"):
        yota.grad(lambda t: np.asarray(t).sum(), ONES)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        *([(scipy.special.softplus, 0.5)] if hasattr(scipy.special, "softplus") else []),
        (lambda q: scipy.special.zeta(2.5, q), 0.7),
        (lambda z: np.real(scipy.special.lambertw(z)), 0.8),
    ],
)
def test_what_scipy_makes_of_ufuncs_alone_needs_no_twin(f: Any, x: float) -> None:
    yota.check_grads(f, x, order=2)
