"""The drawn graph: nothing moves, long tapes stay small, every form as recorded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.yotaview.big_tape import big_session
from tests.yotaview.loops import (
    RNG,
    W,
    X,
    check_columns,
    graph_of,
    nested,
    outline_of,
    simple_loop,
    two_statements,
)
from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from tests.zoo import SMOOTH
from yota.tape import Input, Tape, Var, spec_of
from yotaview.app import YotaView
from yotaview.model.boxes import Boxes, Links
from yotaview.model.outline import MOST, Outline, first_open, visible
from yotaview.model.single import session_of
from yotaview.render import graph
from yotaview.render.faces import face
from yotaview.render.graph import MOST as SHOWN
from yotaview.render.graph import ball, unfolded
from yotaview.render.layered import Arrangement
from yotaview.render.line import plain
from yotaview.render.mirror import Plan, mirror, window
from yotaview.render.mirror_down import mirror_down


def corners(page) -> list[list[int]]:
    light = str.maketrans("┏━┓┃┗┛", "┌─┐│└┘")
    rows = plain(page.lines[:9]).translate(light).splitlines()
    return [[k for k, c in enumerate(row) if c in "┌┐└┘"] for row in rows]


# openjdk/jdk#14349, rerun-io/rerun#8282: what does not change does not move
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c[0])
def test_no_box_moves_while_one_steps(case):
    _, f, args = case
    session = session_of(yota.gradtape(f, *args))
    boxes = graph_of(session)
    wide = Plan.across(boxes, 100).extent + 100
    first = corners(mirror(session, boxes, wide))
    for index in range(len(session.stepper)):
        session.stepper = session.stepper.to(index)
        assert corners(mirror(session, boxes, wide)) == first


def test_mirror_is_drawn_anew_only_where_it_changes():
    session = mlp_session()
    boxes = graph_of(session)
    pages = []
    for index in range(len(session.stepper)):
        session.stepper = session.stepper.to(index)
        pages.append(mirror(session, boxes, 100))
        fresh = Boxes(boxes.outline, boxes.links)
        assert pages[-1].lines == mirror(session, fresh, 100).lines
    assert len({id(p) for p in pages}) < len(pages) / 2


@given(st.integers(1, 60), st.integers(40, 200), st.integers(0, 5000), st.data())
def test_the_current_box_is_in_sight(count, width, start, data):
    plan = Plan(15, 19, count)
    box = data.draw(st.integers(0, count - 1))
    left = window(plan, box, width, start)
    assert left <= plan.place(box)
    assert plan.place(box) + plan.box <= left + width + 1
    assert window(plan, box, width, left) == left  # it stays where it is


# szagoruyko/pytorchviz#71: a long tape opens folded
def test_three_thousand_ops_open_in_forty_boxes_and_unfold():
    session = session_of(yota.gradtape(simple_loop, W, X))
    assert len(session.tape) > 2000
    boxes = graph_of(session)
    assert len(boxes.nodes) <= MOST
    unfolded_once = boxes.opened_with(boxes.nodes[0])
    assert len(boxes.nodes) < len(unfolded_once.nodes) <= 2 * MOST
    again = unfolded_once.closed_around(unfolded_once.nodes[0])
    assert again is not None
    assert [n.key for n in again.nodes] == [n.key for n in boxes.nodes]


def test_irregular_code_opens_in_forty_boxes():
    def f(x):
        for k in RNG.integers(0, 3, 1500):
            if k == 0:
                x = np.sin(x)
            elif k == 1:
                x = x * 1.5
            else:
                x = np.tanh(x) + 1.0
        return np.sum(x)

    session = session_of(yota.gradtape(f, X))
    boxes = graph_of(session)
    assert len(session.tape) > 5000
    assert len(boxes.nodes) <= MOST
    check_columns(session, boxes)


# szagoruyko/pytorchviz#57: RecursionError; tinygrad/tinygrad#7435: a chain of adds hangs
def test_a_hundred_thousand_ops_are_drawn_without_recursion():
    session = big_session(100_000)
    boxes = graph_of(session)
    assert len(boxes.nodes) <= MOST
    while (node := boxes.nodes[len(boxes.nodes) // 2]) and boxes.outline.children(node):
        boxes = boxes.opened_with(node)
    session.goto(Var(50_000))
    for width in (78, 118, 198):
        assert mirror(session, boxes, width, 0).lines
        assert mirror_down(session, boxes, width).lines[0]
    assert 1 < len(ball(session, session.at, 3)[0]) <= SHOWN


def test_steps_on_a_long_tape_lay_nothing_out_anew(monkeypatch):
    session = big_session(20_000)
    boxes = graph_of(session)
    session.goto(boxes.outline.calls[10_000])
    unfolded(session, boxes)
    made = []
    monkeypatch.setattr(graph, "Arrangement", lambda *a: made.append(a) or Arrangement(*a))
    for _ in range(30):
        session.step(1)
        unfolded(session, boxes)
        mirror(session, boxes, 198)
    assert len(made) <= 6


def test_ten_thousand_ops_are_legible_on_a_small_screen():
    def f(x):
        for _ in range(800):
            h = np.sin(x) * 2.0
            x = np.tanh(h) - x
        return np.sum(x)

    session = session_of(yota.gradtape(f, X))
    assert len(session.tape) > 9000
    shown = screen_of(session, (80, 24), view="graph")
    assert "×800" in shown
    assert "for _ in range(800)" in shown
    assert "2 boxes by line" in shown


def test_a_long_box_shows_the_iteration_that_one_is_in():
    session = session_of(yota.gradtape(simple_loop, W, X))
    boxes = graph_of(session)
    var = boxes.outline.calls[3 * 57]
    session.goto(var)
    page = unfolded(session, boxes)
    assert "iteration 58" in page.title
    assert f"{var} " in plain(page.lines)
    assert "×200 at 58" in plain(mirror(session, boxes, 100).lines)


def test_links_past_a_box_are_drawn_and_named():
    def f(x):
        a = np.sin(x)
        b = np.cos(x) * 2.0
        c = b + 1.0
        return np.sum(a * c)

    session = session_of(yota.gradtape(f, X))
    boxes = graph_of(session)
    session.goto(boxes.outline.calls[-1])
    shown = plain(mirror(session, boxes, 110).lines)
    assert "╌╌╌▸" in shown
    assert "╌ reads %2" in shown
    node = boxes.nodes[0]
    assert face(session, boxes, node).kept == ("x",)


def test_gradients_that_do_not_fit_are_counted():
    def f(params):
        return np.sum(np.tanh(params["first_weight"] * params["first_bias"]))

    session = session_of(yota.gradtape(f, {"first_weight": X, "first_bias": X + 1}))
    boxes = graph_of(session)
    assert " +1" in plain(mirror(session, boxes, 40).lines)


def test_what_lies_ahead_is_never_a_number():
    session = mlp_session()
    boxes = graph_of(session)
    shown = plain(mirror(session, boxes, 118).lines)
    assert shown.count("not yet") == 4
    assert "‖δ‖" not in shown


# zombie-einstein/jaxpr-viz#22: the gradient is no box of its own
def test_reverse_ops_stand_in_every_form():
    session = mlp_session()
    for keys in ([], ["L"], ["L", "L"]):
        shown = screen_of(session, (80, 24), keys, view="graph")
        assert "%44–49" in shown


# mert-kurttutan/torchview#56, #92, waleedka/hiddenlayer#24: the direction is a choice
def test_the_graph_turns_from_top_to_bottom():
    shown = screen_of(mlp_session(), (120, 40), ["L"], view="graph")
    assert "FWD ▾ left, REV ▴ right" in shown
    rows = [k for k, row in enumerate(shown.splitlines()) if "%5–7" in row or "%8–12" in row]
    assert rows[1] > rows[0]


def test_the_map_shows_where_one_is():
    app = YotaView(mlp_session(), view="graph")

    async def act(pilot):
        assert "Map (49 ops, 4 boxes)" in text_of(app)
        assert "view ├" in text_of(app)
        await pilot.press("M")
        assert "Map (49 ops" not in text_of(app)

    drive(app, (120, 40), act)


def test_a_tape_without_calls_has_a_graph():
    tape = Tape()
    tape.push(Input(name="x", spec=spec_of(1.0)))
    outline = Outline(tape, {})
    assert visible(outline, first_open(outline)) == []


@settings(max_examples=30)
@given(st.integers(0, 400))
def test_boxes_hold_their_positions_apart(at):
    outline = outline_of(nested)
    boxes = Boxes(outline, Links(outline))
    order = tuple(outline.tape.ops)
    edges = boxes.edges(order)
    assert edges == sorted(set(edges))
    var = order[at % len(order)]
    box = boxes.at(var)
    assert box is None or boxes.nodes[box].start <= outline.of[var] < boxes.nodes[box].end


LOOKS = {
    "graph-200x60": ((200, 60), []),
    "graph-down-80x24": ((80, 24), ["L"]),
    "graph-flow-120x40": ((120, 40), ["L", "L"]),
    "graph-ops-120x40": ((120, 40), ["plus"]),
}


@pytest.mark.parametrize("name", LOOKS)
def test_forms_of_the_graph_look_as_recorded(name, golden):
    size, keys = LOOKS[name]
    session = mlp_session()
    session.goto(Var(45))
    golden(f"views/{name}.txt", screen_of(session, size, keys, view="graph"))


def test_a_loop_looks_as_recorded(golden):
    session = session_of(yota.gradtape(two_statements, W, X))
    session.move(session.stepper.percent(70))
    shown = screen_of(session, (80, 24), view="graph")
    golden("views/graph-loop-80x24.txt", shown.partition("\n")[2])
