"""Generated code in every form gives the bits of play."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits, by_number
from tests.yota.sources import FORMS, check_maps
from tests.yota.tapes import Hand
from tests.yota.test_passes import CASES
from tests.zoo import SMOOTH
from yota import buffers, codegen, program
from yota.codegen import layout
from yota.passes import PIPELINE, optimised
from yota.rules.functional import getitem, identity, setitem

PASSES = ((), ("cse", "dce"), PIPELINE)


@pytest.mark.parametrize(("name", "f", "args"), CASES)
def test_generated_code_gives_the_bits_of_play(name, f, args):
    tape = yota.gradtape(f, *args)
    want, values = bits(tape.play(*args)), by_number(tape.values)
    for passes in PASSES:
        lean, bound = (tape.compile(passes, form, exact=True) for form in FORMS)
        for _ in range(2):
            assert bits(lean(*args)) == want
            assert bits(bound(*args)) == want
        found = by_number(tape.values)
        assert found == {n: values[n] for n in found}
    value, *gradients = program.standalone(tape)(*args)
    assert bits((value, tuple(gradients))) == want


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_pieces_give_the_bits_of_the_whole(name, f, args, monkeypatch):
    monkeypatch.setattr(layout, "PIECE", 3)
    tape = yota.gradtape(f, *args)
    want, values = bits(tape.play(*args)), by_number(tape.values)
    for form, passes in (("lean", PIPELINE), ("bound", PIPELINE[:-1])):
        source = codegen.generate(optimised(tape, passes, exact=True), form, target=tape)
        assert bits(source.compile()(*args)) == want
        check_maps(source, optimised(tape, passes, exact=True))
    found = by_number(tape.values)
    assert found == {n: values[n] for n in found}


@pytest.mark.parametrize("shape", [(3, 5), (64, 33), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_buffers_keep_the_bits_of_reductions_and_products(shape, dtype, order):
    x = np.asarray(np.random.default_rng(0).standard_normal(shape), dtype, order)
    hand = Hand(x=x)
    y = hand.call(np.multiply, hand["x"], 1.5)
    found = []
    for axis in (0, -1, (0, 1)):
        for fn in (np.sum, np.mean, np.prod):
            found.append(hand.call(np.negative, hand.call(fn, y, axis=axis, keepdims=True)))
    found.append(hand.call(np.negative, hand.call(np.cumsum, y, axis=1)))
    found.append(hand.call(np.negative, hand.call(np.matmul, y, hand.call(np.swapaxes, y, -1, -2))))
    if len(shape) == 2:
        found.append(hand.call(np.negative, hand.call(np.dot, hand.call(np.transpose, y), y)))
    tape = hand.done(*found)
    assert len(buffers.plan(tape).slot) > 8
    for form in FORMS:
        run = tape.compile((), form, exact=True)
        assert bits(run(x)) == bits(tape.play(x))


def test_an_operand_that_is_a_view_of_the_reused_buffer_is_safe():
    hand = Hand(x=np.arange(9.0).reshape(3, 3))
    y = hand.call(np.sin, hand["x"])
    z = hand.call(np.add, y, hand.call(np.transpose, y))
    tape = hand.done(hand.call(np.sum, z, axis=0))
    assert bits(tape.compile(exact=True)(np.arange(9.0).reshape(3, 3))) == bits(
        tape.play(np.arange(9.0).reshape(3, 3))
    )


STEPS = [
    lambda hand, a, b: hand.call(np.add, a, b),
    lambda hand, a, b: hand.call(np.multiply, a, b),
    lambda hand, a, b: hand.call(np.subtract, b, 0.5),
    lambda hand, a, b: hand.call(np.tanh, a),
    lambda hand, a, b: hand.call(np.negative, b),
    lambda hand, a, b: hand.call(np.multiply, a, 1.0),
    lambda hand, a, b: hand.call(np.transpose, a),
    lambda hand, a, b: hand.call(np.swapaxes, b, 0, 1),
    lambda hand, a, b: hand.call(np.matmul, a, b),
    lambda hand, a, b: hand.call(getitem, a, (slice(None, None, -1), slice(None))),
    lambda hand, a, b: hand.call(np.add, a, hand.call(np.sum, b, axis=0, keepdims=True)),
    lambda hand, a, b: hand.call(np.maximum, a, hand.call(np.transpose, a)),
    lambda hand, a, b: hand.call(np.reshape, hand.call(np.ravel, b), (4, 4)),
    lambda hand, a, b: hand.call(np.broadcast_to, hand.call(getitem, a, 1), (4, 4)),
    lambda hand, a, b: hand.call(setitem, a, 2, hand.call(getitem, b, 0)),
    lambda hand, a, b: hand.call(np.copy, a),
    lambda hand, a, b: hand.call(identity, b),
    lambda hand, a, b: hand.call(either, a, b),
]


@yota.primitive
def either(a, b):
    return a if a[0, 0] > b[0, 0] else b.T


def squares(hand):
    return [v for v, op in hand.tape if op.spec.shape == (4, 4)]


@given(st.data())
@settings(max_examples=150)
def test_any_program_of_elementwise_ops_views_and_products_keeps_its_bits(data):
    x = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal((4, 4))
    hand = Hand(x=x, y=np.asfortranarray(x * 0.5))
    for _ in range(data.draw(st.integers(1, 25))):
        vars_ = squares(hand)
        near = st.integers(1, min(len(vars_), 6)).map(lambda k, vars_=vars_: vars_[-k])
        data.draw(st.sampled_from(STEPS))(hand, data.draw(near), data.draw(near))
    results = data.draw(st.lists(st.sampled_from(squares(hand)), min_size=1, max_size=3))
    tape = hand.done(results[0], *results)
    args = (x, x.T * 0.5)
    want = bits(tape.play(*args))
    values = by_number(tape.values)
    runs = [tape.compile(p, form, exact=True) for p in ((), PIPELINE) for form in FORMS]
    for run in (*runs, program.standalone(tape)):
        for array in run(x * 3.0, x.copy()):
            array[...] = 99.0
        assert bits(run(*args)) == want
    found = by_number(tape.values)
    assert found == {n: values[n] for n in found}


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_an_array_read_by_columns_is_read_anew_at_each_call(order):
    def f(a):
        v = np.ravel(a * a, order)
        return v[0] + 3.0 * v[1]

    for shift in (0.0, 1.0, 2.0):
        a = np.array([[1.0, 2.0], [3.0, 4.0]]) + shift
        assert yota.grad(f, a)[0] == f(a)
        assert yota.gradtape(f, a).compile(form="lean")(a)[0] == f(a)
