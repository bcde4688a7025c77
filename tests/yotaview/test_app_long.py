"""Long tapes and slow measurements: drawn as far as in sight, worked out behind the screen."""

import gc
import threading

from textual.pilot import Pilot

from tests.yotaview.big_tape import big_session
from tests.yotaview.screen_text import drive, mlp_session, problems, text_of
from yota.tape import Var
from yotaview.app import YotaView


def test_tape_that_is_opened_while_times_are_in_sight_breaks_no_page():
    app = YotaView(mlp_session(), view="profile")

    async def act(pilot: Pilot[int]) -> None:
        pane = app.screen.views["profile"].panes["times"]
        before = [pane.render_line(y).text for y in range(pane.size.height)]
        app.state.session.open(1)
        assert [pane.render_line(y).text for y in range(pane.size.height)] == before
        app.screen.views["profile"].moved()
        await pilot.pause()
        assert [pane.render_line(y).text for y in range(pane.size.height)] != before
        assert not problems(app)

    drive(app, (100, 30), act)


def test_long_tapes_draw_only_what_is_in_sight():
    session = big_session(30_000)
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        panes = app.screen.view.panes
        for pane in panes.values():
            pane.lines_drawn = 0
        await pilot.press("n", "n", "G", "N", "g")
        await pilot.pause()
        assert session.at == Var(1)
        assert 0 < sum(p.lines_drawn for p in panes.values()) < 5 * 40 * len(panes)
        await pilot.press("colon", *"50%", "enter")
        assert session.stepper.index == 15_000
        assert "%15001" in text_of(app)

    drive(app, (120, 40), act)


def test_what_is_in_sight_is_kept_from_collection_until_the_end():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        assert gc.get_freeze_count() > 0

    drive(app, (80, 24), act)
    assert gc.get_freeze_count() == 0


def test_profile_is_measured_behind_the_screen_and_can_be_given_up_and_repeated():
    app, release = YotaView(mlp_session()), threading.Event()
    session = app.state.session
    real = session.profile
    session.profile = lambda: release.wait(30) and real()

    async def rest(pilot: Pilot[int]) -> str:
        await app.workers.wait_for_complete()
        await pilot.pause()
        return text_of(app)

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("5")
        assert "measuring the times of the ops" in text_of(app)
        await pilot.press("1", "n")
        assert app.state.session.stepper.index == 1
        await pilot.press("5", "escape")
        assert "not measured: = measures" in text_of(app)
        release.set()
        assert "not measured: = measures" in await rest(pilot)
        await pilot.press("equals_sign")
        shown = await rest(pilot)
        for text in ("row 1/49 by op", "CSE alone", "with one array an op"):
            assert text in shown
        await pilot.press("t", "t", "t")
        assert "row 1/3 by stage" in text_of(app)
        assert not problems(app)

    drive(app, (120, 40), act)
