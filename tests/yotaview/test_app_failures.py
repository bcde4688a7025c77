"""What the screen shows of a script that raised, of lessons, of output and of alarms."""

from dataclasses import replace

import numpy as np
import pytest
from textual.pilot import Pilot

import yota
from tests.yotaview.screen_text import captured, drive, screen_of, text_of
from tests.yotaview.scripts import EXP, FAILS, FAILS_IN_REVERSE, opened
from yota.tape import Var
from yotaview.app import YotaView
from yotaview.lessons import lesson_path
from yotaview.model.session import Session
from yotaview.model.single import session_of


def failed_session(tmp_path, text=FAILS):
    return opened(tmp_path, text)


def test_what_raised_is_the_last_row_and_the_op_before_it_keeps_its_value(tmp_path):
    app = YotaView(failed_session(tmp_path))

    async def act(pilot: Pilot[int]) -> None:
        rows = text_of(app).splitlines()
        assert "op ✗/3" in rows[0]
        assert "line 7" in rows[0]
        row = next(r for r in rows if "▶" in r)
        assert "✗  matmul(%2, ones(3)): (4,) @ (3" in row
        assert "line 7" in row
        assert "is different from 4" in text_of(app)
        await pilot.press("N")
        assert "op 3/3" in text_of(app).splitlines()[0]
        assert "·✗  matmul" in text_of(app)
        assert "Value %3" in text_of(app)
        assert "+1.0000" in text_of(app)
        await pilot.press("t", "G", "b")
        assert app.state.session.failed_here
        assert "takes no breakpoint" in text_of(app)
        await pilot.press("y")
        assert app.clipboard == "✗ matmul(%2, ones(3)): (4,) @ (3,)"
        await pilot.press("slash", *"tanh", "enter", "slash", *"ones(3)", "enter")
        assert app.state.session.failed_here

    drive(app, (80, 24), act)


def test_failed_derivative_says_whose_it_is(tmp_path):
    app = YotaView(failed_session(tmp_path, FAILS_IN_REVERSE))

    async def act(pilot: Pilot[int]) -> None:
        assert "in the derivative of %3 cube(%2)" in text_of(app)
        await pilot.press("percent_sign")
        assert app.state.session.at == Var(3)
        assert "Value %3" in text_of(app)
        await pilot.press("less_than_sign")
        assert app.state.session.failed_here

    drive(app, (120, 40), act)


def test_row_without_ops_is_said_not_to_open(tmp_path):
    text = EXP + "def bad():\n    return 1 / 0\nyota.grad(bad)\n"
    app = YotaView(opened(tmp_path, text), view="tapes")

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("G", "s")
        await pilot.pause()
        assert "recorded no op before it raised" in text_of(app)
        assert app.state.session.row.name == "foo"

    drive(app, (80, 24), act)


@pytest.mark.parametrize("key", ["escape", "enter", "q"])
def test_lesson_is_shown_first_and_again_by_its_key(key):
    capture = replace(captured(), lesson="First.\n\nThe end of the lesson.")
    app = YotaView(Session(capture, 0))

    async def act(pilot: Pilot[int]) -> None:
        assert "The end of the lesson." in text_of(app)
        await pilot.press(key)
        assert "The end of the lesson." not in text_of(app)
        assert "op 1/49" in text_of(app)
        assert "O lesson" in text_of(app).splitlines()[-1]
        await pilot.press("O")
        await pilot.pause()
        assert "The end of the lesson." in text_of(app)
        assert "step 0 loss" in text_of(app)

    drive(app, (80, 24), act)


def test_autopsy_follows_the_origins_and_moves_the_position():
    def f(x):
        return np.sum(np.array([0.0, 1.0]) * np.log(x))

    app = YotaView(session_of(yota.gradtape(f, np.array([0.0, 1.0]))))

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("exclamation_mark")
        assert "Autopsy: origin 1 of 2" in text_of(app)
        assert "log of 0" in text_of(app)
        await pilot.press("exclamation_mark")
        assert "mask by product" in text_of(app)
        assert app.state.session.at == Var(4)
        await pilot.press("W")
        assert "log of 0" in text_of(app)
        assert app.state.session.at == Var(2)
        await pilot.press("W")
        assert "%2 is where it began" in text_of(app)
        await pilot.press("escape")
        assert "Autopsy" not in text_of(app)
        assert "[1 Step]" in text_of(app)

    drive(app, (80, 24), act)


def test_long_output_is_wrapped(tmp_path):
    text = EXP + "print('word ' * 40 + 'last')\n"
    shown = screen_of(opened(tmp_path, text), (80, 24), ["O"])
    assert "last" in shown


@pytest.mark.parametrize("key", ["exclamation_mark", "D"])
def test_keys_of_alert_and_diff_say_what_was_unlike_before_it_raised(tmp_path, key):
    app = YotaView(failed_session(tmp_path))

    async def act(pilot: Pilot[int]) -> None:
        assert "x is f64[4] here, f64[3] in tape 1" in " ".join(text_of(app).split())
        await pilot.press("g", key)
        assert "x is f64[4] here, f64[3] in tape 1" in app.screen.told
        assert app.state.session.failed_here == (key != "D")

    drive(app, (120, 40), act)


def test_alert_leads_to_the_row_that_raised(tmp_path):
    app = YotaView(failed_session(tmp_path))

    async def act(pilot: Pilot[int]) -> None:
        app.state.session.open(0)
        await pilot.press("exclamation_mark")
        assert app.state.session.row_index == 1
        assert app.screen.told.startswith("raised: matmul(%2, ones(3)): (4,) @ (3,); x is")

    drive(app, (80, 24), act)


@pytest.mark.parametrize("view", ["passes", "code", "profile"])
def test_reason_for_nothing_to_show_is_never_cut(tmp_path, view):
    text = screen_of(failed_session(tmp_path), (80, 24), view=view)
    assert "nothing to show" in text
    for row in text.splitlines()[2:-4]:
        assert "…" not in row, text


@pytest.mark.parametrize("key", ["O", "question_mark"])
def test_key_of_the_screen_leaves_a_page_and_does_what_it_stands_for(key):
    app = YotaView(Session(captured(lesson_path("seed"))))

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(key, "pagedown", "j")
        assert len(app.screen_stack) == 2
        await pilot.press("n")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert app.state.session.stepper.index == 1
        await pilot.press(key, "2")
        await pilot.pause()
        assert "[2 Passes]" in text_of(app)

    drive(app, (80, 24), act)
