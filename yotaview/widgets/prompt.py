"""One line in which something is typed, with a list of what can be written next."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

from yotaview.model.completion import Choice, Choices
from yotaview.render.line import Line, Span, cells, clean, cut, line

Complete = Callable[[str, str], Choices]
AT_ONCE = ("mark", "visit")
# a proposal stands in these: what is typed takes its place
REPLACED = ("bisect", "copy_file")
TOLD = "tab takes it, ↑ ↓ choose"


class Entry(Input):
    """An input in which tab and → take what is offered, and ↑ ↓ choose it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take", show=False),
        Binding("right", "take_or_move", show=False),
        Binding("up", "choose(-1)", show=False),
        Binding("down,shift+tab", "choose(1)", show=False),
    ]

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self.prompt = prompt

    def action_take(self) -> None:
        """Take what is offered."""
        self.prompt.take()

    def action_take_or_move(self) -> None:
        """Take what is offered at the end of the line; move the cursor elsewhere."""
        if self.cursor_position < len(self.value) or not self.prompt.take():
            self.action_cursor_right()

    def action_choose(self, step: int) -> None:
        """Choose among what is offered."""
        self.prompt.choose(step)


class Prompt(Horizontal):
    """A label and an input in one row; the owner is called with what was typed."""

    def __init__(
        self,
        answer: Callable[[str, str], None],
        complete: Complete,
        changed: Callable[[], None],
    ) -> None:
        super().__init__(id="prompt")
        self.answer, self.complete, self.changed = answer, complete, changed
        self.kind = ""
        self.display = False
        self.label = Label("", markup=False)
        self.input = Entry(self)
        self.choices = Choices()
        self.at: int | None = None

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
        if kind in REPLACED:
            self.input.select_all()
        self.screen.set_focus(self.input)  # at once: the next key may be there already
        self.offer()

    def close(self) -> None:
        """Take the prompt away."""
        self.display, self.choices, self.at = False, Choices(), None
        self.changed()

    def hush(self) -> None:
        """Offer nothing until something else is typed: an error is to be read."""
        self.choices, self.at = Choices(), None
        self.changed()

    def offer(self) -> None:
        """Find out what can be written behind what stands there."""
        self.choices = self.complete(self.kind, self.input.value)
        self.at = None
        self.changed()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer what fits what was typed; where a letter is the answer, take it."""
        event.stop()
        if not self.display or event.value != self.input.value:
            return
        if self.kind in AT_ONCE and event.value:
            self.submit()
        elif self.at is None or self.chosen.text != event.value:
            self.offer()

    @property
    def chosen(self) -> Choice:
        """What would be taken."""
        shown = self.choices.shown
        return shown[self.at or 0] if shown else Choice("")

    def take(self) -> bool:
        """Write what all choices have in common, or the chosen one; tell whether that is new."""
        shown = self.choices.shown
        if not shown:
            return False
        common = _common([c.text for c in shown])
        have = self.input.value
        longer = len(common) > len(have) and self.at is None
        self.write(common if longer else self.chosen.text)
        return self.input.value != have

    def choose(self, step: int) -> None:
        """Choose the next or previous of what is offered."""
        if self.choices.shown:
            start = self.at if self.at is not None else (-1 if step > 0 else 0)
            self.at = (start + step) % len(self.choices.shown)
            self.write(self.chosen.text)
            self.changed()

    def write(self, text: str) -> None:
        """Put a text into the line."""
        self.input.value = text
        self.input.cursor_position = len(text)

    def submit(self) -> None:
        """Hand over what was typed."""
        self.answer(self.kind, self.input.value)

    def lines(self, width: int, room: int) -> list[Line]:
        """Return what can be written, as much as there is room for, and how much there is."""
        shown, total = self.choices.shown, self.choices.total
        if not shown or room < 1:
            return []
        full = total <= room
        count = total if full else max(room - 1, 1)
        first = max(0, min((self.at or 0) - count // 2, len(shown) - count))
        part = shown[first : first + count]
        most = min(max(cells(c.text) for c in part), width // 2)
        rows = [self.row(c, first + k, most, width) for k, c in enumerate(part)]
        if not full:
            rows.append(line(Span(f"   {len(part)} of {total:,} shown; {TOLD}", "dim")))
        return rows

    def row(self, choice: Choice, index: int, most: int, width: int) -> Line:
        """Draw one choice."""
        here = index == (self.at or 0)
        text = cut(clean(choice.text), most)
        return line(
            Span(" ▸ " if here else "   ", "current"),
            Span(text + " " * (most - cells(text)), "key"),
            Span(cut(f"  {clean(choice.help)}", width - most - 4), "dim"),
        )


def _common(texts: list[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)
    same = (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, min(len(first), len(last)))]
