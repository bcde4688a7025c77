"""Each named form within the bound that its row states, alone and with the others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits
from tests.programs import programs
from tests.yota.forms import CASES, EPS, SPECIAL, V, assert_close, forms_of, forward, ways
from tests.yota.tapes import Hand
from tests.zoo import SMOOTH
from yota import floats
from yota.kernels import CHUNK
from yota.passes import PIPELINE, optimise
from yota.passes.forms import FORMS
from yota.program import entry_of
from yota.tape import Call

rng = np.random.default_rng(5)


def test_every_form_has_a_row_and_a_case():
    names = [f.name for f in FORMS]
    assert len(set(names)) == len(names)
    assert set(CASES) == set(names)
    for form in FORMS:
        assert form.replaces
        assert form.why
        assert (form.bound == "0") == form.exact


@pytest.mark.parametrize("name", CASES)
def test_form_is_taken_and_keeps_within_its_bound(name):
    f, args, _, terms = CASES[name]
    tape = yota.gradtape(f, *args)
    if name != "ones":
        assert name in forms_of(tape)
    size = (1.0 + abs(f(*args)), *(1.0 + np.abs(g) for g in yota.grad(f, *args)[1]))
    assert_close(tape, *args, scale=size, terms=terms)


@pytest.mark.parametrize("name", CASES)
def test_exact_takes_exact_forms_alone_and_keeps_every_bit(name):
    f, args, _, _ = CASES[name]
    tape = yota.gradtape(f, *args)
    inexact = {form.name for form in FORMS if not form.exact}
    assert not forms_of(tape, exact=True) & inexact
    assert bits(entry_of(tape, exact=True)(*args)) == bits(tape.play(*args))
    assert bits(tape.compile(exact=True)(*args)) == bits(tape.play(*args))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, 2), 2, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_add_up_to_n_roundings(dtype, axis, keepdims):
    x = (rng.standard_normal((5, 6, 7)) * 10.0 ** rng.integers(-6, 6, (5, 6, 7))).astype(dtype)
    f = lambda x: np.sum(x * dtype(1.5), axis=axis, keepdims=keepdims) * dtype(1.0)
    size = np.sum(np.abs(x) * 1.5, axis=axis, keepdims=keepdims)
    assert_close(forward(f, x), x, scale=size, terms=210)


@pytest.mark.parametrize("n", [1, 2, 1000, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
def test_long_sums_go_in_chunks(n):
    x, y = rng.standard_normal(n), rng.standard_normal(n)
    tape = forward(lambda x, y: np.sum((x + 0.0) * (y + 0.0)), x, y)
    want, got = ways(tape, x, y)
    true = math.fsum(x * y)
    assert abs(got[0] - true) <= min(n, CHUNK) * EPS * np.sum(np.abs(x * y))
    assert abs(want[0] - got[0]) <= min(n, CHUNK) * EPS * np.sum(np.abs(x * y))
    m = np.repeat(x[:, None], 3, axis=1)
    tape = forward(lambda m: np.sum(m * 2.0, axis=0) * 1.0, m)
    assert_close(tape, m, scale=np.sum(np.abs(m) * 2.0, axis=0), terms=min(n, CHUNK))


@pytest.mark.parametrize("n", [-8, -3, -2, -1, 2, 3, 4, 5, 6, 7, 8, 2.0, -3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_keep_within_n_ulp(n, dtype):
    x = rng.uniform(0.1, 4.0, 500).astype(dtype) * np.where(rng.random(500) < 0.5, -1, 1)
    x = x.astype(dtype)
    tape = forward(lambda x: np.power(x, n) + dtype(0.0), x)
    assert "powers" in forms_of(tape)
    (got,) = ways(tape, x)[1]
    true = np.power(x.astype(np.longdouble), int(n))
    assert np.all(
        np.abs(got - true) <= (n if n > 0 else -2 * n) * np.spacing(np.abs(true).astype(dtype))
    )


@pytest.mark.parametrize("factors", [(3.1, 0.7), (-0.3, 7.7), (1e-3, 1e3), (-1.0, 0.1)])
def test_scales_keep_within_three_ulp(factors):
    x = rng.standard_normal(1000)
    tape = forward(lambda x: -((x * factors[0]) / 1.7) * factors[1], x)
    want, got = ways(tape, x)
    assert "scales" in forms_of(tape)
    assert np.all(np.abs(want[0] - got[0]) <= 3 * np.spacing(np.abs(want[0])))


@pytest.mark.parametrize("fn", [np.max, np.min])
@pytest.mark.parametrize("shape", [(400, 2), (5000, 10), (3, 300, 4), (300, 1, 3)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_columns_give_numpys_numbers(fn, shape, keepdims):
    x = rng.choice([*SPECIAL, *rng.standard_normal(50)], shape)
    tape = forward(lambda x: fn(x * 1.5, axis=-1, keepdims=keepdims) + 1.0, x)
    assert "columns" in forms_of(tape)
    want, got = ways(tape, x)
    assert np.array_equal(want[0], got[0], equal_nan=True)


def test_scales_do_not_join_to_what_a_number_cannot_hold():
    x = np.array([1e-300, 1.0, 1e300])
    tape = forward(lambda x: (x * 1e200) * 1e200 + (x * 1e-200) * 1e-200, x)
    assert "scales" not in forms_of(tape)


def test_signs_change_no_bit_but_those_of_zero_and_nan():
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    for f in (
        lambda x, y: np.sum(y + -np.abs(x) * y, axis=0) + np.sum(-(x * x), axis=1),
        lambda x, y: (y + -x) + (-x + y) - (-x),
        lambda x, y: (y - -x / y) * (-np.abs(y) * -np.abs(x)),
    ):
        tape = forward(f, x, y)
        assert "signs" in forms_of(tape)
        want, got = ways(tape, x, y)
        assert np.allclose(want[0], got[0], rtol=1e-14, atol=0, equal_nan=True)


def test_a_sign_moves_on_until_a_sum_takes_it_up():
    def f(x, y):
        return np.sum(y - np.cos(x) * np.exp(y))

    x, y = V, V[::-1].copy()
    tape = yota.gradtape(f, x, y)
    last = optimise(tape, PIPELINE)[-1].tape
    assert "signs" in forms_of(tape)
    assert np.negative not in {op.fn for _, op in last if isinstance(op, Call)}
    scale = np.sum(np.abs(y) + np.exp(y)), (np.exp(y), 1.0 + np.exp(y))
    assert_close(tape, x, y, scale=scale, terms=100)


@pytest.mark.parametrize("exact", [True, False])
def test_what_repeats_one_number_is_computed_when_the_code_is_made(exact):
    def f(x):
        return np.sum(0.25 * (x * x) - np.exp(x))

    tape = yota.gradtape(f, V)
    last = optimise(tape, PIPELINE, exact)[-1].tape
    calls = [op for _, op in last if isinstance(op, Call)]
    assert "numbers" in forms_of(tape, exact)
    assert np.broadcast_to not in {op.fn for op in calls}
    assert len(calls) == (9 if exact else 8)
    want, got = tape.play(V)[1][0], entry_of(tape, exact)(V)[1][0]
    assert bits(want) == bits(got) or (not exact and np.allclose(want, got, rtol=1e-15))


def test_what_would_warn_is_left_to_each_call():
    with np.errstate(all="ignore"):
        tape = yota.gradtape(lambda x: np.sum(1e200 * (1e200 * x)), np.zeros(9000))
    run = entry_of(tape)
    for _ in range(2):
        with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow"):
            assert np.all(np.isinf(run(np.zeros(9000))[1][0]))


@pytest.mark.parametrize("fn", floats.PYTHON, ids=lambda f: f.__name__)
def test_floats_differ_by_four_ulp_at_most(fn):
    args = (0.5, 0.25)[: fn.nin]
    tape = forward(lambda *a: fn(*a), *args)
    assert "floats" in forms_of(tape)
    run, exact = entry_of(tape), entry_of(tape, exact=True)
    for _ in range(500):
        args = tuple(float(10.0 ** rng.uniform(-3, 2) * s) for s in rng.choice([-1, 1], fn.nin))
        want, got = exact(*args), run(*args)
        assert type(got) is type(want) is np.float64
        if math.isfinite(want):
            assert abs(got - want) <= 4 * np.spacing(abs(want)), args
        else:
            assert bits(got) == bits(want)


@given(programs)
@settings(max_examples=100)
def test_random_programs_agree_closely(program):
    tape = yota.gradtape(program, *program.args)
    want, got = ways(tape, *program.args)
    for a, b in zip(want, got, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        eps = np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0.0
        assert np.allclose(a, b, rtol=1e5 * eps, atol=1e4 * eps, equal_nan=True)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_all_functions_agree_closely(name, f, args):
    tape = yota.gradtape(f, *args)
    want, got = ways(tape, *args)
    for a, b in zip(want, got, strict=True):
        eps = np.finfo(a.dtype).eps
        assert np.allclose(a, b, rtol=1e4 * eps, atol=1e4 * eps)


STEPS = [
    lambda hand, a, b: hand.call(np.add, a, b),
    lambda hand, a, b: hand.call(np.multiply, a, b),
    lambda hand, a, b: hand.call(np.multiply, a, 0.5),
    lambda hand, a, b: hand.call(np.divide, a, -1.25),
    lambda hand, a, b: hand.call(np.negative, b),
    lambda hand, a, b: hand.call(np.power, a, 3),
    lambda hand, a, b: hand.call(np.tanh, a),
    lambda hand, a, b: hand.call(np.transpose, a),
    lambda hand, a, b: hand.call(np.matmul, a, b),
    lambda hand, a, b: hand.call(np.subtract, a, hand.call(np.negative, b)),
    lambda hand, a, b: hand.call(np.add, a, hand.call(np.sum, b, axis=0, keepdims=True)),
    lambda hand, a, b: hand.call(np.multiply, a, hand.call(np.mean, b, axis=1, keepdims=True)),
    lambda hand, a, b: hand.call(np.add, a, hand.call(np.sum, hand.call(np.multiply, a, b))),
    lambda hand, a, b: hand.call(
        np.multiply, a, hand.call(np.broadcast_to, hand.call(np.sum, b, axis=1), (4, 4))
    ),
    lambda hand, a, b: hand.call(
        np.reshape, hand.call(np.concatenate, [hand.call(np.tanh, a), hand.call(np.sin, b)]),
        (2, 16),
    ),
    lambda hand, a, b: hand.call(np.multiply, a, np.float64(1.0)),
]  # fmt: skip


@given(st.data())
@settings(max_examples=150)
def test_any_chain_of_forms_agrees_closely(data):
    x = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal((4, 4))
    hand = Hand(x=x, y=np.asfortranarray(x * 0.5))
    for _ in range(data.draw(st.integers(1, 20))):
        square = [v for v, op in hand.tape if op.spec.shape == (4, 4)]
        near = st.integers(1, min(len(square), 5)).map(lambda k, s=square: s[-k])
        data.draw(st.sampled_from(STEPS))(hand, data.draw(near), data.draw(near))
    arrays = [v for v, op in hand.tape if op.spec.kind == "array"]
    results = data.draw(st.lists(st.sampled_from(arrays), min_size=1, max_size=3))
    tape = hand.done(results[0], *results)
    args = (x, np.asfortranarray(x * 0.5))
    want, got = ways(tape, *args)
    assert bits(entry_of(tape, exact=True)(*args)) == bits(tape.play(*args))
    for a, b in zip(want, got, strict=True):
        fine = np.isfinite(a) & (np.abs(a) < 1e100)
        assert np.allclose(
            a[fine], b[fine], rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(a[fine]), initial=0))
        )
