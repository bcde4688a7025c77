"""Functions that write into arrays: what they leave there, its gradient, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import yota
import yota.numpy as ynp

RNG = np.random.default_rng(3)
X, W = RNG.standard_normal((2, 3, 4))
V = RNG.standard_normal(5)
ROWS, COLUMNS = np.array([0, 0, 2, 0, 1]), np.array([1, 1, 3, 1, 0])

WRITES = {
    "put": lambda y, v: np.put(y, [0, 5, -1], v),
    "put, too few values": lambda y, v: y.put([0, 5, 7, 8, 9], v[:2]),
    "put, one place twice": lambda y, v: np.put(y, [3, 3], v[:2]),
    "put, wrapping": lambda y, v: np.put(y, [0, 13, 25], v[:3], mode="wrap"),
    "put, clipping": lambda y, v: np.put(y, [-4, 90], v[:2], mode="clip"),
    "place": lambda y, v: np.place(y, y > 0, v),
    "putmask": lambda y, v: np.putmask(y, y > 0, v),
    "copyto": lambda y, v: np.copyto(y[0], v[:4]),
    "copyto, where": lambda y, v: np.copyto(y, v[0], where=y > 0),
    "put_along_axis": lambda y, v: np.put_along_axis(
        y, np.array([[0], [1], [3]]), v[:3, None], axis=1
    ),
    "put_along_axis, flat": lambda y, v: np.put_along_axis(
        y.ravel(), np.array([0, 3]), v[:2], axis=None
    ),
    "fill_diagonal": lambda y, v: np.fill_diagonal(y, v[0]),
    "fill_diagonal, wrapping": lambda y, v: np.fill_diagonal(y.T, v[:3], wrap=True),
    "fill_diagonal of a view": lambda y, v: np.fill_diagonal(y[:, 1:], v[0]),
    "add.at": lambda y, v: np.add.at(y, (ROWS, COLUMNS), v),
    "add.at, broadcasting": lambda y, v: np.add.at(y, np.array([0, 0]), v[:2, None]),
    "add.at of a view": lambda y, v: np.add.at(y[:, 1], [0, 0, 1], v[:3]),
    "subtract.at": lambda y, v: np.subtract.at(y, ([0, 0, 2], 1), v[:3]),
    "multiply.at": lambda y, v: np.multiply.at(y, (ROWS, COLUMNS), v),
    "maximum.at": lambda y, v: np.maximum.at(y, (ROWS, COLUMNS), v),
    "divide.at": lambda y, v: np.divide.at(y, (slice(None), 1), v[:3]),
    "negative.at": lambda y, v: np.negative.at(y, (ROWS, COLUMNS)),
    "flat": lambda y, v: y[1].flat.__setitem__(slice(0, 5), v[:4]),
    "all of flat": lambda y, v: setattr(y, "flat", v),
    "partition": lambda y, v: y.partition(2),
    "sort": lambda y, v: y.sort(axis=0),
    "nan_to_num": lambda y, v: np.nan_to_num(y, copy=False),
    "clip": lambda y, v: np.clip(y, -0.5, 0.5, out=y),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_write_leaves_what_numpy_leaves_and_has_its_gradient(write, order):
    def f(x, v):
        y = x * 1.0
        write(y, v)
        return np.sum(np.sin(y) * W)

    x = np.array(X, order=order)
    value, g = yota.grad(f, x, V, exact=True)
    assert value == f(x, V)
    assert yota.gradtape(f, x, V).compile(exact=True)(x, V)[0] == value
    plain = yota.simplegrad(f, x, V)(x, V)
    assert plain[0] == value
    for a, b in zip(plain[1:], g, strict=True):
        np.testing.assert_array_equal(a, b)
    yota.check_grads(f, x, V, rtol=1e-5, atol=1e-7)


def test_parts_of_complex_arrays_are_written():
    def f(v):
        z = v * (1 + 2j)
        z.real = v**2
        z.imag += 1
        z[1:].imag = np.sin(v[1:])
        return np.sum(np.abs(z) ** 2)

    assert yota.grad(f, V)[0] == f(V)
    yota.check_grads(f, V)
    yota.check_grads(f, V, order=2, rtol=1e-3)


MADE = {
    "zeros_like": lambda: ynp.zeros_like(np.ones(5)),
    "ones_like": lambda: ynp.ones_like(np.ones(5)),
    "full_like": lambda: ynp.full_like(np.ones(5), 2.0),
    "empty_like": lambda: ynp.empty_like(np.ones(5)),
    "array": lambda: ynp.array([0.0, 1.0, 2.0, 3.0, 4.0]),
    "arange": lambda: ynp.arange(5.0),
    "linspace": lambda: ynp.linspace(0.0, 1.0, 5),
    "copy": lambda: ynp.copy(np.ones(5)),
    "a row of eye": lambda: ynp.eye(5)[1],
    "a row of tri": lambda: ynp.tri(5)[1],
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_arrays_made_inside_the_trace_take_traced_values(make):
    def f(v):
        y = make()
        y[0] = v[0] ** 2
        y *= v
        return np.sum(y * y)

    assert yota.grad(f, V)[0] == f(V)
    yota.check_grads(f, V)
    assert type(make()) is np.ndarray


def into(write):
    def f(v):
        plain = np.zeros((5, 5))
        write(plain, v)
        return plain.sum()

    return f


@pytest.mark.parametrize(
    "write",
    [
        lambda b, v: np.add.at(b, [0], v[:1]),
        lambda b, v: np.fill_diagonal(b, v[0]),
        lambda b, v: np.put(b, [0], v[:1]),
        lambda b, v: np.copyto(b, v),
        lambda b, v: np.putmask(b, b > 0, v),
        lambda b, v: np.multiply(b, v, out=b),
        lambda b, v: b.__setitem__(0, v),
    ],
)
def test_a_write_of_traced_values_into_a_plain_array_is_refused(write):
    with pytest.raises(yota.TraceError, match=r"test_writers.py:\d+.*yota.numpy"):
        yota.grad(into(write), V)


def test_flat_of_an_array_in_another_order_is_refused():
    with pytest.raises(yota.TraceError, match=r"\.flat of an array that is not in C order"):
        yota.grad(lambda x: np.sum(x.T.flat), X)


@pytest.mark.filterwarnings("ignore:you are shuffling")  # numpy's own doubt
def test_a_shuffle_in_one_dimension_is_followed():
    def f(v):
        y = v * 1.0
        np.random.default_rng(0).shuffle(y)
        return np.dot(y, np.arange(5.0))

    assert yota.grad(f, V)[0] == f(V)
    yota.check_grads(f, V)


@pytest.mark.filterwarnings("ignore:you are shuffling")
def test_an_exchange_of_views_is_refused_where_numpy_would_copy():
    with pytest.raises(yota.TraceError, match="permutation"):
        yota.grad(lambda x: (np.random.default_rng(0).shuffle(x), np.sum(x))[1], X)
