"""The places where a formula alone would go wrong: zeros, ties, borders, infinities."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import yota

Array = Any


def slope(f: Any, *args: Any) -> Any:
    """Return the gradient of one or several arguments; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = yota.grad(f, *args)[1]
    return g[0] if len(args) == 1 else tuple(g)


def nth(f: Any, n: int) -> Any:
    """Return the n-th derivative of a function of a number."""
    for _ in range(n):
        f = (lambda h: lambda x: yota.grad(h, x)[1][0])(f)
    return f


def test_abs_at_0_has_slope_0() -> None:
    assert slope(np.abs, 0.0) == 0
    assert slope(abs, 0.0) == 0
    assert slope(np.abs, 0j) == 0


@pytest.mark.parametrize("fn", [np.max, np.min, np.amax, np.amin, np.nanmax])
def test_ties_of_extremes_share_equally(fn: Any) -> None:
    x = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 2.0]])
    g = slope(lambda x: np.sum(fn(x, axis=1)), x)
    np.testing.assert_allclose(g.sum(axis=1), [1, 1])
    np.testing.assert_allclose(g[0], 1 / 3)


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_ties_of_two_are_halves(fn: Any) -> None:
    assert slope(fn, 2.0, 2.0) == (0.5, 0.5)


def test_fmax_follows_the_number_beside_a_nan() -> None:
    a, b = slope(
        lambda a, b: np.sum(np.fmax(a, b)), np.array([np.nan, 1.0]), np.array([2.0, np.nan])
    )
    np.testing.assert_array_equal(a, [0, 1])
    np.testing.assert_array_equal(b, [1, 0])


def test_extreme_of_nan_raises_no_warning() -> None:
    assert np.all(slope(np.max, np.array([1.0, np.nan])) == 0)


def test_clip_on_the_border_is_between_0_and_1() -> None:
    g = slope(lambda x: np.sum(np.clip(x, -1, 1)), np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(g, [0, 1, 1, 1, 0])


@pytest.mark.parametrize("order", [None, 1, 2, 3, 1.5, np.inf])
def test_norm_at_0_has_slope_0(order: Any) -> None:
    np.testing.assert_array_equal(slope(lambda x: np.linalg.norm(x, order), np.zeros(3)), 0)


def test_norm_at_0_of_one_row_only() -> None:
    g = slope(lambda x: np.sum(np.linalg.norm(x, axis=1)), np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(g, [[0, 0], [0.6, 0.8]])


@pytest.mark.parametrize("order", ["fro", "nuc", 2])
def test_matrix_norm_at_0_is_finite(order: Any) -> None:
    assert np.all(np.isfinite(slope(lambda x: np.linalg.norm(x, order), np.zeros((2, 3)))))


def test_std_of_a_constant_has_slope_0() -> None:
    np.testing.assert_array_equal(slope(np.std, np.full(4, 0.1)), 0)
    np.testing.assert_array_equal(slope(np.var, np.full(4, 2.0)), 0)


def test_hypot_at_0_has_slope_0() -> None:
    assert slope(np.hypot, 0.0, 0.0) == (0, 0)


@pytest.mark.parametrize(("p", "want"), [(0.0, 0), (1.0, 1), (2.0, 0), (3.0, 0), (2.5, 0)])
def test_power_of_0(p: float, want: float) -> None:
    assert slope(lambda x: x**p, 0.0) == want
    assert slope(lambda x: np.power(x, p), 0.0) == want
    assert slope(lambda x: np.sum(x**p), np.zeros(2)).tolist() == [want, want]
    assert slope(lambda x: np.sum(x ** np.full(2, p)), np.zeros(2)).tolist() == [want, want]


@pytest.mark.parametrize("p", [1.0, 2.0, 0.5])
def test_slope_of_the_exponent_at_base_0_is_0(p: float) -> None:
    assert slope(lambda p: np.power(0.0, p), p) == 0
    assert slope(lambda p: np.sum(np.zeros(2) ** p), np.full(2, p)).tolist() == [0, 0]


@pytest.mark.parametrize(
    "square",
    [lambda x: x**2, lambda x: np.power(x, 2.0), lambda x: np.power(x, 2), lambda x: x * x,
     lambda x: np.square(x), lambda x: x**2.0],
)  # fmt: skip
def test_fourth_derivative_of_a_gaussian_is_12(square: Any) -> None:
    assert nth(lambda x: np.exp(-square(x)), 4)(0.0) == pytest.approx(12)


def test_fourth_derivative_with_an_array_of_exponents() -> None:
    f = lambda x: np.sum(np.exp(-(x ** np.array([2.0]))))  # noqa: E731
    for _ in range(4):
        f = (lambda h: lambda x: np.sum(yota.grad(h, x)[1][0]))(f)
    assert f(np.zeros(1)) == pytest.approx(12)


def test_python_power_of_a_negative_base_is_complex() -> None:
    got = slope(lambda x: abs(x**0.5), -2.0)
    assert got == pytest.approx(-0.5 / math.sqrt(2))


def test_sqrt_at_0_keeps_its_infinite_slope() -> None:
    with np.errstate(all="ignore"):
        assert yota.grad(np.sqrt, 0.0)[1][0] == np.inf
        assert np.isnan(yota.grad(lambda x: np.sqrt(x) ** 2, 0.0)[1][0])


def test_sinc_near_0_is_accurate() -> None:
    x = 1e-5
    t = math.pi * x
    want = math.pi * (-t / 3 + t**3 / 30)
    assert slope(np.sinc, x) == pytest.approx(want, rel=1e-13)
    assert slope(np.sinc, 0.0) == 0
    assert nth(np.sinc, 2)(0.0) == pytest.approx(-(math.pi**2) / 3)
    assert nth(np.sinc, 4)(0.0) == pytest.approx(math.pi**4 / 5)


@pytest.mark.parametrize(
    ("row", "want"),
    [([2.0, 3.0, 4.0], [12, 8, 6]), ([0.0, 3.0, 4.0], [12, 0, 0]), ([0.0, 3.0, 0.0], [0, 0, 0])],
)
def test_prod_with_zeros(row: list[float], want: list[float]) -> None:
    np.testing.assert_array_equal(slope(np.prod, np.array(row)), want)
    g = slope(lambda x: np.sum(np.cumprod(x)[-1:]), np.array(row))
    np.testing.assert_array_equal(g, want)


def test_second_derivative_of_prod_with_two_zeros() -> None:
    def first(x: Array) -> Array:
        return yota.grad(np.prod, x)[1][0][0]

    np.testing.assert_array_equal(slope(first, np.array([0.0, 3.0, 0.0])), [0, 0, 3])


@pytest.mark.parametrize("fn", [np.logaddexp, np.logaddexp2])
def test_logaddexp_of_two_infinities_has_slope_0(fn: Any) -> None:
    assert slope(fn, -np.inf, -np.inf) == (0, 0)
    assert slope(fn, -np.inf, 1.0) == (0, 1)


def test_saturated_tanh_has_slope_0() -> None:
    assert slope(np.tanh, 500.0) == 0
    assert slope(np.tanh, np.array(-1e300)) == 0


def test_expm1_far_below_0_is_accurate() -> None:
    assert slope(np.expm1, -50.0) == pytest.approx(math.exp(-50), rel=1e-14)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_det_at_singular_matrices_has_the_cofactors(rank: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 3)) if rank else np.zeros((3, 3))
    want = np.array([
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ])  # fmt: skip
    np.testing.assert_allclose(slope(np.linalg.det, a), want, atol=1e-12)


def test_second_derivative_of_det_at_0_and_1() -> None:
    def corner(a: Array) -> Array:
        return yota.grad(np.linalg.det, a)[1][0][0, 0]

    for a in (np.zeros((2, 2)), np.eye(2)):
        np.testing.assert_allclose(slope(corner, a), [[0, 0], [0, 1]], atol=1e-12)


def test_third_derivative_of_det_of_a_regular_matrix() -> None:
    def second(a: Array) -> Array:
        return yota.grad(lambda b: yota.grad(np.linalg.det, b)[1][0][0, 0], a)[1][0][1, 1]

    a = np.diag([2.0, 3.0, 4.0])
    np.testing.assert_allclose(slope(second, a), np.diag([0.0, 0.0, 1.0]), atol=1e-12)


def test_slogdet_slope_is_the_inverse() -> None:
    a = np.array([[2.0, 1.0], [0.5, -3.0]])
    got = slope(lambda a: np.linalg.slogdet(a)[1], a)
    np.testing.assert_allclose(got, np.linalg.inv(a).T)


def test_equal_eigenvalues_give_finite_slopes() -> None:
    assert np.all(np.isfinite(slope(lambda a: np.sum(np.linalg.eigh(a)[1]), np.eye(3))))
    assert np.all(np.isfinite(slope(lambda a: np.sum(np.linalg.svd(a)[0]), np.eye(3))))


def test_complex_svd_of_a_gauge_invariant_function() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    w = rng.normal(size=(3, 2))

    def f(a: Array) -> Array:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(w * np.abs((u * s**2) @ vh) ** 2)

    yota.check_grads(f, a)


def test_complex_eigh_of_a_gauge_invariant_function() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    w = rng.normal(size=(3, 3))

    def f(a: Array) -> Array:
        e, v = np.linalg.eigh(a + np.conj(a.T))
        return np.sum(w * np.abs((v * e**3) @ np.conj(v.T)) ** 2)

    yota.check_grads(f, a)


@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_complex_qr(mode: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))

    def f(a: Array) -> Array:
        r = np.linalg.qr(a, mode)
        return np.sum(np.abs(r if mode == "r" else r[0]) ** 3)

    yota.check_grads(f, a)


def test_cholesky_reads_one_triangle() -> None:
    a = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert slope(lambda a: np.sum(np.linalg.cholesky(a)), a)[0, 1] == 0


def test_the_last_write_wins() -> None:
    def f(x: Array, v: Array) -> Array:
        x = x * 1.0
        x[np.array([0, 0, 1])] = v
        return np.sum(x * np.array([1.0, 2.0, 3.0]))

    gx, gv = slope(f, np.ones(3), np.ones(3))
    np.testing.assert_array_equal(gx, [0, 0, 3])
    np.testing.assert_array_equal(gv, [0, 1, 2])


def test_repeated_reads_add_up() -> None:
    g = slope(lambda x: np.sum(x[np.array([0, 0, 2])]), np.ones(3))
    np.testing.assert_array_equal(g, [2, 0, 1])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.where(x <= 1, x, np.sqrt(x - 1))),
        lambda x: np.sum(np.sqrt(x - 1)[x > 1]),
        lambda x: np.nansum(np.log(x - 1.25)),
        lambda x: np.sum(np.where(x > 1, np.log(x - 1) * 2 + 1, 0.0)),
        lambda x: np.sum(np.where(x > 1, np.sin(1 / (x - 1)), 0.0)),
        lambda x: np.max(np.where(x > 1, np.tanh(1 / (x - 1)), -9.0)),
    ],
)
def test_what_a_mask_left_out_contributes_nothing(f: Any) -> None:
    x = np.array([0.5, 1.0, 2.5])
    with np.errstate(all="ignore"):
        assert np.all(np.isfinite(yota.grad(f, x)[1][0]))


def test_nested_blocks() -> None:
    w = np.arange(9.0).reshape(3, 3)

    def f(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.sum(w * np.block([[a, b], [c, d]]))

    ga, gb, gc, gd = slope(f, np.ones((2, 2)), np.ones((2, 1)), np.ones(2), np.float64(1.0))
    np.testing.assert_array_equal(ga, w[:2, :2])
    np.testing.assert_array_equal(gb, w[:2, 2:])
    np.testing.assert_array_equal(gc, w[2, :2])
    assert gd == 8


def test_quantile_by_another_method_is_refused() -> None:
    with pytest.raises(yota.RuleError, match="linear"):
        yota.grad(lambda x: np.quantile(x, 0.5, method="hazen"), np.ones(3))


def test_exp_is_recomputed_then_multiplied() -> None:
    tape = yota.grad(np.exp, 0.5)[1].tape
    lines = [line.strip() for line in str(tape).splitlines()]
    assert any("= exp(%1)" in line for line in lines[3:])
    assert lines[-1].split(" = ")[1].startswith("multiply(%4, %3)")


def test_squares_are_recorded_as_square() -> None:
    assert "square(%1)" in str(yota.trace(lambda x: np.sum(x**2), np.ones(2))[1])
