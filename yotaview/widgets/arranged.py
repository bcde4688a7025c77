"""Panes laid out for the size: their boxes, which is in sight, which has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from yotaview.render.line import Page, Span, wrap_line
from yotaview.widgets.boxes import Box as Box
from yotaview.widgets.boxes import with_edge_moved
from yotaview.widgets.pane import Draw, Pane
from yotaview.widgets.state import State

if TYPE_CHECKING:
    from yotaview.model.session import Session

FAILED = "the function raised before it had a result: no passes, no code, no times"
WAIT = "passes, code and times of this long tape are being made; every other view works meanwhile"
NARROW = 80


class Arranged(Widget):
    """A widget of panes, each in its box; an error of one pane stays in that pane."""

    main_pane: ClassVar[str] = ""
    flush: ClassVar[set[str]] = set()
    needs_program: ClassVar[bool] = False

    def __init__(self, name: str, state: State) -> None:
        super().__init__(id=f"view-{name}", name=name)
        self.state = state
        self.panes = {
            k: Pane(k, self.guarded(d), sideways=k in self.sideways(), pad=k not in self.flush)
            for k, d in self.draws().items()
        }
        self.current = self.main_pane or next(iter(self.panes))
        self.zoomed = False
        self.moved_edges: tuple[tuple[str, int], ...] = ()
        self.problem: Exception | None = None
        self.column = 0

    @property
    def session(self) -> Session:
        """The open session."""
        return self.state.session

    @property
    def call(self) -> tuple[int, int]:
        """The row and kept call that a key about calls means."""
        return self.session.row_index, self.session.call_index

    def draws(self) -> dict[str, Draw]:
        """Return the drawing function of each pane, in the order of focus."""
        raise NotImplementedError

    def sideways(self) -> set[str]:
        """Return the panes that have a left and a right."""
        return set()

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Return the box of each pane in sight."""
        raise NotImplementedError

    @property
    def lacks(self) -> str:
        """Why the view has nothing to show: still being made, or never to be; empty if it has."""
        if self.needs_program and self.session.row.failure is not None:
            return FAILED
        return WAIT if self.needs_program and self.state.waiting else ""

    def guarded(self, draw: Draw) -> Draw:
        """Keep an error of one pane in that pane."""

        def drawn(width: int, height: int) -> Page:
            if reason := self.lacks:
                return Page(wrap_line((Span(reason, "dim"),), width), "nothing to show")
            try:
                return draw(width, height)
            except Exception as error:  # one pane may fail, the others stay
                self.problem = error
                told = Span(f"{type(error).__name__}: {error}", "alert")
                return Page(wrap_line((told,), width), "cannot be shown")

        return drawn

    def compose(self) -> ComposeResult:
        """Yield the panes."""
        yield from self.panes.values()

    @property
    def alone(self) -> bool:
        """Tell whether only the current pane is in sight."""
        return self.zoomed or self.size.width < NARROW or self.size.height < 12

    def on_resize(self) -> None:
        """Lay the panes out anew."""
        self.place()

    def place(self) -> None:
        """Give each pane its box, or the current one all of it."""
        width, height = self.size
        if not width or not height:
            return
        boxes = (
            {self.current: (0, 0, width, height)} if self.alone else self.arranged(width, height)
        )
        if self.current not in boxes:
            self.current = next(iter(boxes))
        for name, pane in self.panes.items():
            pane.display = name in boxes
            if name in boxes:
                x, y, w, h = boxes[name]
                pane.styles.offset = (x, y)
                pane.styles.width, pane.styles.height = w, h
        self.redraw()

    def arranged(self, width: int, height: int) -> dict[str, Box]:
        """Return the boxes of the view with the edges that the user moved."""
        boxes = self.boxes(width, height)
        for name, delta in self.moved_edges:
            boxes = with_edge_moved(boxes, name, delta)
        return boxes

    def resize_pane(self, delta: int) -> bool:
        """Make the current pane larger or smaller; tell whether there was room."""
        width, height = self.size
        before = self.arranged(width, height)
        if with_edge_moved(before, self.current, delta) == before:
            return False
        self.moved_edges = (*self.moved_edges, (self.current, delta))
        self.place()
        return True

    def reset_panes(self) -> None:
        """Give every pane its own size again."""
        self.moved_edges, self.zoomed = (), False
        self.place()
        self.focus_current()

    def redraw(self) -> None:
        """Draw the panes that are in sight."""
        if self.state.held:
            return
        for pane in self.panes.values():
            if pane.display:
                pane.redraw()

    def focus_current(self) -> None:
        """Focus the current pane."""
        self.panes[self.current].focus()

    def cycle(self, step: int) -> None:
        """Make the next pane in sight the current one; where there is one only, the next of all."""
        names = [n for n, p in self.panes.items() if p.display or self.alone]
        self.show_pane(names[(names.index(self.current) + step) % len(names)])

    def show_pane(self, name: str) -> None:
        """Make a pane the current one."""
        self.current = name
        if self.alone or not self.panes[name].display:
            self.zoomed = self.zoomed or not self.panes[name].display
            self.place()
        self.focus_current()

    def on_descendant_focus(self) -> None:
        """Remember which pane has the focus."""
        for name, pane in self.panes.items():
            if pane.has_focus:
                self.current = name
