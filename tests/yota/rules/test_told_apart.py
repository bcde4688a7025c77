"""What differences cannot see: slopes at single points, ties, and operands that are traced."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import yota
from yota.rules.registry import VJP


def slope(f: Any, *args: Any) -> Any:
    return yota.grad(f, *args)[1][0]


def test_a_nan_is_what_made_the_extreme_nan() -> None:
    x = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 2.0]])
    g = slope(lambda x: np.sum(np.max(x, axis=1)), x)
    np.testing.assert_array_equal(g, [[0, np.nan, 0], [0, 1, 0]])


def test_a_nan_that_no_cotangent_arrives_at_is_no_matter() -> None:
    x = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 2.0]])
    g = slope(lambda x: np.sum(np.max(x, axis=1) * np.array([0.0, 2.0])), x)
    np.testing.assert_array_equal(g, [[0, 0, 0], [0, 2, 0]])


OLD = np.lib.NumpyVersion(np.__version__) < "2.2.0"


@pytest.mark.skipif(OLD, reason="before NumPy 2.2 trim_zeros takes vectors only")
def test_what_is_trimmed_of_a_matrix_has_no_slope() -> None:
    x = np.pad(np.arange(1.0, 7.0).reshape(2, 3), ((1, 0), (2, 1)))
    g = slope(lambda x: np.sum(np.trim_zeros(x) * np.arange(6.0).reshape(2, 3)), x)
    np.testing.assert_array_equal(g, np.pad(np.arange(6.0).reshape(2, 3), ((1, 0), (2, 1))))


def test_the_sign_of_a_complex_zero_has_a_finite_slope() -> None:
    g = slope(lambda z: np.real(np.sum(np.sign(z))), np.array([0j, 1j]))
    assert np.all(np.isfinite(g))


def test_a_jump_in_the_exponent_has_no_slope_of_0() -> None:
    assert slope(lambda p: np.power(0.0, p), np.array(2.0)) == 0
    assert not np.isfinite(slope(lambda p: np.power(0.0, p), np.array(0.0)))


@pytest.mark.parametrize("order", [None, 0.5, 1, 1.5, 2, 3])
def test_the_norm_of_a_vector_of_zeros_has_slope_0(order: Any) -> None:
    g = slope(lambda x: np.linalg.norm(x, order), np.zeros(3))
    np.testing.assert_array_equal(g, np.zeros(3))


@pytest.mark.parametrize("order", ["nuc", "fro", None])
def test_the_norm_of_a_matrix_of_zeros_has_slope_0(order: Any) -> None:
    g = slope(lambda x: np.linalg.norm(x, order), np.zeros((2, 2)))
    np.testing.assert_array_equal(g, np.zeros((2, 2)))


@pytest.mark.parametrize(("order", "axis"), [(1, 0), (-1, 0), (np.inf, 1), (-np.inf, 1)])
def test_equal_sums_share_the_slope_of_a_matrix_norm(order: Any, axis: int) -> None:
    g = slope(lambda x: np.linalg.norm(x, order), np.ones((2, 3)))
    np.testing.assert_allclose(g, np.full((2, 3), 1 / (3 if axis == 0 else 2)))


@pytest.mark.parametrize("fn", [np.fft.fftn, np.fft.ifftn, np.fft.irfftn])
def test_lengths_without_axes_are_those_of_the_last_axes(fn: Any) -> None:
    x = np.arange(24.0).reshape(2, 3, 4) + 0.5j
    w = np.cos(np.arange(2.0 * 2 * 3)).reshape(2, 2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        g = slope(lambda x: np.real(np.sum(fn(x, (2, 3)) * w)), x)
    want = slope(lambda x: np.real(np.sum(fn(x, (2, 3), (-2, -1)) * w)), x)
    np.testing.assert_allclose(g, want)
    assert np.any(g[:, :, :2] != 0)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_positions_may_be_traced(mode: str) -> None:
    x, at = np.arange(12.0).reshape(3, 4), np.array([2, 0, 2])
    _, g = yota.grad(lambda x, at: np.sum(np.take(x, at, axis=1, mode=mode)), x, at)
    np.testing.assert_array_equal(g[0], np.tile([1.0, 0.0, 2.0, 0.0], (3, 1)))


# ---- extremes and sets


@pytest.mark.parametrize("start", [0.7, np.array(0.7), np.float64(0.7)])
@pytest.mark.parametrize("fn", [np.max, np.nanmax])
def test_what_an_extreme_starts_from_is_compared_in_the_results_precision(
    fn: Any, start: Any
) -> None:
    x = np.array([-1.0, 0.25], np.float32)
    _, g = yota.grad(lambda start, x: fn(x, initial=start) * 1.0, start, x)
    assert g[0] == 1
    np.testing.assert_array_equal(g[1], [0, 0])


def test_the_greatest_value_may_be_removed() -> None:
    g = slope(lambda x: np.sum(np.setdiff1d(x, np.array([9.0]))), np.array([0.3, 9.0, -1.0]))
    np.testing.assert_array_equal(g, [1, 0, 1])


def test_a_removed_value_beside_a_nan_has_no_slope() -> None:
    x, w = np.array([1.0, 5.0, np.nan]), np.array([2.0, 3.0])
    g = slope(lambda x: np.sum(np.where(w > 2, 0.0, np.setdiff1d(x, np.array([5.0])))), x)
    np.testing.assert_array_equal(g, [1, 0, 0])
    g = slope(lambda x: np.sum(w * np.setdiff1d(x, np.array([5.0]))), x)
    np.testing.assert_array_equal(g, [2, 0, 3])


@pytest.mark.parametrize(("fn", "expected"), [(np.maximum, [0, 1, 0, 1]), (np.fmax, [1, 0, 0, 1])])
def test_a_nan_among_slices(fn: Any, expected: Any) -> None:
    x = np.array([1.0, np.nan, 2.0, 3.0])
    np.testing.assert_array_equal(slope(lambda x: np.sum(fn.reduceat(x, [0, 2])), x), expected)


def test_equal_members_of_a_slice_share() -> None:
    g = slope(lambda x: np.sum(np.maximum.reduceat(x, [0, 3])), np.array([3.0, 3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(g, [0.5, 0.5, 0, 1])


def test_no_slices_have_no_slopes() -> None:
    none = np.array([], int)
    for fn in (np.maximum, np.fmin, np.add, np.multiply):
        g = slope(lambda x, fn=fn: np.sum(fn.reduceat(x, none)), np.array([1.0, 2.0]))
        np.testing.assert_array_equal(g, [0, 0])


@pytest.mark.parametrize("q", [0.5, [0.5, 0.5, 0.5]])
def test_equal_elements_share_a_weighted_quantile(q: Any) -> None:
    def f(x: Any) -> Any:
        return np.mean(np.quantile(x, q, weights=np.ones(4), method="inverted_cdf"))

    np.testing.assert_array_equal(slope(f, np.array([1.0, 2.0, 2.0, 3.0])), [0, 0.5, 0.5, 0])


def test_quantiles_of_nans_alone_have_no_slope() -> None:
    x = np.full((2, 3), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for q in (0.5, [0.2, 0.7]):
            g = slope(lambda x, q=q: np.sum(np.nanquantile(x, q, axis=1)), x)
            np.testing.assert_array_equal(g, np.zeros((2, 3)))


def test_the_deviation_of_equal_numbers_has_no_second_slope() -> None:
    h = yota.hessian(lambda x: np.std(x) + np.std(x, mean=np.mean(x, keepdims=True)))(np.ones(3))
    np.testing.assert_array_equal(h, np.zeros((3, 3)))


# ---- polynomials, points, orders


def test_the_rest_of_a_division_by_a_longer_polynomial() -> None:
    u, v = np.array([0.0, 2.0]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(slope(lambda u: np.polydiv(u, v)[1][-1] * 3.0, u), [0, 3])


def test_the_only_point_of_an_interpolation_has_no_slope() -> None:
    _, g = yota.grad(lambda x, y: np.sum(np.interp(x, [0.3], y)), np.array([0.3, 1.0]), np.ones(1))
    np.testing.assert_array_equal(g[0], [0, 0])
    np.testing.assert_array_equal(g[1], [2])


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_numbers_are_read_in_any_order(order: Any) -> None:
    assert slope(lambda x: np.ravel(x, order=order)[0] * 3.0, 2.0) == 3
    assert slope(lambda x: np.ravel(x, order=order)[0] * 3.0, np.float64(2.0)) == 3


def test_the_root_of_a_python_zero_has_an_infinite_slope() -> None:
    with np.errstate(divide="ignore"):
        assert slope(lambda x: x**0.5, 0.0) == np.inf


def test_complex_phases_that_turn_either_way_are_refused() -> None:
    a = np.array([[2.0, 1j, 0.3], [-1j, 3.0, 0.5j], [0.3, -0.5j, 5.0]])
    for w in (1.0, -1.0):
        with pytest.raises(yota.RuleError, match="phase"):
            slope(lambda a, w=w: w * np.imag(np.linalg.eigh(a)[1][0, 1] * (1 + 0.5j)), a)


def test_vectors_of_equal_negative_eigenvalues_are_refused() -> None:
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
    nearly = turn @ np.diag([-3.0, -2.0, -2.0]) @ turn.T
    for a in (np.diag([-2.0, -2.0, 1.0]), np.diag([-3.0, -2.0, -2.0]), nearly):
        with pytest.raises(yota.RuleError, match="equal values"):
            slope(lambda a: np.sum(np.linalg.eigh(a)[1] * np.arange(9.0).reshape(3, 3)), a)


def test_columns_of_a_stack_of_matrices_have_their_own_pivots() -> None:
    rng = np.random.default_rng(3)
    a, w = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3))
    yota.check_grads(lambda a: np.sum(np.abs(np.linalg.eig(a)[1]) * w), a)


def test_the_trimmed_the_placed_and_the_tiled_carry_masks() -> None:
    steep = np.array([0.0, 1.0, 4.0])
    for f in (
        lambda x: np.sum(np.tile(np.where(x > 0, np.sqrt(x), 0.0), 2)),
        lambda x: np.sum(np.broadcast_to(np.sqrt(x), (2, 3))[:, 1:]),
        lambda x: np.sum(np.tile(np.sqrt(x), (2, 1))[:, 1:]),
        lambda x: np.sum(np.trim_zeros(np.sqrt(x))),
        lambda x: np.sum(np.insert(np.sqrt(x), 0, 7.0)[2:]),
        lambda x: np.quantile(np.sqrt(x), 0.75),
        lambda x: np.percentile(np.sqrt(x), 75),
        lambda x: np.nanquantile(np.sqrt(x), 0.75),
        lambda x: np.nanpercentile(np.sqrt(x), 75),
    ):
        with np.errstate(divide="ignore"):
            g = slope(f, steep)
        assert g[0] == 0
        assert np.all(np.isfinite(g))


def test_complex_python_numbers_and_parts_of_arrays() -> None:
    yota.check_grads(lambda z, p: abs(z**p + p), 1.2 + 0.3j, 0.7 - 0.4j)
    yota.check_grads(
        lambda z: np.sum(np.abs(z[1:] * z[:-1]) + z[[0, 0]].imag), np.array([1j, 2 - 1j, 0.5])
    )


def test_python_numbers_carry_masks() -> None:
    def masked(x: Any, how: Any) -> Any:
        root = np.sqrt(x)
        return np.where(x > 1.0, how(root.item()), 0.0) + x

    for how in (
        lambda r: r + 1.0, lambda r: 1.0 - r, lambda r: r * 2.0, lambda r: r / 2.0,
        lambda r: -r, lambda r: +r, lambda r: abs(r), lambda r: r**1.5, lambda r: (r + 3.0) % 2.0,
        lambda r: divmod(r + 3.0, 2.0)[1],
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            assert slope(lambda x, how=how: masked(x, how), np.array(0.0)) == 1


def test_the_slope_of_0_holds_whatever_comes_behind() -> None:
    with np.errstate(divide="ignore"):
        for f in (
            lambda x: np.sqrt(np.linalg.norm(x)),
            lambda x: np.sqrt(np.linalg.norm(x, 3)),
            lambda x: np.sqrt(np.std(x)),
        ):
            np.testing.assert_array_equal(slope(f, np.zeros(3)), np.zeros(3))


def test_a_complex_exponent_of_0() -> None:
    g = slope(lambda p: np.real(np.power(0.0, p)), np.array(2.0 + 0j))
    assert g == 0


def test_eigenvalues_in_another_order_are_matched() -> None:
    a = np.array([[1.0, 2.0, 0.3], [0.1, -3.0, 0.4], [0.2, 0.7, 5.0]])
    rule, turned = VJP[np.linalg.eigvals].rule(0), [2, 0, 1]
    y, dy = np.linalg.eigvals(a), np.array([1.0, 10.0, 100.0])
    np.testing.assert_allclose(rule(dy[turned], y[turned], a), rule(dy, y, a))


@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (3, 3)])
def test_parts_of_complex_decompositions_that_no_phase_counts_in(shape: Any) -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    w = rng.normal(size=(2, 4, 4))

    def f(a: Any) -> Any:
        u, s, v = np.linalg.svd(a, full_matrices=False)
        k = s.shape[0]
        kept = np.abs(u) ** 2 * w[0, : shape[0], :k], np.abs(v) ** 2 * w[1, :k, : shape[1]]
        whole = np.real(np.sum((u * s**2) @ v * w[0, : shape[0], : shape[1]]))
        return np.sum(kept[0]) + np.sum(kept[1]) + whole

    yota.check_grads(f, a)


def test_a_stack_of_complex_matrices() -> None:
    rng = np.random.default_rng(4)
    a = rng.normal(size=(2, 3, 3)) + 1j * rng.normal(size=(2, 3, 3))
    w = rng.normal(size=(2, 3, 3))

    def f(a: Any) -> Any:
        return np.sum(np.abs(np.linalg.eigh(a @ np.conj(np.swapaxes(a, -1, -2)))[1]) ** 2 * w)

    yota.check_grads(f, a)


def test_a_range_beside_given_edges_has_no_slope() -> None:
    edges, x = np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5])
    _, g = yota.grad(lambda r, x: np.sum(np.histogram_bin_edges(x, edges, (r, 3.0))), 0.5, x)
    assert g[0] == 0
    np.testing.assert_array_equal(g[1], [0, 0])


def test_a_list_of_matrices_in_one_array_is_joined_flat() -> None:
    x, w = np.arange(12.0).reshape(2, 3, 2), np.arange(1.0, 13.0)
    g = slope(lambda x: np.sum(np.concatenate(x, axis=None) * w), x)
    np.testing.assert_array_equal(g, w.reshape(2, 3, 2))


def test_deviations_from_a_mean_of_more_rows() -> None:
    x, mean = np.array([1.0, 2.0, 4.0]), np.array([[0.5], [3.0]])
    g = yota.grad(lambda x, m: np.var(x, mean=m), x, mean)[1]
    np.testing.assert_allclose(g[0], 2 * (x - 0.5) / 3 + 2 * (x - 3.0) / 3)
    np.testing.assert_allclose(g[1], -2 * np.sum(x - mean, axis=1, keepdims=True) / 3)


def test_a_complex_cotangent_of_a_condition_counts_with_its_real_part() -> None:
    a = np.array([[2.0, 0.3], [0.1, 1.0]])
    rule, y = VJP[np.linalg.cond].rule(0), np.linalg.cond(a)
    got = rule(2.0 + 1.0j, y, a)
    np.testing.assert_array_equal(got, rule(2.0, y, a))
    assert not np.iscomplexobj(got)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_what_is_a_phase_does_not_depend_on_the_size_of_the_cotangent(size: float) -> None:
    a = np.array([[2.0, 1j, 0.3], [-1j, 3.0, 0.5j], [0.3, -0.5j, 5.0]])
    w = np.arange(9.0).reshape(3, 3)

    def shares(a: Any) -> Any:
        return np.sum(np.abs(np.linalg.eigh(a)[1]) ** 2 * w)

    got = slope(lambda a: size * shares(a), a)
    np.testing.assert_allclose(got, size * slope(shares, a), rtol=1e-9, atol=1e-9 * size)
    with pytest.raises(yota.RuleError, match="phase"):
        slope(lambda a: size * np.imag(np.linalg.eigh(a)[1][0, 1] * (1 + 0.5j)), a)


def test_a_stack_of_oblong_matrices() -> None:
    rng = np.random.default_rng(5)
    a, w = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 4, 2))
    for turned in (False, True):

        def f(a: Any, turned: bool = turned) -> Any:
            a = np.swapaxes(a, -1, -2) if turned else a
            u, _, v = np.linalg.svd(a, full_matrices=False)
            return np.sum((np.swapaxes(u @ v, -1, -2) if turned else u @ v) * w)

        yota.check_grads(f, a)


def test_one_component_of_a_vector_stays_real_where_two_are_the_largest() -> None:
    a = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    v = np.linalg.eig(a)[1][:, 0]
    if abs(v[0]) != abs(v[1]) or v[0].imag != 0:
        # which of two equal entries comes out larger, and so real, is LAPACK's rounding
        pytest.skip("this LAPACK rounds the two otherwise")
    with np.errstate(divide="raise", invalid="raise"):
        g = slope(lambda a: np.real(np.linalg.eig(a)[1][1, 0]), a)
    # of [[t, -1], [1, -t]] it is (1, t - sqrt(t^2 - 1)) / sqrt(2)
    np.testing.assert_allclose(g[0, 0] - g[1, 1], math.sqrt(0.5))


def test_a_masked_number_that_fills_an_array_has_no_slope() -> None:
    def f(x: Any) -> Any:
        filled = np.full_like(np.stack([x, x]), np.sqrt(x))
        return np.sum(np.where(filled > 1.0, filled, 0.0)) + x

    with np.errstate(divide="ignore"):
        assert slope(f, np.array(0.0)) == 1
    assert slope(f, np.array(4.0)) == 1.5
