"""The Code view: lines, rounds, sections and buffers."""

from itertools import pairwise

import numpy as np
import pytest

import yota
from tests.yotaview.screen_text import counted, drive, mlp_session, screen_of, text_of
from tests.yotaview.scripts import EXP, opened
from tests.yotaview.tapes import FUNCTIONS, made
from yota.program import Program
from yota.tape import Call, Constant, Var
from yotaview.app import YotaView
from yotaview.model.codemap import CodeMap
from yotaview.model.occupants import Occupants
from yotaview.model.parts import ACCUMULATE, WRITE, parts_of
from yotaview.model.session import Session
from yotaview.render.buffers import holds_now, told_of, total_line
from yotaview.render.code import DEEPEST, CodeRows, Here, stretches
from yotaview.render.line import plain
from yotaview.render.occupants import OccupantRows
from yotaview.render.text import Marks, describe

RECURRENT = """\
import numpy as np
import yota

rng = np.random.default_rng(2)
W, rows = np.eye(4) * 0.9, rng.standard_normal((12, 4))


def loss(W):
    h = np.zeros(4)
    for x in rows:
        h = np.tanh(W @ h + x)
    return np.mean(h**2)


yota.grad(loss, W)
"""


@pytest.mark.parametrize("view", ["code", "passes"])
def test_views_look_as_recorded_on_a_big_screen(view, golden):
    shown = screen_of(counted(mlp_session()), (200, 60), ("colon", "4", "5", "enter"), view=view)
    golden(f"views/{view}-200x60.txt", shown)


@pytest.mark.parametrize("form", ["lean", "bound"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_line_of_an_op_is_one_stop(name, form):
    program, code, *_ = made(name, form=form)
    source = program.source(form)
    found = CodeMap(source, code)
    assert len({s.var for s in found.stops}) == len(found.stops)
    order = {v: k for k, v in enumerate(code.ops)}
    ran = [s for s in found.stops if s.line in source.body]
    assert [s.var for s in ran] == sorted((s.var for s in ran), key=order.__getitem__)
    for one, other in pairwise(found.stops):
        assert found.next(one, one.line, 1) == other
        assert found.next(other, other.line, -1) == one
    for stop in found.stops:
        assert source.line_of[stop.var] == stop.line == found.stop_of(stop.var).line
        assert found.on_line(stop.line, stop) == stop
    for var, op in code:
        if isinstance(op, Call) and var in source.line_of:
            assert found.place_of(var) is not None


def test_rounds_of_a_loop_are_counted(tmp_path):
    session = opened(tmp_path, RECURRENT)
    code = session.opened.code_map("lean")
    loops = [s for s in code.stops if s.rounds]
    assert loops
    first = loops[0]
    assert code.texts[first.loop - 1].lstrip().startswith("for ")
    same = [s for s in loops if s.line == first.line]
    assert [s.round for s in same] == list(range(1, first.rounds + 1))
    assert [code.on_line(first.line, s) for s in same] == same


def test_screen_goes_through_a_loop_round_by_round(tmp_path):
    session = opened(tmp_path, RECURRENT)
    loop = next(s for s in session.opened.code_map("lean").stops if s.rounds)
    session.step(session.occupants().places[loop.var])
    app = YotaView(session, view="code")
    shown = []

    async def act(pilot):
        for key in "nnnnNNNN":
            await pilot.press(key)
            view = app.screen.view
            shown.append((view.here.line, view.here.stop.round))
        assert f"round 1 of {loop.rounds}" in text_of(app)
        assert f"round 1/{loop.rounds}" in text_of(app).splitlines()[0]

    drive(app, (80, 24), act)
    assert shown[3][1] > 1
    assert shown[:3] == shown[6:3:-1]


def test_every_line_that_computes_can_be_gone_to():
    session = mlp_session()
    app = YotaView(session, view="code")

    async def act(pilot):
        view = app.screen.view
        for number in view.map.lines:
            view.goto_line(number)
            await pilot.pause()
            assert view.here.line == number
            assert view.op[0] in view.map.own[number]
            # the position is that op, or the next recorded one
            assert session.stepper.index == view.known.places[view.op[0]]

    drive(app, (120, 40), act)


@pytest.mark.parametrize("level", range(DEEPEST + 1))
def test_folding_hides_no_line_without_saying_so(level):
    session = mlp_session()
    source, total = session.program.source(), len(session.opened.code_map().texts)
    for here in range(1, total + 1):
        parts = stretches(source, total, level, here)
        assert parts[0].first == 1
        assert parts[-1].last == total
        assert all(a.last + 1 == b.first for a, b in pairwise(parts))
        assert any(p.first <= here <= p.last and not p.folded for p in parts)
        rows = CodeRows(session, session.opened.code_map(), Marks(), Here(here), 80, level)
        assert rows.part(rows.row_of(here))[1] == here
    shown = plain(rows[:])
    hidden = [p for p in parts if p.folded]
    assert all(f"{p.last - p.first + 1} line" in shown for p in hidden)
    assert bool(hidden) == bool(level)


def test_sections_fold_and_a_search_looks_into_them():
    keys = ["minus", "minus", "slash", *"idle.pop", "enter"]
    shown = screen_of(mlp_session(), (120, 40), keys, view="code")
    assert "buffers = idle.pop()" in shown
    assert "lines of body" in shown
    assert "lines of constants and memory, made once" in shown
    assert "found 'idle.pop' in row" in shown


def test_accesses_are_the_writers_and_readers_of_each_buffer():
    program, code, *_ = made("mlp")
    plan = program.plan()
    known = Occupants(code, plan, {v: k for k, v in enumerate(program.tape.ops)})
    assert plan.buffers
    for k in range(len(plan.buffers)):
        expected = {(v, True) for v, _ in plan.occupants(k)}
        for var, _ in plan.occupants(k):
            direct = {v for v, op in code if isinstance(op, Call) and var in op.operands}
            assert direct <= set(known.readers(var))
            assert known.readers(var)[-1:] in ([], [plan.last_use[var]])
        found = {(a.var, a.writes) for a in known.accesses(k)}
        assert expected <= found


def test_parts_of_a_buffer_count_as_writes_of_the_whole():
    program, code, *_ = made("form stacks")
    plan = program.plan()
    known = Occupants(code, plan, {v: k for k, v in enumerate(program.tape.ops)})
    whole = next(k for k in known.wholes if known.parts.get(k))
    written = known.written_by(whole)
    for part in known.parts[whole]:
        assert {v for v, _ in plan.occupants(part)} <= set(written)
    assert "parts" in plain([total_line(plan)])


def test_keys_walk_along_who_writes_and_reads_a_buffer():
    session = mlp_session()
    session.goto(Var(6))
    app = YotaView(session, view="code")
    said = []

    async def act(pilot):
        for key in ["J"] * 8 + ["K"] * 8:
            await pilot.press(key)
            said.append(app.screen.told)

    drive(app, (80, 24), act)
    assert said[0] == "%7 writes B0"
    assert said[1] == "%8 reads %7 in B0"
    assert said[8:15] == said[6::-1][:7]


def test_buffers_are_chosen_and_their_writers_gone_to():
    session = mlp_session()
    session.goto(Var(45))
    app = YotaView(session, view="code")

    async def act(pilot):
        await pilot.press("tab", "down", "down")
        assert "B2 occupants" in text_of(app)
        await pilot.press("left")
        assert app.screen.told == "%51 writes B2"
        await pilot.press("0")
        assert app.screen.view.buffer is None

    drive(app, (120, 40), act)


def test_pane_says_what_a_buffer_holds_who_wrote_it_and_who_needs_it():
    session = mlp_session()
    shown = screen_of(session, (80, 24), ["colon", *"45", "enter"], view="code")
    assert "B0 %45 subtract(1, %44)  min 0.326872 max 0.999984 nan 0" in shown
    assert "by line 63  needed by %46  next write %46" in shown


def test_check_by_key_says_what_it_did():
    shown = screen_of(mlp_session(), (120, 40), ["equals_sign"], view="code")
    assert "no hazard ✓" in shown


def test_program_without_buffers_says_so(tmp_path):
    shown = screen_of(opened(tmp_path, EXP), (80, 24), view="code")
    assert "a program without buffers: its values are scalars" in shown


def test_total_compares_the_plan_with_an_array_an_op():
    f = lambda x: np.sum(np.tanh(np.exp(x) * x))
    program = Program(yota.gradtape(f, np.ones(1000)))
    plan = program.plan()
    apart = sum(op.spec.nbytes for _, op in program.optimised if isinstance(op, Call))
    shown = plain([total_line(plan)])
    assert f"{plan.nbytes:,} B" in shown
    assert f"one array an op {apart:,} B" in shown
    assert plan.peak_nbytes <= plan.nbytes < apart
    assert all(not isinstance(program.optimised[v], Constant) for v in plan.slot)


@pytest.mark.parametrize("form", ["lean", "bound"])
def test_buffer_holds_what_was_there_before_until_the_op_writes(form):
    session = Session(mlp_session().capture, 0)
    plan, code = session.program.plan(form), session.program.tape_of(form)
    own = [v for v in session.tape.ops if v in plan.slot and v in code]
    assert own
    for var in own:
        k, at = plan.slot[var], session.stepper.positions[var]
        before = [v for v in code.ops if v in plan.slot and v < var]
        for part, todo in parts_of(session.opened, var):
            session.stepper = session.stepper.within(at, todo)
            held = holds_now(session, plan, var).get(k)
            shown = plain(told_of(session, plan, k, var))
            assert (held == var) == (part in (WRITE, ACCUMULATE))
            assert held == var or held is None or held in before
            assert (f"{var} {describe(code[var])}" in shown) == (held == var)


def test_history_of_a_buffer_stands_before_the_op_under_way():
    session = Session(mlp_session().capture, 0)
    plan = session.program.plan("lean")
    k, second = next((k, plan.occupants(k)[1][0]) for k in range(len(plan.buffers))
                     if len(plan.occupants(k)) > 1)  # fmt: skip
    session.stepper = session.stepper.within(session.stepper.positions[second], 3)
    assert OccupantRows(session, plan, k, second, 60, []).held == plan.occupants(k)[0][0]
    session.goto(second)
    assert OccupantRows(session, plan, k, second, 60, []).held == second
