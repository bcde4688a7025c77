"""The whole tape in a mirror: each box above, its reverse ops below, in one column."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yotaview.render.canvas import Canvas
from yotaview.render.faces import Face, face, far_links, progress, size_text, wrapped
from yotaview.render.line import Page, Span, cells, cut, line
from yotaview.render.once import once
from yotaview.render.text import SEED

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.session import Session

GAP = 4
NARROWEST, WIDEST = 15, 36
TALL = 2
NOTE = "FWD ▸ above, REV ◂ below, ┊ kept for it"


@dataclass(frozen=True, slots=True)
class Plan:
    """Where boxes stand: the place of each depends on what is unfolded and on the width alone."""

    box: int
    pitch: int
    count: int

    @classmethod
    def across(cls, boxes: Boxes, width: int) -> Plan:
        """Return the plan of a mirror from left to right."""
        count = len(boxes.nodes)
        box = (width - 2) // max(min(count, 7), 1) - GAP
        box = max(NARROWEST, min(WIDEST, box))
        return cls(box, box + GAP, count)

    def place(self, box: int) -> int:
        """Return the first column of a box."""
        return 1 + box * self.pitch

    def box_at(self, column: int) -> int | None:
        """Return the box in whose columns a column lies."""
        box, within = divmod(column - 1, self.pitch)
        return box if 0 <= box < self.count and within < self.box else None

    @property
    def extent(self) -> int:
        """How many columns all boxes take."""
        return 1 + self.count * self.pitch


def is_lower(row: int) -> bool:
    """Tell whether a row of the mirror belongs to the reverse half."""
    return row > TALL + 2


def window(plan: Plan, box: int | None, width: int, start: int) -> int:
    """Return the first column in sight: as before while the box is in sight, else a better one."""
    last = max(plan.extent - width, 0)
    if box is not None:
        x = plan.place(box)
        if not start < x <= start + width - plan.box - 1:
            start = x - max((width - plan.box) // 2, 1)
    return max(0, min(start, last))


def mirror(session: Session, boxes: Boxes, width: int, start: int = 0) -> Page:
    """Return the boxes once above (forward) and once below (reverse), from column `start` on."""
    key = ("mirror", boxes, width, start, *situation(session, boxes))
    page: Page = once(session.opened, key, lambda: _across(session, boxes, width, start))
    return page


def situation(session: Session, boxes: Boxes) -> tuple[object, ...]:
    """Return what the drawing shows of the position: the box, and how much is computed."""
    heads: list[int] = once(session.opened, ("heads", boxes), lambda: _heads(session, boxes))
    here, at = boxes.at(session.at), session.at
    done = bisect_right(heads, session.stepper.index)
    return here, session.tape.is_reverse(at), done, progress(session, boxes, here)


def _heads(session: Session, boxes: Boxes) -> list[int]:
    """Return the positions at which something of the drawing becomes known."""
    places, found = session.stepper.positions, set()
    for node in boxes.nodes:
        f = face(session, boxes, node)
        marks = (v for v in (f.first, f.first_back, f.cotangent) if v is not None)
        found |= {places[v] for v in marks if v in places}
        found |= {places[v] for _, v in f.gradients if v in places}
    return sorted(found)


def prepare(session: Session, boxes: Boxes) -> None:
    """Find out what a drawing needs, whatever its size and the position."""
    once(session.opened, ("heads", boxes), lambda: _heads(session, boxes))


def title_of(session: Session, boxes: Boxes, shown: range) -> str:
    """Return how many boxes there are, and which of them are in sight."""
    count = len(boxes.nodes)
    name = f"{count:,} box{'' if count == 1 else 'es'} by {boxes.outline.by}"
    if len(shown) < count:
        return f"{shown.start + 1:,}–{shown.stop:,} of {name}"
    return f"Whole tape: {name}"


def _across(session: Session, boxes: Boxes, width: int, start: int) -> Page:
    plan = Plan.across(boxes, width)
    if not plan.count:
        return Page([line(Span("no call on this tape", "dim"))], "Whole tape")
    shown = range(max(start // plan.pitch, 0), min(plan.count, (start + width) // plan.pitch + 1))
    canvas, here = Canvas(), boxes.at(session.at)
    for n in shown:
        _column(canvas, session, boxes, n, plan, plan.place(n) - start, here)
        _gap(canvas, boxes, n, plan, plan.place(n) - start + plan.box)
    if shown.start:
        _gap(canvas, boxes, shown.start - 1, plan, plan.place(shown.start) - start - GAP)
    whole = range(
        shown.start + (plan.place(shown.start) < start + 1),
        shown.stop - (plan.place(shown.stop - 1) + plan.box > start + width),
    )
    rows = [*canvas.lines(width), far_links(session, boxes, here)]
    cursor = TALL + 4 if session.tape.is_reverse(session.at) else 1
    return Page(rows, title_of(session, boxes, whole), NOTE, cursor, marked=False)


def _column(
    canvas: Canvas, session: Session, boxes: Boxes, n: int, plan: Plan, x: int, here: int | None
) -> None:
    f = face(session, boxes, boxes.nodes[n])
    now, reverse = n == here, session.tape.is_reverse(session.at)
    role = "forward" if f.first is not None and session.is_known(f.first) else "dim"
    canvas.box(x, 0, plan.box, wrapped(f.label, plan.box - 2, TALL), role, now and not reverse)
    edge(canvas, x, 0, plan.box, head_of(session, boxes, n, here), "key")
    edge(canvas, x, TALL + 1, plan.box, f.numbers, "number", middle=True)
    if f.first_back is None:
        return
    if f.kept:
        text = cut(f"┊ {' '.join(f.kept)}", plan.box - plan.box // 2 + 2)
        canvas.text(x + plan.box // 2 - 1, TALL + 2, text, "note")
    known = session.is_known(f.first_back)
    y = TALL + 3
    seed = session.tape.seed
    rows = [cut(f.back, plan.box - 2), cut(size_text(session, f), plan.box - 2)]
    canvas.box(x, y, plan.box, rows, "reverse" if known else "dim", now and reverse)
    if seed is not None and boxes.at(seed) == n:
        edge(canvas, x, y, plan.box, f"{SEED} seed", "seed")
    edge(canvas, x, y + TALL + 1, plan.box, f.back_numbers, "number", middle=True)
    _gradients(canvas, session, f, x, y + TALL + 2, plan)


def head_of(session: Session, boxes: Boxes, n: int, here: int | None) -> str:
    """Return the upper edge of a box; of a loop that holds the position the iteration too."""
    head = face(session, boxes, boxes.nodes[n]).head
    at = progress(session, boxes, n) if n == here else ""
    return f"{head} at {at.partition(' ')[0]}" if at else head


def edge(
    canvas: Canvas, x: int, y: int, box: int, text: str, role: str, *, middle: bool = False
) -> None:
    """Write a text into the edge of a box, at its left or in the middle."""
    if text:
        text = f" {cut(text, box - 4)} "
        canvas.text(x + ((box - cells(text)) // 2 if middle else 1), y, text, role)


def _gradients(canvas: Canvas, session: Session, f: Face, x: int, y: int, plan: Plan) -> None:
    if not f.gradients:
        return
    known = all(session.is_known(v) for _, v in f.gradients)
    canvas.text(x, y, several(f, plan.pitch - 1), "input" if known else "dim")


def several(f: Face, room: int) -> str:
    """Return as many gradients as fit, and how many more there are."""
    names = [name for name, _ in f.gradients]
    for count in range(len(names), 0, -1):
        more = f" +{len(names) - count}" if count < len(names) else ""
        text = "  ".join(names[:count]) + more
        if cells(text) <= room:
            return text
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return cut(names[0], room - len(more)) + more


def _gap(canvas: Canvas, boxes: Boxes, n: int, plan: Plan, x: int) -> None:
    """Draw what leads from a box to the next, and behind it what leads past one of them."""
    if n + 1 >= plan.count:
        return
    past, back = boxes.spans
    if (n, n + 1) in boxes.forward:
        canvas.text(x, 1, "─" * (GAP - 1) + "▸", "forward")
    if n in past:
        canvas.text(x, 2, "╌" * (GAP - 1) + ("▸" if past[n] == ">" else "╌"), "forward")
    low = TALL + 3
    if (n + 1, n) in boxes.reverse:
        canvas.text(x, low + 1, "◂" + "─" * (GAP - 1), "reverse")
    if n in back:
        canvas.text(x, low + 2, ("◂" if back[n] == ">" else "╌") + "╌" * (GAP - 1), "reverse")
