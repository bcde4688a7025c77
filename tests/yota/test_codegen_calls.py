"""Generated code as a function: arguments, guards, what it returns, threads, nested calls."""

from __future__ import annotations

import numpy as np
import pytest

import yota
from tests.bits import bits, by_number
from tests.yota.slopes import at_once
from tests.yota.sources import FORMS
from tests.yota.tapes import Hand
from tests.zoo import Layer, Model, Pair
from yota import program

X = np.array([[0.5, 1.0, -2.0], [3.0, -1.5, 0.25]])


# Arguments and guards


def errors(run, *args, **kwargs):
    with pytest.raises(yota.GuardError) as caught:
        run(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    "args",
    [(X.astype("f4"), 1.0), (X[:1], 1.0), (X, 1), (X, np.float64(1.0)), ([X], 1.0), (X, None)],
)
def test_wrong_arguments_raise_as_play_does(args):
    tape = yota.gradtape(lambda x, s: np.sum(x) * s, X, 1.0)
    for form in FORMS:
        assert errors(tape.compile(form=form), *args) == errors(tape.play, *args)
    with pytest.raises(ValueError, match="recorded"):
        program.standalone(tape)(*args)


def test_another_branch_raises_as_play_does():
    def f(x, n):
        total = np.sum(x)
        if total > 0 and int(x[0] * 2) == 3:
            return total * len(n)
        return -total

    args = (np.array([1.5, 2.0]), "ab")
    tape = yota.gradtape(f, *args)
    assert tape.compile(exact=True)(*args)[0] == 7.0
    for other in ((np.array([-3.5, 2.0]), "ab"), (np.array([2.5, 2.0]), "ab"), (args[0], "abc")):
        for form in FORMS:
            assert errors(tape.compile(form=form), *other) == errors(tape.play, *other)
        with pytest.raises(ValueError, match=r"branch|fixed value"):
            program.standalone(tape)(*other)


def test_a_shape_that_depends_on_values_raises_as_play_does():
    tape = yota.gradtape(lambda x: np.sum(x[x > 0] ** 2), X)
    for form in FORMS:
        assert errors(tape.compile(form=form), np.abs(X)) == errors(tape.play, np.abs(X))
    with pytest.raises(ValueError, match="shape"):
        program.standalone(tape)(np.abs(X))
    assert bits(tape.compile(exact=True)(X * 2)) == bits(tape.play(X * 2))


def test_layout_of_arguments_is_restored():
    tape = yota.gradtape(lambda x: np.sum(x * x) * np.sum(x, axis=0)[0], X)
    other = np.asfortranarray(X)
    want = bits(tape.play(other))
    for run in (tape.compile(exact=True), tape.compile(form="bound")):
        assert bits(run(other)) == want
        assert bits(run(np.repeat(X, 2, axis=1)[:, ::2])) == want
    value, gradient = program.standalone(tape)(other)
    assert bits((value, (gradient,))) == want


def test_keywords_seeds_and_ints_as_floats():
    tape = yota.gradtape(lambda x, *, scale: np.sum(x * scale), X, scale=X + 1)
    assert bits(tape.compile(exact=True)(X, scale=X)) == bits(tape.play(X, scale=X))
    seeded = yota.gradtape(lambda x: x * 2.0, X, seed=X)
    assert bits(seeded.compile(exact=True)(X, seed=X + 1)) == bits(seeded.play(X, seed=X + 1))
    assert "seed" in errors(seeded.compile(), X)
    value, gradient = program.standalone(seeded)(X, seed=X + 1)
    assert bits((value, (gradient,))) == bits(seeded.play(X, seed=X + 1))
    whole = yota.gradtape(lambda x, n: x * x * np.sum(n), 3, np.array([1, 2]))
    args = (4, np.array([3, 4]))
    assert bits(whole.compile(exact=True)(*args)) == bits(whole.play(*args))
    value, *gradients = program.standalone(whole)(*args)
    assert bits((value, tuple(gradients))) == bits(whole.play(*args))


def test_structures_come_back_as_they_were():
    shared = np.array([1.0, 2.0])
    model = Model(Layer(np.ones((3, 2)), shared, "name"), 2.0)

    def f(params, model):
        y = model(X @ np.eye(3))
        return {
            "loss": np.sum(y) * params["p"].a + np.sum(params["l"][0] * params["twice"]),
            "aux": (y, [1, "text"]),
        }

    params = {"p": Pair(1.5, np.float32(2.0)), "l": [shared, "s", None], "twice": shared}
    _, tape = yota.trace(f, params, model)
    want = tape.play(params, model)
    for form in FORMS:
        found = tape.compile(form=form, exact=True)(params, model)
        assert bits(found) == bits(want)
        assert found["aux"][1] == [1, "text"]
    gradients = yota.gradtape(lambda p, m: f(p, m)["loss"], params, model)
    _, (gp, gm) = gradients.compile(exact=True)(params, model)
    assert type(gp["p"]) is Pair
    assert type(gm) is Model
    assert type(gm.first) is Layer
    assert gm.first.name is None
    assert gp["l"][0] is gp["twice"]
    assert gp["l"][1:] == [None, None]
    value, plain, plain_model = program.standalone(gradients)(params, model)
    assert bits((value, (plain, plain_model))) == bits(gradients.play(params, model))
    with pytest.raises(ValueError, match="same array"):
        program.standalone(gradients)({**params, "twice": shared.copy()}, model)


def test_cycles_in_arguments_are_rebuilt():
    class Node:
        def __init__(self, w):
            self.w, self.next = w, self

    def f(node):
        return np.sum(node.next.next.w**2)

    tape = yota.gradtape(f, Node(X))
    plain = program.standalone(tape)(Node(X))
    for value, g in (plain, (lambda v, gs: (v, gs[0]))(*tape.compile(exact=True)(Node(X)))):
        assert value == np.sum(X**2)
        assert g.next is g
        assert np.array_equal(g.w, 2 * X)


# Nothing is aliased


ALIASING = [
    lambda x: x,
    lambda x: x.T,
    lambda x: x[:, 0],
    lambda x: np.sin(x).reshape(-1),
    lambda x: (np.sin(x), np.sin(x), np.sin(x).T),
    lambda x: (x, x),
    lambda x: (np.tanh(x * 2.0) * 3.0, X),
    lambda x: np.broadcast_to(np.exp(x), (2, 2, 3)),
]


@pytest.mark.parametrize("f", ALIASING)
@pytest.mark.parametrize("how", [*FORMS, "standalone"])
def test_writing_into_results_harms_nothing(f, how):
    _, tape = yota.trace(f, X)
    run = program.standalone(tape) if how == "standalone" else tape.compile(form=how, exact=True)
    x = X.copy()
    first = run(x)
    want = bits(first)
    kept = [a.copy() for a in leaves(first)]
    second = run(x * 3.0)
    assert all(map(np.array_equal, leaves(first), kept))
    for array in (*leaves(first), *leaves(second)):
        array[...] = 77.0
    assert np.array_equal(x, X)
    assert bits(run(x)) == want


def leaves(tree):
    return [a for t in tree for a in leaves(t)] if isinstance(tree, tuple) else [tree]


def test_values_on_the_tape_are_not_overwritten_by_the_next_call():
    tape = yota.gradtape(lambda x: np.sum(np.tanh(x * 2.0) * x), X)
    run = tape.compile((), "bound")
    run(X)
    values = dict(tape.values)
    want = by_number(values)
    run(X * 3)
    assert by_number(values) == want
    assert by_number(tape.values) != want


def test_gradients_of_the_same_value_are_separate_arrays():
    run = yota.gradtape(lambda x, y: np.sum(x + y), X, X).compile()
    _, (gx, gy) = run(X, X)
    gx[...] = 5.0
    assert np.array_equal(gy, np.ones_like(X))


# Threads and nested calls


def test_threads_do_not_share_buffers():
    def f(x):
        y = np.sin(x)
        for _ in range(20):
            y = np.tanh(y * x) + y
        return np.sum(y * y)

    x = np.random.default_rng(0).standard_normal((50, 400))
    run = yota.gradtape(f, x).compile(exact=True)
    inputs = [x * k for k in range(1, 5)]
    wanted = [bits(run(a)) for a in inputs]
    found = at_once(inputs, lambda a: bits(run(a)), 15)
    assert found == [[w] * 15 for w in wanted]


def test_a_call_inside_a_call_has_its_own_buffers():
    depth: list = []

    @yota.primitive
    def inner(x):
        if len(depth) == 1:
            depth.append("inside")
            run(X * 5.0)
        return x + 0.0

    hand = Hand(x=X)
    y = hand.call(np.sin, hand["x"])
    z = hand.call(np.cos, y)
    end = hand.call(np.add, hand.call(inner, z), y)
    tape = hand.done(hand.call(np.sum, end))
    run = tape.compile(exact=True)
    want = bits(run(X))
    depth.append(None)
    assert bits(run(X)) == want
    assert len(depth) == 2


def test_a_raising_call_leaves_the_next_one_right():
    failing = []

    @yota.primitive
    def fragile(x):
        if failing:
            raise RuntimeError("broken")
        return x * 1.5

    hand = Hand(x=X)
    y = hand.call(fragile, hand.call(np.sin, hand["x"]))
    tape = hand.done(hand.call(np.sum, hand.call(np.cos, y)))
    run = tape.compile(exact=True)
    want = bits(run(X))
    failing.append(1)
    with pytest.raises(RuntimeError, match="broken"):
        run(X)
    failing.clear()
    assert bits(run(X)) == want
