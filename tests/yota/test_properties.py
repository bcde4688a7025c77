"""What must hold for every program: gradients, passes and generated code."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

import yota
from tests.programs import RandomProgram, programs
from yota.passes import PIPELINE, optimise


def same_bits(a, b):
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b))


def assert_same_results(got, want):
    assert same_bits(got[0], want[0])
    for a, b in zip(got[1], want[1], strict=True):
        assert type(a) is type(b)
        assert same_bits(a, b)


@given(programs)
@settings(max_examples=60)
def test_gradients_agree_with_finite_differences(program: RandomProgram):
    yota.check_grads(program, *program.args, rtol=1e-4, atol=1e-6)


@given(programs)
@settings(max_examples=20)
def test_second_derivatives_agree_with_finite_differences(program: RandomProgram):
    yota.check_grads(program, *program.args, order=2, rtol=1e-3, atol=1e-5)


@given(programs)
@settings(max_examples=40)
def test_value_replay_passes_and_code_agree_to_the_last_bit(program: RandomProgram):
    args = program.args
    value, g = yota.grad(program, *args)
    assert same_bits(value, program(*args))
    tape = yota.gradtape(program, *args)
    want = tape.play(*args)
    assert_same_results((value, tuple(g)), want)
    for stage in optimise(tape, PIPELINE):
        stage.tape.verify()
        assert_same_results(stage.tape.play(*args), want)
    for form in ("lean", "bound"):
        run = tape.compile(form=form)
        assert_same_results(run(*args), want)
        assert_same_results(run(*args), want)
    plain = yota.simplegrad(program, *args)(*args)
    assert_same_results((plain[0], plain[1:]), want)


@given(programs)
@settings(max_examples=30)
def test_every_number_ever_given_has_a_fate(program: RandomProgram):
    tape = yota.gradtape(program, *program.args)
    last = optimise(tape, PIPELINE)[-1].tape
    for var, _ in tape:
        fate = last.where(var)
        if fate.kind in ("itself", "changed"):
            assert var in last
        elif fate.kind == "merged":
            assert fate.into in last
            assert same_bits(tape.value(var), tape.value(fate.into))
        else:
            assert fate.kind == "dropped"
        assert fate.kind == "itself" or fate.why


@given(programs)
@settings(max_examples=30)
def test_passes_are_idempotent(program: RandomProgram):
    tape = yota.gradtape(program, *program.args)
    for name in PIPELINE:
        once = optimise(tape, (name,))[-1].tape
        twice = optimise(once, (name,))[-1]
        assert str(twice.tape) == str(once)
        assert not twice.rewrites
