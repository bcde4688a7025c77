"""The palette of every action: Textual's, kept from moving in a list that is not laid out."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette


class Palette(CommandPalette):
    """Textual's palette; page keys before its list has any height would end the program."""

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).size.height:
            super()._action_command_list(action)
