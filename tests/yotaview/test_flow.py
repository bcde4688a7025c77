"""Which inputs have no path to the result, and where it is cut."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import yota
from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from tests.yotaview.scripts import opened
from tests.zoo import SMOOTH
from yota.tape import Input
from yotaview.app import YotaView
from yotaview.checks import findings_of as findings_of_all
from yotaview.checks.flow import check_flow
from yotaview.model.flow import Paths
from yotaview.model.single import session_of
from yotaview.render.json import json_lines
from yotaview.render.line import plain
from yotaview.render.text import tape_lines

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
    assert Paths(tape).cuts(w) == ()
    first = Paths(tape).cuts(x)[0]
    assert (first.kind, why in first.text) == (kind, True), first
    assert "test_flow.py:" in first.place
    assert list(Paths(tape).lost()) == [x]


def test_a_cut_on_the_way_to_the_result_stands_before_a_dead_end():
    def f(x):
        np.exp(x)
        return np.sum(np.floor(x))

    tape = yota.gradtape(f, X)
    kinds = [c.kind for c in Paths(tape).cuts(tape.inputs[0])]
    assert kinds == ["zero", "unread"]


def test_the_users_function_without_a_derivative_stops_the_path():
    @yota.nondiff
    def table(x):
        return x * 2.0

    tape = yota.gradtape(lambda x: np.sum(table(x)), X)
    (cut,) = Paths(tape).cuts(tape.inputs[0])
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


def flow_of(f, *args):
    session = session_of(yota.gradtape(f, *args))
    return [(x.level, x.text, x.place) for x in check_flow(session)]


def test_a_gradient_that_is_exactly_zero_is_dead_and_names_the_op():
    (found,) = flow_of(lambda x: np.sum(np.maximum(x, 0.0) * 3.0), np.array([-1.0, -2.0]))
    assert found[0] == "alarm"
    assert "input x: gradient is dead, norm 0; it falls most through" in found[1]
    assert "maximum" in found[1]
    assert found[2].startswith("test_flow.py:")


def saturated(x):
    for _ in range(12):
        x = np.tanh(4.0 * x)
    return np.sum(x)


def test_a_vanishing_gradient_is_named_with_its_threshold():
    (found,) = flow_of(saturated, np.array([2.0, 3.0]))
    assert found[0] == "alarm"
    assert "vanishing" in found[1]
    assert "below 1e-08 × ‖seed‖" in found[1]
    assert "tanh" in found[1]


def test_an_exploding_gradient_is_named_with_its_threshold():
    def grows(x):
        for _ in range(12):
            x = 10.0 * x
        return np.sum(x)

    (found,) = flow_of(grows, np.array([1.0, 2.0]))
    assert "exploding" in found[1]
    assert "above 1e+08 × ‖seed‖" in found[1]


def test_an_input_without_a_path_is_a_note_of_the_flow():
    (found,) = flow_of(lambda w, x: np.sum(w * np.floor(x)), X, X)
    assert found[0] == "note"
    assert "input x: no path to the result" in found[1]
    assert "floor" in found[1]


# no alarm on what is well
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c[0])
def test_flow_has_no_alarm_where_gradients_are_of_size(case):
    _, f, args = case
    session = session_of(yota.gradtape(f, *args))
    norms = [session.opened.values[c] for c in session.tape.gradient_vars]
    alarms = [x for x in check_flow(session) if x.level == "alarm"]
    dead = [g for g in norms if np.all(np.asarray(g) == 0)]
    assert len(alarms) == len(dead) - len(Paths(session.tape).lost())


# bigscience-workshop/Megatron-DeepSpeed#149: the gradient's norm by layer
def test_the_flow_form_tells_the_norm_of_each_box_and_input():
    session = mlp_session()
    session.move(session.stepper.last())
    shown = screen_of(session, (120, 40), ["L", "L"], view="graph")
    assert "dead: exactly 0; vanishing: below 1e-08" in shown
    for name in ("W1", "b1", "W2"):
        (row,) = (r for r in shown.splitlines() if r[1:].split()[:1] == [name])
        made = session.tape.cotangents[
            next(v for v in session.tape.inputs if session.tape[v].name == name)
        ]
        norm = float(np.linalg.norm(session.opened.values[made]))
        assert f"{norm:.4g}" in row


def test_what_lies_ahead_has_no_norm_in_the_flow():
    shown = screen_of(mlp_session(), (120, 40), ["L", "L"], view="graph")
    assert shown.count("not computed yet") >= 7


def test_text_and_json_tell_which_cotangent_an_op_completes():
    session = mlp_session()
    tape = session.tape
    var = tape.cotangents[next(iter(tape.inputs))]
    row = next(r for r in plain(tape_lines(session)).splitlines() if r.startswith(f"{var} "))
    norm = float(np.linalg.norm(session.opened.values[var]))
    assert f"|d%1| {norm:.6g}" in row
    found = [json.loads(text) for text in json_lines(session)]
    assert next(o["completes"] for o in found if o.get("id") == var.id) == 1


STALLED = """\
import numpy as np
import yota


def loss(w, b):
    h = np.maximum(0.0, w * 3.0 - 50.0)
    return np.sum(h) + b


yota.grad(loss, np.ones(4), 1.0)
"""


def test_screen_leads_to_a_gradient_that_is_dead(tmp_path):
    app = YotaView(opened(tmp_path, STALLED))

    async def act(pilot):
        assert "0 alerts, 1 gradient dead, faint or huge: ! goes there" in text_of(app)
        await pilot.press("exclamation_mark")
        assert app.state.session.op.name == "maximum"
        told = " ".join(text_of(app).split())
        assert "flow: %" in told
        assert "input w: gradient is dead" in told

    drive(app, (120, 40), act)


def findings_of(f, *args):
    return check_flow(session_of(yota.gradtape(f, *args)))


UNITS = np.linspace(-3.0, 3.0, 24).reshape(6, 4)
EXTREME = np.where(np.arange(16) == 3, 0.1, 60.0) * np.array([-1.0, 1.0] * 8)


@pytest.mark.parametrize("fn", [np.tanh, np.arctan])
def test_an_op_whose_slope_is_next_to_nothing_is_saturated(fn):
    (found,) = findings_of(lambda x: np.sum(fn(x) * np.arange(16.0)), EXTREME)
    assert (found.level, found.cause) == ("note", "saturated")
    assert f"{fn.__name__}(%1) is saturated: its slope is below 0.001 at 15 of 16" in found.text
    assert "%1 is between -60 and 60; cure: scale what goes in" in found.text


def test_an_op_that_is_saturated_in_part_is_not_said_to_be():
    for some in (UNITS, np.where(np.arange(16) < 11, 60.0, 0.1), EXTREME[:4]):
        assert findings_of(lambda x: np.sum(np.tanh(x)), some) == []


def test_saturated_steps_of_a_loop_are_told_once():
    def f(w):
        h = w
        for _ in range(5):
            h = np.tanh(w + 20.0 * h)
        return np.sum(h * w)

    (found,) = [x for x in findings_of(f, EXTREME) if x.cause == "saturated"]
    assert "; and so 4 more of this line" in found.text


def test_a_dead_gradient_says_why_nothing_passes():
    cases = {
        "%3 is between -9 and -6, nowhere above 0: every unit is off; cure: begin with a bias": (
            lambda x: np.sum(np.maximum(x - 8.0, 0.0)), np.array([-1.0, 2.0]) * 1.0,
        ),
        "%2 is 0 everywhere": (
            lambda x: np.sum(x * np.zeros(2)), np.array([1.0, 2.0]),
        ),
        "a factor is 0": (lambda x: np.sum(x * 0.0), np.array([1.0, 2.0])),
        "saturated: its slope is below 0.001 at 8 of 8": (
            lambda x: np.sum(np.tanh(x)), np.full(8, 50.0),
        ),
        "nowhere below -1": (lambda x: np.sum(np.minimum(x, -1.0)), np.array([1.0, 2.0])),
        "is False everywhere": (lambda x: np.sum(np.where(x > 5, x, 0.0)), np.array([1.0, 2.0])),
    }  # fmt: skip
    for told, (f, x) in cases.items():
        texts = [t.text for t in findings_of(f, x) if t.level == "alarm"]
        assert any(told.replace("%3", "%2") in t for t in texts), (told, texts)


SATURATES = """\
import numpy as np
import yota


def loss(w, x):
    return np.mean(np.tanh(x @ w))


yota.grad(loss, np.ones((4, 3)), np.full((8, 4), 1.5) + 0.1 * np.arange(4.0))
"""


def test_screen_leads_to_an_op_that_is_saturated(tmp_path):
    app = YotaView(opened(tmp_path, SATURATES))

    async def act(pilot):
        assert "1 op saturated: ! goes there" in text_of(app)
        await pilot.press("exclamation_mark")
        assert app.state.session.op.name == "tanh"
        assert "its slope is below 0.001 at 24 of 24 elements" in " ".join(text_of(app).split())

    drive(app, (80, 24), act)


def test_an_input_without_a_path_is_told_once_by_all_checks_together():
    session = session_of(yota.gradtape(lambda w, x: np.sum(w * np.floor(x)), X, X))
    told = [f for f in findings_of_all(session, ["flow", "unused"]) if f.cause == "no path"]
    assert [(f.check, f.level) for f in told] == [("unused", "alarm")]
    assert [f.level for f in findings_of_all(session, ["flow"])] == ["note"]
