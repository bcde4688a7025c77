"""Objects of users' classes as operands: what NumPy makes of them, their own operators, or no."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import yota

X = np.array([1.0, 2.0, 3.0])


class Num:
    """A number in a class of its own, which NumPy handles as an object."""

    def __init__(self, value):
        self.value = value

    def __rmul__(self, other):
        return other * self.value


class Holder:
    """What NumPy turns into an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 4.0])


class Tenfold(float):
    """A float with an operator of its own, which Python asks before the left operand's."""

    def __rmul__(self, other):
        return other * float(self) * 10


class Row(enum.IntEnum):
    SECOND = 1


class Second:
    def __index__(self):
        return 1


class Labelled:
    """An array-like that answers NumPy's protocols around whatever it holds."""

    def __init__(self, held):
        self.held = held

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return Labelled(getattr(ufunc, method)(*map(bare, inputs), **kwargs))

    def __array_function__(self, func, types, args, kwargs):
        return func(*map(bare, args), **kwargs)

    def __rmul__(self, other):
        return Labelled(np.multiply(other, self.held))


def bare(x):
    return x.held if isinstance(x, Labelled) else x


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: x * Num(2.0), 3.0, 2.0),
        (lambda x: np.sum(np.multiply(x, Holder())), X, [1, 2, 4]),
        (lambda x: np.sum(x * Holder()), X, [1, 2, 4]),
        (lambda x: x * Tenfold(2.0), 3.0, 20.0),
        (lambda x: Tenfold(2.0) * x, 3.0, 2.0),
        (lambda x: np.multiply(x, Tenfold(2.0)), 3.0, 2.0),
        (lambda x: x[Row.SECOND], X, [0, 1, 0]),
        (lambda x: x[Second()], X, [0, 1, 0]),
        (lambda x: np.multiply(x, Labelled(X)).held.sum(), X, X),
        (lambda x: (x * Labelled(X)).held.sum(), X, X),
        (lambda x: np.dot(x, Labelled(X)), X, X),
        (lambda x: np.exp(Labelled(x)).held.sum(), X, np.exp(X)),
    ],
)
def test_the_gradient_is_that_of_what_plain_numpy_computes(f, x, expected):
    value, g = yota.grad(f, x)
    assert value == f(x)
    np.testing.assert_array_equal(g[0], np.array(expected, float))
    assert g.tape.compile()(x)[0] == value


def test_operators_that_numpy_would_run_out_of_sight_are_refused():
    with pytest.raises(yota.TraceError, match=r"test_foreign.py:\d+: a Num meets a traced value"):
        yota.grad(lambda x: np.multiply(x, Num(2.0)), 3.0)


def test_a_primitive_may_take_any_object():
    scaled = yota.primitive(lambda x, num: x * num.value)
    yota.defvjp(scaled, lambda dy, y, x, num: dy * num.value, yota.zero)
    assert yota.grad(lambda x: scaled(x, Num(2.0)), 3.0)[1][0] == 2.0
