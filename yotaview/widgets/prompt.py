"""One line in which something is typed."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label


class Prompt(Horizontal):
    """A label and an input in one row; the owner is called with what was typed."""

    def __init__(self, answer: Callable[[str, str], None]) -> None:
        super().__init__(id="prompt")
        self.answer = answer
        self.kind = ""
        self.display = False
        self.label = Label("", markup=False)
        self.input = Input(compact=True, select_on_focus=False)

    def compose(self) -> ComposeResult:
        """Yield label and input."""
        yield self.label
        yield self.input

    def open(self, kind: str, label: str, hint: str, value: str) -> None:
        """Show the prompt for a kind of answer."""
        self.kind = kind
        self.display = True
        self.label.update(f" {label}")
        self.input.placeholder = hint
        self.input.value = value
        self.input.cursor_position = len(value)
        self.input.focus()

    def submit(self) -> None:
        """Hand over what was typed."""
        self.answer(self.kind, self.input.value)
