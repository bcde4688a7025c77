"""Generated source as text: how it reads, which op a line stands for, how it is compiled."""

from __future__ import annotations

import gc
import linecache
import operator
import os
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import yota
from tests.bits import bits
from tests.yota.sources import FORMS, check_maps
from tests.yota.tapes import Hand, long_tape
from tests.zoo import SMOOTH
from yota import codegen, program
from yota.passes import PIPELINE, optimised

X = np.array([[0.5, 1.0, -2.0], [3.0, -1.5, 0.25]])


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
    def np_(np, v2, B0, c3, unpack, tape, leaves, abs, state):  # noqa: N803 - B0 is a buffer's name
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
