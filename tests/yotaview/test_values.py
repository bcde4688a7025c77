"""Values of every size and kind: sampled where large, over calls, beside a pinned one."""

from __future__ import annotations

import re

import numpy as np
import pytest

import yota
from tests.yotaview.screen_text import drive, mlp_session, problems, screen_of
from tests.yotaview.scripts import EXP, LOOP, opened
from yota.tape import Var
from yotaview.app import YotaView
from yotaview.capture import run_script
from yotaview.model import summary
from yotaview.model.autopsy.masks import bad_mask
from yotaview.model.overcalls import over_calls
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.summary import LARGE, SAMPLE, quick_summary, sample_of, summarise
from yotaview.render import value
from yotaview.render.grid import Cursor, grid_lines
from yotaview.render.line import plain
from yotaview.render.text import facts_of, quick_facts, tape_lines

BIG = np.broadcast_to(np.array([1.5, -2.0]), (1 << 26, 2))


@pytest.mark.parametrize("shape", [(1 << 27,), (1 << 26, 2), (2, 1 << 26), (512, 512, 512)])
def test_sample_of_a_large_array_is_small_and_reaches_all_of_it(shape):
    x = np.broadcast_to(np.int8(1), shape)
    taken = sample_of(x)
    assert SAMPLE / 16 < taken.size < 2 * SAMPLE
    assert taken.base is not None


def test_a_gigabyte_is_told_from_a_sample_until_all_is_counted(monkeypatch):
    """spyder-ide/spyder#2748, microsoft/debugpy#242: looking at a large array froze the window."""
    looked: list[int] = []
    measure = summary._measure
    monkeypatch.setattr(
        summary, "_measure", lambda t, n, x: (looked.append(x.size), measure(t, n, x))[1]
    )
    session = session_of(yota.trace(lambda x: x * 2, np.ones(3))[1])
    session.jump("end")
    session.opened.tape.values[Var(2)] = BIG
    for mode in value.MODES[:4]:
        page = value.page(session, mode, Cursor((7, 1), follows=True), 60, 20)
        assert f"all {BIG.size:,} are being counted" in plain(page.lines)
    assert max(looked) < 2 * SAMPLE
    facts = quick_facts(session, Var(2))
    assert (facts.minimum, facts.maximum, facts.size) == (-2.0, 1.5, BIG.size)
    assert facts.norm == pytest.approx(np.sqrt(BIG.shape[0] * (1.5**2 + 2**2)), rel=1e-3)


def test_sample_gives_way_to_the_facts_of_all():
    session = session_of(yota.trace(lambda x: x * 2, np.ones(3))[1])
    session.jump("end")
    x = np.zeros(LARGE + 1)
    x[12345] = np.nan
    session.opened.tape.values[Var(2)] = x
    assert quick_facts(session, Var(2)).sampled
    assert facts_of(session, Var(2)).nan == 1
    assert not quick_facts(session, Var(2)).sampled
    assert "nan 1" in plain(value.page(session, "grid", None, 60, 20).lines)


def test_small_values_are_counted_whole():
    assert quick_summary(np.arange(12.0)) == summarise(np.arange(12.0))


def test_bools_are_counted_and_complex_numbers_have_magnitude_and_phase():
    facts = summarise(np.array([True, False, True]))
    assert "True 2  False 1" in plain(value.fact_lines(facts, spacious=False, width=40))
    z = np.array([3 + 4j, -1j])
    assert value.element_text(z, (0,)) == "3+4j |z| 5 ∠53.13°"
    assert "phase    -90° … 53.13°" in plain(value.moments(z))


def test_a_number_without_a_text_stays_in_its_cell(monkeypatch):
    """inducer/pudb#164: a formatter that raises wrecked the whole pane."""
    real = summary._real
    monkeypatch.setattr(summary, "_real", lambda v, e=0: 1 / 0 if v == 2.0 else real(v, e))
    rows = plain(value.body(np.array([[1.0, 2.0], [3.0, 4.0]]), "grid", None, 60, 8)[0])
    assert "error" in rows
    assert "+4.0000" in rows


def test_value_over_the_kept_calls(tmp_path):
    session = opened(tmp_path, LOOP.format(count=5))
    facts = over_calls(session, Var(1))
    assert [n for n, _ in facts] == [1, 2, 3, 4, 5]
    means = [f.mean for _, f in facts if f is not None]
    assert means == sorted(means, reverse=True)
    assert means[0] == 1.0
    shown = screen_of(session, (80, 24), ("v", "v", "v", "v"))
    assert "5 of 5 calls kept" in shown
    assert "●" in shown


def test_pinned_value_stays_below_the_others_with_its_distance():
    at = ("colon", "percent_sign", "7", "enter")
    shown = screen_of(mlp_session(), (120, 40), (*at, "P", "N"))
    assert "pinned %7" in shown
    assert "not computed yet" in shown
    shown = screen_of(mlp_session(), (120, 40), (*at, "N", "P", "n"))
    assert "%7 − %6: largest difference" in shown
    assert "pinned" not in screen_of(mlp_session(), (120, 40), (*at, "P", "P", "n"))


def test_what_is_not_finite_is_found_in_large_arrays():
    x = np.zeros((300, 300))
    assert bad_mask(x) is None
    assert bad_mask(x.astype(np.float16) + np.float16(60000)) is None
    for bad in (np.nan, np.inf, -np.inf):
        y = x.copy()
        y[12, 3], y[200, 200] = bad, -bad
        found = bad_mask(y)
        assert found is not None
        assert found.sum() == 2


def test_both_values_have_rows_where_there_is_little_room():
    at = ("colon", "percent_sign", "7", "enter")
    rows = screen_of(mlp_session(), (80, 24), (*at, "N", "P", "n")).splitlines()
    split = next(k for k, row in enumerate(rows) if "pinned %6" in row)
    assert "[:,0]" in " ".join(rows[:split])
    assert "[:,0]" in " ".join(rows[split:])
    assert " 0×4 of" not in " ".join(rows)


@pytest.mark.parametrize("columns", [3, 16, 40, 1200])
def test_names_of_narrow_columns_stand_over_them(columns):
    text = plain(grid_lines(np.zeros((2, columns)), Cursor((0, 0)), 60, 4)[0])
    head, first = text.splitlines()[:2]
    places = [k for k, c in enumerate(first[1:], 1) if c == "0"]
    for name in re.finditer(r"\[:,\d+\]|\d+", head):
        assert places[int(name[0].strip("[:,]"))] == name.end() - 1


def test_tape_as_text_parts_long_places_from_what_follows(tmp_path):
    script = tmp_path / "with_a_rather_long_name.py"
    script.write_text(EXP)
    session = Session(run_script(str(script), [str(script)]))
    rows = plain(tape_lines(session)).splitlines()
    assert any("with_a_rather_long_name.py:6  d%1" in r.replace("   ", " ") for r in rows), rows


HUGE = """\
import numpy as np
import yota


def loss(z):
    w = z * 1.5e308
    return np.sum(np.real(w) / 1e308)


with np.errstate(all="ignore"):
    yota.grad(loss, np.array([1 + 1j, -1 - 1j, 0.5j]))
"""


@pytest.mark.parametrize("mode", ["grid", "heat", "histogram", "summary"])
def test_complex_values_whose_size_overflows_are_shown(mode, tmp_path):
    session = opened(tmp_path, HUGE)
    app = YotaView(session)

    async def act(pilot):
        app.state.mode = mode
        for key in ("g", "n", "n", "n", "n", "W", "escape", "n", "n", "n", "W"):
            await pilot.press(key)
            await pilot.pause()
            assert not problems(app)

    drive(app, (120, 40), act)


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        ([1.0, 1.0 + 2**-52, 1.0 + 2**-52], [1, 2]),
        ([5e-324, 1e-323], [1, 1]),
        ([-1.7e308, 0.0, 1.7e308], [1, 1, 1]),
        ([1.7e308] * 3, [3]),
    ],
)
def test_histogram_of_numbers_that_lie_close_or_far(numbers, counts):
    text = plain(value.histogram(np.array(numbers), 60, 12))
    found = [int(row.split()[-1]) for row in text.splitlines()]
    assert [n for n in found if n] == counts
    assert "nan" not in text
    assert "inf" not in text


def test_summary_tells_median_and_tails():
    text = plain(value.moments(np.append(np.arange(101.0), np.nan)))
    assert "median   50\n" in text
    assert "5…95 %   5 … 95\n" in text
    assert "median" not in plain(value.moments(np.array([True, False])))
    assert "median" not in plain(value.moments(np.full(3, np.nan)))
