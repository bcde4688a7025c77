"""The list of breakpoints and watches over the screen: jump, disable, delete, add."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from yotaview.messages import RowChosen, RowMoved
from yotaview.render.line import Page
from yotaview.render.stops import stops_page
from yotaview.widgets.pane import Pane

if TYPE_CHECKING:
    from yotaview.model.session import Session
    from yotaview.model.stops import Entry


class StopsScreen(ModalScreen[str]):
    """Lists what stops `c` and `C`; closes with what is to be typed next, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,B", "dismiss('')", show=False, priority=True),
        Binding("space", "switch", show=False, priority=True),
        Binding("d,delete", "delete", show=False, priority=True),
        Binding("a", "dismiss('b ')", show=False, priority=True),
        Binding("w", "dismiss('w ')", show=False, priority=True),
        Binding("n", "jump(True)", show=False, priority=True),
        Binding("N", "jump(False)", show=False, priority=True),
    ]

    def __init__(
        self, session: Session, jump: Callable[[Entry, bool], bool], *, ascii: bool = False
    ) -> None:
        super().__init__()
        self.session, self.jump = session, jump
        self.row = 0
        self.told = ""
        self.pane = Pane("stops", self.draw, pad=True)
        self.pane.ascii = ascii

    @property
    def entries(self) -> list[Entry]:
        """What is listed."""
        return self.session.stops.of(self.session.row_index)

    @property
    def entry(self) -> Entry | None:
        """The current one."""
        found = self.entries
        self.row = max(0, min(self.row, len(found) - 1))
        return found[self.row] if found else None

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield self.pane

    def on_mount(self) -> None:
        """Let the arrows walk the list."""
        self.pane.focus()

    def draw(self, width: int, height: int) -> Page:
        """Return the list."""
        return stops_page(self.session, self.entries, self.row, width, self.told)

    def action_switch(self) -> None:
        """Disable or enable the current one."""
        if self.entry is not None:
            self.session.stops.switch(self.entry)
            self.again()

    def action_delete(self) -> None:
        """Take the current one away."""
        if self.entry is not None:
            self.session.stops.remove(self.entry)
            self.again()

    def action_jump(self, forward: bool) -> None:
        """Go to the next or previous stop of the current one."""
        entry = self.entry
        if entry is None:
            return
        way = "behind" if forward else "before"
        moved = self.jump(entry, forward)
        self.again("" if moved else f"{entry.text}: no stop {way} the position")

    def again(self, told: str = "") -> None:
        """Draw the list anew."""
        self.told = told
        self.row = max(0, min(self.row, len(self.entries) - 1))
        self.pane.redraw()

    def on_row_moved(self, event: RowMoved) -> None:
        """Walk the list."""
        event.stop()
        self.row += event.delta
        self.again()

    def on_row_chosen(self, event: RowChosen) -> None:
        """Go to the next stop of the chosen one and close."""
        event.stop()
        self.row = event.row if not event.enter else self.row
        if event.enter and self.entry is not None:
            entry = self.entry
            if self.jump(entry, True) or self.jump(entry, False):
                self.dismiss("")
                return
            self.again(f"{entry.text}: no stop in this call")
            return
        self.again()
