"""What panes tell their view, and views the screen; commands go the other way as calls."""

from __future__ import annotations

from textual.message import Message


class RowMoved(Message):
    """The arrows asked for a row above or below the current one."""

    def __init__(self, pane: str, delta: int) -> None:
        super().__init__()
        self.pane, self.delta = pane, delta


class SideMoved(Message):
    """The arrows asked for what lies left or right."""

    def __init__(self, pane: str, delta: int) -> None:
        super().__init__()
        self.pane, self.delta = pane, delta


class RowChosen(Message):
    """A row was clicked, in a column of the pane, or `enter` was pressed on it."""

    def __init__(self, pane: str, row: int, *, enter: bool, column: int = 0) -> None:
        super().__init__()
        self.pane, self.row, self.enter, self.column = pane, row, enter, column


class Stepped(Message):
    """The position, the open call or something else that all views show has changed."""


class ViewAsked(Message):
    """A view asks for another one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class RulesAsked(Message):
    """A view asks for the rules to be checked, the user's own too; or for that to stop."""


class Told(Message):
    """A view has something to say in the line of alerts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
