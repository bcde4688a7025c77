"""Many calls on the screen and in the list: what is kept, what went wrong first, what is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.screen_text import captured as capture_of
from tests.yotaview.screen_text import drive, text_of
from tests.yotaview.scripts import LOOP, captured
from tests.yotaview.sessions import reopened
from yotaview.app import YotaView
from yotaview.capture import Capture, Limits
from yotaview.capture.console import Console
from yotaview.cli import left_open
from yotaview.invocation import Run
from yotaview.model import store
from yotaview.model.session import Session
from yotaview.options import make_parser
from yotaview.render.line import plain, sparkline
from yotaview.render.line import text_of as line_text
from yotaview.render.passes import stage_page
from yotaview.render.tapes import (
    Listing,
    kept_told,
    list_lines,
    nonfinite_told,
    output_page,
    preview_page,
    short_status,
    status,
    tapes_page,
)

BLOWS_UP = Path(__file__).parents[1] / "data" / "blows_up.py"
STANDING = (
    '{"row": 1, "nth": "a", "call": [], "view": "x", "theme": 3, "breaks": [], "at":'
    ' {"number": "n", "name": 1, "reverse": 2, "statement": 3, "nth": "z"}}'
)
THREE = """\
import numpy as np
import yota


def calm(x):
    return np.sum(x * x)


def wild(x):
    return np.sum(np.log(x))


def last(x):
    return np.sum(x) * 2.0


with np.errstate(all="ignore"):
    for _ in range(3):
        yota.grad(calm, 9.0 * np.ones(2))
    yota.grad(wild, np.array([0.0, 1.0]))
    for _ in range(5):
        yota.grad(last, np.ones(2))
"""


@pytest.fixture(scope="module")
def blown_up() -> Capture:
    return capture_of(BLOWS_UP)


@pytest.fixture
def three(tmp_path: Path) -> Capture:
    return captured(tmp_path, THREE)


def test_a_thousand_steps_are_one_row_that_names_the_first_bad_one(blown_up: Capture) -> None:
    (row,) = blown_up.rows
    assert (row.count, row.nonfinite[0], len(row.nonfinite)) == (1000, 731, 270)
    assert status(row) == "NaN/inf in 270 of 1,000, first 731"
    assert short_status(row, wide=False) == "NaN @731"
    assert "first 731" in plain(list_lines(blown_up))
    session = Session(blown_up)
    assert session.call is not None
    assert session.call.number == 731


def test_every_cap_says_how_much_is_shown(blown_up: Capture) -> None:
    (row,) = blown_up.rows
    told = nonfinite_told(row)
    assert told.startswith("first in call 731; 270 of 1,000 calls: 731, 732,")
    assert told.endswith("8 of 270 shown")
    keys = {f"p{k}": row.norms for k in range(11)}
    row_of_many = Capture("x.py", rows=[row])
    own, row.by_key = row.by_key, keys
    try:
        shown = plain(preview_page(Session(row_of_many), 0, 100).lines)
    finally:
        row.by_key = own
    assert "8 of 11 inputs shown" in shown


def test_thinned_calls_are_first_last_bad_and_even(tmp_path: Path) -> None:
    text = LOOP.format(count=400).replace("w, x)\n    w", "w, x + 1e-6 * step)\n    w")
    row = captured(tmp_path, text, Limits(max_bytes=60_000)).rows[0]
    numbers = [c.number for c in row.calls]
    assert kept_told(row).startswith(f"{len(numbers)} of 400 calls kept: first, last")
    assert numbers[:8] == [*range(1, 9)]
    assert numbers[-8:] == [*range(393, 401)]
    gaps = set(np.diff([n for n in numbers if 16 <= n <= 384]))
    assert len(gaps) == 1


def test_bar_of_many_calls_loses_no_bad_one() -> None:
    values = [1.0] * 1000
    values[730] = float("nan")
    assert "!" in sparkline(values, 16)
    values[730] = 5.0
    assert "█" in sparkline(values, 16)


def test_preview_has_the_norm_of_each_input(blown_up: Capture) -> None:
    shown = plain(preview_page(Session(blown_up), 0, 100).lines)
    for name in ("params['W1']", "params['b1']", "params['W2']"):
        assert f"∂{name}" in shown
    assert "kept     every call" in shown


@pytest.mark.parametrize("room", [78, 118, 198])
def test_list_says_filter_order_and_marks(three: Capture, room: int) -> None:
    listing = Listing([1], 0, frozenset([1]), "wild", "call order")
    page = tapes_page(Session(three, 0), listing, room)
    assert "1 of 3 tapes shown" in page.note
    assert "filter: wild" in page.note
    assert ("marked: 1" in page.note) is (room >= 100)
    assert "wild" in line_text(page.lines[1])
    assert ("inputs" in line_text(page.lines[0])) is (room >= 180)


def test_filter_sort_and_mark_by_keys(three: Capture) -> None:
    session = Session(three, 0)
    app = YotaView(session, view="tapes")
    view: Any = None

    def names() -> list[str]:
        return [three.rows[k].name for k in view.order]

    async def act(pilot: Any) -> None:
        nonlocal view
        view = app.screen.views["tapes"]
        assert names() == ["calm", "wild", "last"]
        orders = []
        for _ in range(4):
            await pilot.press("L")
            orders.append(names())
        assert orders == [
            ["wild", "calm", "last"],
            ["last", "calm", "wild"],
            ["wild", "calm", "last"],
            ["calm", "wild", "last"],
        ]
        await pilot.press("ampersand", *"wild", "enter")
        await pilot.pause()
        assert names() == ["wild"]
        assert "1 of 3 tapes shown" in text_of(app)
        await pilot.press("ampersand", *"zz", "enter")
        await pilot.pause()
        assert "no row holds 'wildzz'" in text_of(app)
        await pilot.press("escape")
        await pilot.press("S")
        assert names() == ["calm", "wild", "last"]

    drive(app, (120, 40), act)


def test_output_is_part_of_the_session(blown_up: Capture, tmp_path: Path) -> None:
    back = reopened(blown_up, tmp_path)
    shown = plain(output_page(back, 80).lines)
    assert "step 700  loss" in shown
    assert "step 800  loss nan" in shown
    assert back.sources == blown_up.sources
    app = YotaView(Session(back))

    async def act(pilot: Any) -> None:
        await pilot.press("O")
        await pilot.pause()
        assert "step 900  loss nan" in text_of(app)

    drive(app, (80, 24), act)


def test_reopened_run_shows_the_same_lists(blown_up: Capture, tmp_path: Path) -> None:
    back = reopened(blown_up, tmp_path)
    assert plain(list_lines(back)) == plain(list_lines(blown_up))
    for room in (78, 118, 198):
        first, second = (preview_page(Session(c), 0, room) for c in (blown_up, back))
        assert plain(first.lines) == plain(second.lines)


def test_session_from_the_screen_opens_where_it_stood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(captured(tmp_path, LOOP.format(count=12)), 0, 4)
    app = YotaView(session)

    async def act(pilot: Any) -> None:
        await pilot.press("n", "n", "n", "b", "n", "3", "x", *"here.yota", "enter")
        await pilot.pause()

    drive(app, (120, 40), act)
    back = store.load("here.yota")
    left = left_open(invocation("here.yota", back))
    assert left is not None
    assert (left[0].place, left[1]) == (session.place, "code")
    assert left[0].breakpoints == session.breakpoints != set()
    third = left_open(invocation("here.yota", back, "--call", "3"))
    assert third is not None
    assert third[0].call is not None
    assert (third[0].call.number, third[0].stepper.index) == (3, 0)
    assert third[0].breakpoints == session.breakpoints
    again = reopened(back, tmp_path)
    assert again.standing == back.standing


@pytest.mark.parametrize(
    "standing", ["", "{}", "[", "[" * 5000, '{"at": 1, "breaks": 2}', STANDING, "null"]
)
def test_standing_that_means_nothing_is_left_aside(three: Capture, standing: str) -> None:
    three.standing = standing
    assert left_open(invocation("x.yota", three)) is None


def invocation(target: str, capture: Capture, *options: str) -> Run:
    with Console() as console:
        run = Run(make_parser().parse_args([*options]), console, target)
        run.capture = capture
        return run


@pytest.mark.parametrize("where", ["run", "file"])
def test_passes_show_as_many_rewrites_as_the_engine_made(tmp_path: Path, where: str) -> None:
    capture = capture_of()
    session = Session(reopened(capture, tmp_path) if where == "file" else capture, 0)
    program = session.program
    for k, stage in enumerate(program.stages):
        if stage.name in ("trace", "reverse", "buffers", "code"):
            continue
        before = program.stages[k - 1].tape
        gone = {v for v in before.ops if v not in stage.tape}
        kinds = ("merged", "dropped", "inlined", "inside")
        assert gone <= {r.var for r in stage.rewrites if r.kind in kinds}
        page = stage_page(session, program.stages, k, 0)
        assert len(page.lines) == len(program.stages) + len(stage.rewrites)
    assert sum(len(s.rewrites) for s in program.stages) > 2
