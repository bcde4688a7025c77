"""A page over the whole screen: help, a lesson, or what the script printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from yotaview.keys import ABOUT, KEYS, PANES, TITLES, footer_hints
from yotaview.render.line import Line, Page, Span, line, wrap_line
from yotaview.widgets.pane import Pane

GLYPHS = (
    "▶ current  ● breakpoint  ! alert  ◆ seed  · not computed yet",
    "◎ watched  ○ disabled  a letter on the lane of time: a mark",
    "≡ duplicate that CSE merges  δ%7 cotangent of %7  ✓ ✗ rule agrees with differences, or not",
)


def help_page(view: str, pane: str, width: int, marks: Sequence[tuple[str, str]] = ()) -> Page:
    """Return what the focused pane shows, the marks that are set, and every key's meaning."""
    first = "  ".join(map(" ".join, footer_hints(view)[:6]))
    rows: list[Line] = [
        line(Span(f"{TITLES[view]}: ", "title"), ABOUT[view]),
        line(Span("This pane: ", "title"), PANES[f"{view}.{pane}"]),
        line(Span("Keys: ", "title"), first),
    ]
    rows += [line(Span(f"'{letter:<7}", "key"), f" mark: {text}") for letter, text in marks]
    rows += [line(Span(part, "dim")) for part in (*GLYPHS, "")]
    for key in KEYS:
        where = "" if key.scope == "global" else f"  ({key.scope})" if key.scope == "pane" else ""
        rows.append(line(Span(f"{key.show:<8}", "key"), f" {key.told}", Span(where, "dim")))
    broken = [part for row in rows for part in wrap_line(row, width, 9)]
    return Page(broken, "Keys", "esc closes")


class TextScreen(ModalScreen[None]):
    """Shows a page until a key closes it; one that `act` knows does besides what it stands for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter,O", "dismiss", show=False, priority=True),
    ]

    def __init__(
        self,
        draw: Callable[[int], Page],
        act: Callable[[str], None] | None = None,
        *,
        ascii: bool = False,
    ) -> None:
        super().__init__()
        self.act = act
        self.pane = Pane("text", lambda width, height: draw(width), pad=True)
        self.pane.ascii = ascii

    def compose(self) -> ComposeResult:
        """Yield the pane."""
        yield self.pane

    def on_mount(self) -> None:
        """Let the arrows scroll."""
        self.pane.focus()

    def on_key(self, event: events.Key) -> None:
        """Leave the page for a key of the screen below: one steps on while a lesson is read."""
        action = next((k.action for k in KEYS if event.key in k.keys and k.scope != "pane"), None)
        if self.act is None or action is None:
            return
        event.stop()
        event.prevent_default()
        if self.is_current:  # a key typed ahead finds it gone
            self.dismiss()
        self.app.call_later(self.act, action)
