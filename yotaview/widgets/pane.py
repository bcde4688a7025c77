"""A framed pane of lines, drawn one line at a time: work is in proportion to what is in sight."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from yotaview.messages import RowChosen, RowMoved, SideMoved
from yotaview.render.line import ROLES, Line, Page, Span, clean, crop, cut, fit, to_ascii

Draw = Callable[[int, int], Page]
ROOMY = 40
LIGHT, HEAVY = "┌─┐│└┘", "┏━┓┃┗┛"
ASCII_LIGHT, ASCII_HEAVY = "+-+|++", "#=####"


# the app has them, once for all: each widget would have its own worked out as it is mounted
LINE_CLASSES = {f"line--{r}" for r in (*ROLES, "row", "focus")}


class LineWidget(Widget):
    """Draws lines with the theme's colours; pane and bar are two kinds of it."""

    ascii = False

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        self._roles: dict[tuple[str, bool], Style] = {}
        super().notify_style_update()

    def role_style(self, role: str, row: bool = False) -> Style:
        """Return the style of a role, on the current row or elsewhere."""
        cache: dict[tuple[str, bool], Style] = self.__dict__.setdefault("_roles", {})
        if (role, row) not in cache:
            style, (_, ground) = self.rich_style, self.background_colors
            if role:
                own = self.app.get_component_styles(f"line--{role}")
                color, text = (ground + own.color).rich_color, own.text_style
                style += Style(color=color, bold=text.bold, underline=text.underline)
            if row:
                own = self.app.get_component_styles("line--row")
                style += Style(
                    bgcolor=(ground + own.background).rich_color, bold=own.text_style.bold
                )
            cache[role, row] = style
        return cache[role, row]

    def segments(self, line: Line, row: bool = False) -> list[Segment]:
        """Return a line as the segments of a strip."""
        return [Segment(self.text(s.text), self.role_style(s.role, row)) for s in line]

    def text(self, text: str) -> str:
        """Return text as this terminal can show it."""
        text = clean(text)
        return to_ascii(text) if self.ascii else text


class Painted(NamedTuple):
    """What a pane showed when it was painted: what is around its rows, and the rows."""

    around: tuple[object, ...]
    head: tuple[str, str]
    rows: list[tuple[Line, bool]]


class Pane(LineWidget, can_focus=True):
    """Shows the page that its `draw` returns; arrows and hjkl scroll it or ask its view to move."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row(-1)", show=False, id="row_up"),
        Binding("down,j", "row(1)", show=False, id="row_down"),
        Binding("left,h", "side(-1)", show=False, id="row_left"),
        Binding("right,l", "side(1)", show=False, id="row_right"),
        Binding("pageup", "page(-1)", show=False, id="page_up"),
        Binding("pagedown", "page(1)", show=False, id="page_down"),
        Binding("enter", "enter", show=False, id="open"),
    ]

    def __init__(self, name: str, draw: Draw, *, sideways: bool = False, pad: bool = False) -> None:
        super().__init__(id=f"pane-{name}", name=name)
        self.draw, self.sideways, self.pad = draw, sideways, int(pad)
        self.page = Page(())
        self.top = self.left = 0
        self.shown: tuple[int, int] | None = None
        self.lines_drawn = 0
        self.painted: Painted | None = None

    @property
    def inner(self) -> tuple[int, int]:
        """Width and height inside the frame and its padding."""
        width, height = self.size
        pad = self.pad if width >= ROOMY else 0
        return max(width - 2 - pad, 0), max(height - 2, 0)

    def redraw(self) -> None:
        """Ask for the page anew and bring its current row into sight."""
        width, height = self.inner
        if not width or not height:
            return
        self.page = self.draw(width, height)
        self.follow(height)
        self.repaint(height)

    def repaint(self, height: int) -> None:
        """Refresh the rows that are not as they were painted last, or everything."""
        page, before = self.page, self.painted
        last = min(self.top + height, len(page.lines))
        rows = [
            (page.lines[k], page.marked and k == page.cursor) for k in range(max(self.top, 0), last)
        ]
        thumb = (self.top, len(page.lines)) if len(page.lines) > height else None
        around, head = (self.size, self.left, thumb), (page.title, page.note)
        self.painted = Painted(around, head, rows)
        if before is None or before.around != around:
            self.refresh()
            return
        pairs = enumerate(zip_longest(before.rows, rows), 1)
        changed = [0] * (before.head != head) + [y for y, (a, b) in pairs if a != b]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def follow(self, height: int) -> None:
        """Scroll as little as shows the current row, with a few rows beyond it."""
        last = max(len(self.page.lines) - height, 0)
        if self.page.cursor is not None:
            margin = min(3, (height - 1) // 4)
            low, high = self.page.cursor - height + 1 + margin, self.page.cursor - margin
            self.top = min(max(self.top, low), high)
        self.top = max(0, min(self.top, last))
        if self.page.column is not None:
            room = self.inner[0]
            if not self.left <= self.page.column <= self.left + room - room // 4:
                self.left = max(0, self.page.column - room // 3)

    def recentre(self) -> None:
        """Put the current row in the middle of the pane."""
        self.left = 0
        if self.page.cursor is not None:
            self.top = max(0, self.page.cursor - self.inner[1] // 2)
        self.redraw()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.redraw()

    def on_focus(self) -> None:
        """Show the thick frame."""
        self.refresh()

    def on_blur(self) -> None:
        """Show the thin frame."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the pane, frame included."""
        width, height = self.size
        frame = self.frame
        edge = self.role_style("focus" if self.has_focus else "dim")
        if y == 0:
            return Strip(self.head(frame, width, edge), width)
        if y == height - 1:
            return Strip([Segment(frame[4] + frame[1] * (width - 2) + frame[5], edge)], width)
        self.lines_drawn += 1
        index = self.top + y - 1
        row = self.line_at(index)
        side = Segment(frame[3], edge)
        body = self.segments(row, self.page.marked and index == self.page.cursor)
        if self.pad and width >= ROOMY:
            body.insert(0, Segment(" ", self.role_style("")))
        return Strip([side, *body, self.thumb(y - 1, side, edge)], width)

    @property
    def frame(self) -> str:
        """The characters of the frame."""
        if self.ascii:
            return ASCII_HEAVY if self.has_focus else ASCII_LIGHT
        return HEAVY if self.has_focus else LIGHT

    def line_at(self, index: int) -> Line:
        """Return a line of the page in the width of the pane."""
        room = self.inner[0]
        if not 0 <= index < len(self.page.lines):
            return (Span(" " * room),)
        return crop(self.page.lines[index], self.left, room)

    def thumb(self, y: int, side: Segment, edge: Style) -> Segment:
        """Return the right frame, with the part of the page that is in sight marked."""
        room, total = self.inner[1], len(self.page.lines)
        if total <= room:
            return side
        start = self.top * room // total
        size = max(1, room * room // total)
        return Segment(self.text("▐"), edge) if start <= y < start + size else side

    def head(self, frame: str, width: int, edge: Style) -> list[Segment]:
        """Return the upper frame with the two titles in it."""
        room = width - 6
        note = cut(self.page.note, max(room - 8, 0))
        title = cut(self.page.title, room - len(note) - 2)
        fill = width - 4 - len(title) - 2 - (len(note) + 2 if note else 0)
        style = self.role_style("title")
        parts = [Segment(frame[0] + frame[1], edge), Segment(self.text(f" {title} "), style)]
        parts.append(Segment(frame[1] * max(fill, 0), edge))
        if note:
            parts.append(Segment(self.text(f" {note} "), self.role_style("dim")))
        return [*parts, Segment(frame[1] + frame[2], edge)]

    def scroll_rows(self, delta: int) -> None:
        """Scroll the pane without moving anything."""
        last = max(len(self.page.lines) - self.inner[1], 0)
        self.top = max(0, min(self.top + delta, last))
        self.refresh()

    def action_row(self, delta: int) -> None:
        """Move by one row, or scroll where the pane has no current row."""
        if self.page.cursor is None:
            self.scroll_rows(delta)
        else:
            self.post_message(RowMoved(self.name or "", delta))

    def action_page(self, delta: int) -> None:
        """Move by what is in sight."""
        step = delta * max(self.inner[1] - 1, 1)
        if self.page.cursor is None:
            self.scroll_rows(step)
        else:
            self.post_message(RowMoved(self.name or "", step))

    def action_side(self, delta: int) -> None:
        """Scroll sideways, or ask the view where the pane has a left and a right."""
        if self.sideways:
            self.post_message(SideMoved(self.name or "", delta))
        else:
            self.scroll_sideways(delta)

    def scroll_sideways(self, delta: int) -> None:
        """Scroll by a few columns."""
        self.left = max(0, self.left + 8 * delta)
        self.refresh()

    def action_enter(self) -> None:
        """Choose the current row."""
        if self.page.cursor is not None:
            self.post_message(RowChosen(self.name or "", self.page.cursor, enter=True))

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the pointer."""
        index = self.top + event.y - 1
        if self.page.cursor is not None and 0 <= index < len(self.page.lines):
            pad = self.pad if self.size.width >= ROOMY else 0
            column = max(event.x - 1 - pad, 0) + self.left
            self.post_message(RowChosen(self.name or "", index, enter=False, column=column))

    def on_mouse_scroll_down(self) -> None:
        """Scroll on."""
        self.scroll_rows(3)

    def on_mouse_scroll_up(self) -> None:
        """Scroll back."""
        self.scroll_rows(-3)


class Bar(LineWidget):
    """A few lines over the whole width, without a frame; one that grows has as many as it needs."""

    def __init__(
        self,
        name: str,
        draw: Callable[[int], list[Line]],
        height: int = 1,
        *,
        grows: bool = False,
    ) -> None:
        super().__init__(id=f"bar-{name}", name=name)
        self.draw, self.grows = draw, grows
        self.styles.height = height
        self.lines: list[Line] = []

    def redraw(self) -> None:
        """Ask for the lines anew."""
        if self.size.width:
            before, self.lines = self.lines, self.draw(self.size.width)
            if before == self.lines and self.size.height == len(before):
                return
            if self.grows and self.size.height != len(self.lines):
                self.styles.height = max(len(self.lines), 1)
            self.refresh()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        """Tell which column was clicked."""
        self.post_message(RowChosen(self.name or "", event.x, enter=False))

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        line = self.lines[y] if y < len(self.lines) else ()
        return Strip(self.segments(fit(line, width)), width)
