"""What the renderers draw of tapes, passes, code, buffers and times."""

from itertools import pairwise

import numpy as np
import pytest

import yota
from tests.yotaview.big_tape import big_session
from tests.yotaview.screen_text import captured, mlp_session, screen_of
from tests.yotaview.scripts import COMPLEX, opened
from yota.tape import Call, Constant, Frame, Input, Origin, Tape, Var, spec_of
from yotaview.model.boxes import Boxes, Links
from yotaview.model.groups import group_ops
from yotaview.model.outline import Outline
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.summary import summarise
from yotaview.model.timeline import Timeline
from yotaview.render import (
    buffers,
    code,
    graph,
    header,
    lane,
    layered,
    occupants,
    passes,
    profile,
    tapes,
    text,
    value,
)
from yotaview.render.canvas import Canvas
from yotaview.render.folded import FoldedRows
from yotaview.render.line import plain, text_of
from yotaview.render.text import Marks, OpRows
from yotaview.widgets.state import Derived


def at(session, number):
    session.goto(Var(number))
    return session


def test_op_rows_mark_position_and_future():
    session = at(mlp_session(), 36)
    rows = OpRows(
        session, Marks(frozenset({Var(36)}), frozenset({Var(37)}), frozenset({Var(5)})), 60
    )
    shown = [text_of(rows[k]) for k in range(len(rows))]
    assert shown[35].startswith("▶●%36")
    assert shown[36].startswith("≡·%37")
    assert shown[4].startswith("! %5")
    assert shown[22].startswith("◆ %23")
    assert all(r[1] == "·" for r in shown[36:])
    assert not any(r[1] == "·" for r in shown[:36])
    assert {len(r) for r in shown} == {60}


def test_op_rows_are_made_on_demand():
    rows = OpRows(big_session(5_000), Marks(), 60)
    assert len(rows) == 5_000
    assert "%4000" in text_of(rows[3_999])


def test_text_of_a_tape_has_one_op_a_line_with_facts():
    rows = plain(text.tape_lines(mlp_session())).splitlines()
    assert len(rows) == 49
    assert rows[6].split()[:3] == ["%7", "FWD", "tanh(%6)"]
    assert "mlp.py:14" in rows[6]
    assert "nan 0" in rows[6]
    assert rows[22].split()[1] == "REV"
    assert "d%6" in rows[45]


def test_list_has_a_row_for_each_captured_row():
    rows = plain(tapes.list_lines(captured())).splitlines()
    assert rows[0].split() == [
        "#",
        "function",
        "called",
        "at",
        "calls",
        "fwd",
        "rev",
        "value",
        "|grad|",
        "status",
    ]
    assert rows[1].split()[:6] == ["1", "loss", "mlp.py:29", "3", "22", "27"]
    assert rows[2].endswith("ok")
    assert "NaN/inf" in rows[3]


def test_header_drops_parts_in_order_and_never_the_position():
    session = at(mlp_session(), 45)
    place = header.step_place(session)
    seen = [text_of(header.header(session, place, w)[0]) for w in range(120, 39, -1)]
    for row in seen:
        assert "op 45/49" in row
    gone = [next((k for k, r in enumerate(seen) if part not in r), 999) for part in PARTS]
    assert gone == sorted(gone)
    assert gone[0] > 0


PARTS = ("yotaview", "stage reverse", "line 14", "REV 23/27", "mlp.py")


def test_footer_keeps_help_and_quit():
    hints = [("x", "y" * 10)] * 20
    for room in range(20, 120):
        row = text_of(header.footer(hints, room)[0])
        assert row.endswith("? help  q quit ")
        assert len(row) <= room


def test_lines_that_meet_join():
    canvas = Canvas()
    canvas.horizontal(0, 4, 1)
    canvas.vertical(2, 0, 2)
    assert plain(canvas.lines()) == "  │\n──┼──\n  │\n"


def test_layers_keep_boxes_apart_and_chains_straight():
    nodes = {k: layered.Node(f"%{k} op") for k in range(8)}
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4), (4, 5), (5, 6), (2, 7)]
    canvas, corners = layered.draw(nodes, edges)
    covered = set()
    for n, (x, y) in corners.items():
        box = {(x + dx, y + dy) for dx in range(nodes[n].width) for dy in range(3)}
        assert not covered & box
        covered |= box
    assert corners[4][0] == corners[5][0] == corners[6][0]
    assert all(corners[a][1] < corners[b][1] for a, b in edges)
    shown = plain(canvas.lines())
    assert all(f"%{k} op" in shown for k in nodes)


def test_a_loop_makes_a_group_each_time_round():
    tape, spec = Tape(), spec_of(np.zeros(2))
    first, second = (Frame("f.py", 3, 3, c, c + 4, "f") for c in (4, 9))
    var = tape.push(Input(name="x", spec=spec))
    for _ in range(3):
        for fn, frame in ((np.sin, first), (np.cos, second)):
            var = tape.push(Call(fn=fn, args=(var,), spec=spec, origin=Origin(frames=(frame,))))
    groups = group_ops(tape, {"f.py": ("", "", "    x = cos(sin(x))")})
    assert [g.forward for g in groups.groups] == [[Var(k), Var(k + 1)] for k in (2, 4, 6)]
    assert {g.label for g in groups.groups} == {"x = cos(sin(x))"}


def test_groups_hold_every_call_once():
    session = mlp_session()
    groups = group_ops(session.tape, session.capture.sources)
    held = [v for g in groups.groups for v in (*g.forward, *g.reverse)]
    calls = {v for v, op in session.tape if isinstance(op, Call)}
    assert len(held) == len(set(held))
    assert calls <= set(held)
    assert [g.frame.line for g in groups.groups] == [14, 15, 16, 17]


def test_changes_count_every_op():
    session = mlp_session()
    stages = session.program.stages
    for before, stage in pairwise(stages):
        effect = passes.Effect(before.tape, stage.tape)
        kinds = [c.kind for c in effect.changes]
        assert len(stage.tape) - len(before.tape) == kinds.count("added") - kinds.count("removed")
        for context in (0, 2, 100):
            rows = passes.folded(effect, {Var(1)}, context)
            hidden = sum(c.count for c in rows if c.kind == "gap")
            assert hidden + sum(c.kind != "gap" for c in rows) == len(effect.changes)


def test_occupancy_follows_the_plan():
    session = mlp_session()
    plan = session.program.plan()
    room = len(session.stepper)
    for k in range(len(plan.buffers)):
        row = "".join(s.text for s in buffers.occupancy(session, plan, k, None, room))
        places = buffers.places_of(session, plan)
        for var, last in plan.occupants(k):
            assert " " not in row[places[var] : places[last] + 1]


def test_neighbours_draw_a_bracket_for_several_operands():
    session = at(mlp_session(), 46)
    rows = plain(graph.neighbours(session, None, 1, 76, 4).lines)
    assert "%41 matmul" in rows
    assert "%45 subtract" in rows
    assert "─▸ %46 multiply" in rows
    assert "┬" in rows
    assert "┌─▸" in rows or "┬─▸" in rows


def boxes_of(session: Session) -> Boxes:
    outline = Outline(session.tape, session.capture.sources)
    return Boxes(outline, Links(outline))


def test_unfolded_box_marks_what_lies_ahead():
    session = at(mlp_session(), 45)
    page = graph.unfolded(session, boxes_of(session))
    roles = {
        n: s.role for row in page.lines for s in row for n in (44, 45, 46) if f"%{n} " in s.text
    }
    assert roles == {44: "reverse", 45: "current", 46: "dim"}


@pytest.mark.parametrize("form", ["lean", "bound"])
def test_every_op_of_the_code_has_a_place_on_the_tape(form):
    session = mlp_session()
    plan = session.program.plan(form)
    places = buffers.places_of(session, plan)
    assert all(0 <= places[v] < len(session.stepper) for v in plan.last_use)
    assert all(places[v] == session.stepper.positions[v] for v in session.tape.ops)
    for var, onward in pairwise(plan.last_use):
        assert var in session.tape or places[var] == places[onward]
    for var in session.tape.ops:
        target, why = session.in_code(var, form)
        assert target is None or target in plan.last_use
        assert why or target == var


def test_what_the_code_reads_is_in_a_buffer_or_said_not_to_be():
    session = mlp_session()
    session.jump("end")
    plan, tape = session.program.plan(), session.program.optimised
    kinds = {Input: "argument", Constant: "constant", Call: "not in a buffer"}
    seen = set()
    for var in plan.slot:
        shown = plain(occupants.history_page(session, plan, var, 60).lines)
        for operand in tape[var].operands:
            slot = plan.slot.get(operand)
            place = kinds[type(tape[operand])] if slot is None else plan.buffers[slot].name
            assert f"reads {operand} {place} " in shown
            seen.add(place)
    assert {"argument", "constant", "B0"} <= seen


def test_long_numbers_stand_apart_from_the_bars():
    session = big_session(12_000)
    session.goto(Var(11_000))
    page = buffers.buffer_page(session, session.program.plan("bound"), Var(11_000), 100, 20)
    rows = plain([page.lines[k] for k in range(5)])
    assert "holds %" in rows
    assert all(r.partition("holds ")[2].partition(" ")[0].lstrip("%").isdigit()
               for r in rows.splitlines() if "holds" in r)  # fmt: skip


def test_current_rewrite_is_marked_on_the_line_that_goes():
    shown = screen_of(mlp_session(), (80, 24), ["n"], view="passes")
    assert "-▶%24  = negative(%23)" in shown
    assert shown.count("▶") == 3


def test_a_box_is_laid_out_once():
    session = mlp_session()
    boxes = boxes_of(session)
    session.goto(Var(45))
    first = graph.unfolded(session, boxes)
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "Arrangement", lambda *a: calls.append(a))
        session.goto(Var(46))
        second = graph.unfolded(session, boxes)
    assert calls == []
    assert len(first.lines) == len(second.lines)


LAZY = {
    "ops": lambda s: OpRows(s, Marks(), 60),
    "code": lambda s: code.code_page(s, Marks(), code.Here(3), 80).lines,
    "buffers": lambda s: buffers.buffer_page(
        s, s.program.plan("bound"), s.at, 80, 20, "%1 → %2"
    ).lines,
    "times": lambda s: profile.by_op(
        s, s.profile(), s.profile().slowest(), 1.0, 0, 60
    ).lines,
    "statements": lambda s: FoldedRows(
        OpRows(s, Marks(), 60), Timeline(boxes_of(s).outline, s.stepper.order), s.stepper.index
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAZY)
def test_page_is_painted_as_it_was_made_whatever_is_opened_meanwhile(name):
    session = at(Session(captured(), 0), 30)
    expected = [LAZY[name](session)[k] for k in range(len(LAZY[name](session)))]
    page = LAZY[name](session)
    session.open(1)
    session.step(2)
    assert [page[k] for k in range(len(page))] == expected
    assert page[:3] == expected[:3]
    assert page[-1] == expected[-1]
    with pytest.raises(IndexError):
        page[len(page)]


def test_op_that_was_not_run_has_no_time(tmp_path):
    text = COMPLEX.replace("np.sum(z * z)", "np.sum(own(z))").replace(
        "yota.trace", "own = yota.primitive(lambda z: z + 1)\nyota.trace"
    )
    session = opened(tmp_path, text)
    times = session.profile()
    assert times.not_run == (Var(2),)
    rows = profile.by_op(session, times, list(times.seconds), 1.0, 0, 80).lines
    assert "not run" in text_of(rows[2])
    assert "%" in text_of(rows[3])


def test_what_is_derived_from_a_call_stays_with_it():
    session = Session(captured(), 0)
    derived = Derived(session)
    ops = len(session.tape)
    session.open(1)
    assert len(derived.measure(bool).as_recorded) == ops
    assert derived.groups.groups[0].frame.line == 14
    assert len(derived.flow) > 5


def test_where_the_position_went_stands_above_the_buffers():
    session = at(mlp_session(), 37)
    var, why = session.mapped(Var(37), "code")
    plan = session.program.plan()
    rows = plain(buffers.buffer_page(session, plan, var, 60, 8, why).lines)
    assert rows.startswith("%37 ≡ %10: same function and operands as %10\n")
    assert rows.splitlines()[1].startswith(f"{len(plan.buffers)} buffers")


def test_reason_of_the_position_stands_below_that_of_the_rewrite():
    session = at(mlp_session(), 37)
    stages = {s.name: s for s in session.program.stages}
    for name in ("fold", "dce", "code"):
        rows = plain(passes.why_page(session, stages[name], 0, 90).lines)
        assert "here    %37 ≡ %10: same function and operands as %10" in rows


def test_norms_are_told_from_the_first_to_the_last_call():
    assert tapes._ends([0.42, 0.3, 0.27]) == "‖∇‖ first 0.42 … last 0.27"


def test_counts_read_as_words():
    x = np.array([1.0, -2.0, 0.0, np.nan, np.inf])
    rows = plain(value.fact_lines(summarise(x), spacious=False, width=60))
    assert "nan 1  inf 1  zero 1  − 1  + 2" in rows


@pytest.mark.parametrize("width", range(30, 121, 3))
def test_names_of_phases_stand_apart(width):
    def f(x):
        for _ in range(3):
            x = np.sin(x)
        return np.sum(x / np.sum(x))

    for session in (mlp_session(), session_of(yota.gradtape(f, np.ones(3)))):
        names = plain(lane.lane(session, Marks(), width)).splitlines()[1]
        for name in ("forward ▸", "◂ reverse"):
            assert f" {name}" in names or name not in names
