"""Keys of the graph and of the folded list."""

from __future__ import annotations

import pytest

import yota
from tests.yotaview.loops import W, X, calls, comprehension, nested, simple_loop, triangular
from tests.yotaview.screen_text import drive, mlp_session, problems, text_of
from yota.tape import Call, Var
from yotaview.app import YotaView
from yotaview.model.outline import Outline
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.timeline import Timeline
from yotaview.render.folded import FoldedRows
from yotaview.render.line import plain
from yotaview.render.mirror import Plan
from yotaview.render.text import Marks, OpRows


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


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
def test_click_on_a_box_goes_there_in_the_half_that_was_clicked(size):
    session = mlp_session()
    session.move(session.stepper.last())
    app = YotaView(session, view="graph")

    async def act(pilot):
        view = app.main.views["graph"]
        pane, seen = view.panes["mirror"], set()
        for y in (2, 8):
            for x in range(1, size[0] - 1, 7):
                plan = Plan.across(view.graph, pane.inner[0])
                pad = pane.size.width - 2 - pane.inner[0] > 0
                box, start = plan.box_at(view.start + x - 1 - pad), view.start
                before = session.at
                await pilot.click(pane, offset=(x, y))
                await pilot.pause()
                if box is None:
                    assert session.at == before
                elif 0 <= plan.place(box) - start < pane.inner[0]:
                    assert view.graph.at(session.at) == box
                    seen.add(session.tape.is_reverse(session.at))
        assert seen == {False, True}
        assert not problems(app)

    drive(app, size, act)
