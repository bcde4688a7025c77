"""Every function of `yota.scipy` against SciPy's, against differences, and as generated code."""

from __future__ import annotations

import importlib
import operator
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

import yota
from tests.bits import bits
from tests.yota.rules.samples import Sample, real, regular, spd
from tests.yota.scipy.checks import check_code, check_first, check_second, prepared
from tests.yota.scipy.namespace import SAMPLES
from yota.rules.registry import VJP, zero
from yota.scipy import linalg, special, stats
from yota.tape import Call, vars_in

RELEASE = tuple(map(int, version("scipy").split(".")[:2]))
EVERY = pytest.mark.parametrize("s", SAMPLES, ids=lambda s: s.name)
SMOOTH = [s for s in SAMPLES if not s.name.endswith("single")]


@EVERY
def test_gradient_agrees_with_central_differences(s: Sample) -> None:
    check_first(s)


@pytest.mark.parametrize("s", SMOOTH, ids=lambda s: s.name)
def test_second_derivative_agrees_with_differences_of_the_first(s: Sample) -> None:
    check_second(s)


@EVERY
def test_every_form_of_code_gives_the_bits_of_the_tape(s: Sample) -> None:
    check_code(s)


@EVERY
def test_traced_value_is_scipys_to_the_bit(s: Sample) -> None:
    def f(*varied: Any) -> Any:
        call = s
        for k, v in zip(s.argnums, varied, strict=True):
            call = call.with_operand(k, v)
        return call.run()

    plain = s.run()
    traced, _ = yota.trace(f, *[s.operand(k) for k in s.argnums])
    assert bits(traced) == bits(plain)
    public = getattr(s.fn, "__yota_public__", None)
    if public is not None:
        scipys = operator.attrgetter(public[1])(importlib.import_module(public[0]))
        assert bits(scipys(*s.args, **s.kwargs)) == bits(plain)


def test_every_rule_is_reached_by_a_sample() -> None:
    reached = set()
    for s in SAMPLES:
        f, varied, _ = prepared(s)
        for _, op in yota.trace(f, *varied)[1]:
            if isinstance(op, Call):
                reached |= {(op.fn, k) for k, a in enumerate(op.args) if any(vars_in(a))}
    missing = [
        f"{fn.__module__}.{fn.__name__}, argument {k}"
        for fn, vjp in VJP.items()
        if (getattr(fn, "__module__", None) or "").startswith("yota.scipy")
        and not fn.__module__.endswith("integrate")
        for k, rule in enumerate(vjp.rules)
        if rule not in (None, zero) and (fn, k) not in reached
    ]
    assert not missing, missing


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.t.cdf(0.3, x),
        lambda x: stats.gamma.sf(0.3, x),
        lambda x: stats.beta.ppf(0.3, x, 2.0),
        lambda x: stats.poisson.logpmf(x, 2.0),
        lambda x: stats.binom.logpmf(2, x, 0.5),
        lambda x: special.logsumexp(x, axis=0, b=np.ones(1)) * special.polygamma(x, 2.0),
        lambda x: special.spherical_jn(2, x, True),
        lambda x: np.sum(stats.multivariate_normal.logpdf(np.ones(2), x, np.eye(2), True)),
        pytest.param(
            lambda x: np.sum(linalg.solve(x * np.eye(2), np.ones(2), assume_a="diagonal")),
            marks=pytest.mark.skipif(RELEASE < (1, 15), reason="diagonal came with SciPy 1.15"),
        ),
        lambda x: np.sum(linalg.eigh(x * np.eye(2), subset_by_index=[0, 0])[0]),
        lambda x: np.sum(linalg.eigh(x * np.eye(2), np.eye(2))[0]),
        lambda x: np.sum(linalg.pinv(x * np.eye(2), rtol=0.1)),
        lambda x: np.sum(linalg.lu_factor(x * real(3, 2))[0]),
        lambda x: np.sum(linalg.toeplitz(x * np.ones((2, 2)))),
    ],
)
def test_what_has_no_rule_is_refused(f: Any) -> None:
    with pytest.raises(yota.RuleError):
        yota.grad(f, 1.5)


def test_leave_to_overwrite_is_not_used_on_the_tape() -> None:
    a, b = regular(3), np.arange(3.0)
    before = a.copy(), b.copy()
    f = lambda a, b: np.sum(linalg.solve(a, b, overwrite_a=True, overwrite_b=True))
    tape = yota.gradtape(f, a, b)
    value, gradients = tape.play(a, b)
    assert np.array_equal(a, before[0])
    assert np.array_equal(b, before[1])
    assert bits(value) == bits(np.sum(linalg.solve(a, b)))
    want = yota.grad(lambda a, b: np.sum(linalg.solve(a, b)), a, b)[1]
    assert bits(gradients) == bits(tuple(want))


def test_lists_of_traced_values_are_arrays() -> None:
    g = yota.grad(lambda x: special.logsumexp([x, 2.0 * x]) + stats.norm.logpdf([x])[0], 0.5)[1]
    x = 0.5
    want = (np.exp(x) + 2 * np.exp(2 * x)) / (np.exp(x) + np.exp(2 * x)) - x
    np.testing.assert_allclose(g[0], want)


def test_parameters_may_be_given_by_name() -> None:
    by_name = lambda m, s: stats.norm.logpdf(x=1.0, scale=s, loc=m)
    by_place = lambda m, s: stats.norm.logpdf(1.0, m, s)
    assert bits(list(yota.grad(by_name, 0.3, 2.0)[1])) == bits(
        list(yota.grad(by_place, 0.3, 2.0)[1])
    )
    assert (
        yota.grad(lambda m, s: stats.norm(m, scale=s).logpdf(1.0), 0.3, 2.0)[1][0]
        == (yota.grad(by_place, 0.3, 2.0)[1][0])
    )
    with pytest.raises(TypeError):
        yota.grad(lambda m: stats.norm.logpdf(1.0, m, scal=2.0), 0.3)


def test_the_rest_of_a_distribution_is_scipys() -> None:
    assert stats.norm.mean(3.0) == 3.0
    assert stats.norm(3.0, 2.0).std() == 2.0
    assert stats.multivariate_normal([1.0, 2.0]).mean.tolist() == [1.0, 2.0]
    assert stats.cauchy.pdf(0.0) == 1 / np.pi
    assert special.erf(0.0) == 0
    assert "erf" in dir(special)
    assert "cauchy" in dir(stats)
    assert repr(stats.t) == "<yota.scipy.stats.t>"


def test_root_and_logarithm_become_complex_under_a_guard() -> None:
    f = lambda a: np.sum(np.real(linalg.sqrtm(a)))
    tape = yota.gradtape(f, spd(2))
    with pytest.raises(yota.GuardError):
        tape.play(-spd(2))
    assert np.all(np.isfinite(yota.grad(f, -spd(2))[1][0]))


def test_the_other_triangle_of_a_factor_is_that_of_the_matrix() -> None:
    f = lambda a: linalg.cho_factor(a, lower=True)[0][0, 2] + linalg.cho_factor(a)[0][2, 0]
    g = yota.grad(f, spd(3))[1][0]
    want = np.zeros((3, 3))
    want[0, 2] = want[2, 0] = 1
    np.testing.assert_array_equal(g, want)


def test_mean_of_the_entropy_counts_only_its_length() -> None:
    f = lambda m, c: stats.multivariate_normal.entropy(m, c)
    _, g = yota.grad(f, np.ones(3), np.array(2.0))
    np.testing.assert_array_equal(g[0], 0)
    np.testing.assert_allclose(g[1], 3 / 4)
