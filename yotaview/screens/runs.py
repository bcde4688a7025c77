"""The keys that compare calls and search them: other calls of the run, not other ops."""

from __future__ import annotations

import re
import time
from threading import Event

from yota.tape import Var
from yotaview.model.bisect import Outcome, first_bad, outcome_text
from yotaview.model.diff import Diff, compare
from yotaview.model.goto import GotoError
from yotaview.model.predicate import PredicateError
from yotaview.model.session import Session
from yotaview.model.unlike import unlike
from yotaview.screens.desk import Desk
from yotaview.screens.diff import DiffScreen
from yotaview.widgets.state import LONG
from yotaview.widgets.tapes import TapesView

SHOWN = 0.25
Place = tuple[int, int]
SEARCH = re.compile(r":?\s*bisect\b\s*(.*)")


class GivenUp(Exception):
    """The comparison is no longer wanted."""


class Runs(Desk):
    """Handles `D` and the search for the first bad call."""

    comparing: Event | None = None

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
        if max(len(capture.rows[row].tape) for row, _ in (other, here)) > LONG:
            self.compare_aside(other, here)
            return
        try:
            diff = compare(Session(capture, *other), Session(capture, *here))
        except GotoError as error:
            self.tell(str(error))
            return
        self.show_diff(diff, here)

    def show_diff(self, diff: Diff, here: Place) -> None:
        """Show what differs; its ops are opened in the call that it is about."""

        def go(var: Var) -> None:
            self.session.open(*here)
            self.session.goto(var)
            self.show("step")

        self.app.push_screen(DiffScreen(diff, go, ascii=self.state.ascii))

    def compare_aside(self, other: Place, here: Place) -> None:
        """Compare long tapes in the background, one pair at a time, saying how far it is."""
        if self.comparing is not None:
            self.tell("two calls are being compared: esc stops it")
            return
        stop = self.comparing = Event()
        last = time.monotonic()
        capture = self.session.capture

        def tick(done: float) -> None:
            nonlocal last
            if stop.is_set():
                raise GivenUp
            if time.monotonic() - last > SHOWN:
                last = time.monotonic()
                self.app.call_from_thread(self.told_share, stop, done)

        def make() -> None:
            found: Diff | Exception
            try:
                tick(0.0)
                found = compare(Session(capture, *other), Session(capture, *here), tick=tick)
            except GivenUp:
                return
            except Exception as error:  # said where the result would stand
                found = error
            self.app.call_from_thread(self.compared, stop, found, here)

        self.run_worker(make, thread=True, group="diff", exit_on_error=False)
        self.told_share(stop, 0.0)

    def on_unmount(self) -> None:
        """Let no comparison outlive the screen."""
        if self.comparing is not None:
            self.comparing.set()

    def told_share(self, stop: Event, done: float) -> None:
        """Say how far a comparison is."""
        if self.comparing is stop:
            self.tell(f"comparing two calls, {done:.0%} … esc stops it, every key works meanwhile")

    def compared(self, stop: Event, found: Diff | Exception, here: Place) -> None:
        """Show what came of a comparison, unless it was stopped."""
        if self.comparing is not stop:
            return
        self.comparing = None
        if isinstance(found, Exception):
            self.tell(f"cannot compare: {found}")
        else:
            self.tell("")
            self.show_diff(found, here)

    def stop_diff(self) -> bool:
        """Stop the comparison that runs; tell whether there was one."""
        if self.comparing is None:
            return False
        self.comparing.set()
        self.comparing = None
        self.tell("stopped comparing")
        return True

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
