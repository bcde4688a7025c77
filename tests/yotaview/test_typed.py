"""What is typed may be anything: long, without meaning, of endless numbers; it is answered."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from textual import events

from tests.yotaview.screen_text import drive, mlp_session, problems, text_of
from tests.yotaview.scripts import FAILS_IN_REVERSE, NAN, ROOT, opened
from yotaview.app import YotaView
from yotaview.cli import main
from yotaview.export import ExportError, replacing
from yotaview.model.digits import MOST, whole
from yotaview.model.edits import EditError, read_edit
from yotaview.model.goto import GotoError
from yotaview.render.line import Page
from yotaview.screens.autopsy import AutopsyScreen
from yotaview.screens.text import TextScreen

LONG = "9" * 5_000


def typed(session, kind, *texts, keys=(), size=(80, 24)):
    """Return the screen after each text was typed at a prompt."""
    app, shown = YotaView(session), []

    async def act(pilot):
        for key in keys:
            await pilot.press(key)
        for text in texts:
            app.main.ask(kind, "")
            app.main.prompt.input.value = text
            await pilot.pause()
            app.main.prompt.submit()
            await pilot.pause()
            shown.append((text_of(app), len(app.screen_stack)))
            assert not problems(app)
            await pilot.press("escape", "escape")

    drive(app, size, act)
    return shown


@pytest.mark.parametrize("text", ["0", "7", "007", "-7", "+7", "123456789012345678"])
def test_numbers_are_read_as_python_reads_them(text):
    assert whole(text) == int(text)


def test_number_of_more_digits_than_python_reads_is_beyond_everything():
    assert whole(LONG) == MOST
    assert whole(f"-{LONG}") == -MOST
    assert whole("0" * 5_000 + "12") == 12


@pytest.mark.parametrize("form", ["{}", "%{}", "line {}", "call {}"])
def test_place_of_endless_digits_does_not_exist(form):
    with pytest.raises(GotoError):
        mlp_session().jump(form.format(LONG))


def test_endless_digits_in_an_edit_are_an_error_of_the_edit():
    tape = mlp_session().tape
    with pytest.raises(EditError):
        read_edit(f"%{LONG} = 1", tape)
    assert read_edit(f"W1[{LONG},0] = 1", tape).index == (MOST, 0)


@pytest.mark.parametrize(
    "options", [("--at", LONG), ("--why", f"%{LONG}"), ("--diff", f"{LONG}:1"), ("--tape", LONG)]
)
def test_endless_digits_on_the_command_line_are_a_usage_error(options, tmp_path, capfd):
    script = tmp_path / "script.py"
    script.write_text(NAN)
    assert main([*options, str(script)]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_endless_digits_at_the_prompt_are_answered():
    for text, _ in typed(
        mlp_session(), "goto", LONG, f"%{LONG}", f"b shape:({LONG},)", f"w B{LONG}"
    ):
        assert "Tape" in text


def test_count_goes_round_a_circle_of_matches_without_counting_it_out():
    session = mlp_session()
    typed(session, "find", "tanh")
    places = []
    for count in (1, 2, 3):
        session.move(session.stepper.first())
        typed(session, "find", "matmul")
        typed(session, "goto", f"{count}.")
        places.append(session.stepper.index)
    period = next(k for k in range(1, 50) if _after(session, k) == _after(session, 0))
    assert _after(session, 10**15 * period + 2) == _after(session, 2)


def _after(session, count):
    session.move(session.stepper.first())
    app = YotaView(session)

    async def act(pilot):
        app.state.sought = "matmul"
        app.main.view.find(1, stay=True)
        if count:
            app.main.go(f"{count}.")
        await pilot.pause()

    drive(app, (80, 24), act)
    return session.stepper.index


def test_count_before_an_alert_opens_one_autopsy(tmp_path):
    session = opened(tmp_path, NAN)
    ((_, stack),) = typed(session, "goto", "5!")
    assert stack == 2
    app = YotaView(session)

    async def act(pilot):
        app.main.go("7!")
        await pilot.pause()
        assert isinstance(app.screen, AutopsyScreen)
        await pilot.press("escape")
        assert app.screen is app.main

    drive(app, (80, 24), act)


def test_watch_in_the_code_that_never_ran_is_of_the_op(tmp_path):
    app = YotaView(opened(tmp_path, FAILS_IN_REVERSE), view="code")

    async def act(pilot):
        await pilot.press("1", "g", "n", "n", "3", "w")
        await pilot.pause()
        assert "watching %" in text_of(app)

    drive(app, (120, 40), act)


def test_watches_and_breakpoints_hold_in_a_what_if():
    session = mlp_session()
    session.stops.add_watch("%7", session)
    session.break_at("norm>0")
    try:
        ((_, stack),) = typed(session, "whatif", "W1 *= 2")
        assert stack == 2
        app = YotaView(session)

        async def act(pilot):
            for key in ("n", "w", "w", "c", "C", "s", "B"):
                await pilot.press(key)
                await pilot.pause()
                assert not problems(app)

        drive(app, (120, 40), act)
    finally:
        session.opened = getattr(session.opened, "base", session.opened)
        for entry in list(session.stops.entries):
            session.stops.remove(entry)


HOSTILE = [
    "~nobody-of-that-name/a{}",
    "a" * 300 + "{}",
    "a\0b{}",
    "\ud800{}",
    "/proc/none/a{}",
    ".",
]


@pytest.mark.parametrize("kind", ["export", "copy_file"])
def test_path_that_no_file_can_have_is_told(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [text.format(".txt") for text in HOSTILE]
    for text, _ in typed(mlp_session(), kind, *texts):
        assert "wrote" not in text
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_device_or_pipe_is_never_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with pytest.raises(ExportError, match="device, a pipe or a socket"), replacing(pipe) as file:
        file.write(b"text")
    assert pipe.is_fifo()
    assert [p.name for p in tmp_path.iterdir()] == ["pipe.txt"]


def test_keys_typed_ahead_of_a_page_that_goes_do_not_end_the_screen():
    session, done = mlp_session(), []
    app = YotaView(session)

    async def act(pilot):
        app.push_screen(TextScreen(lambda width: Page(()), done.append))
        await pilot.pause()
        page = app.screen
        for key in "nnn":
            page.post_message(events.Key(key, key))
        await pilot.pause()
        await pilot.pause()
        assert len(app.screen_stack) == 1

    drive(app, (80, 24), act)
    assert done == ["next"] * 3


INTERRUPTED_EARLY = """\
import sys
import yotaview.__main__ as program


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "yotaview.cli":
            raise KeyboardInterrupt


sys.meta_path.insert(0, Finder())
program.run()
"""


def test_interrupt_while_the_program_loads_is_told_in_a_line(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_EARLY],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, "yotaview: interrupted\n")
