"""What the six views have in common: a handler for each key."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from yota.tape import Var
from yotaview.messages import RowChosen, RowMoved, SideMoved, Stepped, Told, ViewAsked
from yotaview.model.moves import Folds, take_steps
from yotaview.model.parts import gains_of
from yotaview.render.header import Place, step_place
from yotaview.render.text import RAISED, describe, failure_text
from yotaview.widgets.arranged import FAILED, WAIT, Arranged
from yotaview.widgets.boxes import Box as Box

WIDE, HUGE = 100, 180
MANY = 20_000


class View(Arranged):
    """One of the six views; what it does not override moves the position in time."""

    why_pane: ClassVar[str] = ""
    unit: ClassVar[str] = "op"
    always: ClassVar[set[str]] = set()

    def header_place(self) -> Place:
        """Return the view's own position for the top line, with what may be dropped."""
        return step_place(self.session)

    def moved(self) -> None:
        """Tell the screen that all views have to be drawn anew, once where a key is repeated."""
        if not self.state.held:
            self.post_message(Stepped())

    def tell(self, text: str) -> None:
        """Say something in the line of alerts."""
        self.post_message(Told(text))

    @property
    def folds(self) -> Folds | None:
        """The boxes that `n` steps over and `s` into; None where none are folded."""
        return None

    def step_by(self, action: str, count: int = 1) -> None:
        """Take steps in time: by op, part or statement."""
        take_steps(self.session, action, count, folds=self.folds)
        self.moved()

    def do_next(self) -> None:
        """Move to the next op, over a statement where statements are folded."""
        self.step_by("next")

    def do_previous(self) -> None:
        """Move to the previous op, or statement."""
        self.step_by("previous")

    def do_into(self) -> None:
        """Move on by a part of the op, by an op where statements are folded."""
        self.step_by("into")

    def do_back_into(self) -> None:
        """Move back by a part of the op, or by an op."""
        self.step_by("back_into")

    def do_finish(self) -> None:
        """Move to the first op of the next statement."""
        self.step_by("finish")

    def do_back_finish(self) -> None:
        """Move to the start of this statement, from there to that of the one before."""
        self.step_by("back_finish")

    def do_first(self) -> None:
        """Jump to the first op."""
        self.session.move(self.session.stepper.first())
        self.moved()

    def do_last(self) -> None:
        """Jump to the last op."""
        self.session.move(self.session.stepper.last())
        self.moved()

    def leave(self) -> bool:
        """Go one level out within the view; tell whether there was one."""
        return False

    def do_why(self) -> None:
        """Focus the pane that explains."""
        self.show_pane(self.why_pane or self.current)

    def do_layout(self) -> None:
        """Say that there is no other layout."""
        self.tell("this view has one layout")

    def do_group(self) -> None:
        """Say that nothing is grouped."""
        self.tell("nothing to group or mark in this view")

    def do_next_access(self) -> None:
        """Go to the next op that writes or reads the memory of the current one."""
        self.access(1)

    def do_previous_access(self) -> None:
        """Go to the previous op that writes or reads the memory of the current one."""
        self.access(-1)

    def access(self, step: int) -> None:
        """Go along the accesses of the buffer that the code computes the current op into."""
        session = self.session
        if session.row.failure is not None or self.state.waiting:
            self.tell(FAILED if session.row.failure is not None else WAIT)
            return
        plan, known = session.program.plan(), session.occupants()
        var, _ = session.in_code(session.at, "lean")
        k = plan.slot.get(var) if var is not None else None
        if var is None or k is None:
            self.tell(f"{session.at} is computed into no buffer; view 3 shows those there are")
            return
        found = known.next_access(k, var, step)
        name = plan.buffers[k].name
        if found is None:
            self.tell(f"no {'further' if step > 0 else 'earlier'} op writes or reads {name}")
            return
        session.move(session.stepper.to(known.places[found.var]))
        self.moved()
        what = f"writes {name}" if found.writes else f"reads {found.of} in {name}"
        self.tell(f"{found.var} {what}")

    def do_hidden(self) -> None:
        """Say that nothing is hidden."""
        self.tell("this view hides nothing")

    def do_verify(self) -> None:
        """Say where something can be verified."""
        self.tell("view 1 verifies rules, view 2 rewrites, view 3 buffers and code")

    def stop(self) -> bool:
        """Stop work in the background; tell whether there was any."""
        return False

    def do_map(self) -> None:
        """Say where there is a map."""
        self.tell("the map of the whole tape is in view 4, Graph")

    def do_fit(self) -> None:
        """Bring the current row of every pane into sight."""
        for pane in self.panes.values():
            pane.recentre()

    def do_more(self) -> None:
        """Say that nothing is folded."""
        self.tell("this view folds nothing")

    def do_less(self) -> None:
        """Say that nothing can be folded."""
        self.tell("this view folds nothing")

    def situation(self) -> tuple[object, ...]:
        """Return the view's own settings, and how its panes are scrolled."""
        simple = (bool, int, str, frozenset, type(None))
        own = {k: v for k, v in vars(self).items() if k[0] != "_" and isinstance(v, simple)}
        return own, self.moved_edges, [(p.top, p.left, p.display) for p in self.panes.values()]

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Return the number of rows to look in, the current one, their texts, how to go to one."""
        stepper = self.session.stepper
        return (
            len(stepper),
            stepper.index,
            self.op_text,
            lambda k: self.session.move(stepper.to(k)),
        )

    def op_text(self, index: int) -> str:
        """Return what is looked in for an op."""
        order, tape = self.session.stepper.order, self.session.tape
        if index == len(order):
            return failure_text(self.session)
        return f"{order[index]} {describe(tape[order[index]])} {tape[order[index]].origin.place}"

    def find(self, step: int, *, stay: bool = False) -> None:
        """Go to the next or previous row that holds the text, round the end."""
        sought = self.state.sought.lower()
        if self.lacks:
            self.tell(self.lacks)
            return
        if not sought:
            self.tell("nothing to find: / asks for a text")
            return
        count, at, text, go = self.find_rows()
        matches = [k for k in range(count) if sought in text(k).lower()] if count <= MANY else []
        for k in range(0 if stay else 1, count + 1):
            row = (at + step * k) % count
            if sought in text(row).lower():
                go(row)
                self.moved()
                known = f"{matches.index(row) + 1}/{len(matches)} " if matches else ""
                self.tell(f"{known}found {self.state.sought!r} in row {row + 1} of {count}")
                return
        self.tell(f"no row of this view holds {self.state.sought!r}")

    def copy_text(self) -> str:
        """Return what the view stands on as text."""
        var = self.session.at
        if self.session.failed_here:
            return f"{RAISED} {failure_text(self.session)}"
        return f"{var} = {describe(self.session.tape[var])}"

    def watched(self) -> str:
        """Return what `w` watches: the op, or the cotangent that it gives a term to."""
        session = self.session
        gains = gains_of(session.opened, session.at)
        if session.tape.is_reverse(session.at) and gains:
            return f"δ{max(gains, key=lambda g: g.count).primal}"
        return str(session.at)

    def goto(self, var: Var) -> None:
        """Jump to an op."""
        self.session.goto(var)
        self.moved()

    def ask_view(self, name: str) -> None:
        """Ask the screen for another view."""
        self.post_message(ViewAsked(name))

    def on_row_moved(self, event: RowMoved) -> None:
        """Move by rows of a pane: by ops, where the view has no rows of its own."""
        event.stop()
        if self.lacks:
            self.tell(self.lacks)
        else:
            self.row_moved(event.pane, event.delta)

    def row_moved(self, pane: str, delta: int) -> None:
        """Move the position by ops."""
        self.session.step(delta)
        self.moved()

    def on_row_chosen(self, event: RowChosen) -> None:
        """Go to the row that was clicked or entered."""
        event.stop()
        if self.lacks:
            self.tell(self.lacks)
        else:
            self.column = event.column
            self.row_chosen(event.pane, event.row, event.enter)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Do nothing where rows are no places."""

    def on_side_moved(self, event: SideMoved) -> None:
        """Move sideways in a pane."""
        event.stop()
        self.side_moved(event.pane, event.delta)

    def side_moved(self, pane: str, delta: int) -> None:
        """Do nothing where there is no left and right."""
