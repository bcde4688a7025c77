"""Rules are checked while one reads: marks, numbers, stopping, and the user's own on request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

import yota
from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from tests.yotaview.scripts import FAILS, opened
from tests.yotaview.test_gradcheck import own_cube
from yotaview.app import YotaView
from yotaview.checks.gradcheck import Report, Verdict, verdicts
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.screens import checking


def with_wrong_rule() -> tuple[Session, list[int]]:
    cube, runs = own_cube()
    tape = yota.gradtape(lambda w: np.sum(np.tanh(cube(w)) * w), np.array([0.5, 2.0]))
    runs.clear()
    return session_of(tape), runs


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
def test_rules_that_agree_are_ticked_and_the_error_is_named(size) -> None:
    shown = screen_of(mlp_session(), size, ("colon", *"10", "enter"))
    assert "▶✓%10 exp(%9)" in shown
    assert " ·%11 add(1, %10)" in shown  # its tick comes when it is computed
    assert "gradcheck ✓ " in shown


def test_ticks_in_ascii() -> None:
    shown = screen_of(mlp_session(), (80, 24), ("colon", *"11", "enter"), ascii=True)
    assert ">v%11 add(1, %10)" in shown


def test_own_primitive_runs_on_a_key_only_and_is_found_wrong() -> None:
    session, runs = with_wrong_rule()
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        assert not runs
        assert "✗" not in text_of(app)
        assert "  %2  cube(%1)" in text_of(app) or " ·%2  cube(%1)" in text_of(app)
        await pilot.press("equals_sign")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert runs
        assert "✗ the rule of cube(%1) is off: δ%1[0] is" in text_of(app)
        await pilot.press("n", "N")
        assert "! 0 alerts, 1 rule off at %2" in text_of(app)
        await pilot.press("exclamation_mark")
        shown = text_of(app)
        assert "✗ the rule of cube(%1) is off: δ%1[0] is" in shown
        assert "▶✗%2  cube(%1)" in shown
        assert "gradcheck ✗ off" in shown
        assert "✗ the rule of %2 is off: δ%1[0] is" in " ".join(shown.replace("│", " ").split())

    drive(app, (120, 40), act)


def test_unchecked_rule_says_why() -> None:
    session, _ = with_wrong_rule()
    shown = screen_of(session, (120, 40), ("n",))
    assert "gradcheck: not checked, a function of yours" in shown


def test_keys_work_while_rules_are_checked_and_one_stops_it(monkeypatch) -> None:
    going, left = threading.Event(), threading.Event()
    first = True

    def slow(opened: Any, **options: Any) -> Iterator[Verdict]:
        nonlocal first
        if first:
            first = False
            return
        try:
            while True:
                going.set()
                yield Verdict(opened.tape.result_vars[0], opened.tape.inputs[0], "unchecked", "-")
        finally:
            left.set()

    monkeypatch.setattr(checking, "verdicts", slow)
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("equals_sign")
        assert going.wait(10)
        await pilot.press("n", "n", "n")
        assert app.state.session.stepper.index == 3
        await pilot.press("equals_sign")
        assert left.wait(10)
        await pilot.pause()
        assert "stopped: checked 0 of" in text_of(app)

    drive(app, (120, 40), act)


def test_marks_change_in_the_thread_that_draws_them(monkeypatch) -> None:
    threads, add = [], Report.add

    def noted(report: Report, verdict: Verdict) -> None:
        threads.append(threading.get_ident())
        add(report, verdict)

    monkeypatch.setattr(Report, "add", noted)
    screen_of(mlp_session(), (80, 24))
    assert set(threads) == {threading.get_ident()}


def test_another_call_has_its_own_marks() -> None:
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        marks = app.state.marks.checked
        await pilot.press("6", "n", "enter")
        await app.workers.wait_for_complete()
        assert app.state.session.row_index == 1
        assert app.state.marks.checked is not marks
        assert app.state.marks.checked

    drive(app, (120, 40), act)


def test_call_that_raised_has_nothing_to_check(tmp_path) -> None:
    shown = screen_of(opened(tmp_path, FAILS), (120, 40))
    assert "✓" not in shown
    assert "gradcheck" not in shown


def test_rules_on_very_many_elements_are_left_to_the_key():
    session = mlp_session()
    reasons = {v.reason for v in verdicts(session.opened, largest=1) if v.status == "unchecked"}
    assert reasons == {"more than 1 elements, left to ="}
    assert all(v.status == "ok" for v in verdicts(session.opened))
