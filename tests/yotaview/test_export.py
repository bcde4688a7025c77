"""Files: whole or not at all, in the format of their suffix."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import yota
from tests.yotaview.screen_text import drive, text_of
from tests.yotaview.scripts import EXP, LOOP, NAN, captured
from yotaview.app import YotaView
from yotaview.export import (
    SUFFIXES,
    WRITERS,
    ExportError,
    Selection,
    export,
    replacing,
    suffix_of,
)
from yotaview.model import store
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.options import STAGES
from yotaview.render import svg
from yotaview.render.json import json_lines

EXP_CALL = "def foo(x):\n    return np.exp(x)\nyota.grad(foo, 0.5)\n"


@pytest.fixture
def selection(tmp_path: Path) -> Selection:
    capture = captured(tmp_path, EXP)
    return Selection(capture, [Session(capture)])


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", b"<?xml"), (".dot", b"digraph tape"), (".png", b"\x89PNG"),
     (".txt", b"tape 1 foo script.py:9 call 1/1 value 1.64872 |grad| 1.64872 ok\n%1     FWD"),
     (".json", b'{"v":1,"tape":1,'), (".yota", b"PK")],
)  # fmt: skip
def test_file_is_written_by_its_suffix(
    tmp_path: Path, selection: Selection, suffix: str, start: bytes
) -> None:
    path = tmp_path / f"out{suffix}"
    export(str(path), selection)
    assert path.read_bytes().startswith(start)


def test_saved_session_opens(tmp_path: Path, selection: Selection) -> None:
    export(str(tmp_path / "s.yota"), selection)
    assert store.load(tmp_path / "s.yota").rows[0].name == "foo"


def test_pdf_says_that_it_needs_a_program(
    tmp_path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("YOTAVIEW_DOT", raising=False)
    with pytest.raises(ExportError, match="PDF needs a system Graphviz"):
        export(str(tmp_path / "x.pdf"), selection)
    assert not (tmp_path / "x.pdf").exists()


def test_unknown_suffixes_have_no_writer() -> None:
    assert [suffix_of(n) for n in ("a.gif", "a", "a.trace.json", "a.tar")] == [None] * 4
    assert [suffix_of(f"A{s.upper()}") for s in SUFFIXES] == list(SUFFIXES)


def test_folder_that_does_not_exist_is_an_error(tmp_path: Path, selection: Selection) -> None:
    path = tmp_path / "nowhere" / "x.svg"
    with pytest.raises(ExportError) as error:
        export(str(path), selection)
    assert str(error.value) == f"{path}: No such file or directory"


def test_folder_is_no_file(tmp_path: Path, selection: Selection) -> None:
    folder = tmp_path / "x.svg"
    folder.mkdir()
    with pytest.raises(ExportError, match=r"x\.svg: is a directory"):
        export(str(folder), selection)


def test_what_a_file_holds_is_told(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=3) + EXP_CALL)
    selection = Selection(capture, [Session(capture, 1), Session(capture, 0, 1)])
    assert selection.told("a.svg") == "tape 2 foo, call 1"
    assert selection.told("a.txt") == "tape 1 loss, call 2; tape 2 foo, call 1"
    assert selection.told("a.yota") == "session, 2 tapes"


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_its_text_and_its_json(
    tmp_path: Path, selection: Selection, stage: str
) -> None:
    selection.stage = stage
    for suffix in (".txt", ".json"):
        export(str(tmp_path / f"x{suffix}"), selection)
    head, *rows = map(json.loads, (tmp_path / "x.json").read_text().splitlines())
    assert head["stage"] == stage
    numbers = {"trace": [1, 2], "reverse": [1, 2, 3, 4, 5], "cse": [1, 2, 3, 5]}
    if stage in numbers:
        assert [r["id"] for r in rows] == numbers[stage]
    text = (tmp_path / "x.txt").read_text()
    assert ("def foo(" in text) is (stage == "code")
    assert (rows[0].get("form") == "lean" if rows else False) is (stage == "code")


def test_buffers_are_listed_with_what_they_hold(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=1))
    session = Session(capture)
    selection = Selection(capture, [session], "buffers")
    for suffix in (".txt", ".json"):
        export(str(tmp_path / f"x{suffix}"), selection)
    plan = session.program.plan()
    lines = (tmp_path / "x.txt").read_text().splitlines()
    _, *rows = map(json.loads, (tmp_path / "x.json").read_text().splitlines())
    assert len(rows) == len(plan.buffers) > 0
    for k, (buffer, row) in enumerate(zip(plan.buffers, rows, strict=True)):
        (var, last), *_ = plan.occupants(k)
        assert lines[k + 1].split()[:4] == [buffer.name, "f64[3]", str(buffer.nbytes), "B"]
        assert f"{var} until {last}" in lines[k + 1]
        assert row["buffer"] == buffer.name
        assert row["holds"][0] == [var.id, last.id]


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("too deep")])
def test_tape_too_big_to_draw_is_an_error_that_names_the_file(
    tmp_path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(selection: Selection) -> bytes:
        raise error

    monkeypatch.setitem(WRITERS, ".dot", fail)
    with pytest.raises(ExportError, match=r"x\.dot: (MemoryError|too deep)"):
        export(str(tmp_path / "x.dot"), selection)


def write_half(target: Path) -> None:
    with replacing(target) as file:
        file.write(b"half")
        raise RuntimeError


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    target.write_text("before")
    with pytest.raises(RuntimeError):
        write_half(target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    target.write_text("before")
    target.chmod(0o640)
    with replacing(target) as file:
        file.write(b"after")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("after", 0o640)


def test_stage_is_what_is_written(tmp_path: Path, selection: Selection) -> None:
    dropped = Selection(selection.capture, selection.sessions, "cse")
    export(str(tmp_path / "x.txt"), dropped)
    export(str(tmp_path / "x.dot"), dropped)
    assert "%4" not in (tmp_path / "x.txt").read_text()
    assert 'id="op-4"' not in (tmp_path / "x.dot").read_text()
    export(str(tmp_path / "code.txt"), Selection(selection.capture, selection.sessions, "code"))
    assert "# prologue" in (tmp_path / "code.txt").read_text()


def test_json_has_a_line_for_the_tape_and_one_an_op(selection: Selection) -> None:
    head, *ops = map(json.loads, json_lines(selection.sessions[0]))
    assert (head["function"], head["calls"], head["ops"], head["cut"]) == ("foo", 1, 5, None)
    assert [op["id"] for op in ops] == [1, 2, 3, 4, 5]
    assert ops[4] | {
        "v": 1, "phase": "REV", "fn": "multiply", "args": [4, 3], "adj": 1, "of": 2, "shape": [],
        "loc": "script.py:6", "nan": 0,
    } == ops[4]  # fmt: skip


def test_json_of_nan_is_still_json(tmp_path: Path) -> None:
    capture = captured(tmp_path, NAN)

    def refuse(text: str) -> None:
        raise AssertionError(text)

    lines = [json.loads(t, parse_constant=refuse) for t in json_lines(Session(capture))]
    assert lines[0]["value"] == "nan"
    assert lines[0]["nonfinite"] == 1
    assert sum(op.get("nan") or 0 for op in lines[1:]) > 0


def long_chain(x):
    for _ in range(20):
        x = np.sin(x) * 2.0
    return np.sum(x)


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_drawings_take_a_direction(tmp_path, direction):
    session = session_of(yota.gradtape(long_chain, np.ones(3)))
    for name in ("x.dot", "x.svg"):
        export(str(tmp_path / name), Selection(session.capture, [session], direction=direction))
    assert f"rankdir={direction}" in (tmp_path / "x.dot").read_text()
    sides = r'width="(\d+)pt" height="(\d+)pt"'
    width, height = map(int, re.search(sides, (tmp_path / "x.svg").read_text()).groups())
    assert (width > height) == (direction == "LR")


# pytorch/pytorch#128634: a layout that takes for ever; .dot is written whatever comes
def test_what_cannot_be_laid_out_is_written_as_dot(tmp_path, monkeypatch):
    def never(*_):
        raise svg.LayoutError("the layout took longer than 10 s")

    monkeypatch.setattr(svg, "render_dot", never)
    session = session_of(yota.gradtape(long_chain, np.ones(3)))
    with pytest.raises(ExportError, match=r"took longer .* wrote .*x\.dot instead"):
        export(str(tmp_path / "x.svg"), Selection(session.capture, [session]))
    assert (tmp_path / "x.dot").read_text().startswith("digraph")
    assert not (tmp_path / "x.svg").exists()


def test_a_drawing_that_takes_too_long_is_folded(tmp_path, monkeypatch):
    def f(x):
        for _ in range(20):
            x = np.sin(x) * 2.0
        return np.sum(x)

    real, sources = svg.render_dot, []

    def impatient(source, form):
        sources.append(source)
        if len(sources) == 1:
            raise svg.LayoutError("the layout took longer than 10 s")
        return real(source, form)

    monkeypatch.setattr(svg, "render_dot", impatient)
    session = session_of(yota.gradtape(f, np.ones(3)))
    export(str(tmp_path / "x.svg"), Selection(session.capture, [session]))
    text = (tmp_path / "x.svg").read_text()
    assert "folded by source line" in text
    assert all(f'id="op-{v.id}"' in text for v in session.tape.ops)


def test_a_layout_that_runs_is_stopped(tmp_path):
    edges = " ".join(f"a{i} -> b{j};" for i in range(60) for j in range(60))
    done = threading.Event()

    def stop():
        while not done.wait(0.05):
            svg.stop_layout()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(svg.Stopped, match="stopped"):
        svg.render_dot(f"digraph {{ {edges} }}", "svg")
    done.set()
    thread.join()
    assert b"<svg" in svg.render_dot("digraph { a -> b }", "svg")


def test_the_screen_exports_in_the_background(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = YotaView(session_of(yota.gradtape(long_chain, np.ones(3))), view="graph")

    async def act(pilot):
        await pilot.press("x", *"a.svg", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "wrote a.svg" in text_of(app)

    drive(app, (80, 24), act)
    assert "rankdir" not in (tmp_path / "a.svg").read_text()
    assert 'id="op-1"' in (tmp_path / "a.svg").read_text()
