import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.yotaview.screen_text import DATA, drive, mlp_session, problems, text_of
from tests.yotaview.scripts import opened
from yotaview.again import command_again, without_resume
from yotaview.app import YotaView
from yotaview.keys import VIEWS
from yotaview.model.standing import read_standing, stand, standing
from yotaview.screens.editor import NoEditor, editor_command
from yotaview.screens.themes import ROUND, THEMES
from yotaview.widgets.boxes import with_edge_moved

SCRIPT = """\
import numpy as np
import yota


def loss(x):
    a = np.sin(x)
    b = a * x
    return np.sum(b)


yota.grad(loss, np.ones(3))
yota.grad(loss, np.ones(4))
"""


def session_of(tmp_path, text):
    return opened(tmp_path, text)


def test_changed_script_opens_at_the_same_op_though_its_number_is_another(tmp_path):
    session = session_of(tmp_path, SCRIPT)
    session.open(1)
    product = next(v for v, op in session.tape if getattr(op, "name", "") == "multiply")
    session.goto(product)
    session.break_at(f"{product} if norm>1e-9")
    session.break_at("op:sin")
    session.stops.add_watch(str(product), session)
    there = read_standing(standing(session, "graph", "nord").text())
    assert (there.view, there.theme, there.row.nth) == ("graph", "nord", 1)
    changed = SCRIPT.replace("a = np.sin(x)", "c = np.cos(x)\n    a = np.sin(x) + c")
    again, told = stand(session_of(tmp_path, changed).capture, there)
    assert told == ""
    assert again.row_index == 1
    assert again.op.name == "multiply"
    assert again.at != product
    texts = [e.text for e in again.stops.of(again.row_index)]
    assert texts == [f"{again.at} if norm>1e-9", "op:sin", str(again.at)]


def test_op_that_is_gone_is_told_and_the_place_near_it_opened(tmp_path):
    session = session_of(tmp_path, SCRIPT)
    sine = next(v for v, op in session.tape if getattr(op, "name", "") == "sin")
    session.goto(sine)
    session.break_at(str(sine))
    there = standing(session, "step", "nord")
    again, told = stand(session_of(tmp_path, SCRIPT.replace("np.sin", "np.tan")).capture, there)
    assert told == (
        f"no sin of a = np.sin(x) any more; breakpoint {sine}: "
        "no such op any more (sin of a = np.sin(x))"
    )
    assert again.row.name == "loss"


def test_function_that_is_gone_is_told(tmp_path):
    there = standing(session_of(tmp_path, SCRIPT), "step", "nord")
    changed = SCRIPT.replace("loss", "cost")
    again, told = stand(session_of(tmp_path, changed).capture, there)
    assert told.startswith("no tape of loss in this run")
    assert again.row.name == "cost"


def test_standing_that_is_none_is_refused():
    with pytest.raises(ValueError, match="not a place of the screen"):
        read_standing("{}")


def test_command_of_a_rerun_keeps_interpreter_and_arguments():
    own = ["--view", "code", "s.py", "--at"]
    made = command_again("{1}", ["python", "-X", "dev", "-m", "yotaview", *own], own)
    assert made[1:] == ["-X", "dev", "-m", "yotaview", "--resume={1}", *own]
    assert without_resume(made[5:]) == own


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vi", ["vi", "+7", "FILE"]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", "FILE"]),
        ("/usr/bin/code --wait", ["/usr/bin/code", "--wait", "--goto", "FILE:7"]),
        ("hx", ["hx", "FILE:7"]),
    ],
)
def test_editor_opens_at_the_line(editor, words):
    file = str(DATA / "mlp.py")
    wanted = [w.replace("FILE", file) for w in words]
    assert editor_command(file, 7, {"VISUAL": editor, "EDITOR": "none"}) == wanted
    assert editor_command(file, 7, {"EDITOR": editor}) == wanted


def test_no_editor_and_no_file_say_what_to_do():
    with pytest.raises(NoEditor, match=r"set \$VISUAL or \$EDITOR to open .*mlp.py:7"):
        editor_command(str(DATA / "mlp.py"), 7, {})
    with pytest.raises(NoEditor, match="<stdin> is no file that can be edited"):
        editor_command("<stdin>", 7, {"EDITOR": "vi"})


BOXES = {"a": (0, 0, 45, 14), "b": (45, 0, 35, 14), "c": (0, 14, 80, 5)}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9)), max_size=30))
def test_panes_fill_the_view_wherever_edges_are_moved(moves):
    boxes = BOXES
    for name, delta in moves:
        boxes = with_edge_moved(boxes, name, delta)
    cells = [
        (x, y)
        for left, top, width, height in boxes.values()
        for x in range(left, left + width)
        for y in range(top, top + height)
    ]
    assert len(cells) == len(set(cells)) == 80 * 19


def test_edge_moves_by_what_was_asked_and_back():
    wider = with_edge_moved(BOXES, "a", 4)
    assert wider == {"a": (0, 0, 49, 14), "b": (49, 0, 31, 14), "c": BOXES["c"]}
    assert with_edge_moved(wider, "b", 4) == BOXES
    assert with_edge_moved(BOXES, "c", 3)["c"] == (0, 11, 80, 8)
    assert with_edge_moved(BOXES, "b", 900) == BOXES


@pytest.mark.parametrize("view", VIEWS)
def test_pane_grows_shrinks_and_is_reset(view):
    app = YotaView(mlp_session(), view=view)

    async def act(pilot):
        shown = app.screen.view
        pane = shown.panes[shown.current]
        before = pane.size.area
        for key, holds in (("right_parenthesis", int.__gt__), ("left_parenthesis", int.__eq__)):
            await pilot.press(key)
            await pilot.pause()
            assert holds(pane.size.area, before)
        await pilot.press("left_parenthesis", "left_parenthesis")
        await pilot.pause()
        assert pane.size.area < before
        await pilot.press("Z")
        await pilot.pause()
        assert pane.size.area == before
        assert not problems(app)

    drive(app, (120, 40), act)


def test_letter_on_a_pane_leads_to_it():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("ctrl+o")
        assert " c " in text_of(app)
        await pilot.press("c")
        assert app.screen.view.panes["why"].has_focus
        await pilot.press("ctrl+o", "escape")
        assert app.screen.view.panes["why"].has_focus

    drive(app, (120, 40), act)


def test_rerun_is_refused_where_there_is_no_script_to_run():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("R")
        assert "nothing to run again" in text_of(app)
        assert app.state.again == ""

    drive(app, (80, 24), act)


def test_editor_key_says_where_there_is_none(monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("colon", *"line 14", "enter", "ctrl+e")
        assert "set $VISUAL or $EDITOR to open" in text_of(app)

    drive(app, (120, 40), act)


def test_editor_key_says_where_the_terminal_keeps_the_screen(monkeypatch):
    monkeypatch.setenv("EDITOR", "vi")
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("colon", *"line 14", "enter", "ctrl+e")
        assert "this terminal keeps the screen: open" in text_of(app)
        assert "mlp.py:14" in text_of(app)

    drive(app, (120, 40), act)


def test_what_threads_print_while_the_screen_is_up_is_in_the_output(tmp_path):
    session = session_of(tmp_path, SCRIPT)
    app = YotaView(session)

    async def act(pilot):
        print("from a thread")
        await pilot.pause()
        await pilot.press("O")
        assert "from a thread" in text_of(app)

    drive(app, (80, 24), act)
    assert "from a thread" in session.capture.output


@pytest.mark.parametrize("theme", ROUND)
def test_theme_tells_every_role_from_the_background(theme):
    app = YotaView(mlp_session(), theme=theme)

    async def act(pilot):
        pane = app.screen.view.panes["tape"]
        for role in ("alert", "forward", "reverse", "seed", "ok", "input", "title"):
            style = pane.role_style(role)
            assert style.color is not None
            assert style.color.is_default or style.color != pane.rich_style.bgcolor
        row = pane.role_style("", True)
        assert row.bold
        assert app.theme == theme

    drive(app, (80, 24), act)


def test_themes_for_the_colour_blind_use_no_red_against_green():
    for theme in THEMES:
        if theme.name.startswith("blue-orange"):
            assert theme.success != theme.error
            for color in (theme.success, theme.error):
                red, green, blue = (int(str(color)[k : k + 2], 16) for k in (1, 3, 5))
                assert blue > green if color == theme.success else blue < red
                assert not green > max(red, blue)


@pytest.mark.parametrize("view", VIEWS)
def test_any_size_is_taken_live(view):
    app = YotaView(mlp_session(), view=view)
    sizes = [(40, 12), (300, 100), (57, 13), (99, 31), (100, 12), (181, 60), (40, 100), (300, 12)]

    async def act(pilot):
        for width, height in sizes:
            await pilot.resize_terminal(width, height)
            await pilot.press("n")
            await pilot.pause()
            lines = text_of(app).splitlines()
            assert len(lines) == height
            assert max(map(len, lines)) <= width
            assert f"{VIEWS.index(view) + 1} {view.capitalize()}" in lines[1]
            assert "? help" in lines[-1]
            assert "q quit" in lines[-1]
        assert not problems(app)

    drive(app, (80, 24), act)


def test_page_keys_in_a_palette_without_room_break_nothing():
    app = YotaView(mlp_session())

    async def act(pilot):
        await pilot.press("ctrl+p", "z", "z", "q", "pagedown", "pageup", "escape", "escape", "n")
        assert app.state.session.stepper.index == 1

    drive(app, (40, 12), act)


def test_leaving_waits_for_no_work_in_the_background(tmp_path):
    app, may_end, left = YotaView(session_of(tmp_path, SCRIPT)), threading.Event(), []

    async def act(pilot):
        app.run_worker(lambda: may_end.wait(60), thread=True)
        await pilot.press("q")

    try:
        drive(app, (80, 24), act)
        left.append(not may_end.is_set())
    finally:
        may_end.set()
    assert left == [True]
    assert app.return_code == 0


def test_thread_that_prints_without_end_leaves_the_keys_their_turn(tmp_path):
    app, over = YotaView(session_of(tmp_path, SCRIPT)), threading.Event()

    def noise():
        while not over.is_set():
            print("noise")

    async def act(pilot):
        threads = [threading.Thread(target=noise) for _ in range(2)]
        for thread in threads:
            thread.start()
        waiting = app._message_queue.qsize
        try:
            for key in ("n", "n", "N"):
                await pilot.press(key)
            assert app.main.session.stepper.index == 1
            assert waiting() < 100
        finally:
            over.set()
            for thread in threads:
                thread.join()

    drive(app, (80, 24), act)
    assert app.state.session.capture.output.startswith("noise\nnoise\n")


@pytest.mark.parametrize("text", ["%99", "%99 if nan", "%999999999"])
def test_breakpoint_on_an_op_that_never_was_stops_no_re_run(text, tmp_path):
    session = session_of(tmp_path, SCRIPT)
    session.break_at(text)
    there = read_standing(standing(session, "step", "nord").text())
    again, told = stand(session_of(tmp_path, SCRIPT).capture, there)
    assert again.stops.entries == []
    assert f"breakpoint {text}" in told
