"""Which rules the gradient of a program takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import yota
from tests.fuzz.failure import telling
from tests.fuzz.program import Program
from yota.rules.registry import VJP, zero
from yota.tape import Call, Tape, Var, vars_in


def rules_run(program: Program) -> set[tuple[Callable[..., Any], int | str]]:
    """Return the rules that the gradient of a program takes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with telling("grad"):
            return reached(yota.gradtape(program.function(), *program.args()))


def items_of(tape: Tape, var: Var) -> list[Var]:
    """Return the items of a tuple, which stand right behind it."""
    return [Var(var.id + 1 + k) for k in range(len(tape[var].spec.items))]


def reached(tape: Tape) -> set[tuple[Callable[..., Any], int | str]]:
    """Return the rules that the reverse pass ran: function and position."""
    found = set()
    ran = {op.origin.of for _, op in tape if op.origin.of is not None}
    for var, op in tape:
        if tape.is_reverse(var):
            break
        if not isinstance(op, Call) or op.fn not in VJP:
            continue
        if not {var, *items_of(tape, var)} & (tape.cotangents.keys() | ran):
            continue
        for position, arg in (*enumerate(op.args), *op.kwargs):
            rule = VJP[op.fn].rule(position)
            if rule not in (None, zero) and any(v in tape.cotangents for v in vars_in(arg)):
                found.add((op.fn, position))
    return found
