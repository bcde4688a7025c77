"""The tape as boxes: what is folded, where boxes stand, what leads where."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.yotaview.big_tape import big_session
from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from tests.zoo import SMOOTH
from yota.tape import Call, Input, Tape, Var, spec_of
from yotaview.app import YotaView
from yotaview.model.boxes import Boxes, Links
from yotaview.model.outline import MOST, WAYS, Outline, first_open, visible
from yotaview.model.repeats import find_repeats
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.timeline import Timeline
from yotaview.render import graph
from yotaview.render.faces import face
from yotaview.render.folded import FoldedRows
from yotaview.render.graph import MOST as SHOWN
from yotaview.render.graph import ball, unfolded
from yotaview.render.layered import Arrangement
from yotaview.render.line import plain
from yotaview.render.mirror import Plan, mirror, window
from yotaview.render.mirror_down import mirror_down
from yotaview.render.text import Marks, OpRows

RNG = np.random.default_rng(7)
W, X = RNG.standard_normal((4, 4)), RNG.standard_normal(4)


def simple_loop(w, x):
    for _ in range(200):
        x = np.tanh(w @ x + 1.0)
    return np.sum(x)


def one_op_loop(w, x):
    for _ in range(30):
        x = np.sin(x)
    return np.sum(w) * np.sum(x)


def two_statements(w, x):
    for k in range(12):
        h = w @ x
        x = np.tanh(h) * k
    return np.sum(x**2)


def nested(w, x):
    for _ in range(5):
        for _ in range(3):
            x = np.sin(w @ x)
        x = x / 2.0
    return np.sum(x)


def triangular(w, x):
    for k in range(2, 7):
        x = w @ x
        for _ in range(k):
            x = np.sin(x)
        x = x / 2.0
    return np.sum(x)


def late_start(w, x):
    h = 0.0
    for _ in range(10):
        h = np.tanh(0.5 * h + w @ x)  # 0.5 * 0.0 is no op of the tape
    return np.sum(h)


def comprehension(w, x):
    return 1.0 + sum(np.sum(w * k * x) for k in (1.0, 2.0, 3.0, 4.0)) * 2.0


def helper(w, x):
    y = w @ x
    return np.tanh(y)


def calls(w, x):
    a = helper(w, x)
    b = helper(w, a)
    return np.sum(a * b)


def several_lines(w, x):
    y = np.sin(
        w @ x  # two lines of one statement
        + 1.0
    )
    return np.sum(y)


# lutzroeder/netron#68, #592, #1237: equal parts that follow each other are one box, with how many
LOOPS = {
    "simple": (simple_loop, [200]),
    "one op": (one_op_loop, [30]),
    "two statements": (two_statements, [12]),
    "nested": (nested, [5]),
    "triangular": (triangular, [5]),
}


def outline_of(f, *args, by="line") -> Outline:
    session = session_of(yota.gradtape(f, *args or (W, X)))
    return Outline(session.tape, session.capture.sources, by)


def graph_of(session: Session, by="line") -> Boxes:
    outline = Outline(session.tape, session.capture.sources, by)
    return Boxes(outline, Links(outline))


@pytest.mark.parametrize("by", ["line", "function"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_one_box_that_knows_how_often_it_runs(name, by):
    f, counts = LOOPS[name]
    roots = outline_of(f, by=by).roots()
    assert [n.count for n in roots if n.kind == "loop"] == counts
    assert roots[-1].label.startswith("return ")


def test_a_loop_is_labelled_with_its_statement_or_its_header():
    assert outline_of(simple_loop).roots()[0].label == "x = np.tanh(w @ x + 1.0)"
    assert outline_of(two_statements).roots()[0].label == "for k in range(12)"


def test_a_nested_loop_is_found_inside_an_iteration():
    outline = outline_of(nested)
    loop = outline.roots()[0]
    first = outline.children(loop)[0]
    assert first.number == 1
    assert [(n.kind, n.count) for n in outline.children(first)] == [("loop", 3), ("statement", 1)]


def test_an_inner_loop_may_run_any_number_of_times():
    outline = outline_of(triangular)
    loop = next(n for n in outline.roots() if n.kind == "loop")
    inner = [c for it in outline.children(loop) for c in outline.children(it)]
    assert [c.count for c in inner if c.kind == "loop"] == [2, 3, 4, 5, 6]


def test_a_first_iteration_that_differs_is_not_counted():
    roots = outline_of(late_start).roots()
    assert [n.count for n in roots if n.kind == "loop"] == [9]


def test_a_comprehension_stays_inside_its_statement():
    outline = outline_of(comprehension)
    (statement,) = outline.roots()
    assert statement.label.startswith("return 1.0 + sum(")
    assert [n.count for n in outline.children(statement) if n.kind == "loop"] == [4]


def test_a_statement_of_several_lines_is_one_box():
    roots = outline_of(several_lines).roots()
    assert [n.label for n in roots] == [
        "y = np.sin(w @ x + 1.0)",
        "return np.sum(y)",
    ]


# lutzroeder/netron#1554: nested boxes are a choice, and what is folded is found all the same
def test_calls_of_a_function_are_boxes_by_function_and_lines_by_line():
    texts = [n.label for n in outline_of(calls).roots()]
    assert texts[:2] == ["y = w @ x", "return np.tanh(y)"] or "…" in texts[0]
    outline = outline_of(calls, by="function")
    roots = outline.roots()
    assert [n.label for n in roots[:2]] == ["a = helper(w, x)", "b = helper(w, a)"]
    assert [n.label for n in outline.children(roots[0])] == ["y = w @ x", "return np.tanh(y)"]


# mert-kurttutan/torchview#97, jax-ml/jax#5159: the user's names
def test_values_carry_the_names_of_the_users_variables():
    session = mlp_session()
    outline = Outline(session.tape, session.capture.sources)
    names = {n for v in outline.calls if (n := outline.name(v))}
    assert names == {"h", "p", "ll"}
    outline = outline_of(calls)
    found = {outline.name(v) for v in outline.calls}
    assert {"a", "b"} <= found | {"y"}


@given(st.lists(st.integers(0, 2), max_size=40))
def test_repeats_are_true_and_lie_apart(keys):
    end = 0
    for repeat in find_repeats(keys, lambda *_: True, lambda k: (0,)):
        assert repeat.begins[0] >= end
        assert repeat.count >= 2
        ends = (*repeat.begins[1:], repeat.end)
        parts = [keys[a:b] for a, b in zip(repeat.begins, ends, strict=True)]
        assert all(set(p) == set(parts[0]) for p in parts)
        end = repeat.end
    assert end <= len(keys)


@pytest.mark.parametrize("count", [2, 3, 7, 100])
@pytest.mark.parametrize("body", [[1], [1, 2], [1, 2, 2, 3], [1, 1, 2, 1, 1, 3]])
def test_repeats_are_counted_right(body, count):
    (repeat,) = find_repeats([9, *body * count, 8], lambda *_: True, lambda k: (0,))
    ends = (1, 1 + len(body) * count)
    assert (repeat.begins[0], repeat.end) == ends
    assert repeat.count == count * (len(body) if body == [1] else 1) or repeat.count == count


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c[0])
def test_every_adjoint_op_stands_under_its_twin(case, by):
    """Each op is in one box whatever is folded, and a reverse op in that of its forward op."""
    _, f, args = case
    session = session_of(yota.gradtape(f, *args))
    boxes = graph_of(session, by)
    for _ in range(3):
        _check_columns(session, boxes)
        inner = (n for n in boxes.nodes if boxes.outline.children(n))
        node = next(inner, None)
        boxes = boxes if node is None else boxes.opened_with(node)


def _check_columns(session: Session, boxes: Boxes) -> None:
    tape, outline = session.tape, boxes.outline
    held = [v for n in boxes.nodes for v in (*outline.forward(n), *outline.reverse(n))]
    calls = {v for v, op in tape if isinstance(op, Call)}
    assert len(held) == len(set(held))
    assert calls <= set(held)
    for k, node in enumerate(boxes.nodes):
        for var in (*outline.forward(node), *outline.reverse(node)):
            assert boxes.at(var) == k
            cause = tape[var].origin.of
            if tape.is_reverse(var) and cause in outline.of:
                assert boxes.at(cause) == k


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
    assert plan.place(box) + plan.box <= left + width + 1 or plan.box > width
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
    _check_columns(session, boxes)


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


# lutzroeder/netron#610: one key along an edge
def test_one_key_leads_to_each_producer_and_consumer():
    session = mlp_session()
    app = YotaView(session, view="graph")

    async def act(pilot):
        tape = session.tape
        var = next(v for v, op in tape if isinstance(op, Call) and len(op.operands) == 2)
        session.goto(var)
        for expected in tape[var].operands:
            await pilot.press("u")
            assert session.at == expected
            await pilot.press("less_than_sign")
        await pilot.press("d")
        assert session.at in session.users(var)
        await pilot.press("u")
        assert session.at in tape[session.users(var)[0]].operands

    drive(app, (80, 24), act)


def test_keys_unfold_move_and_fold():
    session = mlp_session()
    app = YotaView(session, view="graph")

    async def act(pilot):
        view = app.screen.view
        session.goto(view.graph.outline.calls[0])
        app.screen.redraw()
        await pilot.press("enter")
        assert len(view.graph.nodes) == 6
        await pilot.press("l")
        assert view.graph.at(session.at) == 1
        await pilot.press("j")
        assert session.tape.is_reverse(session.at)
        assert view.graph.at(session.at) == 1
        await pilot.press("k", "minus")
        assert len(view.graph.nodes) == 4
        await pilot.press("enter", "enter")
        assert app.screen.view_name == "step"

    drive(app, (80, 24), act)


def test_a_neighbour_is_chosen_by_arrows_and_entered():
    session = mlp_session()
    session.goto(Var(45))
    app = YotaView(session, view="graph")

    async def act(pilot):
        app.screen.view.show_pane("near")
        await pilot.press("down", "down", "enter")
        assert session.at in session.users(Var(45))
        await pilot.press("plus")
        assert "2 hops" in text_of(app)

    drive(app, (80, 24), act)


def test_search_finds_what_is_folded():
    session = session_of(yota.gradtape(simple_loop, W, X))
    app = YotaView(session, view="graph")

    async def act(pilot):
        await pilot.press("slash", *"tanh(%100", "enter")
        assert "tanh(%100" in app.screen.view.op_text(session.stepper.index)
        assert len(app.screen.view.graph.nodes) == 2

    drive(app, (80, 24), act)


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


def folded_of(session: Session) -> FoldedRows:
    outline = Outline(session.tape, session.capture.sources)
    rows = OpRows(session, Marks(), 74)
    return FoldedRows(rows, Timeline(outline, session.stepper.order), session.stepper.index)


@pytest.mark.parametrize("f", [simple_loop, nested, triangular, comprehension, calls])
def test_the_folded_list_holds_every_op_once_in_order(f):
    session = session_of(yota.gradtape(f, W, X))
    outline = Outline(session.tape, session.capture.sources)
    timeline = Timeline(outline, session.stepper.order)
    for index in range(0, len(session.stepper), 1 + len(session.stepper) // 40):
        session.stepper = session.stepper.to(index)
        rows = FoldedRows(OpRows(session, Marks(), 74), timeline, index)
        entries = rows.entries
        covered = [e for e in entries if not e.is_open]
        assert [e.start for e in covered] == [0, *(e.end for e in covered[:-1])]
        assert covered[-1].end == len(session.stepper)
        assert rows.op_at(rows.cursor) == index


def test_the_folded_list_shows_loops_and_the_iteration_one_is_in():
    session = session_of(yota.gradtape(simple_loop, W, X))
    rows = plain(folded_of(session)[:])
    assert "▸ x = np.tanh(w @ x + 1.0) ×200" in rows
    assert "▸ δ x = np.tanh(w @ x + 1.0) ×200" in rows
    session.goto(folded_of(session).rows.order[100])
    rows = plain(folded_of(session)[:])
    assert "▾ x = np.tanh(w @ x + 1.0) ×200" in rows
    assert "▾ #33 x = np.tanh" in rows


def test_keys_step_over_iterations_and_out_of_loops():
    session = session_of(yota.gradtape(simple_loop, W, X))
    app = YotaView(session)

    async def act(pilot):
        await pilot.press("minus", "n")
        outline = app.screen.state.derived.outline("line")
        assert session.at == outline.calls[0]
        await pilot.press("n")
        assert session.at == outline.calls[3]
        await pilot.press("f")
        assert session.at == outline.calls[600]
        await pilot.press("N")
        assert session.at == outline.calls[597]

    drive(app, (80, 24), act)


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
