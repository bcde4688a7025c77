"""The Passes view: what is hidden, found, compared and verified, and that nothing jumps."""

import json
import threading
from itertools import pairwise

import pytest

from tests.yotaview.screen_text import drive, mlp_session, screen_of, text_of
from tests.yotaview.scripts import opened
from yota.passes import PASSES, Stage
from yota.passes.rewrite import Rewrite
from yota.program import Program
from yota.tape import Var
from yotaview.app import YotaView
from yotaview.checks import rewrites
from yotaview.render.difference import Diff, Effect, side_by_side, unified
from yotaview.render.json import json_lines
from yotaview.render.line import plain
from yotaview.render.passes import StageRows, has_effect, stage_page
from yotaview.widgets import passes as view_of


def passes_view(session, act, size=(120, 40)):
    app = YotaView(session, view="passes")

    async def go(pilot):
        await act(pilot, app)

    drive(app, size, go)


def test_passes_without_effect_are_hidden_and_said_to_be():
    session = mlp_session()
    idle = [s.name for s in session.program.stages if s.name in PASSES and not s.rewrites]
    assert idle
    shown = screen_of(session, (80, 24), view="passes")
    assert f"{len(idle)} hidden (a)" in shown
    assert all(f" {name} " not in shown for name in idle)
    shown = screen_of(session, (80, 24), ["a"], view="passes")
    assert all(f" {name} " in shown for name in idle)
    assert f"shown: {', '.join(idle)}, which changed nothing" in shown


def test_every_stage_and_its_counts_are_those_of_the_program():
    session = mlp_session()
    stages = session.program.stages
    page = stage_page(session, stages, 2, 0)
    shown = plain(page.lines)
    for k, stage in enumerate(stages):
        assert f"{k + 1} {stage.name}" in shown
        rows = plain(stage_page(session, stages, k, 0).lines).splitlines()
        assert len(rows) == len(stages) + len(stage.rewrites)
    names = ["trace", "reverse", *PASSES, "buffers", "code"]
    assert [s.name for s in stages] == names


def test_search_counts_matches_and_finds_in_hidden_and_folded_places():
    session = mlp_session()
    shown = screen_of(session, (120, 40), ["slash", *"algebra", "enter"], view="passes")
    assert "1/1 found 'algebra'" in shown
    assert "▶ 5 algebra" in shown

    async def act(pilot, app):
        await pilot.press("slash", *"not needed", "enter")
        first = app.screen.told
        await pilot.press("full_stop")
        second = app.screen.told
        assert first.startswith("1/")
        assert second.startswith("2/")
        await pilot.press("comma")
        assert app.screen.told.startswith("1/")
        await pilot.press("slash", *"matmul(%4, %1)", "enter")
        assert "matmul(%4, %1)" in text_of(app)

    passes_view(session, act)


def test_both_sides_say_what_they_are():
    session = mlp_session()
    shown = screen_of(session, (120, 40), view="passes")
    assert "before cse · 49 ops" in shown
    assert "after cse · 48 ops" in shown
    assert shown.count("mlp.py › loss") >= 2
    assert "before → after" in screen_of(session, (80, 24), view="passes")


@pytest.mark.parametrize("layout", ["unified", "beside"])
def test_no_line_moves_from_rewrite_to_rewrite_and_step_to_step(layout):
    session = mlp_session()
    stages = session.program.stages
    for before, stage in pairwise(stages):
        effect = Effect(before.tape, stage.tape, stage)
        seen = set()
        for rewrite in stage.rewrites or (None,):
            for here in (Var(1), Var(30), session.tape.outputs[0]):
                diff = Diff(effect, 1, here, rewrite)
                pages = [unified(session, diff)]
                if layout == "beside":
                    pages = list(side_by_side(session, diff))
                    assert len(pages[0].lines) == len(pages[1].lines)
                bare = [plain(p.lines) for p in pages]
                for glyph in "▶▸":
                    bare = [b.replace(glyph, "") for b in bare]
                places = [tuple(w for w in b.split() if w.startswith("%")) for b in bare]
                numbers = tuple(
                    tuple(line.split("=")[0].strip(" +-") for line in b.splitlines()
                          if " = " in line)
                    for b in bare
                )  # fmt: skip
                seen.add((numbers, tuple(len(p.lines) for p in pages)))
                assert places
        assert len(seen) == 1


def test_folded_ops_are_counted_and_the_position_among_them_is_named():
    session = mlp_session()
    stage = session.program.stage("cse")
    effect = Effect(session.tape, stage.tape, stage)
    shown = plain(unified(session, Diff(effect, 1, Var(5), stage.rewrites[0])).lines)
    assert "ops unchanged, %5 among them" in shown
    rows = effect.shown(1).rows
    assert sum(c.count if c.kind == "gap" else 1 for c in rows) == len(effect.changes)
    for change in effect.changes:
        assert effect.shown(1).row_of(change.var) is not None


def test_changed_operands_are_set_off():
    session = mlp_session()
    stage = session.program.stage("cse")
    effect = Effect(session.tape, stage.tape, stage)
    (changed,) = (c for c in effect.changes if c.kind == "changed")
    page = unified(session, Diff(effect, 1, None, None))
    row = next(r for r in page.lines if r and r[0].text == "+" and str(changed.var) in r[2].text)
    marked = "".join(s.text for s in row[3:] if s.role == "add")
    assert "%10" in marked
    assert "%36" not in marked


def test_verdicts_come_in_the_background_and_by_key():
    session = mlp_session()

    async def act(pilot, app):
        assert "bit-equal ✓  on recorded inputs and 100 random inputs" in text_of(app)
        await pilot.press("equals_sign")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen.told.startswith("rewrite 1: bit-equal ✓")

    passes_view(session, act)


def test_first_paint_does_not_wait_and_work_can_be_stopped(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def slow(session, trials, seconds, stopped):
        begun.set()
        while not stopped() and not go_on.is_set():
            go_on.wait(0.01)
        return []

    session = mlp_session()
    app = YotaView(session, view="step")

    async def act(pilot):
        monkeypatch.setattr(view_of, "verified", slow)
        await pilot.press("2")
        assert begun.wait(5)
        shown = text_of(app)
        assert "verifying rewrites …" in shown
        assert "same function and operands" in shown
        await pilot.press("n")
        assert "fold" in text_of(app).splitlines()[0]
        await pilot.press("escape")
        assert "stopped verifying rewrites" in app.screen.told
        assert app.screen.view_name == "passes"
        await pilot.pause()
        assert "not yet: = replays it" in text_of(app)
        go_on.set()
        await app.workers.wait_for_complete()

    drive(app, (120, 40), act)


def test_wrong_rewrite_is_shown_with_the_element(monkeypatch):
    session = mlp_session()
    real = rewrites.same_bits

    def broken(tape):
        new = Rewrite(tape, "cse")
        exp = [v for v, op in tape if getattr(op, "name", "") == "exp"]
        for var, _ in tape:
            if var == exp[1]:
                new.put(var, Var(9), "same function and operands")
            else:
                new.keep(var)
        return new.done()

    program = Program(session.tape, [broken])
    bad = Stage("cse", broken(session.tape), broken(session.tape).rewrites)
    program._stages = [*program._tape_stages()[:2], bad]
    session.opened.__dict__["program"] = program
    try:
        shown = screen_of(session, (120, 40), view="passes")
    finally:
        del session.opened.__dict__["program"]
    assert real is rewrites.same_bits
    assert "✗ element [" in shown
    assert "before" in shown
    assert "● ✗ 1" in shown


def test_json_has_counts_and_time_of_each_pass():
    session = mlp_session()
    head = json.loads(next(json_lines(session)))
    stages = session.program.stages
    assert [s["stage"] for s in head["stages"]] == [s.name for s in stages]
    assert [s["rewrites"] for s in head["stages"]] == [len(s.rewrites) for s in stages]
    ops = [s["ops"] for s in head["stages"]]
    assert ops == [len(s.tape) for s in stages]
    assert [s["delta"] for s in head["stages"]] == [
        b - a for a, b in zip([ops[0], *ops], ops, strict=False)
    ]
    assert all(s["seconds"] >= 0 for s in head["stages"])


def test_list_draws_what_is_in_sight_however_many_rewrites_there_are():
    session = mlp_session()
    stages = list(session.program.stages)
    cse = next(k for k, s in enumerate(stages) if s.name == "cse")
    many = Stage("cse", stages[cse].tape, stages[cse].rewrites * 200_000)
    stages[cse] = many
    drawn = []

    class Counted(StageRows):
        def row(self, index):
            drawn.append(index)
            return super().row(index)

    rows = Counted(session, stages, cse, 100_000, {})
    assert len(rows) == 200_000 + len(stages)
    assert len(rows[rows.cursor - 10 : rows.cursor + 10]) == 20
    assert len(drawn) == 20
    assert rows.place(rows.cursor) == (cse, 100_000)
    assert rows.place(len(rows) - 1) == (len(stages) - 1, None)


def test_rows_of_the_list_are_gone_through_one_by_one():
    session = mlp_session()

    async def act(pilot, app):
        view = app.screen.view
        places = []
        await pilot.press("g")
        for _ in range(40):
            await pilot.press("down")
            places.append((view.stage.name, view.rewrite()))
        back = []
        for _ in range(40):
            await pilot.press("up")
            back.append((view.stage.name, view.rewrite()))
        wanted = [
            (s.name, k)
            for s in session.program.stages
            if has_effect(s)
            for k in range(max(len(s.rewrites), 1))
        ]
        assert list(dict.fromkeys(places)) == wanted[1:]
        assert list(dict.fromkeys(back)) == wanted[-2::-1]

    passes_view(session, act)


def test_user_functions_are_not_run_to_verify(tmp_path):
    session = opened(
        tmp_path,
        "import numpy as np\nimport yota\n\n"
        "@yota.primitive\ndef double(x):\n    return 2 * x\n\n"
        "yota.defvjp(double, lambda dy, y, x: 2 * dy)\n"
        "yota.grad(lambda x: np.sum(np.exp(double(x)) * 1.0), np.ones(3))\n",
    )
    calls = [op for _, op in session.tape if getattr(op, "name", "") == "double"]
    assert calls
    shown = screen_of(session, (120, 40), view="passes")
    assert "✗" not in shown
