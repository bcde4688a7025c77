"""View 1: the tape op by op, with the value and why it is so."""

from __future__ import annotations

from typing import ClassVar

from yotaview.messages import RulesAsked
from yotaview.model.moves import Folds
from yotaview.model.parts import part_name
from yotaview.render.flow import flow_page
from yotaview.render.folded import FoldedRows
from yotaview.render.line import Page
from yotaview.render.parts import part_page
from yotaview.render.text import OpRows
from yotaview.widgets.element import ElementView
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import HUGE, WIDE, Box


class StepView(ElementView):
    """The op list beside the value; below it the explanation."""

    main_pane = "tape"
    flush: ClassVar[set[str]] = {"tape"}

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.places = False

    @property
    def folded(self) -> bool:
        """Tell whether the list is folded by statements."""
        return self.session.folding.statements

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {"tape": self.tape, "value": self.value, "why": self.why, "flow": self.flow}

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out two panes over one; two columns where it is wide, three beyond that."""
        if width < WIDE and self.trail:
            return {"why": (0, 0, width, height)}
        if width < WIDE:
            low, left = min(5, height // 3), round(width * 0.5625)
            top = height - low
            return {
                "tape": (0, 0, left, top),
                "value": (left, 0, width - left, top),
                "why": (0, top, width, low),
            }
        if width < HUGE:
            left, low = round(width * 0.4834), height // 2 if self.trail else min(13, height // 2)
            half = height // 2
            return {
                "tape": (0, 0, left, height - low),
                "value": (left, 0, width - left, half),
                "why": (0, height - low, left, low),
                "flow": (left, half, width - left, height - half),
            }
        first, second = round(width * 0.27), round(width * 0.36)
        rest, half = width - first - second, height * 28 // 54
        return {
            "tape": (first, 0, second, height),
            "value": (first + second, 0, rest, half),
            "why": (0, 0, first, height),
            "flow": (first + second, half, rest, height - half),
        }

    def rows(self, width: int) -> OpRows:
        """Return the op list for a width."""
        return OpRows(self.session, self.state.marks, width, places=self.places)

    def tape(self, width: int, height: int) -> Page:
        """Return the op list."""
        rows, index = self.rows(width), self.session.stepper.index
        note = f"FWD {self.forward} + REV {len(rows.order) - self.forward}"
        if not self.folded:
            return Page(rows, "Tape", note, index)
        folded = FoldedRows(rows, self.state.derived.timeline, index)
        return Page(folded, "Tape by statement", note, folded.cursor)

    @property
    def forward(self) -> int:
        """How many ops are not of the reverse pass."""
        start = self.session.tape.reverse_start
        places = self.session.stepper.positions
        return places.get(start, len(places)) if start is not None else len(places)

    def why(self, width: int, height: int) -> Page:
        """Return the explanation, or the part of the op at the position."""
        if part_name(self.session.opened, self.session.stepper) and not self.trail:
            return part_page(self.session, width, height, self.state.computed_into)
        return super().why(width, height)

    def flow(self, width: int, height: int) -> Page:
        """Return stops, alerts and norms."""
        return flow_page(self.session, self.state.derived.flow, width, height)

    @property
    def folds(self) -> Folds | None:
        """The boxes that `n` and `f` step over, where statements are folded."""
        return Folds(self.state.derived.timeline) if self.folded else None

    def do_verify(self) -> None:
        """Check every rule, the user's primitives too; or stop checking."""
        self.post_message(RulesAsked())

    def do_layout(self) -> None:
        """Show whose cotangent an op belongs to, or the user's line."""
        self.places = not self.places
        self.redraw()
        self.tell(
            "the last column is your line" if self.places else "the last column is the cotangent"
        )

    def do_group(self) -> None:
        """Fold the list by statements, or not."""
        self.set_folded(not self.folded)

    def do_more(self) -> None:
        """Unfold the statements."""
        self.set_folded(False)

    def do_less(self) -> None:
        """Fold the statements."""
        self.set_folded(True)

    def set_folded(self, folded: bool) -> None:
        """Fold or unfold, and say what the keys do now."""
        self.session.folding.statements = folded
        self.redraw()
        self.tell("n steps over a statement, s into it" if folded else "n steps op by op")

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Go to the op of a row, follow a term, or ask about an element."""
        if self.element_chosen(pane, row, enter):
            return
        lines = self.panes["tape"].page.lines
        index = lines.op_at(row) if isinstance(lines, FoldedRows) else row
        self.session.move(self.session.stepper.to(index))
        self.moved()
