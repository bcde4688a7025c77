"""A drawing of boxes and lines in cells, read row by row."""

from __future__ import annotations

import functools
from collections import defaultdict

from yotaview.render.line import Line, Span, cells, take

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
JOINTS = {
    UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
FRAMES = {False: "┌─┐│└┘", True: "┏━┓┃┗┛"}


@functools.lru_cache(maxsize=1024)
def cell(character: str) -> int:
    """Return how many cells a character takes."""
    return cells(character)


class Canvas:
    """Cells by row and column; text covers lines, lines that meet join."""

    def __init__(self) -> None:
        self.bits: dict[tuple[int, int], int] = defaultdict(int)
        self.roles: dict[tuple[int, int], str] = {}
        self.cells: dict[tuple[int, int], Span] = {}
        self.height = self.width = 0

    def text(self, x: int, y: int, text: str, role: str = "") -> None:
        """Write a text from a cell to the right."""
        for c in text:
            self.cells[x, y] = Span(c, role)
            x += cell(c)
        self._grow(x, y + 1)

    def box(
        self, x: int, y: int, width: int, rows: list[str], role: str = "", heavy: bool = False
    ) -> None:
        """Draw a frame of `width` cells around centred rows."""
        f = FRAMES[heavy]
        edge = "current" if heavy else "dim"
        self.text(x, y, f[0] + f[1] * (width - 2) + f[2], edge)
        for k, row in enumerate(rows, 1):
            self.text(x, y + k, f[3], edge)
            spare = width - 2 - cells(row)
            text = take(" " * (spare // 2) + row + " " * (spare - spare // 2), width - 2)
            self.text(x + 1, y + k, text, "current" if heavy else role)
            self.text(x + width - 1, y + k, f[3], edge)
        self.text(x, y + len(rows) + 1, f[4] + f[1] * (width - 2) + f[5], edge)

    def horizontal(self, x1: int, x2: int, y: int, role: str = "dim") -> None:
        """Draw a line along a row."""
        a, b = sorted((x1, x2))
        for x in range(a, b + 1):
            self._join(x, y, (LEFT if x > a else 0) | (RIGHT if x < b else 0), role)

    def vertical(self, x: int, y1: int, y2: int, role: str = "dim") -> None:
        """Draw a line along a column."""
        a, b = sorted((y1, y2))
        for y in range(a, b + 1):
            self._join(x, y, (UP if y > a else 0) | (DOWN if y < b else 0), role)

    def _join(self, x: int, y: int, bits: int, role: str) -> None:
        self.bits[x, y] |= bits
        self.roles[x, y] = role
        self._grow(x + 1, y + 1)

    def _grow(self, width: int, height: int) -> None:
        self.width, self.height = max(self.width, width), max(self.height, height)

    def lines(self, width: int | None = None) -> list[Line]:
        """Return the drawing as lines; with a width only what lies in columns 0 up to it."""
        rows: list[list[tuple[int, Span]]] = [[] for _ in range(self.height)]
        for (x, y), bits in self.bits.items():
            if (x, y) not in self.cells and bits:
                rows[y].append((x, Span(JOINTS[bits], self.roles[x, y])))
        for (x, y), span in self.cells.items():
            rows[y].append((x, span))
        if width is not None:
            rows = [[(x, span) for x, span in row if 0 <= x < width] for row in rows]
        return [_row(sorted(row)) for row in rows]


def _row(found: list[tuple[int, Span]]) -> Line:
    spans: list[Span] = []
    column = 0
    for x, span in found:
        if x > column:
            spans.append(Span(" " * (x - column)))
        if spans and spans[-1].role == span.role and x == column:
            spans[-1] = Span(spans[-1].text + span.text, span.role)
        else:
            spans.append(span)
        column = x + cell(span.text)
    return tuple(spans)
