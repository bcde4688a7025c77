"""The places where a formula alone would go wrong: poles, borders, tails, infinities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import special as plain

import yota
from tests.yota.quietly import slope
from yota.scipy import special, stats

INF = math.inf


def curvature(f: Any, x: float) -> Any:
    return yota.grad(lambda x: yota.grad(f, x)[1][0], x)[1][0]


# Sums of exponentials.


def test_logsumexp_shares_ties_and_ignores_minus_infinity() -> None:
    np.testing.assert_allclose(slope(special.logsumexp, np.full(4, 7.0)), 0.25)
    g = slope(special.logsumexp, np.array([-INF, 0.0, 0.0]))
    np.testing.assert_allclose(g, [0, 0.5, 0.5])


def test_logsumexp_of_nothing_but_minus_infinity_has_slope_0() -> None:
    np.testing.assert_array_equal(slope(special.logsumexp, np.full(3, -INF)), 0)
    f = lambda x: np.sum(special.logsumexp(x, axis=1))
    g = slope(f, np.array([[-INF, -INF], [0.0, -INF]]))
    np.testing.assert_array_equal(g, [[0, 0], [1, 0]])


def test_logsumexp_far_from_0_does_not_overflow() -> None:
    np.testing.assert_allclose(
        slope(special.logsumexp, np.array([1e4, 1e4 - 40])), [1, 4.248354255291589e-18]
    )


def test_softmax_with_an_infinity_is_nan_as_its_value() -> None:
    x = np.array([INF, 0.0])
    with np.errstate(all="ignore"):
        assert np.isnan(plain.softmax(x)).any()
        g = yota.grad(lambda x: special.softmax(x)[0], x)[1][0]
    assert np.isnan(g).any()
    np.testing.assert_allclose(slope(lambda x: special.softmax(x)[1], np.array([0.0, -INF])), 0)


# Error functions and the normal distribution far out; references by mpmath with 30 digits.


@pytest.mark.parametrize(
    ("f", "x", "want"),
    [
        (plain.erf, 5.0, 1.5670866531017335e-11),
        (plain.erfc, 20.0, -2.1610374743867985e-174),
        (plain.log_ndtr, -1e4, 10000.00009999999800),
        (plain.log_ndtr, 20.0, 5.5209483621597632e-88),
        (plain.erfcx, 1e6, -5.6418958354691e-13),
        (plain.dawsn, 1e6, -5.0000000000075e-13),
        (plain.expit, 40.0, 4.24835425529159e-18),
        (plain.log_expit, 40.0, 4.24835425529159e-18),
        (plain.ellipkm1, 1e-20, -5e19),
        (plain.exprel, -1e-9, 0.4999999996666667),
        (plain.spence, 1.0, -1.0),
        (plain.rgamma, -3.0, -6.0),
        (lambda x: stats.norm.logcdf(x), -1e4, 10000.00009999999800),
        (lambda x: stats.norm.logsf(x), 1e4, -10000.00009999999800),
    ],
)
def test_slope_in_the_tail_keeps_its_digits(f: Any, x: float, want: float) -> None:
    np.testing.assert_allclose(slope(f, x), want, rtol=1e-12)


def test_distribution_is_flat_at_infinity() -> None:
    for f in (plain.erf, plain.ndtr, plain.expit, stats.norm.cdf):
        assert slope(f, INF) == 0
        assert slope(f, -INF) == 0


# Poles and borders.


def test_gamma_at_its_poles() -> None:
    with np.errstate(all="ignore"):
        g = yota.grad(lambda x: np.sum(plain.gamma(x)), np.array([-1.0, -2.0, 1.0]))[1][0]
    assert np.isnan(g[:2]).all()
    np.testing.assert_allclose(g[2], -np.euler_gamma)


def test_reciprocal_gamma_passes_its_poles_smoothly() -> None:
    np.testing.assert_allclose(
        slope(lambda x: np.sum(plain.rgamma(x)), np.array([0.0, -1.0, -2.0, -3.0])), [1, -1, 2, -6]
    )
    # 1/Gamma(x) = x + euler_gamma x^2 + ... (DLMF 5.7.1)
    np.testing.assert_allclose(curvature(plain.rgamma, 0.0), 2 * np.euler_gamma)


def test_x_log_y_at_0() -> None:
    assert slope(plain.xlogy, 0.0, 2.0) == (math.log(2), 0)
    assert slope(plain.xlog1py, 0.0, 1.0) == (math.log(2), 0)
    with np.errstate(all="ignore"):
        dx, dy = yota.grad(plain.xlogy, 0.0, 0.0)[1]
    assert (dx, dy) == (-INF, 0)
    # the mixed derivative at x = 0 is 1/y
    assert curvature(lambda x: plain.xlogy(x, 2.0 + x), 0.0) == 1.0


def test_entropies_at_0() -> None:
    with np.errstate(divide="ignore"):
        assert yota.grad(plain.entr, 0.0)[1][0] == INF
        assert tuple(yota.grad(plain.rel_entr, 0.0, 2.0)[1]) == (-INF, 0)
        assert tuple(yota.grad(plain.kl_div, 0.0, 2.0)[1]) == (-INF, 1)
    assert np.isnan(list(yota.grad(plain.rel_entr, -1.0, -2.0)[1])).all()


def test_losses_at_their_border() -> None:
    assert slope(plain.huber, 1.0, 1.0) == (0, 1)
    assert slope(plain.huber, 1.0, -3.0) == (2, -1)
    assert slope(plain.pseudo_huber, 0.0, 0.0) == (0, 0)
    assert np.isnan(slope(plain.huber, -1.0, 2.0)).all()


def test_powers_become_logarithms_without_a_jump() -> None:
    want = math.log(3) ** 2 / 2
    for power in (-1e-12, 0.0, 1e-12):
        np.testing.assert_allclose(slope(lambda p: plain.boxcox(3.0, p), power), want, rtol=1e-10)
        got = slope(lambda p: plain.inv_boxcox(3.0, p), power)
        np.testing.assert_allclose(got, -4.5 * math.exp(3), rtol=1e-10)
    np.testing.assert_allclose(slope(lambda p: plain.boxcox(0.0, p), 2.0), 0.25)


def test_elliptic_integrals_at_0_and_1() -> None:
    np.testing.assert_allclose(slope(plain.ellipk, 0.0), math.pi / 8)
    np.testing.assert_allclose(curvature(plain.ellipk, 0.0), 9 * math.pi / 64)
    np.testing.assert_allclose(slope(plain.ellipe, 0.0), -math.pi / 8)
    np.testing.assert_allclose(
        slope(lambda m: plain.ellipeinc(0.7, m), 1.0),
        (math.sin(0.7) - math.asinh(math.tan(0.7))) / 2,
    )


def test_bessel_functions_at_0() -> None:
    for f, want in ((plain.j0, 0), (plain.j1, 0.5), (plain.i0, 0), (plain.i1, 0.5),
                    (plain.i0e, 0), (lambda x: plain.jv(2, x), 0)):  # fmt: skip
        assert slope(f, 0.0) == want


def test_an_output_that_is_not_used_does_not_spoil_the_others() -> None:
    assert slope(lambda x: plain.sici(x)[0], 0.0) == 1
    assert slope(lambda x: plain.shichi(x)[0], 0.0) == 1
    np.testing.assert_allclose(slope(lambda x: plain.itj0y0(x)[0], -1.0), plain.j0(1.0))


@pytest.mark.parametrize(
    ("f", "want"),
    [(plain.gammaln, plain.psi(0.8)), (plain.logit, 6.25), (plain.y0, -plain.y1(0.8))],
)
def test_masked_elements_outside_the_domain_contribute_nothing(f: Any, want: float) -> None:
    x = np.array([-1.0, 0.0, 0.8])
    with np.errstate(all="ignore"):
        g = yota.grad(lambda x: np.sum(np.where(x > 0, f(x), 0.0)), x)[1][0]
    np.testing.assert_allclose(g, [0, 0, want])


# Calls outside the domain, differentiated in the last operand.
OUTSIDE: list[tuple[str, tuple[float, ...]]] = [
    ("loggamma", (-0.5,)), ("logit", (1.5,)), ("log1p", (-2.0,)), ("exp1", (-1.0,)),
    ("gammainc", (-0.5, 1.0)), ("betainc", (-0.5, 1.0, 0.5)), ("ndtri", (1.5,)),
    ("erfinv", (1.5,)), ("ellipk", (1.5,)), ("y0", (-1.0,)), ("k0", (-1.0,)), ("entr", (-1.0,)),
    ("spence", (-1.0,)), ("stdtr", (-1.0, 0.5)), ("pdtr", (2.0, -1.0)), ("ellipkinc", (1.4, 2.0)),
    ("lpmv", (0.0, 1.0, 2.0)), ("boxcox", (-1.0, 1.0)), ("xlogy", (1.0, -1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), OUTSIDE)
def test_slope_is_not_finite_where_the_function_is_not_defined(
    name: str, args: tuple[float, ...]
) -> None:
    with np.errstate(all="ignore"):
        _, g = yota.grad(lambda x: getattr(plain, name)(*args[:-1], x), args[-1])
    assert not np.isfinite(g[0])


# Types.


@pytest.mark.parametrize("name", ["erf", "gammaln", "psi", "log_ndtr", "ellipk", "j1", "expit"])
def test_single_precision_is_kept_on_the_way(name: str) -> None:
    tape = yota.gradtape(lambda x: np.sum(getattr(plain, name)(x)), np.full(3, 0.5, np.float32))
    kinds = {op.spec.dtype for _, op in tape if op.spec.shape == (3,)}
    assert kinds <= {np.dtype(np.float32), np.dtype(bool)}


def test_complex_operands_are_right_or_refused() -> None:
    z = 0.7 + 0.4j
    for name in ("gamma", "loggamma", "rgamma", "erf", "wofz", "log_ndtr", "exp1", "spence"):
        yota.check_grads(lambda z, name=name: np.real(getattr(plain, name)(z)), z)
    for name in ("psi", "airye"):
        with pytest.raises(yota.RuleError, match="complex"):
            yota.grad(lambda z, name=name: np.real(getattr(plain, name)(z)) if name == "psi" else
                      np.real(getattr(plain, name)(z)[0]), z)  # fmt: skip


@pytest.mark.parametrize("name", ["jve", "yve", "ive"])
def test_scaled_bessel_functions_are_not_holomorphic(name: str) -> None:
    fn = getattr(plain, name)
    for part in (np.real, np.imag):
        yota.check_grads(lambda z, part=part: part(fn(1.3, z)), 0.7 - 0.9j, order=2)


# Distributions.


def test_density_outside_the_support_is_constant() -> None:
    for dist, shapes in ((stats.expon, ()), (stats.uniform, ()), (stats.gamma, (2.0,)),
                         (stats.beta, (2.0, 3.0)), (stats.lognorm, (0.5,))):  # fmt: skip
        for method in ("pdf", "logpdf", "cdf", "sf"):
            f = getattr(dist, method)
            assert slope(lambda x, f=f, shapes=shapes: f(x, *shapes), -0.5) == 0
            assert slope(lambda m, f=f, shapes=shapes: f(-0.5, *shapes, loc=m), 0.0) == 0


def test_a_mixture_is_not_spoilt_by_a_part_without_mass() -> None:
    f = lambda x: np.logaddexp(stats.uniform.logpdf(x), stats.norm.logpdf(x))
    assert slope(f, -0.5) == 0.5


def test_border_of_the_support_has_the_slope_of_the_inside() -> None:
    assert slope(stats.expon.logpdf, 0.0) == -1
    assert slope(lambda x: stats.gamma.logpdf(x, 1.0), 0.0) == -1
    assert slope(lambda x: stats.beta.logpdf(x, 1.0, 2.0), 0.0) == -1


@pytest.mark.parametrize(
    "f",
    [
        lambda s: stats.norm.logpdf(0.3, 0.0, s),
        lambda s: stats.norm.cdf(0.3, 0.0, s),
        lambda s: stats.norm.logcdf(0.3, 0.0, s),
        lambda s: stats.expon.pdf(0.3, 0.0, s),
        lambda s: stats.t.logpdf(0.3, s),
        lambda s: stats.poisson.logpmf(2, s),
        lambda s: stats.lognorm.cdf(0.3, s),
    ],
)
def test_slope_is_nan_where_a_parameter_is_not_valid(f: Any) -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(f(-1.0))
        assert np.isnan(yota.grad(f, -1.0)[1][0])


@pytest.mark.parametrize("df", [1e4, 1e6, 1e10, 1e15])
def test_students_slope_in_many_degrees_of_freedom(df: float) -> None:
    z = 2.0
    got = slope(lambda df: stats.t.logpdf(z, df), df)
    # the series of the log density in 1/df
    want = -((z**4 - 2 * z**2 - 1) / 4) / df**2 - ((3 * z**4 - 2 * z**6) / 6) / df**3
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_student_of_infinitely_many_degrees_is_normal() -> None:
    assert slope(lambda x: stats.t.logpdf(x, INF), 0.7) == -0.7
    np.testing.assert_allclose(
        slope(lambda x: stats.t.cdf(x, INF), 0.7), stats.norm.pdf(0.7), rtol=1e-14
    )


def test_dirichlet_on_the_border() -> None:
    x, alpha = np.array([0.0, 0.4, 0.6]), np.array([1.0, 2.0, 3.0])
    dx = slope(lambda x: stats.dirichlet.logpdf(x, alpha), x)
    np.testing.assert_allclose(dx, [0, 2.5, 2 / 0.6])
    with np.errstate(divide="ignore"):
        da = yota.grad(lambda a: stats.dirichlet.logpdf(x, a), alpha)[1][0]
    assert da[0] == -INF
    assert np.isfinite(da[1:]).all()


def test_poisson_and_binomial_at_certain_outcomes() -> None:
    assert slope(lambda m: stats.poisson.logpmf(0, m), 0.0) == -1
    assert slope(lambda p: stats.binom.logpmf(0, 4, p), 0.0) == -4
    assert slope(lambda p: stats.binom.cdf(4, 4, p), 0.3) == 0
    assert slope(lambda p: stats.binom.cdf(-1, 4, p), 0.3) == 0
    assert slope(lambda p: stats.binom.pmf(1.5, 4, p), 0.3) == 0


def test_covariance_is_read_from_its_lower_triangle() -> None:
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    g = slope(lambda c: stats.multivariate_normal.logpdf(np.ones(2), np.zeros(2), c), cov)
    assert g[0, 1] == 0
    assert g[1, 0] != 0
    # through a symmetric parameter both conventions agree
    f = lambda r: stats.multivariate_normal.logpdf(
        np.ones(2), np.zeros(2), np.eye(2) + r * (np.ones((2, 2)) - np.eye(2))
    )
    yota.check_grads(f, 0.3, order=2)
