"""Lessons from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.yotaview.scripts import run
from yotaview import cli
from yotaview.capture import run_script
from yotaview.lessons import LESSONS, lesson_path, next_lesson
from yotaview.render.lesson import lesson_page
from yotaview.render.line import text_of


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_runs_and_has_its_text(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(f"--lesson={name}", "--list", "--check", "nan", capfd=capfd)
    assert code == 0
    assert f"{name}.py:" in out
    text = Path(lesson_path(name)).read_text()
    assert text.startswith('"""')
    assert text.index('"""', 3) > 800
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("width", [50, 78])
@pytest.mark.parametrize("name", LESSONS)
def test_lesson_is_shown_whole_in_any_width(name: str, width: int) -> None:
    capture = cli._with_lesson(run_script(lesson_path(name)))
    rows = [text_of(row) for row in lesson_page(capture, width).lines]
    assert max(map(len, rows)) <= width
    words = " ".join(rows).split()
    wanted = f"{capture.lesson} The script printed: {capture.output}".split()
    assert words[: len(wanted)] == wanted
    following = next_lesson(capture.script)
    if following:
        assert rows[-1] == f"the next one yotaview --lesson={following}"
    else:
        assert not any("the next one" in row for row in rows)
    assert "this lesson" in "\n".join(rows[-4:])


def test_lessons_lead_to_each_other() -> None:
    assert [next_lesson(lesson_path(n)) for n in LESSONS] == [*list(LESSONS)[1:], None]
    assert next_lesson("/home/me/script.py") is None


def test_lesson_by_two_words(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("--list", "--lesson", "chain", capfd=capfd)
    assert "height" in out
