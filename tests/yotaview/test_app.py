"""What the six views show, in every size."""

import numpy as np
import pytest
from textual.pilot import Pilot

from tests.yotaview.screen_text import counted, drive, mlp_session, screen_of, text_of
from tests.yotaview.scripts import EXP, opened
from yota.tape import Var
from yotaview.app import YotaView, screenshot
from yotaview.keys import VIEWS
from yotaview.model.session import Session

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
    assert " .%47" in shown
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
            assert "%3 dropped: needed no more since" in told
        assert "· %3 dropped ·" in text_of(app)
        await pilot.press("colon", "4", "enter")
        for view in ("1", "2", "3"):
            await pilot.press(view)
            told = " ".join(text_of(app).replace("│", " ").replace("┃", " ").split())
            assert "%4 ≡ %2: same function and operands as %2" in told

    drive(app, (200, 60), act)


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


def test_pictures_need_nothing_from_outside_and_are_the_same_each_time(tmp_path):
    paths = [tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "c.png"]
    for path in paths:
        screenshot(mlp_session(), path, (80, 24), ["n"])
    first = paths[0].read_text(encoding="utf-8")
    assert first == paths[1].read_text(encoding="utf-8")
    assert "url(" not in first.replace("url(#", "")
    assert "Fira" not in first
    assert paths[2].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_values_are_shown_in_each_mode():
    for presses, wanted in ((0, "+0.9080"), (1, "██+"), (2, "…"), (3, "elements 32")):
        shown = screen_of(mlp_session(), (80, 24), (*AT_45, *["v"] * presses))
        assert wanted in shown
    assert np.allclose(mlp_session().recorded(Var(45))[0, 0], 0.9080, atol=1e-4)


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
