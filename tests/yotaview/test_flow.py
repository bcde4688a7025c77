"""Which inputs have no path to the result, and where it is cut."""

from __future__ import annotations

import math

import numpy as np
import pytest

import yota
from tests.zoo import SMOOTH
from yota.tape import Input
from yotaview.model.flow import Paths, no_path

X = np.array([0.5, -1.5, 2.0])


def both_ways(x):
    return 2.0 if x.sum() > 0 else 1.0


# pytorch/pytorch#6535, #73697: a gradient of None or zero, and nothing that says why
CUT = {
    "unused": (lambda w, x: np.sum(w), "unused", "no op reads it"),
    "unread": (lambda w, x: np.sum(w + 0 * len([np.exp(x)])), "unread", "exp(%2): nothing reads"),
    "cast": (lambda w, x: np.sum(w * x.astype(int)), "integer", "a cast to int64"),
    "comparison": (lambda w, x: np.sum(np.where(x > 0, w, 0.0)), "comparison", "greater(%2, 0)"),
    "floor": (lambda w, x: np.sum(w * np.floor(x)), "zero", "floor is constant"),
    "round": (lambda w, x: np.sum(w * np.round(x)), "zero", "round is constant"),
    "sign": (lambda w, x: np.sum(w * np.sign(x)), "zero", "the derivative of sign is zero"),
    "copysign": (lambda w, x: np.sum(np.copysign(w, x)), "zero", "with respect to %2 is zero"),
    "like": (lambda w, x: np.sum(w * np.ones_like(x)), "zero", "looks at the shape alone"),
    "stopped": (lambda w, x: np.sum(w * yota.stop_gradient(x)), "stopped", "stop_gradient"),
    "order": (lambda w, x: np.sum(w[np.argsort(x)]), "integer", "whole numbers"),
    "branch": (lambda w, x: np.sum(w) * both_ways(x), "comparison", "greater"),
    "int": (lambda w, x: np.sum(w[: int(x[2])]), "read", "is read by `int()`"),
}


@pytest.mark.parametrize("name", CUT)
def test_input_without_a_path_is_named_with_the_op_that_cuts_it(name):
    f, kind, why = CUT[name]
    tape = yota.gradtape(f, X, X)
    w, x = tape.inputs
    assert no_path(tape, w) == ()
    first = no_path(tape, x)[0]
    assert (first.kind, why in first.text) == (kind, True), first
    assert "test_flow.py:" in first.place
    assert list(Paths(tape).lost()) == [x]


def test_a_cut_on_the_way_to_the_result_stands_before_a_dead_end():
    def f(x):
        np.exp(x)
        return np.sum(np.floor(x))

    kinds = [c.kind for c in no_path(yota.gradtape(f, X), next(iter(yota.gradtape(f, X).inputs)))]
    assert kinds == ["zero", "unread"]


def test_the_users_function_without_a_derivative_stops_the_path():
    @yota.nondiff
    def table(x):
        return x * 2.0

    tape = yota.gradtape(lambda x: np.sum(table(x)), X)
    (cut,) = no_path(tape, tape.inputs[0])
    assert cut.kind == "stopped"
    assert "table was registered without a derivative" in cut.why


@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c[0])
def test_no_path_agrees_with_the_reverse_pass(case):
    _, f, args = case
    tape = yota.gradtape(f, *args)
    lost = {v for v in tape.inputs if _is_lost(tape, v)}
    assert {v for v in Paths(tape).lost() if v in tape.cotangents} == lost


def _is_lost(tape, var):
    made = tape.cotangents.get(var)
    return made in tape and tape[made].origin.note == "no path to the output"


def test_a_tape_without_a_reverse_pass_tells_the_same():
    value, tape = yota.trace(lambda a, b: np.sum(a * np.floor(b)), X, X)
    assert math.isfinite(value)
    names = [tape[v].name for v in Paths(tape).lost() if isinstance(tape[v], Input)]
    assert names == ["b"]
