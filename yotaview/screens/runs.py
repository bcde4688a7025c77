"""The keys that compare calls and search them: other calls of the run, not other ops."""

from __future__ import annotations

import re

from yota.tape import Var
from yotaview.model.bisect import Outcome, first_bad, outcome_text
from yotaview.model.diff import compare
from yotaview.model.goto import GotoError
from yotaview.model.predicate import PredicateError
from yotaview.model.session import Session
from yotaview.model.unlike import unlike
from yotaview.screens.desk import Desk
from yotaview.screens.diff import DiffScreen
from yotaview.widgets.tapes import TapesView

SEARCH = re.compile(r":?\s*bisect\b\s*(.*)")


class Runs(Desk):
    """Handles `D` and the search for the first bad call."""

    def do_diff(self) -> None:
        """Compare with the marked call, with the one before where none is marked."""
        here, capture = self.view.call, self.session.capture
        other = self.state.other_call(here)
        if capture.rows[here[0]].failure is not None:
            told = unlike(capture, here[0]) or "no earlier call of it had a result"
            self.tell(f"this call raised: nothing to compare op by op; {told}")
            return
        if other is None:
            self.tell("nothing to compare with: mark a row of Tapes with t, or keep more calls")
            return
        try:
            diff = compare(Session(capture, *other), Session(capture, *here))
        except GotoError as error:
            self.tell(str(error))
            return

        def go(var: Var) -> None:
            self.session.open(*here)
            self.session.goto(var)
            self.show("step")

        self.app.push_screen(DiffScreen(diff, go, ascii=self.state.ascii))

    def do_bisect(self) -> None:
        """Ask for what makes a call bad."""
        self.ask("bisect", "nan")

    def do_filter(self) -> None:
        """Ask which rows of Tapes to list."""
        if not isinstance(self.view, TapesView):
            self.show("tapes")
        self.ask("filter", self.tapes.wanted)

    @property
    def tapes(self) -> TapesView:
        """The view of all rows."""
        view = self.views["tapes"]
        assert isinstance(view, TapesView)
        return view

    def only(self, text: str) -> bool:
        """List only the rows that hold a text."""
        self.tapes.filter_rows(text)
        self.redraw()
        return True

    def ask(self, kind: str, value: str) -> None:
        """Open the prompt."""
        raise NotImplementedError

    def search(self, text: str) -> bool:
        """Open the first call of the row that meets a condition, at the op that does."""
        row, _ = self.view.call
        try:
            found = first_bad(self.session.capture, row, text or "nan")
        except PredicateError as error:
            raise GotoError(str(error)) from error
        self.open_found(found)
        return True

    def open_found(self, found: Outcome) -> None:
        """Go where a search ended, and say what it found."""
        rows = self.session.capture.rows
        numbers = [c.number for c in rows[found.row].calls]
        if found.opened is not None:
            self.session.open(found.row, numbers.index(found.opened))
            if found.var is not None:
                self.session.goto(found.var)
            self.show("step")
        self.redraw()
        self.tell(outcome_text(found, rows[found.row]))
