from __future__ import annotations

import warnings

import numpy as np
import pytest

import yota
from yota.tape import Call

W = np.array([-1.0, 0.5, -0.25, 0.0])


def gradient(f, *args):
    return yota.grad(f, *args)[1][0]


# ---- structural zeros: what a mask left out contributes nothing


def test_masked_square_root_is_right_where_the_branch_is_not_taken():
    def penalty(w):
        root = np.where(w < 0, np.sqrt(-w), 0.0)
        return np.sum(root**2 + w)

    assert gradient(penalty, W).tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: np.where(x < 1.0, x, np.sqrt(x)), np.array(0.0), 1.0),
        (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)), np.array([0.0, 1.0]), [0.0, 1.0]),
        (lambda x: np.sum(np.where(x > 0, 1.0 / x, 0.0) ** 2), np.array([0.0, 2.0]), [0.0, -0.25]),
        (lambda x: np.sum(np.sqrt(x)[x > 0]), np.array([0.0, 4.0]), [0.0, 0.25]),
        (lambda x: np.sqrt(x)[1], np.array([0.0, 4.0]), [0.0, 0.25]),
        (
            lambda x: np.sum(np.sqrt(x).reshape(2, 2).T[1]),
            np.array([0.0, 4.0, 0.0, 4.0]),
            [0, 0.25, 0, 0.25],
        ),
        (lambda x: np.sum(np.maximum(np.sqrt(x), 0.5)), np.array([0.0, 4.0]), [0.0, 0.25]),
        (lambda x: np.sum(np.clip(np.log(x), -1.0, 1.0)), np.array([0.0, 1.0]), [0.0, 1.0]),
        (lambda x: np.nansum(np.log(x)), np.array([-1.0, 2.0]), [0.0, 0.5]),
        (lambda x: np.where(x[0] > 5, np.sum(np.sqrt(x)), x[0]), np.array([0.0, 4.0]), [1.0, 0.0]),
        (
            lambda x: np.sum(np.tril(np.sqrt(x))),
            np.array([[1.0, 0.0], [4.0, 1.0]]),
            [[0.5, 0.0], [0.25, 0.5]],
        ),
        (lambda x: np.max(np.sqrt(x)), np.array([0.0, 4.0]), [0.0, 0.25]),
    ],
)
def test_dead_elements_never_poison_a_gradient(f, x, expected):
    assert np.array_equal(gradient(f, x), expected)


def test_an_element_used_live_and_dead_is_live():
    def f(x):
        r = np.sqrt(x)
        return r[0] + np.sum(np.where(x > 1, r, 0.0))

    assert np.isinf(gradient(f, np.array([0.0, 4.0]))[0])


def test_a_numeric_zero_is_not_a_structural_one():
    slope = gradient(lambda x: np.sum(np.sqrt(x) ** 2), np.array([0.0, 4.0]))
    assert slope[1] == 1.0
    assert slope[0] == 1.0 or np.isnan(slope[0])


def test_a_mask_that_depends_on_the_input_is_replayed():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    tape = yota.gradtape(f, np.array([0.0, 4.0]))
    assert tape.play(np.array([4.0, -1.0]))[1][0].tolist() == [0.25, 0.0]


# ---- shapes, dtypes, accumulation


def test_broadcasting_is_summed_away_under_its_own_role():
    tape = yota.gradtape(lambda x, b: np.sum(x * b), np.ones((3, 4)), np.ones(4))
    roles = {op.origin.role for _, op in tape if isinstance(op, Call)}
    assert "unbroadcast" in roles
    assert tape.value(tape.gradient_vars[1]).tolist() == [3.0] * 4


def test_contributions_accumulate_in_one_op_each():
    tape = yota.gradtape(lambda x: x * x * x + x, 2.0)
    accumulated = [v for v, op in tape if op.origin.role == "accumulate"]
    assert tape.value(tape.gradient_vars[0]) == 13.0
    assert all(tape[v].origin.wrt in tape for v in accumulated)
    assert accumulated


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "g", "c8", "c16"])
def test_gradients_keep_the_arguments_dtype(dtype):
    x = np.array([0.5, 1.5], dtype)
    _, g = yota.grad(lambda x: np.sum(np.abs(x * np.float64(2.0)) ** 2) + np.mean(np.real(x)), x)
    assert g[0].dtype == x.dtype


def test_zero_dimensional_arrays_get_zero_dimensional_gradients():
    g = gradient(lambda x: x * x, np.array(3.0))
    assert type(g) is np.ndarray
    assert g.shape == ()
    assert type(gradient(lambda x: x * x, np.float32(3.0))) is np.float32


def test_an_argument_without_a_path_gets_zeros_and_a_note():
    _, g = yota.grad(lambda x, w: np.sum(x), np.ones(2), np.ones((2, 3)))
    assert g[1].shape == (2, 3)
    assert not g[1].any()
    assert any(op.origin.note == "no path to the output" for _, op in g.tape)


def test_integer_results_carry_no_gradient():
    assert gradient(lambda x: x * np.floor(x).astype(int), 2.5) == 2.0
    assert gradient(lambda x: np.sum(np.sign(x) * x), np.array([-2.0, 3.0])).tolist() == [-1.0, 1.0]


def test_complex_follows_the_documented_convention():
    z = 1.0 + 2.0j
    assert gradient(lambda z: np.real(z), z) == 1.0
    assert gradient(lambda z: np.imag(z), z) == -1.0j
    assert gradient(lambda z: np.abs(z) ** 2, z) == pytest.approx(2 * np.conj(z))
    real = yota.grad(lambda x: np.abs(np.sum(x * np.array([1.0, 1.0j]))) ** 2, np.ones(2))[1][0]
    assert real.dtype == np.float64


mystery = yota.primitive(lambda x, scale=1.0: x * scale)


def test_an_unknown_derivative_is_an_error_that_names_op_line_and_cure():
    with pytest.raises(yota.RuleError, match="<lambda>") as caught:
        yota.grad(lambda x: np.sum(mystery(x)), np.ones(2))
    assert "test_reverse.py" in str(caught.value)
    assert "yota.defvjp" in str(caught.value)
    value, _ = yota.trace(lambda x: np.sum(mystery(x)), np.ones(2))
    assert value == 2.0


def test_a_keyword_operand_without_a_rule_is_refused():
    known = yota.primitive(lambda x, scale=1.0: x * scale)
    yota.defvjp(known, lambda dy, y, x, scale=1.0: dy * scale)
    with pytest.raises(yota.RuleError, match="scale"):
        yota.grad(lambda x: np.sum(known(x, scale=x[0])), np.ones(2))


def test_the_reverse_pass_hides_no_warnings():
    with np.errstate(all="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            yota.grad(lambda x: np.sum(np.sqrt(x)), np.zeros(2))


# ---- many ops, nested gradients


def test_twenty_thousand_ops_need_no_recursion():
    def f(x):
        for _ in range(10_000):
            x = x + 1e-4 * np.sin(x)
        return x

    assert np.isfinite(gradient(f, np.array(0.5)))


def test_masks_along_a_long_chain_need_no_recursion():
    def f(x):
        for _ in range(2_000):
            x = np.where(x > -1.0, np.sqrt(x * x + 1.0), 0.0)
        return np.sum(x[:1])

    assert np.all(np.isfinite(gradient(f, np.array([0.5, 0.25]))))


def test_nested_gradients_do_not_confuse_their_variables():
    outer = yota.grad(lambda x: yota.grad(lambda y: x * y, x)[1][0], 3.0)[1][0]
    assert outer == 1.0
    inner = yota.grad(lambda x: yota.grad(lambda y: y * (x - y), x)[1][0], 1.0)[1][0]
    assert inner == -1.0


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_derivatives_of_any_order(order):
    def nth(f, n):
        return f if n == 0 else nth(lambda x: yota.grad(f, x)[1][0], n - 1)

    expected = {0: np.sin, 1: np.cos, 2: lambda x: -np.sin(x), 3: lambda x: -np.cos(x)}[order % 4]
    assert nth(np.sin, order)(0.7) == pytest.approx(expected(0.7))


def test_a_nested_gradient_of_a_python_float_is_weak():
    x = np.ones(2, np.float32)
    _, g = yota.grad(lambda x, s: np.sum(x * yota.grad(lambda t: np.exp(t), s)[1][0]), x, 1.0)
    assert g[0].dtype == np.float32
