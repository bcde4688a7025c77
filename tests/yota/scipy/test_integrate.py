"""`odeint`: gradients in initial value, times and parameters, against exact ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import integrate as plain

import yota
from tests.bits import bits
from yota.scipy import integrate

Y0, T = np.array([1.0, 0.5]), np.array([0.0, 0.4, 1.0, 2.0])
A, B = 0.9, np.array([0.7, 0.4])
WEIGHTS = np.arange(8.0).reshape(4, 2) - 3
CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def predators(y: Any, t: Any, a: Any, b: Any) -> Any:
    """A list, a parameter array and a time: as users write it."""
    return [a * y[0] - b[0] * y[0] * y[1], b[1] * y[0] * y[1] - y[1] * np.cos(t)]


def loss(y0: Any, t: Any, a: Any, b: Any, **options: Any) -> Any:
    return np.sum(WEIGHTS * integrate.odeint(predators, y0, t, (a, b), **options))


def test_gradient_in_everything_agrees_with_differences() -> None:
    yota.check_grads(lambda *x: loss(*x, **CLOSE), Y0, T, A, B, rtol=1e-6)


def test_backward_in_time() -> None:
    yota.check_grads(lambda *x: loss(*x, **CLOSE), Y0, -T, A, B, rtol=1e-6)


def test_second_derivative_agrees_with_differences() -> None:
    f = lambda a: np.sum(integrate.odeint(predators, Y0, T[:3], (a, B), **CLOSE)[-1])
    yota.check_grads(f, A, order=2, rtol=1e-5)


def test_default_tolerances_keep_the_stated_accuracy() -> None:
    _, exact = yota.grad(lambda *x: loss(*x, **CLOSE), Y0, T, A, B)
    _, g = yota.grad(loss, Y0, T, A, B)
    for got, want in zip(g, exact, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_accuracy_is_relative_to_the_cotangent() -> None:
    _, g = yota.grad(loss, Y0, T, A, B)
    _, small = yota.grad(lambda *x: 1e-12 * loss(*x), Y0, T, A, B)
    np.testing.assert_allclose(small[2] * 1e12, g[2], rtol=1e-6)


def test_exponential_decay_has_its_known_slopes() -> None:
    f = lambda y0, k, t: integrate.odeint(lambda y, t, k: -k * y, y0, t, (k,))[-1, 0]
    _, g = yota.grad(f, 2.0, 1.5, np.array([0.0, 1.0]))
    e = math.exp(-1.5)
    assert type(g[0]) is float
    np.testing.assert_allclose([g[0], g[1], *g[2]], [e, -2 * e, 3 * e, -3 * e], rtol=1e-6)


def test_value_is_scipys_to_the_bit() -> None:
    value, _ = yota.trace(lambda y0: integrate.odeint(predators, y0, T, (A, B)), Y0)
    assert bits(value) == bits(plain.odeint(predators, Y0, T, (A, B)))
    assert bits(integrate.odeint(predators, Y0, T, (A, B))) == bits(value)


def test_time_first_and_other_kinds_of_arguments() -> None:
    def rhs(t: Any, y: Any, k: Any, n: int, kind: str) -> Any:
        return -k * y**n if kind == "decay" else k * y**n

    def f(k: Any) -> Any:
        return np.sum(integrate.odeint(rhs, [1.0, 2.0], T, (k, 2, "decay"), tfirst=True, **CLOSE))

    yota.check_grads(f, 0.7, rtol=1e-6)


def test_repeated_times_and_a_single_one() -> None:
    f = lambda y0: np.sum(integrate.odeint(predators, y0, [0.0, 0.0, 1.0], (A, B)))
    want = lambda y0: np.sum(y0) + np.sum(integrate.odeint(predators, y0, [0.0, 1.0], (A, B)))
    np.testing.assert_allclose(yota.grad(f, Y0)[1][0], yota.grad(want, Y0)[1][0], rtol=1e-6)
    alone = lambda y0: np.sum(integrate.odeint(predators, y0, [0.0], (A, B)))
    np.testing.assert_array_equal(yota.grad(alone, Y0)[1][0], [1, 1])


def test_every_form_of_code_answers_as_the_tape() -> None:
    tape = yota.gradtape(loss, Y0, T, A, B)
    value, gradients = tape.play(Y0, T, A, B)
    for form in ("lean", "bound"):
        got, slopes = tape.compile(form=form, exact=True)(Y0, T, A, B)
        assert bits(got) == bits(value)
        assert bits(slopes) == bits(gradients)
    assert bits(list(yota.simplegrad(loss, Y0, T, A, B)(Y0, T, A, B))) == bits([value, *gradients])


def test_inner_gradients_are_not_observed() -> None:
    events: list[Any] = []
    with yota.observe(events.append):
        yota.grad(lambda a: integrate.odeint(predators, Y0, T, (a, B))[-1, 0], A)
    assert sum(type(e).__name__ == "Called" for e in events) == 1


@pytest.mark.parametrize("y0", [0, 1])
def test_a_traced_value_from_around_is_refused_with_the_cure(y0: int) -> None:
    def f(a: Any, y0_: Any) -> Any:
        start = y0_ if y0 else np.ones(2)
        return np.sum(integrate.odeint(lambda y, t: -a * y, start, [0.0, 1.0]))

    with pytest.raises(yota.TraceError, match=r"hand it to odeint in args=\(\.\.\.\)"):
        yota.grad(f, 0.5, np.ones(2))


@pytest.mark.parametrize("options", [{"full_output": True}, {"tcrit": [0.5]}])
def test_options_without_a_derivative_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(yota.RuleError, match="odeint"):
        yota.grad(lambda y0: integrate.odeint(predators, y0, T, (A, B), **options)[-1, 0], Y0)


def test_complex_parameters_are_refused() -> None:
    f = lambda k: np.sum(integrate.odeint(lambda y, t, k: -np.abs(k) * y, 1.0, T, (k,)))
    with pytest.raises(yota.RuleError, match="complex"):
        yota.grad(f, 1j)


def test_an_error_of_the_right_hand_side_keeps_its_type() -> None:
    def broken(y: Any, t: Any, a: Any) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        yota.grad(lambda a: np.sum(integrate.odeint(broken, Y0, T, (a,))), 0.5)
