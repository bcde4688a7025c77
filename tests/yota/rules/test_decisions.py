"""Ties, kinks and borders of the functions that choose, count, fit and interpolate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.test_edges import slope

Array = Any


# ---- ties


@pytest.mark.parametrize("fn", [np.sort, lambda x: np.partition(x, 1), np.unique, np.union1d])
def test_equal_elements_get_the_cotangents_of_their_places(fn: Any) -> None:
    x = np.array([2.0, 1.0, 2.0])
    if fn is np.union1d:
        g = slope(lambda x: np.sum(np.union1d(x, np.array([2.0, 3.0])) * np.arange(1.0, 4.0)), x)
    else:
        g = slope(lambda x: np.sum(fn(x) * np.arange(1.0, len(fn(x)) + 1)), x)
    assert g[1] == 1
    assert np.all(g >= 0)
    want = {np.unique: 2, np.union1d: 4 / 3}.get(fn, 5)
    assert g[0] + g[2] == pytest.approx(want)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("fn", [np.quantile, np.nanquantile])
def test_a_quantile_of_equal_elements_shares_its_cotangent(fn: Any, q: float) -> None:
    g = slope(lambda x: fn(x, q), np.full(4, 2.0))
    assert np.sum(g) == pytest.approx(1)
    assert np.all(g >= 0)


def test_a_quantile_at_an_element_has_the_slope_of_the_gap_above() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert [slope(lambda q: np.quantile(x, q), q) for q in (0.0, 1 / 3, 0.5)] == [3, 6, 6]
    assert slope(lambda q: np.quantile(x, q), 1.0) == 0
    assert slope(lambda q: np.percentile(x, q), 40.0) == pytest.approx(0.06)
    assert slope(lambda q: np.quantile(x, q, method="nearest"), 0.4) == 0
    assert slope(lambda q: np.quantile(x, q, method="weibull"), 0.01) == 0


def test_a_quantile_is_symmetric_in_its_second_derivatives() -> None:
    def both(x: Array, q: Any) -> Any:
        return np.quantile(x, q) ** 2

    x, q = np.array([1.0, 2.0, 4.0, 8.0]), 0.4
    mixed = slope(lambda q: yota.grad(both, x, q)[1][0][1], q)
    other = slope(lambda x: yota.grad(both, x, q)[1][1], x)[1]
    assert mixed == pytest.approx(other)
    assert mixed != 0


@pytest.mark.parametrize(
    ("start", "want"), [(0.0, [1 / 2, 0]), (2.0, [1 / 3, 1 / 3]), (3.0, [0, 1])]
)
def test_an_extreme_that_starts_from_a_tie_shares_with_it(start: float, want: Any) -> None:
    gx, gs = slope(lambda x, s: np.max(x, initial=s), np.array([1.0, 2.0, 2.0]), start)
    assert [gx[1], gs] == pytest.approx(want)
    assert gx.tolist() == [0, gx[1], gx[1]]


def test_a_running_extreme_stands_where_it_was_reached_last() -> None:
    x, y = np.array([1.0, 3.0, 3.0, 2.0]), np.array([1.0, np.nan, 3.0])
    g = slope(lambda x: np.sum(np.maximum.accumulate(x)), x)
    np.testing.assert_array_equal(g, [1, 1, 2, 0])
    np.testing.assert_array_equal(slope(lambda x: np.sum(np.fmax.accumulate(x)), y), [2, 0, 1])


def test_equal_members_of_a_slice_share() -> None:
    x = np.array([2.0, 2.0, 1.0, 2.0])
    g = slope(lambda x: np.sum(np.maximum.reduceat(x, [0, 3])), x)
    np.testing.assert_array_equal(g, [0.5, 0.5, 0, 1])


def test_equal_extremes_of_a_margin_share() -> None:
    x = np.array([2.0, 2.0, 1.0])
    np.testing.assert_array_equal(
        slope(lambda x: np.sum(np.pad(x, (0, 2), "maximum")), x), [2, 2, 1]
    )


# ---- products and powers with zeros


def test_a_product_of_slices_with_zeros() -> None:
    x = np.array([0.0, 3.0, 2.0, 0.0, 0.0])
    g = slope(lambda x: np.sum(np.multiply.reduceat(x, [0, 3])), x)
    np.testing.assert_array_equal(g, [6, 0, 0, 0, 0])


def test_polynomials_with_zero_coefficients_and_roots() -> None:
    p = np.array([0.0, 1.0, -1.0, 0.0])  # z (z - 1), of a higher degree's length
    r = np.roots(p)
    got = slope(lambda p: np.sum(np.roots(p) * np.array([1.0, 10.0])), p)
    want = sum(
        w * -(z ** np.arange(3, -1, -1)) / (2 * z - 1) for w, z in zip((1, 10), r, strict=True)
    )
    np.testing.assert_allclose(got, want)
    np.testing.assert_array_equal(slope(lambda p: np.polyval(p, 0.0), p), [0, 0, 0, 1])
    np.testing.assert_array_equal(slope(lambda x: np.sum(np.vander(x, 3)), np.zeros(2)), [1, 1])


def test_a_product_of_polynomials_keeps_the_powers_of_leading_zeros() -> None:
    a, b = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    g = slope(lambda a: np.polymul(a, b)[-2], a)  # the coefficient of z: 1 * a1 + 2 * a0
    np.testing.assert_array_equal(g, [2, 1])


def test_a_repeated_root_has_no_finite_slope() -> None:
    g = yota.grad(lambda p: np.real(np.sum(np.roots(p)[:1])), np.array([1.0, -2.0, 1.0]))[1][0]
    assert not np.all(np.abs(g) < 1e6)


def test_a_fit_that_points_do_not_determine_is_refused() -> None:
    x = np.array([1.0, 1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(yota.RuleError, match="do not determine"):
            yota.grad(lambda y: np.sum(np.polyfit(x, y, 2)), np.arange(3.0))
        with pytest.raises(yota.RuleError, match="full="):
            yota.grad(lambda y: np.sum(np.polyfit(np.arange(3.0), y, 1, full=True)[0]), x)


# ---- borders


def test_interpolation_at_and_beyond_its_points() -> None:
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    g = slope(lambda x: np.sum(np.interp(x, xp, fp)), np.array([-1.0, 0.0, 1.0, 3.0, 4.0]))
    np.testing.assert_array_equal(g, [0, 2, 0.5, 0.5, 0])
    at = np.array([-1.0, 4.0, 0.5])
    gf = slope(lambda f: np.sum(np.interp(at, xp, f) * np.array([1.0, 10.0, 100.0])), fp)
    np.testing.assert_array_equal(gf, [51, 50, 10])
    gf, *ends = slope(lambda f, a, b: np.sum(np.interp(at, xp, f, a, b)), fp, -1.0, 7.0)
    np.testing.assert_array_equal(gf, [0.5, 0.5, 0])
    assert ends == [1, 1]


def test_interpolation_over_a_period() -> None:
    xp, fp = np.array([0.2, 0.5, 0.9]), np.array([1.0, -1.0, 2.0])
    yota.check_grads(lambda x, xp, fp: np.sum(np.interp(x, xp, fp, period=1.0) ** 2),
                     np.array([-0.05, 0.3, 1.97, 7.6]), xp, fp)  # fmt: skip
    with pytest.raises(yota.RuleError, match="interp"):
        yota.grad(lambda t: np.interp(t / 3, xp, fp, period=t), 1.0)


def test_what_zeros_were_trimmed_from() -> None:
    x = np.array([0.0, 0.0, 1.5, 0.0, -0.3, 0.0])
    for trim, first, length in (("fb", 2, 3), ("f", 2, 4), ("b", 0, 5), ("B", 0, 5)):
        g = slope(
            lambda x, trim=trim: np.sum(np.trim_zeros(x, trim) ** 2 + np.trim_zeros(x, trim)), x
        )
        want = np.zeros(6)
        want[first : first + length] = (2 * x + 1)[first : first + length]
        np.testing.assert_array_equal(g, want)
    np.testing.assert_array_equal(slope(lambda x: np.sum(np.trim_zeros(x)), np.zeros(3)), 0)


def test_clip_with_bounds_that_cross() -> None:
    assert slope(lambda a, lo, hi: np.clip(a, lo, hi), 1.0, 2.0, 0.5) == (0, 0, 1)
    assert slope(lambda a, lo, hi: np.clip(a, lo, hi), 1.0, 1.0, 1.0) == (1, 0, 0)


def test_counts_of_a_histogram_have_no_slope_but_its_edges_do() -> None:
    x = np.array([0.0, 1.0, 2.0, 4.0])
    assert np.all(slope(lambda x: np.sum(np.histogram(x, 3)[0] ** 2.0) + 0 * x[0], x) == 0)
    g = slope(lambda x: np.sum(np.histogram(x, 4)[1] * np.arange(5.0)), x)
    np.testing.assert_allclose(g, [2.5, 0, 0, 7.5])
    g = slope(lambda x: np.sum(np.histogram(x, 4, range=(0.0, 4.0))[1]) + x[0], x)
    np.testing.assert_array_equal(g, [1, 0, 0, 0])

    def density(x: Array, w: Array) -> Any:
        return np.sum(np.histogram(x, 3, density=True, weights=w)[0] ** 2)

    yota.check_grads(density, x, np.arange(1.0, 5))


@pytest.mark.parametrize("fn", [np.cov, np.corrcoef])
def test_one_observation_has_no_finite_covariance(fn: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = yota.grad(lambda x: np.sum(fn(x)), np.ones((2, 1)))[1][0]
    assert not np.any(np.isfinite(g))


# ---- cross products in the plane


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 3), (3, 2)])
def test_cross_products_in_the_plane(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, n)), rng.normal(size=(m,))
    yota.check_grads(lambda a, b: np.sum(np.sin(np.cross(a, b))), a, b, order=2)
    yota.check_grads(lambda a, b: np.sum(np.sin(np.cross(b, a.T, axisb=0))), a, b)


# ---- lists in place of arrays


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.dot(x, [1.0, 2.0, 3.0]),
        lambda x: np.linalg.matmul([2.0, 3.0, 1.0], x),
        lambda x: np.linalg.outer(x, [2.0, 3.0]),
        lambda x: np.vecdot(x, (2.0, 3.0, 1.0)),
        lambda x: np.average(x, weights=[1.0, 2.0, 4.0]),
        lambda x: np.average(x, None, [1.0, 2.0, 4.0]),
        lambda x: np.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 3.0]),
        lambda x: np.polyval([2.0, 1.0, 3.0], x) + np.polymul(x, [1.0, 2.0])[:3],
        lambda x: np.cov(x, fweights=[1, 2, 1]) + np.cov(x, aweights=[1.0, 2.0, 1.5]),
        lambda x: np.emath.power(x, [2, 3, 4]),
        lambda x: np.where([True, False, True], x, [1.0, 2.0, 3.0]),
        lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]) + np.gradient(x, [0.0, 1.0, 3.0]),
        lambda x: np.clip(x, [0.0, 1.0, 0.0], [2.0, 2.0, 0.5]),
        lambda x: np.insert(x, [1, 2], [5.0, 6.0]) + np.concatenate([[1.0], x, [2.0]]),
        lambda x: np.einsum(x, [0], [1.0, 2.0, 3.0], [0]),
        lambda x: np.linalg.solve([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]], x),
        lambda x: np.diff(x, append=[1.0, 2.0]),
    ],
)
def test_a_list_stands_for_an_array(f: Any) -> None:
    yota.check_grads(lambda x: np.sum(np.sin(f(x))), np.array([0.7, 1.4, 2.2]), order=2)


# ---- refused


@pytest.mark.parametrize(
    ("f", "named"),
    [
        (lambda x: np.pad(x, 1, lambda v, w, k, o: None), "np.pad with mode"),
        (lambda x: np.ravel(x[:, ::2], "K"), "order 'K'"),
        (lambda x: np.unique(x, axis=0), "axis="),
        (lambda x: np.intersect1d(x, x * 1.0), "np.isin"),
        (lambda x: np.var(x, mean=1j), "mean="),
        (lambda x: np.linalg.svd(x, hermitian=True)[1], "hermitian="),
        (lambda x: np.cov(x, fweights=x[0] * 0 + 1), "operand 5"),
    ],
)
def test_what_no_rule_honours_is_refused(f: Any, named: str) -> None:
    x = np.random.default_rng(0).normal(size=(4, 4))
    with pytest.raises(yota.RuleError, match=named):
        yota.grad(lambda x: np.real(np.sum(f(x))), x)
