"""The mirror from top to bottom: a row for each box, forward at the left, reverse at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yotaview.render.canvas import FRAMES
from yotaview.render.faces import Face, face, size_text
from yotaview.render.line import Line, Page, Span, cells, cut, line
from yotaview.render.mirror import head_of, several, title_of
from yotaview.render.rows import Rows
from yotaview.render.text import SEED

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.session import Session

TALL = 4
MIDDLE = 12
NOTE = "FWD ▾ left, REV ▴ right, ┄ kept for it"


def mirror_down(session: Session, boxes: Boxes, width: int) -> Page:
    """Return the boxes from top to bottom: forward at the left, reverse at the right."""
    if not boxes.nodes:
        return Page([line(Span("no call on this tape", "dim"))], "Whole tape")
    here = boxes.at(session.at)
    title = title_of(session, boxes, range(len(boxes.nodes)))
    rows = DownRows(session, boxes, width)
    return Page(rows, title, NOTE, None if here is None else here * TALL + 1, marked=False)


class DownRows(Rows):
    """Four lines for each box, made when they are asked for."""

    def __init__(self, session: Session, boxes: Boxes, width: int) -> None:
        super().__init__(session)
        self.boxes, self.here = boxes, boxes.at(session.at)
        self.box = max(15, (width - 1 - MIDDLE) // 2)

    def __len__(self) -> int:
        return TALL * len(self.boxes.nodes) - 1

    def row(self, index: int) -> Line:
        """Draw one line of a box, or what leads to the next."""
        n, part = divmod(index, TALL)
        if part == TALL - 1:
            return self.between(n)
        f = face(self.session, self.boxes, self.boxes.nodes[n])
        return line(" ", *self.left(f, n, part), *self.middle(f, part), *self.right(f, n, part))

    def left(self, f: Face, n: int, part: int) -> list[Span]:
        """Return the forward half of a line."""
        known = f.first is not None and self.session.is_known(f.first)
        now = n == self.here and not self.session.tape.is_reverse(self.session.at)
        head = head_of(self.session, self.boxes, n, self.here)
        role = "forward" if known else "dim"
        return self.piece(part, [Span(f.label, role)], head, f.numbers, now)

    def middle(self, f: Face, part: int) -> list[Span]:
        """Return what links both halves: the values kept."""
        if part != 1 or not f.kept or f.first_back is None:
            return [Span(" " * MIDDLE)]
        text = cut(" ".join(f.kept), MIDDLE - 4)
        return [Span(f"┄ {text} ".ljust(MIDDLE, "┄"), "note")]

    def right(self, f: Face, n: int, part: int) -> list[Span]:
        """Return the reverse half of a line, with the gradients that it completes."""
        if f.first_back is None:
            return []
        known = self.session.is_known(f.first_back)
        now = n == self.here and self.session.tape.is_reverse(self.session.at)
        size = size_text(self.session, f)
        body = [Span(f.back + "  "), Span(size, "reverse" if known else "dim")]
        seed = self.session.tape.seed
        head = f"{SEED} seed" if seed is not None and self.boxes.at(seed) == n else ""
        if part != 2 or not f.gradients:
            return self.piece(part, body, head, f.back_numbers, now)
        return self.foot(f, now)

    def foot(self, f: Face, now: bool) -> list[Span]:
        """Return the lower edge of a reverse box with the gradients that it completes."""
        frame, edge = FRAMES[now], "current" if now else "dim"
        made = all(self.session.is_known(v) for _, v in f.gradients)
        text = f" {several(f, self.box - 6)} "
        fill = frame[1] * max(self.box - 3 - cells(text), 0)
        role = "input" if made else "dim"
        return [Span(frame[4] + frame[1], edge), Span(text, role), Span(fill + frame[5], edge)]

    def piece(self, part: int, body: list[Span], head: str, numbers: str, now: bool) -> list[Span]:
        """Return one line of a frame."""
        frame, room = FRAMES[now], self.box - 2
        edge = "current" if now else "dim"
        if part == 1:
            return _body(body, room, frame[3], edge, now)
        if part == 2:
            return [Span(frame[4] + frame[1] * room + frame[5], edge)]
        first = f" {head} " if head else ""
        last = f" {cut(numbers, max(room - cells(first) - 2, 0))} "
        fill = max(room - cells(first) - cells(last) - 1, 0)
        return [
            Span(frame[0], edge),
            Span(first, "key"),
            Span(frame[1] * fill, edge),
            Span(last, "number"),
            Span(frame[1] + frame[2], edge),
        ]

    def between(self, n: int) -> Line:
        """Return the arrows from a box to the next, and marks of what leads past one."""
        boxes, middle = self.boxes, self.box // 2
        past, back = boxes.spans
        down = "▾" if (n, n + 1) in boxes.forward else " "
        up = "▴" if (n + 1, n) in boxes.reverse else " "
        gap = self.box + MIDDLE - 3
        return line(
            " " * (middle + 1),
            Span(down, "forward"),
            " ",
            Span({"-": "┆", ">": "▾"}.get(past.get(n, ""), " "), "dim"),
            " " * gap,
            Span(up, "reverse"),
            " ",
            Span({"-": "┆", ">": "▴"}.get(back.get(n, ""), " "), "dim"),
        )


def _body(body: list[Span], room: int, bar: str, edge: str, now: bool) -> list[Span]:
    spans, left = [Span(bar, edge), Span(" ")], room - 1
    for span in body:
        text = cut(span.text, left)
        left -= cells(text)
        spans.append(Span(text, "current" if now else span.role))
    return [*spans, Span(" " * left), Span(bar, edge)]
