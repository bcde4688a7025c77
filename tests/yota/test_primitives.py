"""Own primitives with rules of their own, and what has no derivative."""

from __future__ import annotations

import numpy as np
import pytest

import yota

X = np.array([1.0, 2.0, 3.0])


def test_own_primitives_with_keywords_and_partial_rules():
    @yota.primitive
    def scale(x, k, power=1.0):
        return x * k**power

    yota.defvjp(scale, lambda dy, y, x, k, power=1.0: dy * k**power, None)
    assert yota.grad(lambda x: np.sum(scale(x, 3.0, power=2.0)), X)[1][0].tolist() == [9.0] * 3
    with pytest.raises(yota.RuleError, match="operand 1"):
        yota.grad(lambda k: np.sum(scale(X, k)), 2.0)
    assert scale(X, 2.0).tolist() == [2.0, 4.0, 6.0]


def test_own_primitives_with_several_outputs():
    @yota.primitive
    def both(x):
        return np.sin(x), np.cos(x)

    yota.defvjp(both, lambda dy, y, x: dy[0] * y[1] - dy[1] * y[0])
    yota.check_grads(lambda x: np.sum(both(x)[0] * 2.0), X)
    yota.check_grads(lambda x: np.sum(both(x)[0] * both(x)[1]), X)


def test_a_wrong_shaped_rule_is_caught_at_once_and_named():
    @yota.primitive
    def double(x):
        return x * 2.0

    yota.defvjp(double, lambda dy, y, x: np.sum(dy))
    with pytest.raises(yota.RuleError, match=r"double.*\(\).*\(3,\)"):
        yota.grad(lambda x: np.sum(double(x)), X)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda dy, y, x: None, r"rule of double for operand 0 returned None.*yota\.zero"),
        (lambda dy, y, x: "word", "rule of double returned 'word'"),
        (lambda dy, y, x: (dy, dy), "returns an array or a number"),
    ],
)
def test_a_rule_that_answers_no_array_is_named(rule, said):
    @yota.primitive
    def double(x):
        return x * 2.0

    yota.defvjp(double, rule)
    with pytest.raises(yota.RuleError, match=rf"test_primitives\.py:\d+: .*{said}"):
        yota.grad(lambda x: np.sum(double(x)), X)


def test_a_rule_for_one_argument_only_refuses_the_others_by_name():
    @yota.primitive
    def scaled(x, by):
        return x * by

    yota.defvjp(scaled, lambda dy, y, x, by: dy * by)
    assert yota.grad(lambda x: np.sum(scaled(x, 2.0)), X)[1][0].tolist() == [2.0, 2.0, 2.0]
    for f in (lambda by: np.sum(scaled(X, by)), lambda by: np.sum(scaled(X, by=by))):
        with pytest.raises(yota.RuleError, match=r"scaled .* operand (1|by): .*yota\.defvjp"):
            yota.grad(f, 2.0)


def test_a_rule_of_what_is_no_primitive_is_refused():
    def double(x):
        return x * 2.0

    with pytest.raises(TypeError, match=r"double is no primitive.*yota\.primitive\(double\)"):
        yota.defvjp(double, lambda dy, y, x: dy * 2.0)


def test_nondiff_and_zero_and_stop_gradient():
    @yota.nondiff
    def level(x):
        return np.floor(x)

    @yota.primitive
    def shift(x, by):
        return x + by

    yota.defvjp(shift, lambda dy, y, x, by: dy, yota.zero)
    assert yota.grad(lambda x: x * level(x), 2.5)[1][0] == 2.0
    assert tuple(yota.grad(lambda x, by: shift(x, by) ** 2, 1.0, 2.0)[1]) == (6.0, 0.0)
    assert yota.grad(lambda x: x * yota.stop_gradient(x), 3.0)[1][0] == 3.0


def test_stop_gradient_reaches_into_structures():
    assert yota.grad(lambda d: yota.stop_gradient(d)["a"] * d["a"], {"a": 3.0})[1][0]["a"] == 3.0


def test_rule_that_forgets_broadcasting_is_told_the_cure_which_cures():
    @yota.primitive
    def scaled(x, w):
        return x * w

    rules = (lambda dy, y, x, w: dy * w, lambda dy, y, x, w: dy * x)
    args = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 0.25])

    def f(x, w):
        return np.sum(scaled(x, w) * x)

    yota.defvjp(scaled, *rules)
    with pytest.raises(yota.RuleError, match=r"with yota\.elementwise in place of yota\.defvjp"):
        yota.grad(f, *args)
    yota.elementwise(scaled, *rules)
    yota.check_grads(f, *args)
    assert yota.grad(f, *args)[1][1].tolist() == [10.0, 20.0]


def test_rule_of_too_few_elements_is_told_no_cure_for_broadcasting():
    @yota.primitive
    def total(x):
        return np.sum(x)

    yota.defvjp(total, lambda dy, y, x: dy)
    with pytest.raises(yota.RuleError, match=r"returns the shape of its operand$"):
        yota.grad(total, np.ones(3))
