"""Two calls compared over the whole screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from yota.tape import Var
from yotaview.messages import RowChosen, RowMoved
from yotaview.model.diff import Diff
from yotaview.render.diff import summary_lines
from yotaview.render.diff_rows import DiffRows
from yotaview.render.line import Line, Page
from yotaview.render.rows import Joined
from yotaview.screens.text import TextScreen

KEYS = "n N difference · enter open · esc closes"


class DiffScreen(TextScreen):
    """Shows the outcome and the ops that differ; `enter` opens the op of the right side."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,D", "dismiss", show=False, priority=True),
        Binding("enter", "open", show=False, priority=True),
        Binding("n,full_stop", "following(1)", show=False),
        Binding("N,comma", "following(-1)", show=False),
        Binding("g", "end(-1)", show=False),
        Binding("G", "end(1)", show=False),
    ]

    def __init__(self, diff: Diff, go: Callable[[Var], None], *, ascii: bool = False) -> None:
        super().__init__(lambda width: Page(()), ascii=ascii)
        self.diff, self.go = diff, go
        self.cursor = 0
        self.head: list[Line] = []
        self.rows = DiffRows(diff, 80)
        self.pane.draw = self.drawn

    def drawn(self, width: int, height: int) -> Page:
        """Return the page for a width."""
        if self.rows.width != width or not self.head:
            self.rows = DiffRows(self.diff, width)
            self.head = [*summary_lines(self.diff, width), ()]
        lines = Joined(self.head, self.rows)
        self.cursor = max(0, min(self.cursor, len(lines) - 1))
        told = f"{len(self.rows.stops):,} rows differ" if not self.diff.equal else "equal"
        return Page(lines, f"Diff: {told}", KEYS, self.cursor)

    def move(self, row: int) -> None:
        """Make a row the current one."""
        self.cursor = row
        self.pane.redraw()

    def action_following(self, step: int) -> None:
        """Go to the next or previous row that differs."""
        stops = [len(self.head) + k for k in self.rows.stops]
        ahead = [k for k in stops if (k - self.cursor) * step > 0]
        if ahead:
            self.move(ahead[0] if step > 0 else ahead[-1])

    def action_end(self, step: int) -> None:
        """Go to the first or last row."""
        self.move(0 if step < 0 else len(self.head) + len(self.rows))

    def action_open(self) -> None:
        """Open the op of the current row in the views."""
        k = self.cursor - len(self.head)
        change = self.rows.entries[k].change if 0 <= k < len(self.rows) else None
        if change is not None and change.right is not None:
            self.dismiss()
            self.go(change.right)

    def on_row_moved(self, event: RowMoved) -> None:
        """Go by rows."""
        event.stop()
        self.move(self.cursor + event.delta)

    def on_row_chosen(self, event: RowChosen) -> None:
        """Go to the row that was clicked."""
        event.stop()
        self.move(event.row)
