"""Marks, breakpoints, watches and what-ifs outlive the file, the process and the script's edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.keeping import LONGER, SCRIPT, everything_set, op, texts
from tests.yotaview.screen_text import drive, problems, text_of
from tests.yotaview.scripts import captured, opened
from tests.yotaview.sessions import reopened
from tests.yotaview.test_runs import invocation
from yota.tape import Var
from yotaview import cli
from yotaview.again import IN_FILE, LONGEST, handed_on, handed_over
from yotaview.app import YotaView
from yotaview.capture import Capture
from yotaview.cli import left_open
from yotaview.model import store
from yotaview.model.diff import compare
from yotaview.model.folding import Folding
from yotaview.model.items import Forked, Marked, items_of, remove
from yotaview.model.restore import find_line
from yotaview.model.same import same_bits
from yotaview.model.session import Session
from yotaview.model.standing import read_standing, stand, standing


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return everything_set(tmp_path)


def again(session: Session, capture: Capture) -> tuple[Session, str]:
    return stand(capture, read_standing(standing(session, "step", "nord").text()))


def test_saved_session_carries_all_that_is_set(session: Session, tmp_path: Path) -> None:
    session.capture.standing = standing(session, "graph", "nord").text()
    left = left_open(invocation("x.yota", reopened(session.capture, tmp_path)))
    assert left is not None
    back, view, told = left
    assert (view, told, back.lost) == ("graph", "", [])
    assert (back.place, back.stepper.todo) == (session.place, 2)
    assert back.marks == session.marks
    assert texts(back) == texts(session)
    assert [b.text for b in back.forks.branches] == [b.text for b in session.forks.branches]
    assert back.forks.current == session.forks.current == 2
    for var in session.tape.ops:
        assert same_bits(back.recorded(var), session.recorded(var)), var
    back.forks.switch(1)
    session.forks.switch(1)
    assert back.forks.branch is not None
    assert session.forks.branch is not None
    assert same_bits(back.forks.branch.values[Var(1)], session.forks.branch.values[Var(1)])


def test_longer_script_has_the_same_set_on_the_same_ops(session: Session, tmp_path: Path) -> None:
    back, told = again(session, captured(tmp_path, LONGER))
    sine, product = op(back, "sin"), op(back, "multiply")
    product = next(v for v, o in back.tape if o.name == "multiply" and sine in o.operands)
    assert sine != op(session, "sin")
    assert back.at == product
    assert back.stepper.todo == 2
    assert told == "breakpoint line:7: line 9 now"
    assert texts(back)[:3] == [
        (f"{product} if x.max() > {sine}.max() % 7 - δ{sine}.max()", True),
        ("op:exp", False),
        ("line:9", True),
    ]
    watched = [text for text, _ in texts(back)[4:]]
    assert watched[:3] == [str(sine), f"δ{product}", f"np.ptp({product}) + w.max()"]
    assert back.marks["a"].index == back.stepper.positions[sine]
    first = session.program.plan().occupants(1)[0][0]
    held = back.program.plan().buffer({op(session, "sin"): sine}.get(first, product))
    assert held is not None
    assert watched[3] == held.name
    assert [b.text for b in back.forks.branches] == ["w[1] = 2", f"w[1] = 2; {sine} *= 2"]
    w = np.arange(3.0)
    w[1] = 2
    assert np.array_equal(back.recorded(sine), np.sin(w) * 2)


def test_what_has_no_op_any_more_is_said_by_name_and_waits(
    session: Session, tmp_path: Path
) -> None:
    changed = SCRIPT.replace("a = np.sin(w)", "a = np.tan(w)").replace("np.exp(t)", "t")
    back, told = again(session, captured(tmp_path, changed))
    assert "mark a: no such op any more (sin of a = np.sin(w))" in told
    assert "3 of 5 shown, B lists what is lost" in told
    said = [lost.told for lost in back.lost]
    assert "watch %3: no such op any more (sin of a = np.sin(w))" in said
    assert any(s.startswith("what-if 2 (w[1] = 2; %3 *= 2): no such op any more") for s in said)
    assert [b.text for b in back.forks.branches] == ["w[1] = 2"]
    assert not back.marks
    third, told = again(back, captured(tmp_path, SCRIPT))
    assert (told, third.lost) == ("", [])
    assert third.marks == session.marks
    assert sorted(texts(third)) == sorted(texts(session))
    assert [b.text for b in third.forks.branches] == [b.text for b in session.forks.branches]


def test_changed_statement_leaves_its_op_what_it_was(session: Session, tmp_path: Path) -> None:
    back, told = again(session, captured(tmp_path, SCRIPT.replace("a * x", "(a + 0.0) * x")))
    assert told == ""
    assert (back.op.name, back.lost) == ("multiply", [])


def test_row_that_is_gone_is_said(session: Session, tmp_path: Path) -> None:
    fewer = SCRIPT.replace("yota.grad(other, np.zeros(2))\n", "")
    back, told = again(session, captured(tmp_path, fewer))
    assert told == f"watch np.ptp({op(session, 'exp', 2)}): no such tape of other any more"
    assert len(back.lost) == 1


PRIMITIVE = """\
import numpy as np
import yota

runs = []


@yota.primitive
def twice(x):
    runs.append(1)
    return 2 * x


yota.defvjp(twice, lambda dy, y, x: 2 * dy)


def loss(x):
    return np.sum(twice(x))


yota.grad(loss, np.ones(3))
"""


def test_functions_of_the_users_wait_for_the_key(tmp_path: Path) -> None:
    session = opened(tmp_path, PRIMITIVE)
    session.forks.add("x *= 2", consent=True)
    session.opened = session.forks.opened()
    back, told = again(session, captured(tmp_path, PRIMITIVE))
    runs = op_function(back).__wrapped__.__globals__["runs"]
    before = len(runs)
    assert "what-if 1 (x *= 2) is not in sight: this runs your twice" in told
    assert np.array_equal(back.recorded(Var(1)), np.ones(3))
    app = YotaView(back)

    async def act(pilot: Any) -> None:
        await pilot.press("B", "enter")
        await pilot.pause()
        assert "this runs your twice" in text_of(app)
        assert len(runs) == before
        await pilot.press("enter")
        await pilot.pause()
        assert "What-if 1: x *= 2" in text_of(app)
        assert len(runs) == before + 1
        assert not problems(app)

    drive(app, (120, 40), act)


def op_function(session: Session) -> Any:
    return next(o.fn for _, o in session.tape if getattr(o, "name", "") == "twice")


def test_call_opened_again_still_has_its_what_ifs(session: Session) -> None:
    session.open(1)
    assert session.forks.branches == []
    session.open(0)
    assert [b.text for b in session.forks.branches] == ["w[1] = 2", "w[1] = 2; %3 *= 2"]
    assert session.forks.current == 0
    session.forks.switch(2)
    assert session.forks.branch is not None
    assert session.forks.add("w[0] = 1").number == 3


def test_list_shows_all_kinds_and_each_can_be_left(session: Session) -> None:
    app = YotaView(session)

    async def act(pilot: Any) -> None:
        await pilot.press("B")
        await pilot.pause()
        shown = text_of(app)
        for told in ("● %4 if", "○ op:exp", "◎ B1", "on tape 3 other", "a mark    loss, op 3"):
            assert told in shown
        assert "what-if 1  w[1] = 2" in shown
        assert "▶ what-if 2" in shown
        at = [type(i) for i in items_of(session)].index(Forked)
        await pilot.press(*["down"] * at, "enter")
        await pilot.pause()
        assert "What-if 1: w[1] = 2" in text_of(app)
        await pilot.press("escape", "B", *["down"] * (at + 1), "d")
        assert [b.number for b in session.forks.branches] == [1]
        await pilot.press("up", "enter")
        await pilot.pause()
        assert session.place == session.marks["a"]
        assert not problems(app)

    drive(app, (120, 40), act)


def test_everything_in_the_list_can_be_deleted(session: Session, tmp_path: Path) -> None:
    changed = SCRIPT.replace("a = np.sin(w)", "a = np.tan(w)")
    back, _ = again(session, captured(tmp_path, changed))
    assert back.lost
    back.marks["b"] = back.place
    kinds = {type(i) for i in items_of(back)}
    assert {Marked, Forked} < kinds
    app = YotaView(back)

    async def act(pilot: Any) -> None:
        await pilot.press("B", *["d"] * len(items_of(back)))
        await pilot.pause()
        assert "none yet" in text_of(app)
        assert not problems(app)

    drive(app, (80, 24), act)
    assert items_of(back) == []


def test_what_if_in_sight_gives_way_when_it_is_dropped(session: Session) -> None:
    shown = next(i for i in items_of(session) if isinstance(i, Forked) and i.branch.number == 2)
    remove(session, shown)
    assert session.forks.current == 0
    assert np.array_equal(session.recorded(Var(1)), np.arange(3.0))


def test_stop_of_another_tape_is_gone_to(session: Session) -> None:
    app = YotaView(session)

    async def act(pilot: Any) -> None:
        rows = [getattr(i, "row", None) for i in items_of(session)]
        await pilot.press("B", *["down"] * rows.index(2), "enter")
        await pilot.pause()
        assert (session.row_index, session.op.name) == (2, "exp")

    drive(app, (120, 40), act)


def test_comparison_of_sessions_takes_no_notice(session: Session, tmp_path: Path) -> None:
    session.capture.standing = standing(session, "step", "nord").text()
    back = reopened(session.capture, tmp_path)
    diff = compare(Session(session.capture, 0), Session(back, 0))
    assert diff.same_structure
    assert diff.first is None


def test_long_place_is_handed_on_in_a_file_that_goes() -> None:
    assert handed_on("{}") == "{}" == handed_over("{}")
    text = "x" * (LONGEST + 1)
    word = handed_on(text)
    path = Path(word.removeprefix(IN_FILE))
    assert path.stat().st_mode & 0o077 == 0
    assert handed_over(word) == text
    assert not path.exists()
    with pytest.raises(ValueError, match="No such file"):
        handed_over(word)


@pytest.mark.parametrize("number", [2, 3, 40])
def test_line_without_text_is_found_where_nothing_changed(number: int) -> None:
    lines = ["x = (", "", "", "1)"]
    around = (number, number - 1, number + 1)
    was = tuple(lines[k - 1] if 0 < k <= len(lines) else "" for k in around)
    assert find_line(lines, number, was) == number
    assert find_line(["y = 2", *lines], number, was) == (number if number == 40 else None)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["def f():", "  b = a", "  return b"], 2),
        (["import x", "", "def f():", "  b = a", "  return b"], 4),
        (["x", "y", "def f():", "  b = a + 1", "  return b"], 4),
        (["  b = a", "def f():", "  c = a", "  return c", "  b = a"], 1),
        (["def f():", "  c = a", "  return c"], None),
        ([], None),
    ],
)
def test_line_is_found_by_its_text_else_by_its_neighbours(
    lines: list[str], found: int | None
) -> None:
    assert find_line(lines, 2, ("b = a", "def f():", "return b")) == found


def test_folds_come_back_where_the_structure_is_the_same(tmp_path: Path) -> None:
    capture = captured(tmp_path, SCRIPT)
    app = YotaView(Session(capture, 0))

    async def act(pilot: Any) -> None:
        await pilot.press("t", "4", "t", "G", "plus")
        await pilot.pause()
        assert not problems(app)

    drive(app, (120, 40), act)
    session = app.state.session
    assert session.folding.boxes["function"]
    for run in (reopened(capture, tmp_path), captured(tmp_path, SCRIPT)):
        back, told = again(session, run)
        assert (told, back.folding) == ("", session.folding)
    back, told = again(session, captured(tmp_path, LONGER))
    assert (told, back.folding) == ("", Folding(True, "function"))


def test_breakpoints_of_the_command_line_are_saved_beside_those_of_the_file(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script, first, second = tmp_path / "script.py", tmp_path / "a.yota", tmp_path / "b.yota"
    script.write_text(SCRIPT)
    options = ["--tape", "1", "-b", "op:sin", "--at", "seed"]
    assert cli.main([*options, "-o", str(first), str(script)]) == 0
    assert cli.main(["-b", "nan", "-o", str(second), str(first)]) == 0
    left = left_open(invocation("a.yota", store.load(first)))
    assert left is not None
    assert (left[0].at, texts(left[0])) == (left[0].tape.seed, [("op:sin", True)])
    left = left_open(invocation("b.yota", store.load(second)))
    assert left is not None
    assert texts(left[0]) == [("nan", True), ("op:sin", True)]
