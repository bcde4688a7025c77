"""Gradient flow: how large the cotangent of each box is, from the result to the inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.model.gradients import TOLD, Arrival, arrivals, judged, seed_size
from yotaview.model.summary import format_number
from yotaview.render.faces import face, head_of_box
from yotaview.render.line import Line, Page, Span, bar, clean, cut, fit, line, wrap_line
from yotaview.render.once import once
from yotaview.render.rows import Joined, Rows
from yotaview.render.text import NOW, facts_of, has_value

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.outline import Node
    from yotaview.model.session import Session

DECADES = 12.0


def flow_rows(session: Session, boxes: Boxes, width: int) -> Page:
    """Return the boxes in the order of the reverse pass, then the inputs, with bars."""
    if not session.tape.cotangents:
        return Page([line(Span("this tape has no reverse pass", "dim"))], "Gradient flow")
    rows = FlowRows(session, boxes, width)
    told = [*wrap_line((Span(TOLD, "dim"),), width), ()]
    cursor = len(told) + rows.cursor
    return Page(Joined(told, rows), "Gradient flow ‖δ‖", "result ▸ inputs, log bars", cursor)


class FlowRows(Rows):
    """A row for each box that has a cotangent, the last one first; below them the inputs."""

    def __init__(self, session: Session, boxes: Boxes, width: int) -> None:
        super().__init__(session)
        self.boxes, self.width = boxes, width - 2
        self.seed: float = once(
            session.opened, "seed size", lambda: seed_size(session.tape, session.opened.values)
        )
        self.order = list(range(len(boxes.nodes)))[::-1]
        self.inputs: list[Arrival] = once(
            session.opened, "arrivals", lambda: arrivals(session.tape, session.opened.values)
        )

    def __len__(self) -> int:
        return len(self.order) + 1 + len(self.inputs)

    @property
    def cursor(self) -> int:
        """The row of the box at the position, or of the input."""
        at = self.boxes.at(self.session.at)
        if at is not None:
            return len(self.order) - 1 - at
        found = (k for k, a in enumerate(self.inputs) if a.var == self.session.at)
        return len(self.order) + 1 + next(found, -1)

    @property
    def names(self) -> int:
        """The width of the first column."""
        return max(min(self.width // 3, 48), 12)

    def var_at(self, index: int) -> Var | None:
        """Return the op that a row stands for."""
        if index < len(self.order):
            f = face(self.session, self.boxes, self.boxes.nodes[self.order[index]])
            return f.first_back or f.first
        k = index - len(self.order) - 1
        return self.inputs[k].var if 0 <= k < len(self.inputs) else None

    def row(self, index: int) -> Line:
        """Draw a box or an input, the current one with a glyph."""
        mark = Span(f"{NOW} " if index == self.cursor else "  ", "current")
        if index < len(self.order):
            return line(mark, self.box(self.boxes.nodes[self.order[index]]))
        k = index - len(self.order) - 1
        return line(Span("inputs", "title")) if k < 0 else line(mark, self.input(self.inputs[k]))

    def box(self, node: Node) -> Line:
        """Draw a box: its text, its reverse ops, the norm of its cotangent."""
        f = face(self.session, self.boxes, node)
        head = head_of_box(f)
        return self.told(f"{head}{f.label}", f.back_numbers or "–", f.cotangent, "reverse")

    def input(self, a: Arrival) -> Line:
        """Draw an input: the norm of its gradient, or why there is none."""
        if a.cut:
            name = fit((Span(clean(a.name)),), self.names)
            return line(name, Span(f"no path: {clean(a.cut)}", "alert"))
        return self.told(clean(a.name), str(a.cotangent or ""), a.cotangent, "input")

    def told(self, name: str, numbers: str, cotangent: Var | None, role: str) -> Line:
        """Draw one row in columns."""
        session, room = self.session, self.names
        head = (
            *fit((Span(cut(name, room - 1)),), room),
            *fit((Span(cut(numbers, 13), "number"),), 14),
        )
        if cotangent is None:
            return line(*head, Span("no cotangent", "dim"))
        if not session.is_known(cotangent):
            return line(*head, Span("not computed yet", "dim"))
        size = _size(session, cotangent)
        if size is None:
            return line(*head, Span("no value", "dim"))
        state = judged(size, self.seed)
        text = "not finite" if not math.isfinite(size) else format_number(float(f"{size:.4g}"))
        left = self.width - room - 14 - 12
        blocks = bar(_share(size, self.seed), max(left - 11, 4))
        word = Span(f" {state}", "alert") if state else Span("")
        return line(*head, f"{text:>11} ", Span(blocks, role), word)


def _size(session: Session, var: Var) -> float | None:
    if not has_value(session, var):
        return None
    facts = facts_of(session, var)
    return facts.norm if facts.finite else math.nan


def _share(size: float, seed: float) -> float:
    """Return a size on a log scale that reaches six powers of ten to both sides of the seed's."""
    if not 0 < size < math.inf:
        return 0.0
    return min(max((math.log10(size / seed) + DECADES / 2) / DECADES, 0.01), 1.0)
