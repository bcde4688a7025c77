"""View 6: what was captured."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from yotaview.model.goto import GotoError
from yotaview.render.header import Place
from yotaview.render.line import Page, plain
from yotaview.render.tapes import (
    Listing,
    list_lines,
    output_page,
    place_text,
    preview_page,
    row_name,
    status,
    tapes_page,
)
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import WIDE, Box, View

SORTS = ("call order", "most urgent", "most calls", "largest ‖∇‖")


def _size(norm: float | None) -> float:
    """Return a norm for sorting: what is not finite comes first, what is not there last."""
    return -1.0 if norm is None else norm if math.isfinite(norm) else math.inf


class TapesView(View):
    """The rows of the capture over a preview of one, and what the script printed."""

    why_pane = "preview"
    main_pane = "rows"
    unit: ClassVar[str] = "row"
    flush: ClassVar[set[str]] = {"rows"}

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.row = state.session.row_index
        self.sort_by = SORTS[0]
        self.wanted = ""
        self.low = 9

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {"rows": self.rows, "preview": self.preview, "printed": self.printed}

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out the list over the preview, the output beside it where it is wide."""
        low = min(self.low + (4 if width >= WIDE else 0), height // 2)
        top = height - low
        if width < WIDE:
            return {"rows": (0, 0, width, top), "preview": (0, top, width, low)}
        half = width // 2
        return {
            "rows": (0, 0, width, top),
            "preview": (0, top, half, low),
            "printed": (half, top, width - half, low),
        }

    @property
    def order(self) -> list[int]:
        """The rows in the order in sight."""
        rows, found = self.session.capture.rows, self.holding(self.wanted)
        found = found or list(range(len(rows)))
        match self.sort_by:
            case "most urgent":
                return sorted(found, key=lambda k: (rows[k].failure is None, not rows[k].nonfinite))
            case "most calls":
                return sorted(found, key=lambda k: -rows[k].count)
            case "largest ‖∇‖":
                return sorted(found, key=lambda k: -_size(rows[k].norm_of()))
        return found

    @property
    def index(self) -> int:
        """The row of the capture that is current."""
        return self.order[min(self.row, len(self.order) - 1)]

    @property
    def marked(self) -> frozenset[int]:
        """The rows that are marked."""
        return frozenset(row for row, _ in self.state.marked)

    @property
    def call(self) -> tuple[int, int]:
        """The current row and the kept call of it that is open, or would be opened."""
        row, session = self.index, self.session
        if row == session.row_index:
            return row, session.call_index
        return row, max(session.capture.rows[row].opening_call(), 0)

    def rows(self, width: int, height: int) -> Page:
        """Return the list."""
        listing = Listing(self.order, self.row, self.marked, self.wanted, self.sort_by)
        return tapes_page(self.session, listing, width)

    def preview(self, width: int, height: int) -> Page:
        """Return what the current row consists of."""
        return preview_page(self.session, self.index, width)

    def printed(self, width: int, height: int) -> Page:
        """Return what the script printed."""
        return output_page(self.session.capture, width)

    def header_place(self) -> Place:
        """Return the row and the outcome of the script."""
        capture = self.session.capture
        return [(f"row {self.row + 1}/{len(capture.rows)}", 0), (f"exit {capture.exit_code}", 1)]

    def select(self, row: int) -> None:
        """Make a row the current one."""
        self.row = max(0, min(row, len(self.order) - 1))
        self.redraw()
        self.moved()

    def do_next(self) -> None:
        """Go to the next row."""
        self.select(self.row + 1)

    def do_previous(self) -> None:
        """Go to the previous row."""
        self.select(self.row - 1)

    def do_into(self) -> None:
        """Open the current row."""
        self.open_row()

    def do_back_into(self) -> None:
        """Show the row that is open."""
        if self.session.row_index not in self.order:
            self.wanted = ""
        self.select(self.order.index(self.session.row_index))

    def do_finish(self) -> None:
        """Go to the next row of another function."""
        self.skip(1)

    def do_back_finish(self) -> None:
        """Go to the previous row of another function."""
        self.skip(-1)

    def skip(self, step: int) -> None:
        """Go on until the function changes."""
        rows, row = self.session.capture.rows, self.row
        name = row_name(rows[self.index])
        while 0 <= row < len(self.order) and row_name(rows[self.order[row]]) == name:
            row += step
        self.select(row)

    def do_first(self) -> None:
        """Go to the first row."""
        self.select(0)

    def do_last(self) -> None:
        """Go to the last row."""
        self.select(len(self.order) - 1)

    def do_layout(self) -> None:
        """Sort in the next way."""
        index = self.index
        self.sort_by = SORTS[(SORTS.index(self.sort_by) + 1) % len(SORTS)]
        self.row = self.order.index(index)
        self.redraw()
        self.tell(f"sorted: {self.sort_by}")

    def filter_rows(self, text: str) -> None:
        """List only the rows that hold a text; raises GotoError where none does."""
        found = self.holding(text)
        if not found:
            raise GotoError(f"no row holds {text!r}; an empty filter shows all")
        index, self.wanted = self.index, text
        self.row = self.order.index(index) if index in found else 0
        self.redraw()

    def holding(self, text: str) -> list[int]:
        """Return the rows that hold a text, whatever its case."""
        rows = self.session.capture.rows
        return [
            k
            for k, r in enumerate(rows)
            if text.lower() in f"{row_name(r)} {place_text(r)} {status(r)} {r.kind}".lower()
        ]

    def do_group(self) -> None:
        """Mark the current row, or take the mark away."""
        self.state.toggle_mark(self.call)
        self.redraw()

    def do_more(self) -> None:
        """Give the preview more of the height."""
        self.low = min(self.low + 2, 15)
        self.place()

    def do_less(self) -> None:
        """Give the preview less of the height."""
        self.low = max(self.low - 2, 5)
        self.place()

    def open_row(self) -> None:
        """Open the current row in Step."""
        try:
            self.session.open(self.index)
        except GotoError as error:  # a call that raised at once
            self.tell(str(error))
            return
        self.moved()
        self.ask_view("step")

    def row_moved(self, pane: str, delta: int) -> None:
        """Go by rows."""
        self.select(self.row + delta)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Make the clicked row the current one; `enter` opens it."""
        self.select(row - 1)
        if enter:
            self.open_row()

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in the names and places of rows."""
        rows, order = self.session.capture.rows, self.order
        return (
            len(order),
            self.row,
            lambda k: f"{row_name(rows[order[k]])} {rows[order[k]].place}",
            self.select,
        )

    def copy_text(self) -> str:
        """Return the list as text."""
        return plain(list_lines(self.session.capture))
