"""Every cause of the table, each by the smallest function that shows it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import yota
from yotaview.model.autopsy.causes import CAUSES, DOUBLE_WHERE, cause_of
from yotaview.model.single import session_of

A = np.array
# the cause that is named first, or, after the origin of an infinity, second
SAMPLES: list[tuple[str, Any, Any]] = [
    ("NaN in the input", lambda x: np.sum(x * x), A([np.nan, 1.0])),
    ("infinity in the input", lambda x: np.sum(x * x), A([np.inf, 1.0])),
    ("NaN in the data", lambda x: np.sum(x * A([np.nan, 1.0])), A([1.0, 1.0])),
    ("infinity in the data", lambda x: np.sum(x * A([np.inf, 1.0])), A([1.0, 1.0])),
    ("infinity in the code", lambda x: np.sum(x * np.inf), A([1.0, 1.0])),
    ("NaN in the code", lambda x: np.sum(x * np.nan), A([1.0, 1.0])),
    (
        "where-trap",
        lambda x: np.where(x[0] > 1, np.sqrt(x) @ np.ones(2), 1.0) + x[1],
        A([0.0, 2.0]),
    ),
    ("std' at 0", lambda x: np.sqrt(np.var(x)), np.ones(3)),
    ("norm' at 0", lambda x: np.sqrt(x @ x), np.zeros(3)),
    ("sqrt' at 0", lambda x: np.sum(np.sqrt(x)), A([0.0, 1.0])),
    ("arccos' at ±1", lambda x: np.sum(np.arccos(x)), A([-1.0, 0.5])),
    ("arcsin' at ±1", lambda x: np.sum(np.arcsin(x)), A([1.0, 0.5])),
    ("arccosh' at 1", lambda x: np.sum(np.arccosh(x)), A([1.0, 2.5])),
    ("arctan2' at the origin", lambda x: np.sum(np.arctan2(x, x)), A([0.0, 2.5])),
    (
        "derivative by the exponent of a negative base",
        lambda p: np.sum(np.power(A([-2.0, 2]), p)),
        A([2.0, 2.0]),
    ),
    ("power' at 0", lambda x: np.sum(x**0.75), A([0.0, 2.0])),
    ("cbrt' at 0", lambda x: np.sum(np.cbrt(x)), A([0.0, 2.0])),
    ("log of 0", lambda x: np.sum(np.log1p(x)), A([-1.0, 2.0])),
    ("log of a negative number", lambda x: np.sum(np.log2(x)), A([-1.0, 2.0])),
    ("square root of a negative number", lambda x: np.sum(np.sqrt(x)), A([-1.0, 2.0])),
    ("outside of [-1, 1]", lambda x: np.sum(np.arccos(x)), A([1.0000001, 0.2])),
    ("arctanh at ±1 or beyond", lambda x: np.sum(np.arctanh(x)), A([2.0, 0.2])),
    ("arccosh below 1", lambda x: np.sum(np.arccosh(x)), A([0.5, 2])),
    ("broken power of a negative base", lambda x: np.sum(x**1.5), A([-0.5, 2])),
    ("0 to a negative power", lambda x: np.sum(x**-1.5), A([0.0, 2])),
    ("x/‖x‖ at 0", lambda x: np.sum(x / np.linalg.norm(x)), np.zeros(2)),
    ("x/std at 0", lambda x: np.sum((x - np.mean(x)) / np.std(x)), np.ones(2)),
    ("0/0", lambda x: np.sum(x / x), np.zeros(2)),
    ("x/0", lambda x: np.sum(1 / x), np.zeros(2)),
    ("x/0", lambda x: np.sum(np.reciprocal(x)), np.zeros(2)),
    ("softmax overflow", lambda x: np.sum((np.exp(x) / np.sum(np.exp(x))) ** 2), A([1000.0, 2])),
    ("exp then log", lambda x: np.log(np.sum(np.exp(x))), A([1000.0, 2])),
    ("exp overflow in a sigmoid", lambda x: np.sum(1 / (1 + np.exp(-x))), A([-1000.0, 2])),
    ("exp overflow", lambda x: np.sum(np.exp(x)), A([1000.0, 2])),
    ("exp overflow", lambda x: np.sum(np.sinh(x)), A([1000.0, 2])),
    ("mask by product", lambda x: np.sum(A([0.0, 1.0]) * np.log(x)), A([0.0, 2])),
    ("log-sum-exp of -inf", lambda x: np.log(np.sum(np.exp(x - np.max(x)))), A([-np.inf, -np.inf])),
    ("0·inf in a product of matrices", lambda x: A([0.0, 1.0]) @ np.log(x), A([0.0, 2])),
    ("variance of too few values", lambda x: np.var(x, ddof=1) + x[0], A([1.0])),
    ("overflow of float16", lambda x: np.sum(x * x), A([300.0, 2], np.float16)),
    ("overflow of float32", lambda x: np.sum(np.square(x)), A([1e30, 2], np.float32)),
    ("overflow of float64", lambda x: np.prod(x), A([1e200, 1e200])),
    ("overflow of float32", lambda x: np.sum(x), A([3e38, 3e38], np.float32)),
    ("overflow of complex64", lambda x: np.sum(np.abs(x * x)), A([1e30, 2], np.complex64)),
    ("mean of nothing", lambda x: np.mean(x[2:]) + x[0], A([1.0, 2])),
]
SECOND = {"mask by product", "log-sum-exp of -inf", "0·inf in a product of matrices"}


def alerts(f: Any, x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's of an empty mean
        return session_of(yota.gradtape(f, x))


@pytest.mark.parametrize(("name", "f", "x"), SAMPLES, ids=lambda v: v if isinstance(v, str) else "")
def test_cause_is_named(name: str, f: Any, x: Any) -> None:
    session = alerts(f, x)
    assert [a.cause for a in session.alarms][name in SECOND] == name
    assert session.alarms[0].cure


def test_every_cause_has_a_sample() -> None:
    assert {c.name for c in CAUSES if not c.follows} == {name for name, _, _ in SAMPLES}


@pytest.mark.parametrize(("name", "f", "x"), SAMPLES, ids=lambda v: v if isinstance(v, str) else "")
def test_cure_of_a_single_cause_makes_the_gradient_finite(name: str, f: Any, x: Any) -> None:
    session = alerts(f, x)
    tried = session.opened.tried[session.alarms[0].var]
    root = session.opened.roots[0]
    known = root.cause.wider or (root.cause.patch is not None and bool(root.cause.patch(root.case)))
    assert tried.finite == known


def follows(f: Any, x: Any) -> set[str]:
    """Return the causes of the ops that repeat an origin or follow from it."""
    found = set()
    for root in alerts(f, x).opened.roots:
        for var in root.echoes:
            found.add(cause_of(replace(root.case, var=var)).name)
    return found


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("inf/inf", lambda x: np.sum(np.exp(x) / (np.exp(x) * 2.0 + x))),
        ("inf - inf", lambda x: np.sum(np.exp(x) - (np.exp(x) + x))),
        ("0·inf", lambda x: np.sum(x * 0.5 * (np.exp(x * x) * (x - 1000.0)))),
    ],
)
def test_what_only_follows_from_an_infinity_is_no_origin(name: str, f: Any) -> None:
    assert name in follows(f, A([1000.0]))


def softmax_of_two(x: Any) -> Any:
    e = np.exp2(x)
    return np.sum((e / np.sum(e)) ** 2)


# functions of one number that overflow at 800, by what they are made of
EXPONENTIALS: list[tuple[str, Any, bool]] = [
    ("sigmoid", lambda x: 1 / (1 + np.exp(x)), True),
    ("the other sigmoid", lambda x: np.exp(x) / (1 + np.exp(x)), True),
    ("swish", lambda x: x / (1 + np.exp(x)), True),
    ("quotient with 2", lambda x: 1 / (2 + np.exp(x)), False),
    ("sigmoid to the base 2", lambda x: np.reciprocal(1 + np.exp2(2 * x)), False),
    ("softplus", lambda x: np.log(1 + np.exp(x)), True),
    ("softplus by log1p", lambda x: np.log1p(np.exp(x)), True),
    ("softplus with 3", lambda x: np.log(3 + np.exp(x)), True),
    ("log-sigmoid", lambda x: np.log(1 / (3 + np.exp(x))), True),
    ("softplus to the base 2", lambda x: np.log2(1 + np.exp(x)), False),
    ("logarithm of a difference", lambda x: np.log1p(np.expm1(x)), False),
]


@pytest.mark.parametrize(
    ("name", "f", "known"), EXPONENTIALS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_cure_that_is_tried_gives_the_function_s_own_gradient(name: str, f: Any, known: bool):
    session = alerts(lambda x: np.sum(f(x)), A([0.7, 800.0]))
    found = [session.opened.tried[a.var] for a in session.alarms]
    assert any(t.finite for t in found) == known
    slope = (f(A(0.7 + 1e-6)) - f(A(0.7 - 1e-6))) / 2e-6
    for tried in found:
        assert tried.finite or tried.reason == "the function needs another form"
        for _, gradient in tried.gradients:
            np.testing.assert_allclose(gradient[0], slope, rtol=1e-6)


def test_softmax_to_another_base_is_not_cured_as_one_of_exp():
    session = alerts(softmax_of_two, A([2000.0, 1.0]))
    text = session.opened.tried[session.alarms[0].var].text
    assert text == "not tried: the function needs another form"


def test_trap_is_cured_by_the_double_where() -> None:
    session = alerts(lambda x: np.where(x[0] > 1, np.sqrt(x) @ np.ones(2), 1.0) + x[1], A([0.0, 2]))
    assert session.alarms[0].cure == DOUBLE_WHERE
    ((_, gradient),) = session.opened.tried[session.alarms[0].var].gradients
    np.testing.assert_array_equal(gradient, [0.0, 1.0])
