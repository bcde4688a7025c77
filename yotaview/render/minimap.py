"""The whole tape in a few rows: where one stands, and what of the graph is in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yotaview.render.line import Line, Page, Span, joined, line

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.session import Session

LEAD = 5
LEVELS = " ▁▂▃▄▅▆▇█"


def minimap(session: Session, boxes: Boxes, width: int, shown: tuple[float, float]) -> Page:
    """Return how many ops stand where, forward and reverse, and the part `shown` of the boxes."""
    outline, room = boxes.outline, max(width - LEAD, 4)
    count = len(outline.calls)
    title = f"Map ({len(session.tape):,} ops, {len(boxes.nodes):,} boxes)"
    if not count:
        return Page([line(Span("no call on this tape", "dim"))], title)
    here = outline.of.get(session.at)
    at = None if here is None else here * room // count
    reverse = session.tape.is_reverse(session.at)
    ahead = [_share(boxes, k, room) for k in range(room)]
    rows = [
        _lane("FWD", [n for n, _ in ahead], "forward", None if reverse else at),
        _lane("REV", [n for _, n in ahead], "reverse", at if reverse else None),
        _view(shown, room),
        line(Span("height: ops a column; ", "dim"), Span("◉", "current"), Span(" here", "dim")),
    ]
    return Page(rows, title)


def _share(boxes: Boxes, k: int, room: int) -> tuple[int, int]:
    outline = boxes.outline
    count = len(outline.calls)
    a, b = k * count // room, (k + 1) * count // room
    b = max(b, a + 1) if count < room else b
    if count < room and k * count % room >= count:
        return 0, 0
    return b - a, sum(outline.caused[a:b])


def _lane(name: str, sizes: list[int], role: str, at: int | None) -> Line:
    top = max(sizes) or 1
    cells = [Span(LEVELS[-(-n * 8 // top)], role) for n in sizes]
    if at is not None:
        cells[min(at, len(cells) - 1)] = Span("◉", "current")
    return line(Span(name.ljust(LEAD), "dim"), *joined(cells))


def _view(shown: tuple[float, float], room: int) -> Line:
    a, b = int(shown[0] * room), max(int(shown[1] * room), int(shown[0] * room) + 1)
    bar = "├" + "─" * max(b - a - 2, 0) + "┤" if b - a > 1 else "│"
    return line(Span("view".ljust(LEAD), "dim"), " " * a, Span(bar, "key"))
