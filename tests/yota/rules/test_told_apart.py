"""What differences cannot see: slopes at single points, ties, and operands that are traced."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import yota


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


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="vectors only")
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


@pytest.mark.parametrize("order", [None, 1, 1.5, 2, 3])
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
