"""Drawings: what DOT and SVG hold, and that hostile names do no harm."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import yota
import yotaview
from tests.yotaview.scripts import EXP, opened
from yota.tape import Call, Frame, Input, Origin, Tape, Var, spec_of
from yotaview.render import svg
from yotaview.render.dot import to_dot
from yotaview.render.fold import FOLD_ABOVE
from yotaview.render.svg import LayoutError, dot_svg, render_dot, svg_png, tape_svg

SVG = "{http://www.w3.org/2000/svg}"


def ids_of(drawing: str) -> set[str]:
    root = ET.fromstring(drawing)
    return {e.get("id", "") for e in root.iter(f"{SVG}g") if e.get("class") == "node"}


def texts_of(drawing: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(drawing).iter(f"{SVG}text")]


def long_tape(count: int) -> Tape:
    def long(x):
        for _ in range(count):
            x = np.sin(x)
        return x

    return yota.gradtape(long, 0.5)


def test_every_op_has_its_element(tmp_path: Path) -> None:
    session = opened(tmp_path, EXP)
    assert ids_of(tape_svg(session.tape)) == {f"op-{v.id}" for v in session.tape.ops}


def test_parts_of_the_tape_are_marked(tmp_path: Path) -> None:
    texts = "\n".join(texts_of(tape_svg(opened(tmp_path, EXP).tape)))
    for expected in ("%1 x", "%2 exp(%1)", "result", "∂x", "f64 · script.py:6", "δ%1"):
        assert expected in texts


def test_gradients_are_named_after_their_inputs() -> None:
    tape = yota.gradtape(lambda p, b: np.sum(p["W"] * b), {"W": np.ones(2)}, 3.0)
    texts = texts_of(tape_svg(tape))
    assert "∂p['W']" in texts
    assert "∂b" in texts


@pytest.mark.parametrize(
    "name",
    ["<b>bold</b>", "</svg><script>alert(1)</script>", 'say "hi"', "back\\slash\\n",
     "a\x00b\x1b[31m", "日本 δ", "<lambda>", "&amp; & <", "-->", "]]>", "\\", "%s {x}"],
)  # fmt: skip
def test_hostile_names_are_only_text(name: str) -> None:
    tape = yota.trace(lambda x: np.exp(x), 0.5)[1]
    (var,) = tape.inputs
    tape.ops[var] = replace(tape.ops[var], name=name)
    drawing = tape_svg(tape)
    assert "<script>" not in drawing
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    assert f"%1 {shown}" in texts_of(drawing)


def test_long_tape_is_folded_by_line_and_says_so() -> None:
    tape = long_tape(FOLD_ABOVE)
    drawing = tape_svg(tape)
    assert len(ids_of(drawing)) < 20
    texts = " ".join(texts_of(drawing))
    assert f"{len(tape):,} ops, folded by source line" in texts
    assert f"{FOLD_ABOVE - 1} ops" in texts


def elements_of(drawing: str) -> dict[str, ET.Element]:
    """Return the elements of ops by their ids."""
    found = [e for e in ET.fromstring(drawing).iter() if e.get("id", "").startswith("op-")]
    assert len({e.get("id") for e in found}) == len(found)
    return {e.get("id", ""): e for e in found}


def many_lines(count: int) -> Tape:
    """Return a tape whose every op comes from a line of its own."""
    tape, spec = Tape(), spec_of(0.5)
    var = tape.push(Input(name="x", spec=spec))
    for k in range(count):
        origin = Origin(frames=(Frame("f.py", k + 1, k + 1, 0, 1, "f"),))
        var = tape.push(Call(fn=np.sin, args=(var,), spec=spec, origin=origin))
    return tape


@pytest.mark.parametrize("make", [long_tape, many_lines], ids=["one line", "many lines"])
@pytest.mark.parametrize("at", [None, Var(1200), Var(3 * FOLD_ABOVE)], ids=str)
def test_every_op_of_a_long_tape_has_its_element(
    make: Callable[[int], Tape], at: Var | None
) -> None:
    tape = make(3 * FOLD_ABOVE)
    found = elements_of(tape_svg(tape, at=at))
    assert set(found) == {f"op-{v.id}" for v in tape.ops}
    for element in found.values():
        drawn = [e for e in element.iter() if e.tag[len(SVG) :] in ("path", "polygon", "ellipse")]
        assert drawn


def test_op_around_the_position_is_drawn_apart() -> None:
    tape = many_lines(3 * FOLD_ABOVE)
    assert "op-1200" in ids_of(tape_svg(tape, at=Var(1200)))
    assert "op-1200" not in ids_of(tape_svg(tape))


def test_marks_of_folded_ops_lie_in_their_box_and_bear_their_names() -> None:
    drawing = tape_svg(long_tape(FOLD_ABOVE))
    boxes = {e.get("id", ""): e for e in ET.fromstring(drawing).iter(f"{SVG}g")}
    box = next(e for name, e in boxes.items() if name.startswith("ops-2-"))
    points = next(box.iter(f"{SVG}polygon")).get("points", "").split()
    xs = [float(p.split(",")[0]) for p in points]
    marks = [e for e in box.iter(f"{SVG}g") if e.get("id", "").startswith("op-")]
    places = [float(next(m.iter(f"{SVG}path")).get("d", "")[1:].split(",")[0]) for m in marks]
    assert places == sorted(places)
    assert min(xs) < places[0] < places[-1] < max(xs)
    title = next(boxes["op-3"].iter(f"{SVG}title")).text or ""
    assert title.startswith("%3 sin(%2) · ")


def test_hostile_names_are_only_text_in_a_folded_drawing() -> None:
    tape = many_lines(FOLD_ABOVE)
    frames = (Frame("</title><script>\x1b&", 1, 1, 0, 1, "f"),)
    for k in range(2, 5):
        tape.ops[Var(k)] = replace(tape.ops[Var(k)], origin=Origin(frames=frames))
    drawing = tape_svg(tape)
    assert "<script>" not in drawing
    title = next(elements_of(drawing)["op-3"].iter(f"{SVG}title")).text or ""
    assert "title><script>\N{REPLACEMENT CHARACTER}&:1" in title


def test_dot_of_a_long_tape_holds_every_op() -> None:
    tape = long_tape(FOLD_ABOVE)
    assert len(re.findall(r'id="op-\d+"', to_dot(tape))) == len(tape)


def test_syntax_error_says_what_failed() -> None:
    with pytest.raises(LayoutError, match="parse"):
        render_dot("digraph {", "svg")


def test_failed_drawing_does_not_leak_into_later_ones(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LayoutError):
        render_dot("digraph {", "svg")
    first = render_dot("digraph { a -> b }", "svg")
    second = render_dot("digraph { a -> b }", "svg")
    out = capfd.readouterr()
    assert first == second
    assert out.out == ""
    assert out.err == ""


def test_layout_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "SECONDS", 0.2)
    n = 400
    edges = " ".join(f"{a} -> {(a * 7 + k * k) % n};" for a in range(n) for k in range(1, 9))
    with pytest.raises(LayoutError, match=r"longer than 0.2 s"):
        render_dot(f"digraph {{ {edges} }}", "svg")
    assert b"<svg" in render_dot("digraph { a -> b }", "svg")


def test_chosen_program_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YOTAVIEW_DOT", "/nowhere/dot")
    with pytest.raises(LayoutError, match="/nowhere/dot"):
        render_dot("digraph { a }", "svg")


def test_chosen_program_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\necho "$1"; cat\n')
    program.chmod(0o755)
    monkeypatch.setenv("YOTAVIEW_DOT", str(program))
    assert render_dot("digraph { a }", "svg") == b"-Tsvg\ndigraph { a }"


def test_picture_is_a_png(tmp_path: Path) -> None:
    assert svg_png(tape_svg(opened(tmp_path, EXP).tape)).startswith(b"\x89PNG\r\n")


def test_graph_draws_itself_in_notebooks() -> None:
    tape = yota.gradtape(lambda x: np.exp(x), 0.5)
    drawing = yotaview.graph(tape)
    assert drawing._repr_mimebundle_()["image/svg+xml"] == drawing._repr_image_svg_xml()
    assert drawing.pipe("svg", encoding="utf-8") == dot_svg(to_dot(tape))
    assert drawing.pipe("png").startswith(b"\x89PNG")
    assert str(drawing.source).startswith("digraph")


def test_drawing_is_the_same_each_time() -> None:
    tape = yota.gradtape(lambda x: np.exp(x) * x, 0.5)
    assert tape_svg(tape) == tape_svg(tape)


def test_folded_constants_are_named() -> None:
    a, b = np.ones((2, 2)), np.zeros((2, 2))
    source = to_dot(yota.trace(lambda x: x @ a + b, a + 1)[1], fold=True)
    (label,) = re.findall(r'label="([^"]*· 2 ops[^"]*)"', source)
    assert label.split(r"\n")[1] not in ("", " ")
    assert len(label.split(r"\n")) == 3


def test_drawing_tells_what_its_colours_and_lines_mean_and_which_op_is_the_seed():
    drawn = to_dot(yota.gradtape(lambda x: np.sum(np.sin(x)), np.ones(3)))
    assert "blue forward, violet reverse; dashed: kept for the reverse pass" in drawn
    assert "seed 1.0" in drawn
    _, forward = yota.trace(np.sin, 1.0)
    assert "dashed" not in to_dot(forward)
