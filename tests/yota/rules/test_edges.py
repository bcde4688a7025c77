"""The places where a formula alone would go wrong: zeros, ties, borders, infinities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.quietly import slope

Array = Any


def nth(f: Any, n: int) -> Any:
    """Return the n-th derivative of a function of a number."""
    for _ in range(n):
        f = (lambda h: lambda x: yota.grad(h, x)[1][0])(f)
    return f


def test_abs_at_0_has_slope_0() -> None:
    assert slope(np.abs, 0.0) == 0
    assert slope(abs, 0.0) == 0
    assert slope(np.abs, 0j) == 0


def test_a_complex_sign_at_0_has_slope_0() -> None:
    assert slope(lambda z: np.real(np.sign(z)), 0j) == 0
    assert slope(lambda z: np.imag(np.sign(z)), np.array(0j)) == 0


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


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.max(x),
        lambda x: np.ptp(x) + np.min(x),
        lambda x: np.sum(np.maximum(x, 0.0)),
        lambda x: np.sum(np.minimum(5.0, x)),
        lambda x: np.sum(np.clip(x, 0, 2)),
        lambda x: np.sum(np.clip(1.0, x, None)),
        lambda x: np.sum(np.clip(1.0, None, x)),
        lambda x: np.median(x),
        lambda x: np.quantile(x, 0.3),
        lambda x: np.sum(np.interp(x, [0.0, 1.0], [0.0, 1.0])),
    ],
)
def test_a_nan_that_makes_the_value_nan_is_not_hidden_by_a_slope_of_0(f: Any) -> None:
    g = slope(f, np.array([1.5, np.nan, 0.5]))
    assert g[1] != 0
    assert not np.isnan(g[[0, 2]]).any()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.nanmax(x),
        lambda x: np.sum(np.fmax(x, 0.0)),
        lambda x: np.max(x, where=np.array([True, False, True]), initial=0.0),
        lambda x: np.sum(np.where(np.isnan(x), 0.0, np.maximum(x, 0.0))),
        lambda x: np.sum(np.clip(x, 0, 2)[[0, 2]]),
        lambda x: np.nansum(np.maximum(x, 0.0)),
    ],
)
def test_a_nan_that_is_left_out_has_slope_0(f: Any) -> None:
    g = slope(f, np.array([1.5, np.nan, 0.5]))
    assert g[1] == 0
    assert np.all(np.isfinite(g))


def test_a_nan_under_a_maximum_counts_as_live() -> None:
    with np.errstate(all="ignore"):
        g = yota.grad(lambda x: np.sum(np.maximum(np.sqrt(x), 0.0)), np.array([-1.0, 4.0]))[1][0]
    np.testing.assert_array_equal(g, [np.nan, 0.25])


def test_rows_left_out_stay_dead_through_an_extreme() -> None:
    x, rows = np.array([[-1.0, 2.0], [1.0, 4.0]]), np.array([False, True])
    with np.errstate(all="ignore"):
        g = yota.grad(lambda x: np.sum(np.where(rows, np.max(np.sqrt(x), axis=1), 0.0)), x)[1][0]
    np.testing.assert_array_equal(g, [[0, 0], [0, 0.25]])


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
    f = lambda x: np.sum(np.exp(-(x ** np.array([2.0]))))
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


def test_cholesky_reads_one_triangle() -> None:
    a = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert slope(lambda a: np.sum(np.linalg.cholesky(a)), a)[0, 1] == 0


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


LEFT_OUT = np.array([False, True, True])


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (lambda r: np.sum(r, where=LEFT_OUT), [0, 0.5, 0.25]),
        (lambda r: np.sum(r, None, None, None, False, 0, LEFT_OUT), [0, 0.5, 0.25]),
        (lambda r: np.mean(r, where=LEFT_OUT), [0, 0.25, 0.125]),
        (lambda r: np.prod(r, where=LEFT_OUT), [0, 1, 0.25]),
        (lambda r: np.var(r, where=LEFT_OUT), [0, -0.25, 0.125]),
        (lambda r: np.std(r, where=LEFT_OUT), [0, -0.25, 0.125]),
        (lambda r: np.nansum(r), [0, 0.5, 0.25]),
        (lambda r: np.nanmean(r), [0, 0.25, 0.125]),
        (lambda r: np.nanprod(r), [0, 1, 0.25]),
        (lambda r: np.nanvar(r), [0, -0.25, 0.125]),
        (lambda r: np.nanstd(r), [0, -0.25, 0.125]),
        (lambda r: np.nanmax(r), [0, 0, 0.25]),
        (lambda r: np.nanmin(r), [0, 0.5, 0]),
        (lambda r: np.sum(np.nancumsum(r)), [0, 1, 0.25]),
        (lambda r: np.sum(np.nancumprod(r)), [0, 1.5, 0.25]),
    ],
)
def test_what_a_reduction_does_not_see_contributes_nothing(f: Any, want: Any) -> None:
    with np.errstate(all="ignore"):
        g = yota.grad(lambda x: f(np.sqrt(x)), np.array([-1.0, 1.0, 4.0]))[1][0]
    np.testing.assert_array_equal(g, want)


def test_a_reduction_without_where_records_no_mask() -> None:
    tape = yota.grad(lambda x: np.var(np.sqrt(x)) + np.sum(np.log(x)), np.ones(3))[1].tape
    assert "broadcast_to(True" not in str(tape)
    assert "where" not in str(tape)


def test_nested_blocks() -> None:
    w = np.arange(9.0).reshape(3, 3)

    def f(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.sum(w * np.block([[a, b], [c, d]]))

    ga, gb, gc, gd = slope(f, np.ones((2, 2)), np.ones((2, 1)), np.ones(2), np.float64(1.0))
    np.testing.assert_array_equal(ga, w[:2, :2])
    np.testing.assert_array_equal(gb, w[:2, 2:])
    np.testing.assert_array_equal(gc, w[2, :2])
    assert gd == 8


M = np.array([[3.0, 1.0], [0.5, 2.0]])


@pytest.mark.parametrize(
    ("f", "x", "named"),
    [
        (lambda x: np.matmul(x, M, axes=[(0, 1), (0, 1), (0, 1)]), M, "axes="),
        (lambda x: np.vecdot(x, M, axes=[(0,), (0,), ()]), M, "axes="),
        (lambda x: np.multiply(x, x, signature="dd->d"), M, "signature="),
        (lambda x: np.multiply(x, x, dtype=float, casting="unsafe"), M + 1j, "dtype="),
        (lambda x: np.prod(x, dtype=float), M + 1j, "dtype="),
        (lambda x: np.linalg.pinv(x, 0.5), M, "rcond="),
        (lambda x: np.linalg.pinv(x, rtol=0.5), M, "rtol="),
        (lambda x: np.linalg.pinv(x, hermitian=True), M, "hermitian="),
        (lambda x: np.linalg.svd(x, hermitian=True)[1], M, "hermitian="),
        (lambda x: np.linalg.svd(x, compute_uv=False, hermitian=True), M, "hermitian="),
        (lambda x: np.linalg.lstsq(x, M, 0.7)[0], M, "rcond="),
        (lambda x: np.median(x, overwrite_input=True), M, "overwrite_input="),
        (lambda x: np.quantile(x, 0.5, overwrite_input=True), M, "overwrite_input="),
        (lambda x: np.unique(x, equal_nan=False), M, "equal_nan="),
        (lambda x: np.clip(x, 0, 1, where=M > 1), M, "where="),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_an_option_that_no_rule_honours_is_refused(f: Any, x: Any, named: str) -> None:
    with pytest.raises(yota.RuleError, match=named), np.errstate(all="ignore"):
        yota.grad(lambda x: np.real(np.sum(f(x))), x)


def test_least_squares_and_pseudo_inverse_at_their_default_precision() -> None:
    for f in (
        lambda x: np.sum(np.linalg.lstsq(x, M, -1)[0]),
        lambda x: np.sum(np.linalg.lstsq(x, M, None)[0]),
        lambda x: np.sum(np.linalg.pinv(x, 1e-15)),
        lambda x: np.sum(np.linalg.pinv(x, rtol=None)),
    ):
        yota.check_grads(f, M)


def test_the_quotient_of_a_remainder_is_the_one_that_was_taken() -> None:
    a, b = 15.4, 1.1  # a / b rounds up to 14
    for f in (np.fmod, np.remainder, lambda a, b: a % b, lambda a, b: divmod(a, b)[1]):
        assert slope(f, a, b) == (1, -13)


def test_python_rounding_has_no_slope() -> None:
    assert slope(lambda x: x * round(x, 1), 1.26) == 1.3
    assert slope(lambda x: x * round(x), 1.26) == 1
    assert slope(lambda x: x * math.floor(x), 1.26) == 1
    assert slope(lambda x: x * math.ceil(x), 1.26) == 2
    assert slope(lambda x: x * math.trunc(x), 1.26) == 1


def test_conjugates_of_python_numbers() -> None:
    assert slope(lambda x: x.conjugate() * x, 1.5) == 3
    assert slope(lambda x: np.conj(x) * x, 1.5) == 3
    assert slope(lambda z: abs(z.conjugate()), 3 + 4j) == pytest.approx(0.6 - 0.8j)


@pytest.mark.parametrize("z", [2 + 0j, complex(2, -0.0), -2 + 0j, complex(-2, -0.0)])
@pytest.mark.parametrize("fn", [np.arcsin, np.arccos, np.arccosh, np.arctanh, np.sqrt, np.log])
def test_slopes_on_a_cut_are_those_of_its_side(fn: Any, z: complex) -> None:
    h = 1e-6
    want = (fn(complex(z.real + h, z.imag)) - fn(complex(z.real - h, z.imag))) / (2 * h)
    assert slope(lambda z: np.real(fn(z)), z) == pytest.approx(want)


@pytest.mark.parametrize("z", [2j, complex(-0.0, 2), -2j, complex(-0.0, -2), 0.5j])
@pytest.mark.parametrize("fn", [np.arcsinh, np.arctan])
def test_slopes_on_an_upright_cut_are_those_of_its_side(fn: Any, z: complex) -> None:
    h = 1e-6
    want = (fn(complex(z.real, z.imag + h)) - fn(complex(z.real, z.imag - h))) / (2 * h)
    got = slope(lambda z: np.real(fn(z)), z)
    assert got * 1j == pytest.approx(want)


def test_exp_is_recomputed_then_multiplied() -> None:
    tape = yota.grad(np.exp, 0.5)[1].tape
    lines = [line.strip() for line in str(tape).splitlines()]
    assert any("= exp(%1)" in line for line in lines[3:])
    assert lines[-1].split(" = ")[1].startswith("multiply(%4, %3)")


def test_squares_are_recorded_as_square() -> None:
    assert "square(%1)" in str(yota.trace(lambda x: np.sum(x**2), np.ones(2))[1])
