"""What is typed behind `:`, marks, watches and breakpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yotaview.keys import KEYS, shown
from yotaview.model.breaks import BreakError
from yotaview.model.completion import Choices, complete
from yotaview.model.digits import whole
from yotaview.model.expressions import ExpressionError, read_expression
from yotaview.model.goto import GotoError, Unread
from yotaview.model.hits import hits_of
from yotaview.model.items import Forked, Marked
from yotaview.model.parts import part_name
from yotaview.model.stops import Breakpoint, Watching
from yotaview.model.values import check_names, op_lookup
from yotaview.model.watches import changes
from yotaview.render.parts import part_text
from yotaview.render.stops import value_text
from yotaview.screens.moves import Moves
from yotaview.screens.stops import StopsScreen

if TYPE_CHECKING:
    from yotaview.model.stops import Entry

MORE = "; also b, w, p, mark a, and a count before a key, as 3C or 46G"
LOOK = 0.1


class Commands(Moves):
    """Handles breakpoints, watches, marks, and what is typed about them."""

    def ask(self, kind: str, value: str) -> None:
        """Open the prompt for a kind of answer."""
        raise NotImplementedError

    def choices(self, kind: str, text: str) -> Choices:
        """Return what can be written at the prompt."""
        return complete(kind, text, self.session)

    def go(self, text: str) -> bool:
        """Do what was typed behind `:`; raises GotoError, BreakError or ExpressionError."""
        plain = text.strip().removeprefix(":").strip()
        word, _, rest = plain.partition(" ")
        commands = {"b": self.set_break, "w": self.set_watch, "p": self.evaluate}
        if word in commands and (rest or word != "p"):
            commands[word](rest.strip())
        elif match := re.fullmatch(r"mark\s+(\w)", plain):
            self.mark(match[1])
        elif match := re.fullmatch(r"'\s*(\w|')", plain):
            self.visit(match[1])
        elif (match := re.fullmatch(r"(\d+)([^\d%])", plain)) and (action := action_of(match[2])):
            self.act_times(action, whole(match[1]))
        else:
            self.jump(plain)
        return True

    def jump(self, text: str) -> None:
        """Go where the text says."""
        try:
            self.session.jump(text)
        except Unread as error:
            raise Unread(f"{error}{MORE}") from error
        self.redraw()

    def do_breakpoint(self) -> None:
        """Set or clear a breakpoint on the op at the position."""
        if self.session.failed_here:
            self.tell("what raised takes no breakpoint: it is the end of the tape")
            return
        there = self.session.stops.toggle(self.session)
        self.redraw()
        self.tell(f"breakpoint {self.session.at} {'set' if there else 'cleared'}")

    def set_break(self, text: str) -> None:
        """Set a breakpoint as written, on the current op where nothing is; say what it means."""
        entry = self.session.stops.add_break(text or str(self.session.at), self.session)
        hits = hits_of(self.session.opened, entry.test)
        whole = hits.look(LOOK)
        count = f"{len(hits.found)} stop{'' if len(hits.found) == 1 else 's'}"
        found = count if whole else f"{count} among the first {hits.asked:,} ops"
        why = f"; {hits.problem}" if hits.problem and not hits.found else ""
        self.redraw()
        self.tell(f"breakpoint {entry.text}: {found} in this call{why}")

    def do_watch(self) -> None:
        """Watch the op at the position, or no longer; in Code its buffer."""
        session = self.session
        if session.failed_here:
            self.tell("what raised has no value to watch")
            return
        text = self.view.watched()
        there = [e for e in session.stops.watches(session.row_index) if e.text == text]
        if there:
            session.stops.remove(there[0])
            self.redraw()
            self.tell(f"{text} is watched no longer")
        else:
            self.set_watch(text)

    def set_watch(self, text: str) -> None:
        """Watch what is written, the current op where nothing is."""
        entry = self.session.stops.add_watch(text or self.view.watched(), self.session)
        count = len(changes(self.session.opened, entry.watch))
        self.redraw()
        times = "once" if count == 1 else f"{count} times"
        self.tell(f"watching {entry.text}: it changes {times}, where c and C stop; B lists")

    def do_evaluate(self) -> None:
        """Ask for an expression."""
        self.ask("evaluate", "")

    def evaluate(self, text: str) -> bool:
        """Say what an expression is at the position."""
        session, expression = self.session, read_expression(text)
        check_names(tuple(n for n in expression.names if n != "x"), session.tape)
        here = None if session.failed_here else session.at
        value = expression.compute(op_lookup(session.opened, here, session.stepper.done))
        self.tell(f"{expression.text} = {value_text(value)}")
        return True

    def do_mark(self) -> None:
        """Ask for the letter of a mark."""
        self.ask("mark", "")

    def mark(self, letter: str) -> bool:
        """Note the position under a letter."""
        if not letter.isalpha():
            self.tell(f"{letter!r} is no letter: a mark is one")
            return True
        self.session.marks[letter] = self.session.place
        self.redraw()
        self.tell(
            f"mark {letter}: {self.session.place_text(self.session.place)}; '{letter} goes there"
        )
        return True

    def marks_set(self) -> list[tuple[str, str]]:
        """Return the letter and the place of each mark."""
        marks = self.session.marks
        return [(k, self.session.place_text(marks[k])) for k in sorted(marks)]

    def do_visit(self) -> None:
        """Ask for the letter of a mark to go to."""
        if not self.session.marks:
            self.tell("no mark yet: m and a letter set one")
            return
        self.ask("visit", "")

    def visit(self, letter: str) -> bool:
        """Go to a mark; `''` goes back to where the last jump began."""
        if letter == "'":
            self.travel(self.session.back_in_history(), "no jump to take back")
            return True
        place = self.session.marks.get(letter)
        if place is None:
            there = " ".join(sorted(self.session.marks)) or "none"
            self.tell(f"no mark {letter!r}; there are: {there}")
            return True
        self.session.visit(place)
        self.redraw()
        self.tell(f"mark {letter}: {self.session.place_text(place)}")
        return True

    def do_breakpoints(self) -> None:
        """List breakpoints, watches, marks and what-ifs."""
        screen = StopsScreen(self.session, self.jump_to_stop, ascii=self.state.ascii)
        self.app.push_screen(screen, self.after_list)

    def after_list(self, wanted: str | Marked | Forked | None) -> None:
        """Ask for what is to be added, or go to what was chosen."""
        self.redraw()
        if isinstance(wanted, Marked):
            self.visit(wanted.letter)
        elif isinstance(wanted, Forked):
            self.open_whatif(wanted)
        elif wanted:
            self.ask("goto", wanted)

    def open_whatif(self, wanted: Forked) -> None:
        """Bring a what-if of whatever call into sight."""
        raise NotImplementedError

    def jump_to_stop(self, entry: Entry, forward: bool) -> bool:
        """Go to the next or previous stop of a breakpoint or watch; tell whether there is one."""
        session = self.session
        if entry.row not in (None, session.row_index):
            session.open(entry.row)
            self.redraw()
        if isinstance(entry, Breakpoint):
            hits = hits_of(session.opened, entry.test)
            ways = hits.from_here(session.stepper.index, forward=forward)
            found = next((k for k in ways if hits.holds(k)), None)
        else:
            found = _nearest(entry, self, forward)
        if found is None:
            return False
        session.move(session.stepper.to(found))
        self.redraw()
        return True

    def tell_part(self) -> None:
        """Say which part of the op was done, where the view does not show it."""
        if part_name(self.session.opened, self.session.stepper) and self.view_name != "step":
            self.tell(part_text(self.session))


def action_of(sign: str) -> str:
    """Return what a key stands for, as the user's keymap has it; empty for no key."""
    return next((k.action for k in KEYS if sign in map(shown, k.keys)), "")


def _nearest(entry: Watching, screen: Commands, forward: bool) -> int | None:
    session = screen.session
    index = session.stepper.index
    places = [c.index for c in changes(session.opened, entry.watch)]
    if forward:
        return next((k for k in places if k > index), None)
    return next((k for k in reversed(places) if k < index), None)


ERRORS = (GotoError, BreakError, ExpressionError)
