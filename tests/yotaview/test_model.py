"""What is open and where one stands in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import yota
from tests.yotaview.scripts import (
    EXP,
    FAILS,
    FAILS_IN_REVERSE,
    LOOP,
    MASKED,
    captured,
    opened,
)
from yota.tape import Var
from yotaview.model.breaks import BreakError
from yotaview.model.goto import GotoError
from yotaview.model.mapping import short
from yotaview.model.profile import live_bytes
from yotaview.model.session import NotKnown, Session
from yotaview.model.single import session_of
from yotaview.model.stepper import Stepper
from yotaview.model.textbook import rule_text
from yotaview.render.tapes import outcome


def session_over(f, *args) -> Session:
    return session_of(yota.gradtape(f, *args))


@pytest.fixture(scope="module")
def network() -> Session:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 3))

    def loss(w, b):
        return np.mean(np.tanh(x @ w + b) ** 2)

    return session_over(loss, rng.standard_normal((3, 4)), np.zeros(4))


def test_stepper_starts_at_the_first_op_and_stays_within_the_tape(network: Session) -> None:
    stepper = Stepper.over(network.tape)
    assert stepper.at == Var(1)
    assert stepper.back(5) == stepper
    assert stepper.next(10_000).at == stepper.last().at == list(network.tape.ops)[-1]


@given(st.lists(st.integers(0, 30), max_size=20))
def test_back_undoes_next_away_from_the_ends(moves: list[int]) -> None:
    tape = yota.gradtape(lambda x: sum(np.sin(x) * k for k in range(40)), 0.3)
    stepper = Stepper.over(tape).percent(50)
    for n in moves:
        there = stepper.next(n)
        if there.index == stepper.index + n:
            assert there.back(n) == stepper


def test_phase_edges_are_inputs_forward_seed_reverse_and_end(network: Session) -> None:
    phases = [network.phase(network.stepper.order[k]) for k in network.stepper.edges]
    assert phases == ["inputs", "forward", "seed", "reverse", "reverse"]


def test_phase_edges_are_visited_in_both_directions(network: Session) -> None:
    stepper = Stepper.over(network.tape)
    there = [stepper.index]
    while (onward := stepper.next_phase()) != stepper:
        stepper = onward
        there.append(stepper.index)
    back = [stepper.index]
    while (earlier := stepper.previous_phase()) != stepper:
        stepper = earlier
        back.append(stepper.index)
    assert there == back[::-1] == list(stepper.edges)


def test_percent_reaches_both_ends(network: Session) -> None:
    stepper = Stepper.over(network.tape)
    assert stepper.percent(0).index == 0
    assert stepper.percent(100).index == len(stepper) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", 3), (":3", 3), ("+2", 3), ("%4", 4), ("0%", 1), ("end", -1), ("2n", 3), ("100%", -1)],
)
def test_goto_understands_every_form(network: Session, text: str, expected: int) -> None:
    network.open(0)
    order = list(network.tape.ops)
    network.jump(text)
    assert network.at == order[expected - 1 if expected > 0 else expected]


def test_goto_seed_and_line(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    session.jump("line 6")
    assert session.at == Var(2)
    session.jump("seed")
    assert session.at == Var(3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("999", "no op 999: the tape has 5"),
        ("%99", "no op %99: the last one is %5"),
        ("line 77", "no op comes from line 77; lines with ops: 6, 9"),
        ("call 4", "call 4 is not kept: the nearest is 1"),
        ("nan", "no NaN or infinity in this call"),
        ("sideways", "cannot go to 'sideways'"),
    ],
)
def test_goto_says_why_not(tmp_path: Path, text: str, reason: str) -> None:
    session = opened(tmp_path, EXP)
    with pytest.raises(GotoError) as error:
        session.jump(text)
    assert str(error.value).startswith(reason)


def test_goto_call_keeps_the_position(tmp_path: Path) -> None:
    session = opened(tmp_path, LOOP.format(count=5))
    session.goto(Var(3))
    session.jump("call 2")
    assert session.call is not None
    assert (session.call.number, session.at) == (2, Var(3))


def test_history_survives_another_call(tmp_path: Path) -> None:
    session = opened(tmp_path, LOOP.format(count=5))
    session.goto(Var(3))
    session.open_call(2)
    session.goto(Var(5))

    def here() -> tuple[int, Var]:
        assert session.call is not None
        return session.call.number, session.at

    seen = [here()]
    while session.back_in_history():
        seen.append(here())
    assert seen == [(2, Var(5)), (2, Var(3)), (5, Var(3)), (5, Var(1))]
    while session.forward_in_history():
        pass
    assert here() == (2, Var(5))


def test_history_goes_back_and_forth(network: Session) -> None:
    network = Session(network.capture)
    network.goto(Var(4))
    network.goto(Var(9))
    assert network.back_in_history()
    assert network.at == Var(4)
    assert network.back_in_history()
    assert network.at == Var(1)
    assert not network.back_in_history()
    assert network.forward_in_history()
    assert network.forward_in_history()
    assert network.at == Var(9)
    assert not network.forward_in_history()


def test_what_lies_ahead_is_not_known(network: Session) -> None:
    network.open(0)
    last = list(network.tape.ops)[-1]
    with pytest.raises(NotKnown, match=r"^not computed yet$"):
        network.value(last)
    network.goto(last)
    assert network.value(last) is network.recorded(last)


def test_replayed_values_are_those_of_the_run_to_the_last_bit(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=20))
    session = Session(capture)
    w = np.ones(3)
    for k, call in enumerate(capture.rows[0].calls):
        session.open(0, k)
        (gradient,) = session.tape.gradient_vars[:1]
        assert call.inputs[0].tobytes() == w.tobytes()
        w = w - 0.01 * session.recorded(gradient)


def test_twin_leads_to_the_cotangent_and_back(network: Session) -> None:
    tape = network.tape
    for var in tape.cotangents:
        there = network.twin(var)
        assert there == tape.cotangents[var]
        back = network.twin(there)
        assert tape.cotangents[back] == there


def test_merged_op_maps_to_its_survivor(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    assert session.mapped(Var(4), "cse") == (Var(2), "%4 ≡ %2: same function and operands as %2")
    assert session.mapped(Var(2), "cse") == (Var(2), "")


def test_dropped_op_maps_to_the_next_live_one_with_the_reason(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    for stage in session.program.stages:
        for var in session.tape.ops:
            target, why = session.mapped(var, stage.name)
            assert target is None or target in stage.tape
            assert target == var or why


def test_dropped_op_behind_which_nothing_is_computed_says_so(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    target, why = session.mapped(Var(3), "dce")
    assert target is None
    gone = "its reader %5 is merged into %2: multiply(%2, %3) changes no bit"
    assert why == f"%3 dropped: needed no more since {gone}; no op behind it is computed"
    assert short(why) == "%3 dropped"


def test_reason_begins_with_what_became_of_the_op(network: Session) -> None:
    mapped = [network.mapped(var, "dce") for var in network.tape.ops]
    moved = [
        (target, why)
        for var, (target, why) in zip(network.tape.ops, mapped, strict=True)
        if target not in (None, var)
    ]
    assert moved
    for target, why in moved:
        assert str(target) in short(why)
        assert len(why) > len(short(why)) + 2


def test_session_that_stands_still_does_not_follow(tmp_path: Path) -> None:
    session = opened(tmp_path, LOOP.format(count=3))
    session.goto(Var(4))
    still = session.still()
    session.open_call(1)
    session.goto(Var(2))
    assert (still.at, still.call.number) == (Var(4), 3)  # type: ignore[union-attr]  # one is open
    assert still.opened is not session.opened


def test_reverse_op_is_not_on_the_trace_stage(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    target, why = session.mapped(Var(4), "trace")
    assert target is None
    assert "reverse pass" in why


def test_contributions_add_up_to_the_cotangent() -> None:
    session = session_over(lambda x: np.sum(x * np.sin(x)), np.array([0.3, 0.8]))
    x = session.tape.inputs[0]
    terms = [session.recorded(c.var) for c in session.contributions(x)]
    total = session.recorded(session.tape.gradient_vars[0])
    assert len(terms) == 2
    np.testing.assert_array_equal(sum(terms[1:], start=terms[0]), total)


def test_textbook_rule_is_that_of_the_differentiated_op(network: Session) -> None:
    tape = network.tape
    tanh = next(v for v, op in tape if getattr(op, "name", "") == "tanh")
    expected = "tanh: y = tanh(x)  ⇒  δx += δy · (1 − y²)"
    assert rule_text(tape, tanh) == expected
    assert rule_text(tape, tape.cotangents[tape[tanh].operands[0]]) == expected


def test_rule_of_a_users_function_is_its_own_source_line() -> None:
    cube = yota.primitive(lambda x: x**3)
    yota.defvjp(cube, lambda dy, y, x: dy * 3 * x**2)
    tape = yota.gradtape(lambda x: cube(x), 2.0)
    assert "dy * 3 * x**2" in rule_text(tape, Var(2))


def test_rule_of_a_users_function_that_bears_a_known_name_is_its_own() -> None:
    def norm(x):
        return x * 2.0

    double = yota.primitive(norm)
    yota.defvjp(double, lambda dy, y, x: dy * 2.0)
    tape = yota.gradtape(lambda x: double(x), 2.0)
    assert "dy * 2.0" in rule_text(tape, Var(2))
    assert "‖" not in rule_text(tape, Var(2))


def test_complex_result_of_a_shown_tape_is_told_whole() -> None:
    row = session_of(yota.trace(lambda z: z * z, np.complex128(1 + 2j))[1]).row
    assert outcome(row) == -3 + 4j


def test_profile_times_every_call_and_finds_the_peak(network: Session) -> None:
    profile = network.profile()
    assert set(profile.seconds) == set(network.tape.ops)
    assert profile.forward > 0
    assert profile.reverse > 0
    assert profile.runs >= 1
    assert profile.peak == max(profile.live) > 8 * 3 * 8


def test_live_bytes_drop_behind_the_last_reader() -> None:
    def chain(x):
        return np.sum(np.exp(np.sin(x)))

    tape = yota.trace(chain, np.zeros(1000))[1]
    assert live_bytes(tape) == (8000, 16000, 24000, 16008)


@pytest.mark.parametrize("spec", ["%2", "2", "line:6", "op:exp"])
def test_breakpoint_forms_find_the_exp(tmp_path: Path, spec: str) -> None:
    session = opened(tmp_path, EXP)
    session.break_at(spec)
    assert Var(2) in session.breakpoints


def test_unknown_breakpoint_says_what_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(BreakError, match=r"write %46, op:log"):
        opened(tmp_path, EXP).break_at("when:later")


def test_failed_call_opens_at_what_raised_behind_the_last_op(tmp_path: Path) -> None:
    session = opened(tmp_path, FAILS)
    last = list(session.tape.ops)[-1]
    assert session.failed_here
    assert session.call is None
    assert (session.stepper.index, session.at) == (len(session.tape), last)
    session.step(-1)
    assert not session.failed_here
    assert session.at == last
    assert session.value(last) is session.recorded(last)
    session.jump("end")
    assert session.failed_here
    assert not session.is_known(Var(99))


def test_failed_derivative_names_the_op_that_it_belongs_to(tmp_path: Path) -> None:
    session = opened(tmp_path, FAILS_IN_REVERSE)
    assert session.failed_here
    assert session.culprit is not None
    assert session.tape[session.culprit].name == "cube"


def test_a_loop_of_calls_has_a_value_and_norm_for_each(tmp_path: Path) -> None:
    row = captured(tmp_path, LOOP.format(count=3)).rows[0]
    assert [row.value_of(k) for k in (1, 2, 3, None, 4)] == [*row.values, row.values[2], None]
    assert [row.norm_of(k) for k in (0, 1, None)] == [None, row.norms[0], row.norms[2]]


def test_call_that_recorded_nothing_cannot_be_opened(tmp_path: Path) -> None:
    text = EXP.replace("def foo(x):\n    return np.exp(x)", "def foo():\n    return 1 / 0")
    capture = captured(tmp_path, text.replace("(foo, 0.5)", "(foo)"))
    assert capture.rows
    assert capture.rows[0].failure is not None
    with pytest.raises(GotoError, match="recorded no op"):
        Session(capture)


def test_show_needs_values_or_arguments() -> None:
    _, g = yota.grad(lambda x: np.exp(x), 0.5)
    with pytest.raises(yota.YotaError, match="carries no values"):
        session_of(g.tape)
    session = session_of(g.tape, 1.0)
    assert session.recorded(Var(2)) == np.exp(1.0)
    assert session.row.values == [float(np.exp(1.0))]


def test_long_tape_opens_at_once_and_steps_in_constant_time() -> None:
    def long(x):
        for _ in range(3000):
            x = x * 1.0001
        return x

    session = session_over(long, 1.0)
    assert len(session.tape) > 6000
    session.step(5000)
    assert session.stepper.index == 5000
    assert session.is_known(session.at)


def test_masked_nan_is_no_alarm(tmp_path: Path) -> None:
    session = opened(tmp_path, MASKED)
    assert [a.level for a in session.alerts] == ["masked"]
    assert session.alarms == []
    assert session.next_alert() == session.alerts[0]
