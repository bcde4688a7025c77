"""Python floats in the named forms answer, warn and raise as NumPy does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import yota
from tests.yota.forms import V, assert_close, forward, leaves
from yota.program import MISS, entry_of

SCALARS = [
    (lambda x: np.exp(x), 1000.0),
    (lambda x: np.exp(x), -1000.0),
    (lambda x: np.log(x), 0.0),
    (lambda x: np.log(x), -1.0),
    (lambda x: np.sqrt(x) * 2.0, -1.0),
    (lambda x: 1.0 / np.exp(-x), 1000.0),
    (lambda x: np.tanh(np.exp(x) * 1e300), 700.0),
    (lambda x: np.exp(-(np.exp(x) ** 2)), 400.0),
    (lambda x: np.power(x, 0.5), -2.0),
    (lambda x: np.divide(x, 0.0), 3.0),
    (lambda x: np.sin(x) + 1.0, np.inf),
    (lambda x: np.arctan(np.multiply(x, 1e200) * 1e200), 3.0),
    (lambda x: np.subtract(x, x) * 1.0, np.inf),
    (lambda x: np.multiply(x, 0.0) + 1.0, np.nan),
    (lambda x: np.hypot(x, np.inf), np.nan),
    (lambda x: np.power(np.multiply(x, 0.0), 0.0), np.inf),
    (lambda x: np.cosh(x) - np.sinh(x), 800.0),
    (lambda x: np.log1p(x) ** 3, -1.0),
]


@pytest.mark.parametrize(("f", "x"), SCALARS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_answer_and_warn_as_numpy_does(f, x):
    with np.errstate(all="ignore"):
        tape = yota.gradtape(f, 0.3)
    heard, answers = [], []
    for exact in (True, False):
        run = entry_of(tape, exact)
        with (
            warnings.catch_warnings(record=True) as caught,
            np.errstate(all="warn", under="ignore"),
        ):
            warnings.simplefilter("always")
            answers.append(run(x))
        heard.append({str(w.message).replace("scalar ", "") for w in caught})
    assert heard[0] == heard[1]
    for a, b in zip(*map(leaves, answers), strict=True):
        assert type(a) is type(b)
        assert np.allclose(a, b, rtol=1e-15, atol=0, equal_nan=True)


@pytest.mark.parametrize(("f", "x"), SCALARS)
def test_floats_raise_where_numpy_is_told_to(f, x):
    with np.errstate(all="ignore"):
        tape = yota.gradtape(f, 0.3)
    told = []
    for exact in (True, False):
        with np.errstate(all="raise", under="ignore"):
            try:
                told.append(entry_of(tape, exact)(x) is MISS)
            except FloatingPointError as error:
                told.append(type(error))
    assert told[0] == told[1]


def test_an_error_of_the_users_own_arithmetic_passes_through():
    tape = yota.gradtape(lambda x: np.exp(x) + 1.0 / (x - 1.0), 3.0)
    for exact in (True, False):
        with pytest.raises(ZeroDivisionError):
            entry_of(tape, exact)(1.0)
        with pytest.raises(ZeroDivisionError):
            tape.compile(exact=exact)(1.0)


def test_numbers_of_numpys_and_kinds_of_gradients_are_kept():
    f = lambda x, y, v: np.sin(x) * y + np.sum(v) * np.exp(y)
    args = (np.float64(0.5), 0.25, V)
    tape = yota.gradtape(f, *args)
    value, (dx, dy, dv) = entry_of(tape)(*args)
    assert (type(value), type(dx), type(dy), type(dv)) == (
        np.float64,
        np.float64,
        float,
        np.ndarray,
    )
    assert_close(tape, *args, scale=(100.0, 1.0, 100.0, np.ones(100) * 2), terms=100)
    pair = forward(lambda x: (x, np.exp(x), x * 2.0, [np.exp(x)]), 0.5)
    kinds = [type(v) for v in leaves(entry_of(pair)(0.5))]
    assert kinds == [float, np.float64, float, np.float64]
