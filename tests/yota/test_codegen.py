from __future__ import annotations

import gc
import linecache
import operator
import os
import subprocess
import sys
import textwrap
import threading
import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits, by_number
from tests.yota.tapes import Hand, long_tape
from tests.yota.test_passes import CASES
from tests.zoo import SMOOTH, Layer, Model, Pair
from yota import buffers, codegen, program
from yota.codegen import layout
from yota.passes import PIPELINE, optimised
from yota.rules.functional import getitem, identity, setitem

X = np.array([[0.5, 1.0, -2.0], [3.0, -1.5, 0.25]])
FORMS = ("lean", "bound")
PASSES = ((), ("cse", "dce"), PIPELINE)


def foo(x):
    return np.exp(x)


def code(f, *args, form="lean", passes=PIPELINE):
    tape = yota.gradtape(f, *args)
    return codegen.generate(optimised(tape, passes), form, target=tape)


# The introductory example


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("passes", [("cse", "dce"), PIPELINE])
def test_source_of_the_introductory_example(form, passes, golden):
    text = yota.generate_source(yota.gradtape(foo, 0.5), passes, form)
    golden(
        f"source_{form}_{'_'.join(passes)}.txt",
        text.replace(f":{foo.__code__.co_firstlineno + 1}", ":2"),
    )


def test_standalone_source_of_the_introductory_example(golden):
    text = yota.simplegrad(foo, 0.5).__source__
    golden("source_standalone.txt", text.replace(f":{foo.__code__.co_firstlineno + 1}", ":2"))


def test_bound_form_fills_merged_values_and_leaves_dropped_ones_out():
    tape = yota.gradtape(foo, 0.5)
    run = tape.compile(form="bound")
    assert run(1.0) == (np.exp(1.0), (np.exp(1.0),))
    assert {v.id: x for v, x in tape.values.items()} == {1: 1.0, 2: np.e, 4: np.e, 5: np.e}
    assert tape.value(4) == np.e


# All functions, all forms


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


# Text


def test_calls_read_as_a_person_writes_them():
    def f(x, s):
        y = x[1:, 0] + x[None, 0, :2]
        z = -((s * 2.0) ** 2) + abs(s)
        return np.sum(np.linalg.norm(y) * np.add.reduce(x[..., ::-1])) * z

    text = yota.generate_source(yota.trace(f, X, 0.5)[1], form="bound")
    for part in (
        "x[1:, 0]",
        "x[None, 0, :2]",
        "s * 2.0",
        "** 2",
        "abs(s)",
        "np.linalg.norm(",
        "x[..., ::-1]",
        "np.sum(",
    ):
        assert part in text


def test_sections_stand_on_lines_of_their_own_and_ranges_match():
    for form in FORMS:
        source = code(lambda x: np.sum(np.tanh(x) * x), X, form=form)
        lines = source.text.splitlines()
        marks = [
            lines[r.start - 1].strip() for r in (source.prologue, source.body, source.epilogue)
        ]
        assert marks == ["# prologue", "# body", "# epilogue"]
        assert source.prologue.stop == source.body.start
        assert source.body.stop == source.epilogue.start
        assert source.epilogue.stop == len(lines) + 1


def check_maps(source, tape):
    lines = source.text.splitlines()
    for var, line in source.line_of.items():
        survivor = tape.survivor(var)
        in_loop = " … " in lines[line - 1] and survivor in source.ops_of[line]
        assert f"# {survivor}" in lines[line - 1] or in_loop, (var, lines[line - 1])
        assert var in source.ops_of[line]
    assert set(tape.ops) <= set(source.line_of)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH[:8])
def test_line_of_and_ops_of_name_the_line_of_every_op(name, f, args):
    tape = optimised(yota.gradtape(f, *args))
    for form in FORMS:
        source = codegen.generate(tape, form)
        check_maps(source, tape)
        merged = {v for v in tape.fates if v not in tape and tape.survivor(v)}
        assert merged <= set(source.line_of)


def test_lean_frees_big_arrays_early_and_bound_keeps_them():
    def f(x):
        y = np.where(x > 0, x, 0.0)
        z = np.where(y > 1, y, x)
        return np.sum(z.T * z.T)

    x = np.random.default_rng(0).standard_normal((400, 400))
    tape = yota.gradtape(f, x)
    lean = yota.generate_source(tape, form="lean")
    assert "    del v3\n" in lean
    assert lean.index("np.where(v4, v3") < lean.index("del v3")
    assert "del " not in yota.generate_source(tape)
    assert bits(tape.compile(exact=True)(x)) == bits(tape.play(x))


def test_names_do_not_collide_with_the_users():
    def np_(np, v2, B0, c3, unpack, tape, leaves, abs, state):  # noqa: N803  # meant
        import numpy

        y = numpy.tanh(np * v2) * numpy.array([1.0, 2.0]) + B0 * c3
        return numpy.sum(y) * (unpack + tape * abs_(leaves)) * abs * state

    def abs_(x):
        return x if x > 0 else -x

    args = (X[0, :2], X[1, :2], 1.5, 2.5, 0.5, 0.25, -2.0, 3.0, 4.0)
    for name in ("np", "unpack", "tape", "lambda", "<lambda>", "constants"):
        np_.__name__ = name
        tape = yota.gradtape(np_, *args)
        want = bits(tape.play(*args))
        for form in FORMS:
            assert bits(tape.compile(form=form, exact=True)(*args)) == want
        value, *gradients = program.standalone(tape)(*args)
        assert bits((value, tuple(gradients))) == want


def test_parameters_keep_their_names_and_leaves_get_readable_ones():
    text = code(lambda model, x: np.sum(x @ model[0]["w"] * model[1]["w"] + model[0]["b"]),
                [{"w": np.ones((3, 2)), "b": 1.0}, {"w": np.ones(2)}], X).text  # fmt: skip
    assert "(model, x):" in text
    assert "b = leaves[" in text
    assert "model_0_w = leaves[" in text
    assert "model_1_w = leaves[" in text


def test_literals_that_text_would_change_are_kept():
    quiet = np.uint64(0x7FF8000000000123).view(np.float64)
    hand = Hand(x=X, s=0.5)
    literals = [
        np.inf,
        -np.inf,
        np.nan,
        float(quiet),
        -0.0,
        1e-310,
        0.1 + 0.2,
        2**70,
        True,
        np.float32(0.1),
        1j * -0.0,
    ]
    found = [
        hand.call(np.multiply, hand["x"], v) for v in literals if not isinstance(v, bool | int)
    ]
    found += [hand.call(operator.mul, hand["s"], v) for v in literals]
    found.append(
        hand.call(
            operator.sub, -2.0, hand.call(operator.pow, hand.call(operator.neg, hand["s"]), -2)
        )
    )
    tape = hand.done(*found)
    for form in FORMS:
        assert bits(tape.compile((), form, exact=True)(X, 0.5)) == bits(tape.play(X, 0.5))
    value = program.standalone(tape, ())(X, 0.5)
    assert bits(value) == bits(tape.play(X, 0.5))


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
    found: list = [None] * 4
    barrier = threading.Barrier(4)

    def work(k):
        barrier.wait()
        found[k] = [bits(run(inputs[k])) for _ in range(15)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
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


# Compilation


def test_tracebacks_show_the_generated_line():
    @yota.primitive
    def fragile(x):
        raise RuntimeError("broken")

    hand = Hand(x=X)
    var = hand.tape.push(yota.tape.Call(spec=hand.tape[1].spec, fn=fragile, args=(hand["x"],)))
    run = hand.done(var).compile()
    with pytest.raises(RuntimeError) as caught:
        run(X)
    assert "v2 = fragile(x)" in "".join(traceback.format_exception(caught.value))


def test_sources_do_not_pile_up_in_linecache():
    gc.collect()
    before = len(linecache.cache)
    run = yota.gradtape(foo, 0.5).compile()
    assert len(linecache.cache) == before + 1
    del run
    assert len(linecache.cache) == before


@pytest.mark.parametrize("form", FORMS)
def test_long_tapes_compile_in_pieces(form):
    tape = long_tape(20_000)
    x = np.array([0.5, 0.25, 2.0])
    run = tape.compile((), form, exact=True)
    want = tape.play(x)
    tape.values = None
    assert bits(run(x)) == bits(want)
    if form == "bound":
        assert len(tape.values) == len(tape)


def test_standalone_text_runs_without_this_library(tmp_path):
    def f(params, x):
        y = np.tanh(x @ params["w"])[:, IDX]
        return np.sum(np.where(y > 0, y, 2 * y)) + np.linalg.det(params["w"][:2, :2])

    args = ({"w": X.T.copy() + np.eye(3, 2)}, X)
    run = yota.simplegrad(f, *args)
    values = [v.tolist() for v in (args[0]["w"], X)]
    (tmp_path / "plain.py").write_text(run.__source__, encoding="utf-8")
    script = f"""
        import sys, plain, numpy as np
        w, x = (np.array(v) for v in {values!r})
        value, g, gx = plain.{run.__name__}({{"w": w}}, x)
        assert not [m for m in sys.modules if m.startswith("yota")]
        print(np.concatenate([[value], g["w"].ravel(), gx.ravel()]).tobytes().hex())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, text=True, check=False,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    value, (g, gx) = yota.gradtape(f, *args).play(*args)
    assert (
        done.stdout.strip() == np.concatenate([[value], g["w"].ravel(), gx.ravel()]).tobytes().hex()
    )


IDX = np.array([0, 1, 1])


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_an_array_read_by_columns_is_read_anew_at_each_call(order):
    def f(a):
        v = np.ravel(a * a, order)
        return v[0] + 3.0 * v[1]

    for shift in (0.0, 1.0, 2.0):
        a = np.array([[1.0, 2.0], [3.0, 4.0]]) + shift
        assert yota.grad(f, a)[0] == f(a)
        assert yota.gradtape(f, a).compile(form="lean")(a)[0] == f(a)
