"""The list of all that is set over the screen: jump, disable, delete, add."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from yotaview.messages import RowChosen, RowMoved
from yotaview.model.items import Forked, Item, Marked, items_of, remove
from yotaview.model.kept import Lost
from yotaview.model.stops import Breakpoint, Watching
from yotaview.render.line import Page
from yotaview.render.stops import stops_page
from yotaview.widgets.pane import Pane

if TYPE_CHECKING:
    from yotaview.model.session import Session
    from yotaview.model.stops import Entry


class StopsScreen(ModalScreen[str | Marked | Forked]):
    """Lists breakpoints, watches, marks and what-ifs.

    Closes with what is to be typed next, the mark or what-if to go to, or nothing.
    """

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
    def items(self) -> list[Item]:
        """What is listed."""
        return items_of(self.session)

    @property
    def item(self) -> Item | None:
        """The current one."""
        found = self.items
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
        return stops_page(self.session, self.items, self.row, width, self.told)

    def action_switch(self) -> None:
        """Disable or enable the current one."""
        if isinstance(self.item, Breakpoint | Watching):
            self.session.stops.switch(self.item)
            self.again()
        else:
            self.again("space disables breakpoints and watches")

    def action_delete(self) -> None:
        """Take the current one away."""
        if self.item is not None:
            remove(self.session, self.item)
            self.again()

    def action_jump(self, forward: bool) -> None:
        """Go to the next or previous stop of the current one."""
        item = self.item
        if not isinstance(item, Breakpoint | Watching):
            self.again("n and N go to the stops of a breakpoint or watch")
            return
        way = "behind" if forward else "before"
        moved = self.jump(item, forward)
        self.again("" if moved else f"{item.text}: no stop {way} the position")

    def again(self, told: str = "") -> None:
        """Draw the list anew."""
        self.told = told
        self.row = max(0, min(self.row, len(self.items) - 1))
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
        item = self.item if event.enter else None
        if isinstance(item, Marked | Forked):
            self.dismiss(item)
        elif isinstance(item, Lost):
            self.again("it is set again where a run has what it was set on; d forgets it")
        elif item is not None and (self.jump(item, True) or self.jump(item, False)):
            self.dismiss("")
        else:
            self.again(f"{item.text}: no stop in this call" if item is not None else "")
