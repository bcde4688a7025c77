"""A value as a grid of cells, with shades beside it, and the element one stands on marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yotaview.model.summary import Grid, grid, modulus
from yotaview.render.line import Line, Span, line
from yotaview.render.text import NOW

SHADES = " ░▒▓█"
Index = tuple[int, ...]
Array = np.ndarray[Any, Any]


def folded(x: Array, width: int) -> tuple[Array, int]:
    """Lay a vector out in rows; returns it with how many elements a row has."""
    columns = max(1, min(8, (width - 5) // 10))
    if x.size <= columns or columns == 1:
        return x.reshape(1, -1), max(x.size, 1)
    columns = next((c for c in range(columns, 1, -1) if x.size % c == 0), 1)
    return x.reshape(-1, columns), columns


def vector_columns(value: Any, width: int) -> int:
    """Return how many elements of a vector a row of the grid has."""
    return folded(np.asarray(value), width)[1] if np.ndim(value) == 1 else 1


@dataclass(frozen=True, slots=True)
class Cursor:
    """The element one stands on; the grid scrolls to it where it `follows`."""

    index: Index
    follows: bool = True


def grid_lines(
    x: Array,
    cursor: Cursor,
    width: int,
    height: int,
    *,
    heat_only: bool = False,
    largest: float | None = None,
) -> tuple[list[Line], int]:
    """Return the slice around an element, and the line that it stands in or is nearest to."""
    flat, offset = folded(x, width) if x.ndim == 1 else (x, 0)
    at = cursor.index
    place = (at[0] // offset, at[0] % offset) if offset else at[-2:]
    lead = () if offset else at[:-2]
    shown = _window(flat, width, height, lead, (0, 0), largest)
    top = _top(shown, place[0], height, offset, heat_only) if cursor.follows else 0
    shown = _window(flat, width, height, lead, (top, 0), largest) if top else shown
    columns, left = _columns(shown, width), 0
    if cursor.follows and place[1] >= columns:
        left = place[1] // columns * columns
        shown = _window(flat, width, height, lead, (top, left), largest)
    here = (place[0] - top, place[1] - left)
    if heat_only:
        return _heat_only(shown, here, width, height)
    return _cells(shown, here, (top, left), offset, width, height)


def _top(shown: Grid, row: int, height: int, offset: int, heat_only: bool) -> int:
    """Return the first row to show so that one is in sight, the very first where all fit."""
    label, cell = _sizes(shown, 200)
    tall = height - (0 if heat_only else len(_head(shown, label, cell, 1, False, offset)))
    if shown.row_count <= tall:
        return 0
    tall = max(tall - (not heat_only), 1)
    return max(0, min(row - tall + 2, shown.row_count - tall))


def _window(
    x: Array, width: int, height: int, lead: Index, start: tuple[int, int], largest: float | None
) -> Grid:
    return grid(x, max(height, 1), max(width // 2, 1), lead, *start, largest)


def _sizes(shown: Grid, width: int) -> tuple[int, int]:
    """Return the widths of the labels and of a cell, one less each where that fits all."""
    label = max((len(r) for r in shown.row_labels), default=1) + 2
    cell = max((len(c) for row in shown.cells for c in row), default=1) + 2
    if label + cell * shown.column_count > width >= label - 2 + (cell - 1) * shown.column_count:
        return label - 2, cell - 1
    return label, cell


def _columns(shown: Grid, width: int) -> int:
    label, cell = _sizes(shown, width)
    return max(1, min(shown.column_count, (width - label) // cell))


def _cells(
    shown: Grid, here: tuple[int, int], start: tuple[int, int], offset: int, width: int, height: int
) -> tuple[list[Line], int]:
    label, cell = _sizes(shown, width)
    columns = _columns(shown, width)
    heat = width - label - cell * shown.column_count - 2 >= 3 * shown.column_count
    rows = _head(shown, label, cell, columns, heat, offset)
    head, tall = len(rows), max(height - len(rows), 0)
    cropped = shown.row_count > tall or shown.column_count > columns
    for k in range(min(len(shown.cells), tall - cropped)):
        first = f"{(start[0] + k) * offset}" if offset else shown.row_labels[k]
        body = [
            _cell(c, cell, marked=(k, j) == here) for j, c in enumerate(shown.cells[k][:columns])
        ]
        tail = (Span("   "), *_heat(shown, k, shown.column_count)) if heat else ()
        pieces = [s for pair in body for s in pair]
        rows.append(line(Span(first.ljust(label), "dim"), *pieces, *tail))
    if cropped:
        rows.append(line(Span(_cropped(shown, tall - 1, columns, start), "dim")))
    return rows, min(head + here[0], len(rows) - 1)


def _cell(text: str, room: int, *, marked: bool) -> tuple[Span, ...]:
    """Return a cell at the right of its room; the glyph says which one is meant."""
    if not marked:
        return (Span(text.rjust(room), _sign(text)),)
    gap = room - len(text)
    return (Span(" " * (gap - 1)), Span(NOW if gap else "", "current"), Span(text, "current"))


def _head(shown: Grid, label: int, cell: int, columns: int, heat: bool, offset: int) -> list[Line]:
    names = "" if offset else _names(shown.column_labels[:columns], cell)
    top = f"{shown.slice_text} {shown.scale}".strip()
    if len(top) < label:
        left = top.ljust(label)
        rows = [line(Span(left + names, "dim"))] if names else []
    else:
        rows = [line(Span(top, "note"))]
        rows += [line(Span(" " * label + names, "dim"))] if names else []
    if heat and rows:
        rows[-1] = line(*rows[-1], Span("   heat |x|/max", "dim"))
    return rows


def _names(labels: Sequence[str], cell: int) -> str:
    """Return the names of the columns, each ending where its column does.

    Where cells are narrower than names these are bare numbers, of as many columns as have room.
    """
    size = max(map(len, labels), default=0)
    if size >= cell:
        labels = [c.strip("[:,]") for c in labels]
        size = max(map(len, labels), default=0)
    step = -(-(size + 1) // cell)
    text = ""
    for k in range(0, len(labels), step):
        text = text.ljust((k + 1) * cell - len(labels[k])) + labels[k]
    return text.ljust(cell * len(labels))


def _cropped(shown: Grid, tall: int, columns: int, start: tuple[int, int]) -> str:
    rows, cols = min(max(tall, 0), len(shown.cells)), min(columns, len(shown.column_labels))
    text = f"{rows}×{cols} of {shown.row_count}×{shown.column_count} shown"
    return f"{text} from [{start[0]},{start[1]}]" if any(start) else text


def _sign(cell: str) -> str:
    if cell in ("nan", "+inf", "-inf", "error"):
        return "alert"
    return "cold" if cell.startswith("-") else ""


def _heat_only(
    shown: Grid, here: tuple[int, int], width: int, height: int
) -> tuple[list[Line], int]:
    label = max((len(r) for r in shown.row_labels), default=1) + 2
    columns = max(1, min(shown.column_count, (width - label) // 3))
    rows = []
    for k in range(min(len(shown.cells), height)):
        body = _heat(shown, k, columns)
        if k == here[0] and here[1] < len(body):
            body[here[1]] = Span(f"{NOW}{body[here[1]].text[1:]}", "current")
        rows.append(line(Span(shown.row_labels[k].ljust(label), "dim"), *body))
    return rows, min(here[0], len(rows) - 1)


def _heat(shown: Grid, row: int, columns: int) -> list[Span]:
    return [_shade(v, shown.largest) for v in shown.numbers[row][:columns]]


def _shade(v: Any, largest: float) -> Span:
    size = modulus(v)
    if not np.isfinite(size):
        return Span("!!!", "alert")
    level = SHADES[min(4, int(np.ceil(4 * (size / largest))))] if largest else " "
    if np.iscomplexobj(v):  # a magnitude has no sign
        return Span(level * 3, "warm")
    sign = "-" if v < 0 else "+" if size else " "
    return Span(level * 2 + sign, "cold" if v < 0 else "warm")
