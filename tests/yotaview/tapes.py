"""Real tapes with the values of their stages, for the checks of passes, plans and code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import yota
from tests import zoo
from tests.yota.forms import CASES
from yota.program import Program
from yota.replay import conform
from yota.tape import Tape, Var
from yotaview.model.stages import replay_stage

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{name: (f, args) for name, f, args in zoo.SMOOTH},
    **{f"form {name}": (f, args) for name, (f, args, *_) in CASES.items()},
}


class Made(NamedTuple):
    program: Program
    code: Tape
    inputs: list[Any]
    values: dict[Var, Any]


@cache
def made(name: str, exact: bool = False, form: str = "lean") -> Made:
    f, args = FUNCTIONS[name]
    tape = yota.gradtape(f, *args, seed="ones")
    program = Program(tape, exact=exact)
    code = program.tape_of(form)
    leaves = tape.entry.leaves(args, {})
    if len(leaves) < len(code.inputs):
        leaves.append(np.ones(code[code.inputs[-1]].spec.shape))
    inputs = [conform(x, code[v]) for x, v in zip(leaves, code.inputs, strict=True)]
    values, problems = replay_stage(code, inputs)
    assert not problems
    return Made(program, code, inputs, values)
