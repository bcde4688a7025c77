"""What must hold for every program: gradients, passes and generated code."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import yota
from tests.fuzz.build import build
from tests.fuzz.compare import same_bits
from tests.fuzz.failure import Refused, telling
from tests.fuzz.program import Program
from tests.fuzz.verify import examine
from yota.passes import PIPELINE, optimise

programs = st.integers(0, 2**32 - 1).map(build)


def gradtape(program: Program):
    """Return the tape of a program; one that a rule refuses is left out."""
    try:
        with telling("gradtape"), np.errstate(all="ignore"):
            return yota.gradtape(program.function(), *program.args())
    except Refused:
        assume(False)


@given(programs)
@settings(max_examples=40)
def test_value_gradients_replay_passes_and_code_agree(program: Program):
    try:
        examine(program, second=program.seed % 2 == 0)
    except Refused:
        assume(False)


@given(programs)
@settings(max_examples=40)
def test_every_number_ever_given_has_a_fate(program: Program):
    tape = gradtape(program)
    last = optimise(tape, PIPELINE, exact=True)[-1].tape
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
@example(build(109))
@example(build(1512))
@settings(max_examples=40)
def test_passes_are_idempotent(program: Program):
    tape = gradtape(program)
    for name in PIPELINE:
        once = optimise(tape, (name,), exact=True)[-1].tape
        twice = optimise(once, (name,), exact=True)[-1]
        assert str(twice.tape) == str(once)
        assert not twice.rewrites
