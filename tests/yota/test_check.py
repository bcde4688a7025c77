"""What check_grads says of a gradient that is off: argument, element, op, and both numbers."""

from __future__ import annotations

import numpy as np
import pytest

import yota

X = np.array([0.5, 1.0, 2.0])


@yota.primitive
def shifted(x, by):
    return x * x + by


yota.defvjp(shifted, lambda dy, y, x, by: dy * x, lambda dy, y, x, by: np.sum(dy))


@yota.primitive
def cubed(x):
    return x**3


# Right but at the last element.
yota.defvjp(cubed, lambda dy, y, x: dy * np.where(x > 1.5, 7.0, 3 * x**2))


def said(f, *args, **kwargs):
    """Return what check_grads raises."""
    with pytest.raises(AssertionError) as caught:
        yota.check_grads(f, *args, **kwargs)
    return str(caught.value)


def test_argument_element_and_both_numbers_are_named():
    text = said(lambda w, x: np.sum(w * cubed(x)), np.ones(3), X)
    assert "with respect to argument 1[2]: reverse mode 7, finite differences 12" in text


def test_the_op_whose_own_rule_is_off_is_named_with_its_line_and_numbers():
    text = said(lambda x: np.sum(np.sin(np.exp(cubed(x)) * 0.1)), X)
    assert "the rule of %2 = cubed(%1)::float64[3] (test_check.py:" in text
    assert "is off: element [2] of %1:" in text
    got, want = text.rpartition("of %1: ")[2].split(", differences ")
    assert float(got) / float(want) == pytest.approx(7 / 12)


def test_a_right_rule_after_a_wrong_one_is_not_blamed():
    text = said(lambda p: np.sum(shifted(np.sin(p["a"]), p["b"])), {"a": X, "b": 2.0})
    assert "argument 0['a'][0]" in text
    assert "the rule of %4 = shifted(%3, %2)" in text
    assert " of %3: " in text


def test_an_argument_with_a_right_rule_passes_beside_a_wrong_one():
    yota.check_grads(lambda by: np.sum(shifted(X, by) ** 2), 2.0)
    assert "argument 0[0]" in said(lambda x, by: np.sum(shifted(x, by) ** 2), X, 2.0)


def test_a_wrong_second_derivative_is_found_by_order_2():
    @yota.primitive
    def root(x):
        return np.sqrt(x)

    # The value is right, but its own derivative is lost.
    yota.defvjp(root, lambda dy, y, x: dy * yota.stop_gradient(0.5 / np.sqrt(x)))
    yota.check_grads(lambda x: np.sum(root(x)), X)
    assert "finite differences" in said(lambda x: np.sum(root(x)), X, order=2)


def test_nothing_to_check_is_an_error():
    with pytest.raises(ValueError, match="no number among its arguments"):
        yota.check_grads(lambda s: 1.0, "word")
    with pytest.raises(ValueError, match="returns no number of floating type"):
        yota.check_grads(lambda x: x > 1, X)
