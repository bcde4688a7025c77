"""A letter on each pane: the one that is pressed says where to go."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Label

from yotaview.widgets.pane import Pane


class JumpScreen(ModalScreen[str]):
    """Lies over the panes in sight until a key; answers with a pane's name, or an empty text."""

    def __init__(self, panes: Mapping[str, Pane]) -> None:
        super().__init__()
        seen = [name for name, pane in panes.items() if pane.display and pane.size.area]
        self.letters = dict(zip(ascii_lowercase, seen, strict=False))
        self.places = {name: panes[name].region.offset for name in seen}

    def compose(self) -> ComposeResult:
        """Yield a letter for each pane."""
        for letter, name in self.letters.items():
            label = Label(f" {letter} ", classes="jump", markup=False)
            label.styles.offset = self.places[name] + Offset(1, 0)
            yield label

    def on_key(self, event: events.Key) -> None:
        """Answer with the pane of a letter; any other key only closes."""
        event.stop()
        self.dismiss(self.letters.get(event.key, ""))
