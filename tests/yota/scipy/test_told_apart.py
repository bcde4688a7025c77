"""Slopes of scipy.special where differences are too coarse: far out, close by, and outside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

import yota

ROOT_PI = math.sqrt(math.pi)


def slope(f: Any, *args: Any) -> Any:
    return yota.grad(lambda *xs: np.sum(np.real(f(*xs))), *args)[1][0]


def far_series(x: Any, sign: int) -> Any:
    """Return 12 terms of the sum of (2k-1)!! s^k sign^(k-1) with s = 1/(2 x^2)."""
    s, term, total = 0.5 / (x * x), 1.0, 0.0
    for k in range(1, 13):
        term = term * (2 * k - 1) * s
        total = total + term * sign ** (k - 1)
    return total


@pytest.mark.parametrize("x", [30.5, 35.0, 1e5])
def test_error_functions_far_out(x: float) -> None:
    got = slope(special.erfcx, np.array([x]))
    np.testing.assert_allclose(got, -2 / ROOT_PI * far_series(x, -1), rtol=1e-12)
    for sign in (1, -1):
        got = slope(special.dawsn, np.array([sign * x]))
        np.testing.assert_allclose(got, -far_series(x, 1), rtol=1e-12)


def test_the_scaled_error_function_far_out_above_the_real_line() -> None:
    for z in (1 + 1e5j, 1 - 1e5j):
        got = slope(special.erfcx, np.array([z]))
        np.testing.assert_allclose(got, [-2 / ROOT_PI * far_series(z, -1)], rtol=1e-9)
    z = -31 + 31j
    got = slope(special.erfcx, np.array([z]))
    np.testing.assert_allclose(got, [2 * z * special.erfcx(z) - 2 / ROOT_PI], rtol=1e-12)


@pytest.mark.parametrize("df", [41.0, 60.0, 300.0])
def test_students_shape_of_many_degrees(df: float) -> None:
    # psi(x) - psi(x + 1/2) and 1/(2x) by their series (DLMF 5.11.2), w = 1/n^2
    w = 1 / df**2
    want = 0.5 * w * (0.5 - w * (0.25 - w * (0.5 - w * (2.125 - w * 15.5))))
    got = slope(lambda df: stats_t_logpdf(df), np.array([df]))
    np.testing.assert_allclose(got, want, rtol=1e-11)


def stats_t_logpdf(df: Any) -> Any:
    from yota.scipy import stats as traced

    return traced.t.logpdf(0.0, df)


@pytest.mark.parametrize("x", [1e-6, 0.3, 0.7, 9.0, 30.0, -9.0])
def test_the_integral_of_one_less_a_bessel_function(x: float) -> None:
    got = slope(lambda x: special.it2j0y0(x)[0], np.array([x]))
    near = x / 4 - x**3 / 64 + x**5 / 2304
    want = near if abs(x) < 0.01 else (1 - special.j0(x)) / x
    np.testing.assert_allclose(got, want, rtol=1e-10)


@pytest.mark.parametrize("gap", [8e-4, -8e-4, 0.0, 2e-3, 0.5])
@pytest.mark.parametrize("y", [0.4, 1.7])
def test_two_cubes_of_close_numbers(gap: float, y: float) -> None:
    x, z = 1.3, 1.3 * (1 + gap)

    def integrand(u: float) -> float:
        # t = u/(1-u) brings the half line to (0, 1)
        t = u / (1 - u)
        return float((t + y) ** -0.5 * ((t + x) * (t + z)) ** -1.5 / (1 - u) ** 2)

    want = integrate.quad(integrand, 0, 1, epsabs=0, epsrel=1e-13)[0]
    got = slope(lambda x: special.elliprd(x, y, z), np.array(x)) / -0.75
    np.testing.assert_allclose(got, want, rtol=1e-10 if abs(gap) != 2e-3 else 1e-8)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: special.lpmv(1, 2, x), -1.5),
        (lambda x: special.lpmv(1, 2, x), 1.5),
        (lambda r: special.pseudo_huber(-1.0, r), 0.5),
        (lambda q: special.boxcox(0.0, q), -1.0),
        (lambda x: special.eval_sh_jacobi(2, 1.5, -0.5, x), 0.3),
        (lambda x: special.eval_sh_jacobi(2, -1.5, 0.5, x), 0.3),
        (lambda x: special.pbvv(1.5, x)[1], -7.0),
        (lambda x: special.pbvv(1.5, x)[1], 7.0),
        (lambda x: special.pbdv(1.5, x)[1], -7.0),
        (lambda x: special.mathieu_modcem2(2, 1.5, x)[1], -0.5),
        (lambda x: special.mathieu_modcem2(2, -1.5, x)[1], 0.5),
        (lambda x: special.mathieu_modsem2(2, 1.5, x)[1], -0.5),
    ],
)
def test_where_scipys_values_are_not_to_be_trusted_the_slope_is_nan(f: Any, x: float) -> None:
    assert np.all(np.isnan(slope(f, np.array([x]))))


def test_small_slopes_are_exact() -> None:
    degree = math.pi / 180
    parts = np.array([3.0]), np.array([20.0]), np.array([40.0])
    g = yota.grad(lambda d, m, s: np.sum(special.radian(d, m, s) * 2.0), *parts)[1]
    np.testing.assert_allclose(np.ravel(list(g)), [2 * degree, degree / 30, degree / 1800])
    got = slope(special.sindg, np.array([60.0]))
    np.testing.assert_allclose(got, 0.5 * degree)


def test_slopes_of_tangents_powers_and_means() -> None:
    degree = math.pi / 180
    np.testing.assert_allclose(slope(special.tandg, np.array([60.0])), 4 * degree)
    np.testing.assert_allclose(slope(special.cotdg, np.array([30.0])), -4 * degree)
    g = yota.grad(special.powm1, np.float64(2.0), np.float64(3.0))[1]
    np.testing.assert_allclose(list(g), [12, 8 * math.log(2)])
    yota.check_grads(special.agm, -1.5, -0.7)


def test_counts_between_whole_numbers_are_those_below() -> None:
    for fn in (special.pdtr, special.pdtrc):
        got = slope(lambda m, fn=fn: fn(1.5, m), np.array([0.7]))
        np.testing.assert_allclose(got, slope(lambda m, fn=fn: fn(1, m), np.array([0.7])))


@pytest.mark.parametrize("name", ["norm", "logistic", "laplace", "expon", "uniform"])
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"])
def test_whole_numbers_as_place_and_scale(name: str, method: str) -> None:
    from yota.scipy import stats as traced

    x = np.array([0.3, 0.7])
    for place, scale in ((0, 2), (-1, 3), (0, 1)):
        f = getattr(getattr(traced, name), method)
        yota.check_grads(lambda x, f=f, p=place, s=scale: np.sum(f(x, p, s)), x)
        want = getattr(getattr(stats, name), method)(x, place, scale)
        np.testing.assert_allclose(f(x, place, scale), want)


def test_the_residuals_of_several_huber_losses() -> None:
    delta, r = np.array([0.5, 2.0, 1.0]), np.array([1.5, -0.7, -3.0])
    g = yota.grad(lambda d, r: np.sum(special.huber(d, r) * np.array([1.0, 2.0, 4.0])), delta, r)[1]
    np.testing.assert_allclose(g[0], [1.0, 0.0, 8.0])
    np.testing.assert_allclose(g[1], [0.5, -1.4, -4.0])


def test_a_list_of_traced_numbers_is_a_matrix() -> None:
    from yota.scipy import linalg

    def f(x: Any) -> Any:
        return np.sum(linalg.expm([[x, 0.5], [0.0, 1.0]]))

    yota.check_grads(f, 0.3)


def test_a_column_of_a_dirichlet_distribution_is_one_point() -> None:
    from yota.scipy import stats as traced

    x, alpha = np.array([[0.2], [0.3], [0.5]]), np.array([1.5, 2.0, 0.7])
    g = yota.grad(lambda x, a: np.sum(traced.dirichlet.logpdf(x, a)), x, alpha)[1]
    np.testing.assert_allclose(g[0], (alpha[:, None] - 1) / x)
    assert g[1].shape == (3,)


@pytest.mark.parametrize("shapes", [((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1)), ((2, 3, 3), (3,))])
def test_systems_of_several_sides_or_matrices(shapes: Any) -> None:
    from scipy import linalg as plain

    from yota.scipy import linalg

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=shapes[0]) + 3 * np.eye(3), rng.normal(size=shapes[1])
    try:
        plain.solve(a, b)
    except ValueError:
        # stacks of systems came to scipy.linalg by and by
        pytest.skip("this SciPy solves one system at a time")
    yota.check_grads(lambda a, b: np.sum(linalg.solve(a, b) ** 2), a, b)
    try:
        plain.solve_triangular(a, b)
    except ValueError:
        return
    yota.check_grads(lambda a, b: np.sum(linalg.solve_triangular(a, b) ** 2), a, b)


@pytest.mark.parametrize("fn", [special.eval_hermite, special.eval_hermitenorm])
def test_a_polynomial_of_degree_0_has_slope_0(fn: Any) -> None:
    for n in (0, np.zeros(2, int)):
        np.testing.assert_array_equal(slope(lambda x, n=n: fn(n, x), np.array([0.5, 2.0])), [0, 0])


def test_the_slopes_of_an_angle_in_degrees_minutes_and_seconds() -> None:
    angles = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    w = np.array([1.0, -3.0])
    g = yota.grad(lambda d, m, s: np.sum(special.radian(d, m, s) * w), *angles)[1]
    for found, seconds in zip(g, (3600, 60, 1), strict=True):
        np.testing.assert_allclose(found, w * (seconds * math.pi / 648_000), rtol=1e-14)


def test_a_logarithm_of_no_probability_has_slope_0() -> None:
    from yota.scipy import stats as traced

    for f in (
        lambda x: traced.expon.logcdf(x),
        lambda x: traced.gamma.logcdf(x, 2.0),
        lambda x: traced.uniform.logsf(x + 3.0),
        lambda x: traced.poisson.logcdf(-1, 2.0 + x),
        lambda x: traced.binom.logsf(7, 5, 1.5 + x),
    ):
        assert f(-1.0) == -math.inf
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(slope(f, np.array([-1.0, -1.0])), [0, 0])
