"""Two calls compared on the screen, long ones in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from tests.yotaview.screen_text import drive, text_of
from tests.yotaview.scripts import LOOP, captured
from yotaview.app import YotaView, settled
from yotaview.model.diff import Diff, compare
from yotaview.model.goto import GotoError
from yotaview.model.session import Session
from yotaview.screens import runs


def test_key_compares_with_the_call_before_and_enter_opens_the_op(tmp_path: Path) -> None:
    session = Session(captured(tmp_path, LOOP.format(count=5)), 0, 3)
    app = YotaView(session)

    async def act(pilot) -> None:
        await pilot.press("D")
        await pilot.pause()
        shown = text_of(app)
        assert "call 3 of 5" in shown
        assert "call 4 of 5" in shown
        await pilot.press("n", "n", "n", "n", "enter")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert session.stepper.index > 0

    drive(app, (80, 24), act)


def test_marked_row_is_compared_with(tmp_path: Path) -> None:
    text = "import yota\ndef f(x):\n    return x * x\ndef g(x):\n    return x * 3\n"
    session = Session(captured(tmp_path, f"{text}yota.grad(f, 1.0)\nyota.grad(g, 1.0)\n"), 0)
    app = YotaView(session, view="tapes")

    async def act(pilot) -> None:
        await pilot.press("D")
        await pilot.pause()
        assert "nothing to compare with" in text_of(app)
        await pilot.press("t", "n", "D")
        await pilot.pause()
        shown = text_of(app)
        assert "tape 1 f, call 1 of 1" in shown
        assert "tape 2 g, call 1 of 1" in shown

    drive(app, (120, 40), act)


def test_long_tapes_are_compared_in_the_background(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(runs, "LONG", 1)
    monkeypatch.setattr(runs, "SHOWN", 0.0)
    may_go_on, shares = threading.Event(), []

    def slowly(left: Session, right: Session, *, tick: Callable[[float], None]) -> Diff:
        assert may_go_on.wait(30)
        return compare(left, right, tick=lambda done: (shares.append(done), tick(done))[1])

    monkeypatch.setattr(runs, "compare", slowly)
    session = Session(captured(tmp_path, LOOP.format(count=5)), 0, 3)
    app = YotaView(session)

    async def act(pilot) -> None:
        await pilot.press("D", "n", "D")
        assert (session.stepper.index, "esc stops it" in text_of(app)) == (1, True)
        await pilot.press("escape")
        assert "stopped comparing" in text_of(app)
        may_go_on.set()
        await settled(app)
        await pilot.pause()
        assert len(app.screen_stack) == 1
        await pilot.press("D")
        await settled(app)
        await pilot.pause()
        assert len(app.screen_stack) == 2
        assert "call 3 of 5" in text_of(app)

    drive(app, (80, 24), act)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_comparison_that_fails_is_told(tmp_path: Path, monkeypatch) -> None:
    def failing(left: Session, right: Session, *, tick: Callable[[float], None]) -> Diff:
        raise GotoError("no such call")

    monkeypatch.setattr(runs, "LONG", 1)
    monkeypatch.setattr(runs, "compare", failing)
    app = YotaView(Session(captured(tmp_path, LOOP.format(count=5)), 0, 3))

    async def act(pilot) -> None:
        await pilot.press("D")
        await settled(app)
        await pilot.pause()
        assert "cannot compare: no such call" in text_of(app)

    drive(app, (80, 24), act)
