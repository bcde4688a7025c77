"""What keys and prompts of the screen do, and what they say where they can do nothing."""

from itertools import pairwise

import pytest
from textual.pilot import Pilot

from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from yota.tape import Var
from yotaview.app import Actions, YotaView
from yotaview.export import SUFFIXES
from yotaview.keys import KEYS, VIEWS
from yotaview.widgets.pane import Pane


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
        assert "infinity begins at %9 divide" in text_of(app)

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
        await pilot.press(*"last")
        await pilot.pause(0.3)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.state.session.at == Var(49)

    drive(app, (80, 24), act)


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
