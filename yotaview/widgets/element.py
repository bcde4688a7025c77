"""The element that one stands on: arrows in the grid, and the way along what it is made of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.model.replay import quiet
from yotaview.model.why import NoElement
from yotaview.model.why.follow import Row
from yotaview.model.why.trail import Trail
from yotaview.render.calls import are_known, facts_over_calls
from yotaview.render.grid import Cursor, vector_columns
from yotaview.render.line import Page
from yotaview.render.pin import pinned_page
from yotaview.render.source import why_page as explanation
from yotaview.render.text import facts_of, has_value, quick_facts
from yotaview.render.value import page as value_page
from yotaview.render.why import cursor_lines, why_of, why_page
from yotaview.widgets.state import State
from yotaview.widgets.view import View

if TYPE_CHECKING:
    from yotaview.model.session import Session

# a pane of so many lines has room for the element's terms below the rule
ROOM = 24


class ElementView(View):
    """A view with a value and an explanation, which `enter` and `W` lead to the element's own."""

    why_pane = "why"

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.trail = Trail()
        self.depth = 0
        # beside what it is about, of which another one may get the identity later
        self._counting: tuple[object, set[tuple[Var, bool]]] = (None, set())

    def sideways(self) -> set[str]:
        """Return the panes in which arrows move among elements."""
        return {"value", "why"}

    def value(self, width: int, height: int) -> Page:
        """Return the value at the position, with the element one stands on."""
        session, state = self.session, self.state
        if state.pinned is None or state.pinned == session.at:
            return value_page(session, state.mode, self.cursor(session.at), width, height)
        both = (self.cursor(session.at), self.cursor(state.pinned))
        return pinned_page(session, state.mode, both, state.pinned, width, height)

    def cursor(self, var: Var) -> Cursor | None:
        """Return the element of a value that one stands on."""
        session, cells = self.session, self.state.cells
        index = None if session.failed_here else cells.at(session, var)
        return None if index is None else Cursor(index, cells.in_sight(session, var))

    def why(self, width: int, height: int) -> Page:
        """Return why the element is what it is, or what there is to say of the op."""
        if self.following:
            return why_page(self.session, self.trail, width)
        checked = self.state.derived.rules.of(self.session.at)
        element = self.state.cells.element(self.session) if height >= ROOM else None
        below = [] if element is None else cursor_lines(self.session, element, width)
        room = height - (len(below) + 1 if below else 0)
        page = explanation(self.session, width, room, self.state.later, checked)
        return replace(page, lines=[*page.lines, (), *below]) if below else page

    def redraw(self) -> None:
        """Draw the panes; in the background find what takes long."""
        super().redraw()
        session = self.session
        if session.failed_here or not has_value(session, session.at):
            return
        at, calls = session.at, self.state.mode == "calls"
        wanted = not are_known(session, at) if calls else quick_facts(session, at).sampled > 0
        if self._counting[0] is not session.opened:
            self._counting = (session.opened, set())
        if wanted and (at, calls) not in self._counting[1]:
            self._counting[1].add((at, calls))
            self.run_worker(partial(self.count, session.still(), at, calls), thread=True)

    def count(self, session: Session, var: Var, calls: bool) -> None:
        """Find the facts of all elements or of all kept calls, then show them."""
        with quiet():
            _ = facts_over_calls(session, var) if calls else facts_of(session, var)
        self.app.call_from_thread(self.redraw)

    @property
    def following(self) -> bool:
        """Tell whether an element is explained; another position or call ends that."""
        if self.trail and self.trail.element.var != self.session.at:
            self.set_trail(Trail())
        return bool(self.trail)

    def set_trail(self, trail: Trail) -> None:
        """Take a trail; the panes are laid out anew where one begins or ends."""
        begun = bool(trail) != bool(self.trail)
        self.trail, self.depth = trail, len(trail.elements)
        if begun:
            self.place()

    @property
    def terms(self) -> list[Row]:
        """The rows that can be followed."""
        return why_of(self.session, self.trail.element)[1]

    def go(self, trail: Trail) -> None:
        """Stand on the last element of a trail."""
        try:
            why_of(self.session, trail.element)
        except NoElement as error:
            self.tell(str(error))
            return
        self.state.cells.put(self.session, trail.element)
        self.set_trail(trail)
        if self.session.at != trail.element.var:
            self.session.goto(trail.element.var)
        self.moved()
        self.show_pane("why")

    def do_why(self) -> None:
        """Say why the element one stands on is what it is."""
        element = self.state.cells.element(self.session)
        if element is None:
            self.show_pane("why")
        elif not self.following or self.trail.element != element:
            self.go(Trail.of(element))
        else:
            self.show_pane("why")

    def leave(self) -> bool:
        """Go back along the trail; tell whether there was one."""
        if not self.following:
            return False
        before = self.trail.back()
        if before:
            self.go(before)
        else:
            self.set_trail(before)
            self.show_pane(self.main_pane)
            self.moved()
        return True

    def row_moved(self, pane: str, delta: int) -> None:
        """Move among elements or terms, elsewhere by ops."""
        if pane == "why" and self.following:
            self.set_trail(self.trail.to_row(self.trail.row + delta, len(self.terms)))
        elif pane == "value":
            self.move_cell(delta, 0)
        else:
            super().row_moved(pane, delta)
            return
        self.redraw()

    def side_moved(self, pane: str, delta: int) -> None:
        """Move among elements, or among the parts of a term; scroll where there are none."""
        if pane == "why" and self.following:
            self.set_trail(self.trail.to_side(delta, self.terms))
        elif pane == "value" and self.state.mode in ("grid", "heat"):
            self.move_cell(0, delta)
        else:
            self.panes[pane].scroll_sideways(delta)
            return
        self.redraw()

    def move_cell(self, down: int, right: int) -> None:
        """Stand on another element of the value."""
        session = self.session
        element = self.state.cells.element(session)
        if element is None:
            return
        marked = any(s.role == "current" for row in self.panes["value"].page.lines for s in row)
        if not marked and not self.state.cells.in_sight(session, element.var):
            self.state.cells.put(session, element)
            self.tell("the largest element: arrows move on from here")
            return
        columns = vector_columns(session.recorded(session.at), self.panes["value"].inner[0])
        if not self.state.cells.move(session, down, right, columns):
            self.tell("the last element in this direction")

    def element_chosen(self, pane: str, row: int, enter: bool) -> bool:
        """Follow a term, or ask about the element of the grid; tell whether that was meant."""
        if pane == "value":
            if enter:
                self.do_why()
            return True
        if pane != "why":
            return False
        if self.following:
            self.term_chosen(row, enter)
        return True

    def term_chosen(self, row: int, enter: bool) -> None:
        """Follow a term, or choose the one that was clicked."""
        if not enter:
            first = (self.panes["why"].page.cursor or 0) - self.trail.row
            self.set_trail(self.trail.to_row(row - first, len(self.terms)))
            self.redraw()
            return
        onward = self.trail.onward(self.terms)
        if onward is None:
            self.tell("nothing on the tape made this number: esc goes back")
        else:
            self.go(onward)
