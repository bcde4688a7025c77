"""The key that edits a value and shows what would come of it."""

from __future__ import annotations

import re

from yotaview.model.digits import whole
from yotaview.model.edits import ASSIGNED, EditError
from yotaview.model.items import Forked
from yotaview.model.whatif import Consent
from yotaview.render.whatif import whatif_page
from yotaview.screens.desk import Desk
from yotaview.screens.text import TextScreen


class WhatIf(Desk):
    """Handles `e`: edits, and the branches that they make."""

    asked_for: str = ""
    offered: str = ""

    def ask(self, kind: str, value: str) -> None:
        """Open the prompt for a kind of answer."""
        raise NotImplementedError

    def do_whatif(self) -> None:
        """Ask for an edit, of the element that one stands on."""
        element = self.state.cells.element(self.session)
        index = "" if element is None or not element.index else list(element.index)
        text = "" if element is None else f"{element.var}{str(index).replace(' ', '')} = "
        self.asked_for, self.offered = "", text
        self.ask("whatif", text)

    def without_offer(self, text: str) -> str:
        """Return what was typed: a whole edit behind the one that was begun goes before it."""
        rest = text.removeprefix(self.offered).strip()
        whole_edit = ASSIGNED.fullmatch(rest) or re.fullmatch(r"drop\s+\d+", rest)
        return rest if self.offered and whole_edit else text

    def open_whatif(self, wanted: Forked) -> None:
        """Bring a what-if of whatever call into sight; ask again where it cannot be at once."""
        session, number = self.session, str(wanted.branch.number)
        if (wanted.row, wanted.call) != (session.row_index, session.call_index):
            session.open(wanted.row, wanted.call)
        self.asked_for = self.offered = ""
        if not self.what_if(number):
            told = self.told
            self.ask("whatif", number)
            self.tell(told)

    def what_if(self, text: str) -> bool:
        """Do what was typed: edit, switch, drop; where it cannot be, say why."""
        plain, forks = self.without_offer(text.strip()), self.session.forks
        try:
            agreed = self.asked_for == plain
            if match := re.fullmatch(r"drop\s+(\d+)", plain):
                forks.drop(whole(match[1]))
            elif re.fullmatch(r"\d+", plain):
                forks.switch(whole(plain), consent=agreed)
            elif plain and not re.fullmatch(r"\S+\s*=", plain):
                forks.add(plain, consent=agreed)
        except Consent as error:
            self.asked_for = plain
            self.tell(str(error))
            return False
        except EditError as error:
            self.tell(str(error))
            return False
        self.session.opened = forks.opened()
        self.redraw()
        session = self.session.still()
        self.app.push_screen(
            TextScreen(lambda width: whatif_page(session, forks, width), ascii=self.state.ascii)
        )
        return True
