"""The key that edits a value and shows what would come of it."""

from __future__ import annotations

import re

from yotaview.model.digits import whole
from yotaview.model.edits import ASSIGNED, EditError
from yotaview.model.whatif import Consent, Forks
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

    @property
    def forks(self) -> Forks:
        """The branches of the open call."""
        session = self.session
        key = (session.row_index, session.call_index)
        base = getattr(session.opened, "base", session.opened)
        found = self.state.forks.get(key)
        if found is None or found.base is not base:
            found = self.state.forks[key] = Forks(base)
        return found

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

    def what_if(self, text: str) -> bool:
        """Do what was typed: edit, switch, drop; where it cannot be, say why."""
        plain, forks = self.without_offer(text.strip()), self.forks
        try:
            if match := re.fullmatch(r"(drop\s+)?(\d+)", plain):
                (forks.drop if match[1] else forks.switch)(whole(match[2]))
            elif plain and not re.fullmatch(r"\S+\s*=", plain):
                forks.add(plain, consent=self.asked_for == plain)
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
