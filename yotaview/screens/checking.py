"""Every rule is checked while one reads: in the background, marks appear as they come."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from textual.worker import Worker, get_current_worker

from yotaview.checks.gradcheck import Verdict, pairs_of, verdicts
from yotaview.checks.gradcheck.findings import finding_of
from yotaview.messages import RulesAsked
from yotaview.screens.base import Base
from yotaview.widgets.state import LONG, Derived

GROUP = "rules"
# Between two ops the screen may have its turn; so often it shows what has come.
PAUSE, SHOWN = 0.001, 0.25
# a rule on more elements is checked by the key alone: it takes long, and much memory
LARGE = 4_000_000


class Checking(Base):
    """Runs the checks of the open call's rules, and hands what they find to the marks."""

    checks: Worker[None] | None = None

    def redraw(self) -> None:
        """Draw, and see that the open call's rules are checked."""
        super().redraw()
        derived = self.state.derived
        if not derived.asked and len(self.session.stepper) <= LONG:
            self.check_rules(derived)

    def check_rules(self, derived: Derived, *, own: bool = False) -> None:
        """Begin to check; what was under way for another call ends."""
        derived.asked = True
        opened, rules = derived.session.opened, derived.rules
        if self.session.row.failure is not None or opened.tape.reverse_start is None:
            return

        def run() -> None:
            worker, last = get_current_worker(), time.monotonic()
            pairs, came = pairs_of(opened), list[Verdict]()
            rules.total = len(pairs)
            for verdict in verdicts(
                opened, own=own, only=pairs, largest=math.inf if own else LARGE
            ):
                if worker.is_cancelled:
                    return
                came.append(verdict)
                if time.monotonic() - last > SHOWN:
                    self.app.call_from_thread(self.streamed, derived, came)
                    came, last = [], time.monotonic()
                time.sleep(PAUSE)
            self.app.call_from_thread(self.checked, derived, came, own)

        self.checks = self.run_worker(
            run, thread=True, group=GROUP, exclusive=True, exit_on_error=False
        )

    def streamed(self, derived: Derived, came: Sequence[Verdict]) -> None:
        """Take verdicts here, where marks are drawn, not in the thread that makes them."""
        for verdict in came:
            derived.rules.add(verdict)
        if derived is self.state.derived and self.view_name == "step":
            self.view.redraw()

    def checked(self, derived: Derived, came: Sequence[Verdict], own: bool) -> None:
        """Show that all is checked; say it where it was asked for, or where a rule is off."""
        self.streamed(derived, came)
        if derived is not self.state.derived:
            return
        off = derived.rules.off
        if off:
            self.tell(f"✗ {finding_of(derived.session, off[0]).text}")
        elif own:
            self.tell(derived.rules.text)

    def show_wrong_rule(self) -> None:
        """Go to the next op whose rule is off; say so if there is none, and no other alert."""
        session, off = self.session, self.state.derived.rules.off
        if not off:
            self.tell("no alert in this capture")
            return
        places, here = session.stepper.positions, session.stepper.index
        verdict = min(off, key=lambda v: (places[v.of] <= here, v.of))
        session.goto(verdict.of)
        self.redraw()
        self.tell(f"✗ {finding_of(session, verdict).text}")

    def on_rules_asked(self, event: RulesAsked) -> None:
        """Stop the checks, or check all again with the user's own primitives."""
        if self.checks is not None and self.checks.is_running:
            self.checks.cancel()
            self.tell(f"stopped: {self.state.derived.rules.text}")
            return
        self.tell("checking every rule, your own primitives too")
        self.check_rules(self.state.derived, own=True)
