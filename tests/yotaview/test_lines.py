"""Lines of text: fitted, cut, wrapped, without control characters, in ASCII."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yotaview.render.line import (
    ASCII,
    Span,
    ansi,
    bar,
    cells,
    clean,
    crop,
    cut,
    fit,
    line,
    plain,
    sparkline,
    spread,
    text_of,
    to_ascii,
    width,
    wrap,
    wrap_line,
)


@pytest.mark.parametrize("room", range(9))
@pytest.mark.parametrize("words", ["", "abc", "日本語", "a日b本c", "plain text"])
def test_fit_and_crop_fill_the_room_exactly(words, room):
    row = line(Span(words[:2], "dim"), words[2:])
    assert width(fit(row, room)) == room
    for start in range(4):
        assert width(crop(row, start, room)) == room
    assert cells(cut(words, room)) <= room


def test_cut_marks_what_is_left_out():
    assert cut("matmul", 6) == "matmul"
    assert cut("matmul", 5) == "matm…"
    assert text_of(spread(line("ab"), line("cd"), 7)) == "ab   cd"
    assert text_of(spread(line("abcdef"), line("xy"), 7)) == "abc… xy"


def test_no_control_character_passes():
    assert clean("a\x1b[31m\nb\tc\u202e") == "a?[31m b c?"


def test_ascii_keeps_the_width():
    glyphs = "".join(ASCII)
    assert to_ascii(glyphs).isascii()
    assert len(to_ascii(glyphs)) == len(glyphs)
    assert to_ascii("▶●≡·◆!─═") == ">*=.S!-="


def test_plain_and_ansi_hold_the_same_text():
    rows = [line(Span("a", "alert"), " b  "), ()]
    assert plain(rows) == "a b\n\n"
    assert ansi(rows) == "\x1b[1;31ma\x1b[0m b\n\n"


def test_bars_and_sparklines():
    assert bar(0.0, 10) == ""
    assert bar(1e-9, 10) == "█"
    assert bar(1.0, 10) == "█" * 10
    assert sparkline([0.0, 1.0, float("nan"), 2.0], 10) == "▁▅!█"
    assert sparkline([], 10) == ""
    assert len(sparkline([float(k) for k in range(1000)], 16)) <= 16


def test_wrapping_keeps_every_word():
    rows = wrap("the quick brown fox jumps", 9)
    assert " ".join(rows) == "the quick brown fox jumps"
    assert max(map(len, rows)) <= 9


@given(st.text("ab %日", max_size=60), st.integers(1, 12), st.integers(0, 4))
def test_wrapped_lines_fit_and_keep_text_and_roles(words, room, indent):
    row = line(Span(words[:7], "dim"), Span(words[7:20], "alert"), words[20:])
    parts = wrap_line(row, room, indent)
    assert all(width(p) <= max(room, min(indent, room // 2) + 2) for p in parts)
    assert "".join(map(text_of, parts)).replace(" ", "") == words.replace(" ", "")
    assert {s.role for p in parts for s in p if s.text.strip()} == {
        s.role for s in row if s.text.strip()
    }


def test_traceback_keeps_its_indentation():
    parts = wrap_line(line("    return np.sum(h @ np.ones(3))"), 20)
    assert [text_of(p) for p in parts] == ["    return np.sum(h", "@ np.ones(3))"]
