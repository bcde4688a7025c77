"""Values in few words: summaries, single elements, bars, grids."""

from __future__ import annotations

import numpy as np
import pytest

from yotaview.model.summary import format_cell, format_number, grid, norm_of, single, summarise


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1.0, np.nan, np.inf, -2.0, 0.0]), (1, 1, 1, 2, -2.0, 1.0)),
        (np.zeros((0, 3)), (0, 0, 0, 0, None, None)),
        (np.array(7.0), (0, 0, 0, 1, 7.0, 7.0)),
        (np.array([np.nan]), (1, 0, 0, 0, None, None)),
        (np.array([True, False]), (0, 0, 1, 1, 0.0, 1.0)),
        (np.array([-3, 4], np.int8), (0, 0, 0, 1, -3.0, 4.0)),
        (3 + 4j, (0, 0, 0, 1, 5.0, 5.0)),
        (2.5, (0, 0, 0, 1, 2.5, 2.5)),
        (-np.inf, (0, 1, 0, 0, None, None)),
    ],
)
def test_summary_counts_what_is_there(value: object, expected: tuple[object, ...]) -> None:
    s = summarise(value)
    assert (s.nan, s.inf, s.zero, s.positive, s.minimum, s.maximum) == expected


def test_complex_values_are_measured_by_magnitude_and_say_so() -> None:
    s = summarise(np.array([3 + 4j, -1.0]))
    assert (s.symbol, s.is_complex, s.maximum) == ("|z|", True, 5.0)
    assert (summarise(np.ones(2)).symbol, summarise(np.ones(2)).is_complex) == ("x", False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[1 - 2j]]), "1-2j"),
        (np.array(1 - 2j), "1-2j"),
        (1j, "0+1j"),
        (np.array([True]), "True"),
        (2**60 + 1, "1152921504606846977"),
        (np.array([2**60 + 1]), "1152921504606846977"),
        (np.longdouble(0.5), "0.5"),
    ],
)
def test_single_elements_are_shown_as_they_are(value: object, text: str) -> None:
    assert format_number(single(value)) == text


def test_integer_that_python_would_not_write_out_is_told_by_its_length() -> None:
    assert format_number(10**5000) == "an integer of 16,610 bits"


def test_summary_of_huge_values_does_not_overflow() -> None:
    s = summarise(np.array([1e200, -1e200]))
    assert s.norm == pytest.approx(np.sqrt(2) * 1e200)
    assert norm_of(np.zeros(3)) == 0.0


def test_bars_show_where_the_elements_are() -> None:
    s = summarise(np.array([0.0] * 10 + [1.0] * 5))
    assert s.bars == "█        ▄"


def test_grid_is_a_window_of_the_chosen_slice() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    g = grid(x, 2, 2, at=(1,), top=1, left=2)
    assert g.numbers.tolist() == [[18.0, 19.0], [22.0, 23.0]]
    assert (g.slice_text, g.row_count, g.column_count) == ("[1, :, :]", 3, 4)
    assert g.row_labels == ("1", "2")
    assert g.column_labels == ("[:,2]", "[:,3]")


def test_grid_scales_small_numbers_and_keeps_special_ones() -> None:
    g = grid(np.array([[0.0012, -0.0034], [np.nan, np.inf]]), 9, 9)
    assert g.scale == "×1e-3"
    assert g.cells == (("+1.2000", "-3.4000"), ("nan", "+inf"))


@pytest.mark.parametrize(
    ("value", "shape"), [(np.zeros((0, 2)), (0, 2)), (1.5, (1, 1)), (np.arange(3), (3, 1))]
)
def test_grid_takes_every_rank(value: object, shape: tuple[int, int]) -> None:
    g = grid(value, 10, 10)
    assert (g.row_count, g.column_count) == shape
    assert len(g.cells) == shape[0]


def test_cells_of_other_kinds() -> None:
    assert [format_cell(v) for v in (np.True_, np.int64(-3), -0.0)] == ["True", "-3", "-0"]
    assert format_cell(np.complex128(1 - 2j)) == "+1.0000-2.0000j"


def test_cells_under_a_scale_are_all_to_that_scale():
    shown = grid(np.array([[4.6e145, 1.0, 3e140, -5e-320]]), 4, 4)
    assert shown.scale == "×1e+145"
    assert shown.cells == (("+4.6000", "+1e-145", "+3e-05", "-5e-465"),)
    assert [format_cell(v) for v in (3e-7, -2e-12)] == ["+3e-07", "-2e-12"]
