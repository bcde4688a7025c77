"""Elements that are written or read more than once: the last write wins, reads add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.yota.quietly import slope

Array = Any


def test_the_last_write_wins() -> None:
    def f(x: Array, v: Array) -> Array:
        x = x * 1.0
        x[np.array([0, 0, 1])] = v
        return np.sum(x * np.array([1.0, 2.0, 3.0]))

    gx, gv = slope(f, np.ones(3), np.ones(3))
    np.testing.assert_array_equal(gx, [0, 0, 3])
    np.testing.assert_array_equal(gv, [0, 1, 2])


F_INDEX = np.asfortranarray([[0, 1], [1, 2]])
VALUES = {
    "C": lambda v: v,
    "F": np.transpose,
    "strided": lambda v: np.stack([v, v], axis=-1)[..., 0],
    "backwards": lambda v: v[::-1, ::-1],
    "row": lambda v: v[0],
    "broadcast": lambda v: np.broadcast_to(v[:, :1], (2, 2)),
    "sum": lambda v: v + np.transpose(v),
}


@pytest.mark.parametrize("layout", VALUES)
@pytest.mark.parametrize("index", [F_INDEX, np.array(F_INDEX, order="C"), F_INDEX[::-1]])
def test_the_last_write_is_the_one_that_numpy_makes(layout: str, index: Array) -> None:
    """Which of several writes comes last follows the memory layout of index and value."""

    def f(x: Array) -> Array:
        y = x * 1.0
        y[index] = VALUES[layout](np.reshape(x[:4] * np.array([1.0, 2.0, 3.0, 4.0]), (2, 2)))
        return np.sum(y * np.arange(1.0, 6.0))

    x = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    want = [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(slope(f, x), want, atol=1e-8)


@pytest.mark.parametrize("value", [np.float32, np.complex128, np.float16])
def test_the_last_write_of_another_type(value: Any) -> None:
    x, v = np.zeros(3, value), np.array([[1, 2], [3, 4]], np.float64, order="F")

    def f(v: Array) -> Array:
        y = (x + 0 * v[0, 0]).astype(value)
        y[F_INDEX] = v
        return np.real(np.sum(y * np.array([1, 2, 4], x.dtype)))

    steps = np.eye(4).reshape(2, 2, 2, 2)
    want = [[f(np.asfortranarray(v + d)) - f(v) for d in row] for row in steps]
    np.testing.assert_allclose(slope(f, v), want, atol=1e-3)


def test_axes_in_front_of_a_value_that_its_target_has_not() -> None:
    def f(v: Array) -> Array:
        y = np.zeros_like(v, shape=(2, 3))
        y[0] = v
        return np.sum(y * np.arange(1.0, 7.0).reshape(2, 3))

    np.testing.assert_array_equal(slope(f, np.array([[[2.0]]])), [[[6]]])


def test_a_tuple_as_index_of_an_axis() -> None:
    def f(x: Array) -> Array:
        y = x * 1.0
        y[(0, 0),] = x[1:3] * 2
        return np.sum(y * np.arange(1.0, 6.0)) + np.sum(x[(0, 0, 1),])

    np.testing.assert_array_equal(slope(f, np.ones(5)), [2, 3, 5, 4, 5])


def test_a_traced_index_that_repeats() -> None:
    def f(x: Array) -> Array:
        k = np.argmax(x)
        return np.sum(x[[k, k]]) + np.sum(x[(k, k),]) + np.sum(x[np.argsort(x) * 0])

    np.testing.assert_array_equal(slope(f, np.array([1.0, 3.0, 2.0])), [3, 4, 0])


def test_repeated_reads_add_up() -> None:
    g = slope(lambda x: np.sum(x[np.array([0, 0, 2])]), np.ones(3))
    np.testing.assert_array_equal(g, [2, 0, 1])
