"""Values as grids, slices and numbers, with what is measured of them."""

import json

import numpy as np
import pytest

from tests.yotaview.scripts import COMPLEX, opened
from yotaview.model.summary import summarise
from yotaview.render import tapes, text, value
from yotaview.render.grid import Cursor
from yotaview.render.json import json_lines
from yotaview.render.line import Span, plain

ODD = {
    "float": 1.5,
    "complex": np.array([1 + 2j, np.nan]),
    "int": np.arange(6).reshape(2, 3),
    "bool": np.array([True, False]),
    "empty": np.zeros((0, 3)),
    "four axes": np.arange(48.0).reshape(2, 2, 3, 4),
    "one element": np.ones((1, 1)),
    "long": np.arange(1000.0),
    "huge": np.array([1e300, -1e300]),
    "not finite": np.array([np.nan, np.inf, -np.inf, 0.0]),
    "tuple": (np.ones(2), 3.0),
    "text": "[bold]x[/]",
    "none": None,
    "float16": np.ones(3, np.float16),
    "longdouble": np.ones(3, np.longdouble),
}


@pytest.mark.parametrize("mode", value.MODES)
@pytest.mark.parametrize("name", ODD)
def test_any_value_can_be_shown(name, mode):
    for size in ((20, 4), (33, 11), (60, 15)):
        rows = value.body(ODD[name], mode, None, *size)[0]
        assert all(isinstance(s, Span) for row in rows for s in row)


def test_grid_shows_all_columns_or_says_how_many():
    wide = value.body(np.full((3, 4), -0.5), "grid", None, 33, 8)[0]
    assert plain(wide).count("-0.5000") == 12
    cut_off = plain(value.body(np.full((30, 40), -0.5), "grid", None, 33, 8)[0])
    assert "of 30×40 shown" in cut_off


def test_slices_of_many_axes_are_named():
    rows = plain(value.body(ODD["four axes"], "grid", Cursor((1, 1, 0, 0)), 60, 8)[0])
    assert "[1, 1, :, :]" in rows


def test_value_pane_labels_magnitudes():
    x = np.array([[3 + 4j, 0], [1j, -2]])
    facts = plain(value.fact_lines(summarise(x), spacious=True, width=60))
    assert facts.startswith("|z|∈[0 ")
    assert "|z|: μ=2" in facts
    assert "‖z‖=5.47723" in facts
    assert "−" not in facts
    assert "magnitudes |z|" in plain(value.histogram(x, 60, 8))
    assert "minimum  of |z| 0" in plain(value.moments(x))
    assert "= 3+4j" in plain(value.body(x[0, 0], "grid", None, 60, 8)[0])
    shades = value.body(x, "heat", None, 60, 8)[0]
    assert "-" not in plain(shades)


def test_text_of_complex_values_says_what_is_measured(tmp_path):
    session = opened(tmp_path, COMPLEX)
    rows = {r.split()[0]: r for r in plain(text.tape_lines(session)).splitlines()}
    assert rows["%1"].endswith("|z| min 0.5 max 2.23607 nan 0")
    assert rows["%3"].endswith("value -3.25+4j")
    assert "  -3.25+4j  " in plain(tapes.list_lines(session.capture))
    head, first, *_ = map(json.loads, json_lines(session))
    assert head["value"] == "(-3.25+4j)"
    assert first["measured"] == "magnitude"


def test_value_of_a_complex_call_that_is_not_kept_is_its_real_part(tmp_path):
    row = opened(tmp_path, COMPLEX).row
    row.calls.clear()
    assert tapes.value_text(row) == "Re -3.25"
    assert tapes.outcome(row) is None


class Shouts:
    def __repr__(self):
        raise AssertionError("run")


def test_value_pane_runs_nothing_of_the_users():
    for thing in (Shouts(), [Shouts()], np.array([Shouts()], object)):
        assert value.body(thing, "grid", None, 40, 5)[0]
    assert "an integer of 16,610 bits" in plain(value.body(10**5000, "grid", None, 40, 5)[0])
