"""The keys that move in time, between calls and between alerts, in whatever view."""

from __future__ import annotations

from yota.tape import Var
from yotaview.model.unlike import unlike
from yotaview.render.value import value_kind
from yotaview.screens.autopsy import AutopsyScreen
from yotaview.screens.seeking import Seeking


class Moves(Seeking):
    """Handles each key that changes the position, the open call or the way values are shown."""

    def do_next_phase(self) -> None:
        """Go to the next edge of a phase."""
        self.session.move(self.session.stepper.next_phase())
        self.redraw()

    def do_previous_phase(self) -> None:
        """Go to the previous edge of a phase."""
        self.session.move(self.session.stepper.previous_phase())
        self.redraw()

    def do_twin(self) -> None:
        """Go between an op and the op that completes its cotangent."""
        session = self.session
        raised = session.failed_here
        twin = session.culprit if raised else session.twin(session.at)
        if twin is not None:
            session.goto(twin)
        who = "the op that raised" if raised else session.at
        self.travel(twin is not None, f"no cotangent belongs to {who}")

    def do_producer(self) -> None:
        """Go to an op that this one reads."""
        self.follow(up=True)

    def do_consumer(self) -> None:
        """Go to an op that reads this one."""
        self.follow(up=False)

    def follow(self, *, up: bool) -> None:
        """Go along an edge, each time from here along the next."""
        found = self.session.neighbour(up=up)
        at, what = self.session.at, "reads" if up else "is read by"
        if found is not None:
            self.session.goto(found[0])
        self.travel(found is not None, f"{at} {what} no other op")
        if found is not None and found[2] > 1:
            self.tell(f"{found[0]} is {found[1]} of {found[2]} that {at} {what}; < goes back")

    def do_next_call(self) -> None:
        """Open the next kept call."""
        self.open_call(1)

    def do_previous_call(self) -> None:
        """Open the previous kept call."""
        self.open_call(-1)

    def open_call(self, step: int) -> None:
        """Open another kept call of the row."""
        calls, there = self.session.row.calls, self.session.call_index + step
        if 0 <= there < len(calls):
            self.session.open_call(calls[there].number)
        self.travel(
            0 <= there < len(calls),
            f"no further call of this row {self.session.row.kept_text}".rstrip(),
        )

    def do_history_back(self) -> None:
        """Go back to where the last jump began."""
        self.travel(self.session.back_in_history(), "no jump to take back")

    def do_history_on(self) -> None:
        """Repeat the jump that was taken back."""
        self.travel(self.session.forward_in_history(), "no jump to repeat")

    def do_alert(self) -> None:
        """Open the autopsy of the next alert, in another row where this one has none."""
        if self.session.row.failure is not None and not self.session.alarms:
            self.show_failure()
            return
        if not (self.session.alerts or self.session.opened.faint):
            rows = self.session.capture.rows
            found = next((k for k, r in enumerate(rows) if r.nonfinite), None)
            if found is None:
                raised = (k for k, r in enumerate(rows) if r.failure is not None and len(r.tape))
                found = next(raised, None)
            if found is None:
                self.show_wrong_rule()
                return
            self.session.open(found)
            if self.session.row.failure is not None and not self.session.alarms:
                self.show_failure()
                return
        alert = self.session.next_alert()
        if alert is None:
            self.travel(False, "the kept calls of this row have no alert")
            return
        self.show_alert(alert.var)
        if self.state.held:
            return
        if any(r.var == alert.var for r in self.session.opened.roots):
            page = AutopsyScreen(self.session, alert.var, self.show_alert, ascii=self.state.ascii)
            self.app.push_screen(page)

    def show_failure(self) -> None:
        """Go to the op that raised, and say what it was and what was unlike before."""
        session = self.session
        failure, told = session.row.failure, unlike(session.capture, session.row_index)
        assert failure is not None
        session.move(session.stepper.last())
        if self.view_name == "tapes":
            self.show("step")
        self.redraw()
        self.tell("; ".join(t for t in (f"raised: {failure.text}", told, failure.error) if t))

    def show_alert(self, var: Var) -> None:
        """Go to an op at which an alert begins, and say what it is."""
        self.session.goto(var)
        self.redraw()
        faint = [a for a in self.session.opened.faint if a.var == var]
        alert = next(a for a in (*self.session.alerts, *faint) if a.var == var)
        more = f"; and so {len(faint) - 1} more" if len(faint) > 1 and alert is faint[0] else ""
        level, text = ("flow", alert.with_cure) if alert in faint else (alert.level, alert.text)
        self.tell(f"{level}: {var} {text}{more}")

    def do_value(self) -> None:
        """Show values in the next way."""
        self.state.next_mode()
        self.redraw()
        self.tell(f"values as {self.state.mode}")

    def do_slice(self) -> None:
        """Show the next slice."""
        number, count = self.state.cells.next_plane(self.session)
        if not number:
            self.tell(f"no further slices: {value_kind(self.session)}")
            return
        self.redraw()
        self.tell(f"slice {number} of {count}")

    def do_pin(self) -> None:
        """Keep the value at the position in sight below the others, or no longer."""
        state = self.state
        state.pinned = None if state.pinned == self.session.at else self.session.at
        self.redraw()
        self.tell(f"{state.pinned} is pinned: P on it unpins" if state.pinned else "unpinned")
