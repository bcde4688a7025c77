"""Lines of text with roles: what every renderer returns and every output shows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A piece of text with the role that a widget turns into a colour."""

    text: str
    role: str = ""


Line = tuple[Span, ...]

ASCII = {
    **dict.fromkeys("▶►▸→⟶⇒", ">"),
    **dict.fromkeys("◂◀←⟵", "<"),
    **dict.fromkeys("●▲", "*"),
    "◎": "@",
    "○": "o",
    **dict.fromkeys("≡═━", "="),
    **dict.fromkeys("·…╌┄", "."),
    **dict.fromkeys("◆", "S"),
    **dict.fromkeys("─−—–", "-"),
    **dict.fromkeys("│┃┊┆‖", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╭╮╰╯", "+"),
    **dict.fromkeys("█▇▆▅", "#"),
    **dict.fromkeys("▓▄", "="),
    **dict.fromkeys("▒▃", "-"),
    **dict.fromkeys("░▂", ":"),
    **dict.fromkeys("▁", "_"),
    **dict.fromkeys("▼▾", "v"),
    **dict.fromkeys("▴", "^"),
    **dict.fromkeys("×✗", "x"),
    **dict.fromkeys("✓", "v"),
    **dict.fromkeys("δ∂", "d"),
    **dict.fromkeys("µμ", "u"),
    **dict.fromkeys("σΣ", "s"),
    **dict.fromkeys("∈", ":"),
    **dict.fromkeys("◉", "@"),
    **dict.fromkeys("»", ">"),
    **dict.fromkeys("«", "<"),
    **dict.fromkeys("²", "2"),
    **dict.fromkeys("∞", "i"),
    **dict.fromkeys("±", "~"),
    **dict.fromkeys("∇", "g"),
    **dict.fromkeys("▐", "#"),
    **dict.fromkeys("›", ">"),
    **dict.fromkeys("Δ", "D"),
    **dict.fromkeys("√", "v"),
    **dict.fromkeys("∠", "@"),
    **dict.fromkeys("°", "o"),
    **dict.fromkeys("≤", "<"),
    **dict.fromkeys("≥", ">"),
    **dict.fromkeys("≠", "#"),
}
CLEAR = "\x1b[0m"
ANSI = {
    "dim": "2",
    "title": "1",
    "key": "1",
    "number": "36",
    "input": "32",
    "forward": "34",
    "seed": "33",
    "reverse": "35",
    "current": "7",
    "alert": "1;31",
    "note": "33",
    "ok": "32",
    "add": "32",
    "remove": "31",
    "breakpoint": "31",
    "warm": "33",
    "cold": "34",
}
ROLES = tuple(ANSI)


def line(*parts: Span | str | Line) -> Line:
    """Return a line of spans, strings and other lines, one after the other."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, Span):
            spans.append(part)
        elif isinstance(part, str):
            spans.append(Span(part))
        else:
            spans.extend(part)
    return tuple(s for s in spans if s.text)


def joined(row: Iterable[Span]) -> list[Span]:
    """Return spans with those of one role that stand side by side as one."""
    found: list[Span] = []
    for span in row:
        if found and found[-1].role == span.role:
            found[-1] = Span(found[-1].text + span.text, span.role)
        else:
            found.append(span)
    return found


def text_of(row: Line) -> str:
    """Return a line without its roles."""
    return "".join(s.text for s in row)


def cells(text: str) -> int:
    """Count the terminal cells of a text; a wide character takes two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def take(text: str, room: int) -> str:
    """Return the longest beginning of `text` that fits `room` cells."""
    if cells(text) <= room:
        return text
    end = min(len(text), max(room, 0))
    while end and cells(text[:end]) > room:
        end -= 1
    return text[:end]


def width(row: Line) -> int:
    """Count the cells of a line."""
    return sum(cells(s.text) for s in row)


def cut(text: str, room: int) -> str:
    """Return `text` in at most `room` cells; an ellipsis stands for what is left out."""
    if cells(text) <= room:
        return text
    return take(text, room - 1) + "…" if room > 0 else ""


def fit(row: Line, room: int) -> Line:
    """Return the line in exactly `room` cells, cut or padded at its right."""
    if room <= 0:
        return ()
    have = width(row)
    if have <= room:
        return (*row, Span(" " * (room - have))) if have < room else row
    spans: list[Span] = []
    left = room
    for span in row:
        size = cells(span.text)
        if size >= left:
            short = f"{take(span.text, left - 1)}…"
            spans.append(Span(short + " " * (left - cells(short)), span.role))
            break
        spans.append(span)
        left -= size
    return tuple(spans)


def crop(row: Line, start: int, room: int) -> Line:
    """Return `room` cells of the line from cell `start`, padded with blanks."""
    if start <= 0:
        return fit(row, room)
    spans: list[Span] = []
    for span in row:
        size = cells(span.text)
        if start >= size:
            start -= size
        else:
            spans.append(Span(span.text[len(take(span.text, start)) :], span.role))
            start = 0
    return fit(tuple(spans), room)


def spread(left: Line, right: Line, room: int) -> Line:
    """Return `left` and `right` at the two ends of `room` cells."""
    gap = room - width(left) - width(right)
    if gap < 1:
        return fit((*fit(left, max(room - width(right) - 1, 0)), Span(" "), *right), room)
    return (*left, Span(" " * gap), *right)


def clean(text: str) -> str:
    """Return text on one line, without the control characters that a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    flat = (" " if c in "\n\t\r" else c if c.isprintable() else "?" for c in text)
    return "".join(c for c in flat if not unicodedata.combining(c))


def wrap(text: str, room: int) -> list[str]:
    """Break a text at blanks into lines of at most `room` cells."""
    return [text_of(row) for row in wrap_line((Span(text),), room)]


def wrap_line(row: Line, room: int, indent: int = 0) -> list[Line]:
    """Break a line at blanks into lines of at most `room` cells, all but the first indented."""
    text, lead = text_of(row), min(indent, room // 2)
    lines: list[Line] = []
    start = 0
    while True:
        margin = lead if lines else 0
        end = start + _stretch(text[start:], max(room - margin, 1))
        lines.append(line(" " * margin, slice_line(row, start, end)))
        start = end
        while text[start : start + 1] == " ":
            start += 1
        if start >= len(text):
            return lines


def _stretch(text: str, room: int) -> int:
    """Count the characters of the first line of a text that is broken at `room` cells."""
    end = max(len(take(text, room)), 1)
    if end >= len(text) or text[end] == " ":
        return end
    blank = text.rfind(" ", 0, end)
    return blank if text[: max(blank, 0)].strip() else end


def slice_line(row: Line, start: int, end: int) -> Line:
    """Return the characters of a line from `start` up to `end`."""
    spans: list[Span] = []
    for span in row:
        spans.append(Span(span.text[max(start, 0) : max(end, 0)], span.role))
        start, end = start - len(span.text), end - len(span.text)
    return line(*spans)


def to_ascii(text: str) -> str:
    """Return text of the same width without a character beyond ASCII."""
    if text.isascii():
        return text
    return "".join(c if c.isascii() else ASCII.get(c, "?") for c in text)


def plain(lines: Iterable[Line]) -> str:
    """Return lines as text, without blanks at their ends."""
    return "".join(f"{clean(text_of(row)).rstrip()}\n" for row in lines)


def ansi(lines: Iterable[Line]) -> str:
    """Return lines as text with the colours of a terminal."""
    return "".join(f"{''.join(map(_paint, row)).rstrip()}\n" for row in lines)


def _paint(span: Span) -> str:
    code = ANSI.get(span.role)
    text = clean(span.text)
    return f"\x1b[{code}m{text}{CLEAR}" if code else text


def bar(share: float, room: int, glyph: str = "█") -> str:
    """Return a bar that fills `share` of `room` cells, at least one for a share above zero."""
    if not share > 0:
        return ""
    return glyph * max(1, min(room, round(share * room)))


def sparkline(values: Sequence[float], room: int) -> str:
    """Return values as a row of small bars; a value that is not finite is `!`."""
    if not values:
        return ""
    step = max(1, -(-len(values) // room))
    kept = [_peak(values[i : i + step]) for i in range(0, len(values), step)]
    finite = [v for v in kept if v - v == 0]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    return "".join(_block(v, low, high) for v in kept)


def _peak(values: Sequence[float]) -> float:
    """Return what must not be lost of values that share a bar: NaN or inf, else the largest."""
    return next((v for v in values if v - v != 0), max(values))


def _block(value: float, low: float, high: float) -> str:
    if value - value != 0:
        return "!"
    if high <= low:
        return "▄"
    return "▁▂▃▄▅▆▇█"[min(7, int(8 * (value - low) / (high - low)))]


@dataclass(frozen=True)
class Page:
    """What a pane shows: lines made one by one on demand, two titles, and the row that is current.

    The current row is kept in sight, and set off where it is `marked`; so is a current column.
    """

    lines: Sequence[Line]
    title: str = ""
    note: str = ""
    cursor: int | None = None
    column: int | None = None
    marked: bool = True
