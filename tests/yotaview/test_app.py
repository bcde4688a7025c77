import gc
import threading
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from textual.pilot import Pilot

import yota
from tests.yotaview.big_tape import big_session
from tests.yotaview.screen_text import (
    captured,
    counted,
    drive,
    mlp_session,
    problems,
    screen_of,
    text_of,
)
from tests.yotaview.scripts import EXP, FAILS, FAILS_IN_REVERSE, opened
from yota.tape import Var
from yotaview.app import Actions, YotaView, screenshot
from yotaview.export import SUFFIXES
from yotaview.keys import KEYS, VIEWS
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.widgets.pane import Pane

SIZES = ((80, 24), (120, 40), (200, 60))
AT_45 = ("colon", "4", "5", "enter")


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("view", VIEWS)
def test_views_look_as_recorded(view, size, golden):
    shown = screen_of(counted(mlp_session()), size, AT_45, view=view)
    golden(f"views/{view}-{size[0]}x{size[1]}.txt", shown)


@pytest.mark.parametrize("row", [1, 2], ids=["masked", "alarm"])
def test_alerts_look_as_recorded(row, golden):
    shown = screen_of(mlp_session(row), (80, 24), ["exclamation_mark"])
    golden(f"views/alert-{row}.txt", shown)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [(40, 12), (79, 24), (80, 24), (100, 30), (200, 60)], ids=str)
def test_every_line_fits_and_names_position_and_view(view, size):
    lines = screen_of(mlp_session(), size, view=view).splitlines()
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    assert f"[{VIEWS.index(view) + 1} {view.capitalize()}]" in lines[1]
    stages = len(mlp_session().program.stages)
    unit = {
        "passes": f"pass 3/{stages}",
        "code": "line ",
        "profile": "row 1/",
        "tapes": "row 1/3",
    }.get(view, "op 1/49")
    assert unit in lines[0]
    assert "? help" in lines[-1]
    assert "q quit" in lines[-1]


@pytest.mark.parametrize("view", VIEWS)
def test_ascii_shows_no_other_character(view):
    for keys in (("b", "G", "question_mark"), ("c",), ("b", "g")):
        assert screen_of(mlp_session(), (120, 40), keys, view=view, ascii=True).isascii()


def test_ascii_glyphs():
    shown = screen_of(mlp_session(), (120, 40), (*AT_45, "b", "n"), ascii=True)
    assert "* %45" in shown
    assert ">v%46" in shown
    assert "v.%47" in shown
    assert "= %37" in shown


def test_what_lies_ahead_is_not_computed():
    shown = screen_of(mlp_session(), (120, 40), ("g",))
    assert "·%6  add(%5, %2)" in shown
    assert "not computed yet" in shown
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*AT_45, "n")
        assert app.state.session.at == Var(46)
        assert all(f"·%{n}" in text_of(app) for n in (47, 48))
        assert "·%46" not in text_of(app)

    drive(app, (80, 24), act)


def test_one_position_drives_every_view():
    session = mlp_session()
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", "percent_sign", "3", "7", "enter", "3")
        assert "%37 ≡ %10" in text_of(app)
        line = next(row for row in text_of(app).splitlines() if "▶" in row)
        assert "exp(v9" in line
        await pilot.press("2")
        assert "▶ 3 cse" in text_of(app)
        assert "%37 ≡ %10" in text_of(app) or "exp(%9) ≡ %10" in text_of(app)
        await pilot.press("4")
        assert "focus %37" in text_of(app)

    drive(app, (120, 40), act)


def test_dropped_and_merged_ops_say_where_they_went_and_why(tmp_path):
    session = opened(tmp_path, EXP)
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", *"seed", "enter")
        for view in ("1", "2", "3"):
            await pilot.press(view)
            if view == "2":
                await pilot.press("G")
            told = " ".join(text_of(app).replace("│", " ").replace("┃", " ").split())
            assert "%3 dropped: not needed by any result" in told
        assert "· %3 dropped ·" in text_of(app)
        await pilot.press("colon", "4", "enter")
        for view in ("1", "2", "3"):
            await pilot.press(view)
            told = " ".join(text_of(app).replace("│", " ").replace("┃", " ").split())
            assert "%4 ≡ %2: same function and operands as %2" in told

    drive(app, (200, 60), act)


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


def test_prompt_shows_errors_and_stays():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", *"999", "enter")
        assert "no op 999: the tape has 49" in text_of(app)
        assert app.screen.prompt.display
        await pilot.press(*"no_such_place", "enter")
        assert app.screen.prompt.input.value == "no_such_place"
        await pilot.pause()
        assert "write 46, +10, -10, 10n" in text_of(app)
        assert "start, end, nan or call 731" in text_of(app)
        await pilot.press("escape")
        assert not app.screen.prompt.display
        await pilot.press("n")
        assert app.state.session.stepper.index == 1

    drive(app, (80, 24), act)


def test_history_and_twin_return():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", "percent_sign", "7", "enter")
        await pilot.press("percent_sign")
        assert session.at == session.tape.cotangents[Var(7)]
        await pilot.press("percent_sign")
        assert session.at == Var(7)
        await pilot.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert session.at == Var(1)
        await pilot.press("greater_than_sign")
        assert session.at == Var(7)

    drive(app, (80, 24), act)


@pytest.mark.parametrize(("on", "back"), [("n", "N"), ("s", "S"), ("f", "F")])
def test_back_keys_are_inverse(on, back):
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", *"seed", "enter")
        visited = [session.stepper]
        for _ in range(3):
            await pilot.press(on)
            visited.append(session.stepper)
        assert all(a != b for a, b in pairwise(visited))
        for wanted in visited[-2::-1]:
            await pilot.press(back)
            assert session.stepper == wanted

    drive(app, (80, 24), act)


def test_stops_backwards_are_the_reverse_of_stops_onward():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        for place in ("7", "3 0", "4 1"):
            await pilot.press("colon", *place.split(), "enter", "b")
        await pilot.press("g")
        onward = []
        for _ in range(3):
            await pilot.press("c")
            onward.append(session.at.id)
        await pilot.press("G")
        backward = []
        for _ in range(4):
            await pilot.press("C")
            backward.append(session.at.id)
        seed = session.tape.reverse_start.id
        assert onward == [7, 30, 41]
        assert backward == [41, 30, seed, 7]

    drive(app, (80, 24), act)


def test_calls_keep_the_position():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("colon", *"22", "enter", "left_square_bracket")
        assert session.call.number == 2
        assert session.at == Var(22)
        first = session.recorded(Var(22))
        await pilot.press("right_square_bracket")
        assert session.call.number == 3
        assert session.recorded(Var(22)) != first

    drive(app, (80, 24), act)


def test_alert_leads_to_a_row_that_has_one():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("exclamation_mark")
        assert app.state.session.row.name == "distance"
        assert "division" in text_of(app) or "divide" in text_of(app)

    drive(app, (120, 40), act)


@pytest.mark.parametrize("view", VIEWS)
def test_focus_walks_every_pane_and_survives_resizing(view):
    app = YotaView(mlp_session(), view=view)

    async def act(pilot: Pilot[int]) -> None:
        panes = app.screen.view.panes
        for size in ((120, 40), (60, 20), (80, 24), (40, 12), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            visible = [p for p in panes.values() if p.display]
            assert isinstance(app.focused, Pane)
            if size[0] < 80:
                assert len(visible) == 1
                wanted = len(panes)
            else:
                wanted = len(visible)
            seen = set()
            for _ in range(wanted):
                await pilot.press("tab")
                await pilot.pause()
                assert app.focused.display
                seen.add(app.focused.name)
            assert len(seen) == wanted

    drive(app, (120, 40), act)


def test_focused_pane_has_the_thick_frame_and_zoom_fills_the_screen():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        assert "┏━ Tape" in text_of(app)
        await pilot.press("tab")
        assert "┏━ Value" in text_of(app)
        assert "┌─ Tape" in text_of(app)
        await pilot.press("z")
        await pilot.pause()
        assert "Tape ─" not in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "┌─ Tape" in text_of(app)

    drive(app, (80, 24), act)


def test_find_walks_matches_round_the_end():
    app = YotaView(mlp_session())
    session = app.state.session

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("slash", *"matmul", "enter")
        found = [session.at.id]
        for _ in range(5):
            await pilot.press("full_stop")
            found.append(session.at.id)
        matmuls = [v.id for v, op in session.tape if getattr(op, "name", "") == "matmul"]
        assert found == [*matmuls, matmuls[0]]
        await pilot.press("comma")
        assert session.at.id == matmuls[-1]

    drive(app, (80, 24), act)


def test_nodes_of_the_graph_stay_in_place():
    app = YotaView(mlp_session(), view="graph")

    def places() -> list[list[int]]:
        rows = text_of(app).splitlines()[3:13]
        light = [r.translate(str.maketrans("┏━┓┃┗┛", "┌─┐│└┘")) for r in rows]
        return [[k for k, c in enumerate(r) if c in "┌┐└┘"] for r in light]

    async def act(pilot: Pilot[int]) -> None:
        first = places()
        assert first[0]
        for _ in range(12):
            await pilot.press("f")
            await pilot.pause()
            assert places() == first

    drive(app, (120, 40), act)


def test_names_of_the_user_are_not_read_as_markup(tmp_path):
    script = tmp_path / "x[red].py"
    script.write_text(
        "import numpy as np, yota\n"
        "def f(p): return np.sum(p['[bold]w[/]'] ** 2)\n"
        "yota.grad(f, {'[bold]w[/]': np.ones(3)})\n"
    )
    from yotaview.capture import run_script

    shown = screen_of(Session(run_script(str(script), [str(script)])), (120, 40))
    assert "[bold]w[/]" in shown
    assert "x[red].py" in shown


def test_palette_lists_every_action():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        names = [name for name, _, _ in Actions(app.screen).named]
        wanted = [k for k in KEYS if k.scope != "pane" and k.action != "commands"]
        assert len(names) == len(set(names)) == len(wanted) + 1
        assert names[0] == "view step (1)"
        assert "choose a theme" in names
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert "view step (1)" in text_of(app)
        assert "each rewrite before and after" in text_of(app)
        await pilot.press(*"last first op")
        await pilot.pause(0.3)
        await pilot.press("down", "enter")
        await pilot.pause()

    drive(app, (80, 24), act)


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


def test_pictures_need_nothing_from_outside_and_are_the_same_each_time(tmp_path):
    paths = [tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "c.png"]
    for path in paths:
        screenshot(mlp_session(), path, (80, 24), ["n"])
    first = paths[0].read_text(encoding="utf-8")
    assert first == paths[1].read_text(encoding="utf-8")
    assert "url(" not in first.replace("url(#", "")
    assert "Fira" not in first
    assert paths[2].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_export_prompt_writes_and_says_why_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("x", *"t.dot", "enter")
        assert (tmp_path / "t.dot").read_text().startswith("digraph")
        await pilot.press("x", *"t.nope", "enter")
        assert "no such format" in text_of(app)

    drive(app, (120, 24), act)


def test_copied_code_is_the_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = YotaView(mlp_session(), view="code")

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("y")
        assert app.clipboard == app.state.session.program.source("lean").text
        await pilot.press("Y", "enter")
        assert (tmp_path / "yotaview-code.txt").read_text() == app.clipboard

    drive(app, (120, 24), act)


def test_values_are_shown_in_each_mode():
    for presses, wanted in ((0, "+0.9080"), (1, "██+"), (2, "…"), (3, "elements 32")):
        shown = screen_of(mlp_session(), (80, 24), (*AT_45, *["v"] * presses))
        assert wanted in shown
    assert np.allclose(mlp_session().recorded(Var(45))[0, 0], 0.9080, atol=1e-4)


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


def test_alert_can_be_read_whole():
    session = mlp_session(2)
    text = session.alarms[0].text

    def words(shown: str) -> str:
        return " ".join(shown.translate(str.maketrans("│┃▐", "   ")).split())

    assert len(text) > 78
    keys = ["exclamation_mark", "escape"]
    assert text in words(screen_of(session, (80, 24), [*keys, "n", "N", "W"]))
    said = screen_of(session, (80, 24), keys).splitlines()[-3:-1]
    assert text in words(" ".join(said))


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


def test_existing_files_are_written_over_by_a_second_enter_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = YotaView(mlp_session())
    for name in ("t.dot", "yotaview-step.txt"):
        (tmp_path / name).write_text("mine")

    async def act(pilot: Pilot[int]) -> None:
        for keys, name in ((["x", *"t.dot"], "t.dot"), (["Y"], "yotaview-step.txt")):
            await pilot.press(*keys, "enter")
            assert "exists, enter again to overwrite" in text_of(app)
            assert (tmp_path / name).read_text() == "mine"
            await pilot.press("escape", *keys, "enter")
            assert (tmp_path / name).read_text() == "mine"
            await pilot.press("enter")
            assert (tmp_path / name).read_text() != "mine"
            assert not app.screen.prompt.display
        await pilot.press("f8", "f8")
        assert len(list(tmp_path.glob("yotaview-step-1*.svg"))) == 2

    drive(app, (80, 24), act)


def test_prompts_begin_empty_and_name_the_formats_that_exist():
    app = YotaView(mlp_session())

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("slash", *"matmul", "enter")
        first = app.state.session.at
        await pilot.press("slash")
        assert app.screen.prompt.input.value == ""
        await pilot.press("enter")
        assert app.state.session.at > first
        await pilot.press("x")
        assert app.screen.prompt.input.value == ""
        hint = app.screen.prompt.input.placeholder
        assert hint.removeprefix("FILE").split() == list(SUFFIXES)

    drive(app, (80, 24), act)


def test_breakpoints_of_the_session_are_on_screen():
    session = mlp_session()
    session.break_at("%7")
    app = YotaView(session)

    async def act(pilot: Pilot[int]) -> None:
        assert "● 1 breakpoint" in text_of(app)
        await pilot.press("c")
        assert session.at == Var(7)
        await pilot.press("b")
        assert session.breakpoints == set()

    drive(app, (80, 24), act)


@pytest.mark.parametrize(
    ("view", "keys", "says"),
    [
        ("step", ["V"], "no further slices: the value of %1 is 2-D"),
        ("step", ["N"], "this is the first op"),
        ("step", ["G", "s"], "this is the last op"),
        ("step", ["g"], "this is the first op"),
        ("step", ["left_curly_bracket"], "no earlier edge of a phase"),
        ("step", ["plus"], "n steps op by op"),
        ("step", ["1"], "view Step is in sight already"),
        ("passes", ["G", "n"], "no further rewrite"),
        ("graph", ["minus"], "fold: nothing to do here"),
        ("profile", ["N"], "this is the first row"),
        ("tapes", ["G", "n"], "this is the last row"),
        ("tapes", ["right_square_bracket"], "no further call of this row"),
    ],
)
def test_key_with_nothing_to_do_says_so(view, keys, says):
    assert says in screen_of(mlp_session(), (80, 24), keys, view=view)


def test_slices_are_counted(tmp_path):
    text = "import numpy as np, yota\nyota.grad(lambda x: np.sum(x), np.ones((2, 3, 4)))\n"
    app = YotaView(opened(tmp_path, text))

    async def act(pilot: Pilot[int]) -> None:
        await pilot.press("V")
        assert "slice 2 of 2" in text_of(app)
        assert "[1, :, :]" in text_of(app)
        await pilot.press("V")
        assert "[0, :, :]" in text_of(app)

    drive(app, (80, 24), act)


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
