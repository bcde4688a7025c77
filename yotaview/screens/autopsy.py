"""The autopsy over the whole screen: `!` shows the next origin, `W` the one that made this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from yota.tape import Var
from yotaview.model.session import Session
from yotaview.render.autopsy import autopsy_page
from yotaview.render.line import Page
from yotaview.screens.text import TextScreen


class AutopsyScreen(TextScreen):
    """Shows one origin; the position behind it moves along."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("exclamation_mark", "following", show=False),
        Binding("W", "because", show=False),
    ]

    def __init__(
        self, session: Session, var: Var, go: Callable[[Var], None], *, ascii: bool = False
    ) -> None:
        super().__init__(self.drawn, ascii=ascii)
        self.session, self.var, self.go = session, var, go

    def drawn(self, width: int) -> Page:
        """Return the page of the origin."""
        return autopsy_page(self.session, self.var, width)

    def action_following(self) -> None:
        """Show the next alert, from the first again after the last."""
        alert = self.session.next_alert()
        if alert is not None:
            self.show(alert.var)

    def action_because(self) -> None:
        """Show the origin of the infinity that this NaN is made of."""
        made = next((r.because for r in self.session.opened.roots if r.var == self.var), None)
        if made is None:
            self.pane.page = Page(self.pane.page.lines, f"{self.var} is where it began", "")
            self.pane.refresh()
            return
        self.show(made)

    def show(self, var: Var) -> None:
        """Take another origin."""
        self.var = var
        self.go(var)
        self.pane.top = 0
        self.pane.redraw()
