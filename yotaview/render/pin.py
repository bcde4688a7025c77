"""A value that stays in sight below another one, and how far the two are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from yota.tape import Var
from yotaview.model.replay import quiet
from yotaview.model.summary import LARGE, format_number, numeric
from yotaview.render.grid import Cursor
from yotaview.render.line import Line, Page, Span, line
from yotaview.render.text import has_value, quick_facts
from yotaview.render.value import LOW, absent, body, fact_lines, page

if TYPE_CHECKING:
    from yotaview.model.session import Session


def pinned_page(
    session: Session, mode: str, cursors: tuple[Cursor | None, Cursor | None], pinned: Var,
    width: int, height: int,
) -> Page:  # fmt: skip
    """Return the value at the position, below it the pinned one with its distance."""
    if pinned not in session.tape:
        return page(session, mode, cursors[0], width, height)
    head = [line(Span(f"pinned {pinned} ".ljust(width, "─"), "title")), *_apart(session, pinned)]
    known = session.is_known(pinned) and has_value(session, pinned)
    upper = height // 2 if known else height - len(head) - 2
    above = page(session, mode, cursors[0], width, upper)
    room = height - upper - len(head)
    below = _body(session, mode, cursors[1], pinned, width, room)
    rows = [*above.lines[:upper], *[()] * max(upper - len(above.lines), 0), *head, *below]
    return Page(rows, above.title, above.note, above.cursor, marked=False)


def _body(
    session: Session, mode: str, cursor: Cursor | None, pinned: Var, width: int, room: int
) -> list[Line]:
    if not session.is_known(pinned) or not has_value(session, pinned):
        return absent(session, pinned, width)
    facts, value = quick_facts(session, pinned), session.recorded(pinned)
    head = fact_lines(facts, spacious=False, width=width) if room >= LOW else []
    return [*head, *body(value, mode, cursor, width, max(room - len(head), 1), facts)[0]]


def _apart(session: Session, pinned: Var) -> list[Line]:
    """Say how far two values of one shape are apart."""
    if not session.is_known(pinned) or session.failed_here:
        return []
    x = numeric(session.opened.values.get(session.at))
    y = numeric(session.opened.values.get(pinned))
    if x is None or y is None or x.shape != y.shape or not 0 < x.size <= LARGE:
        return []
    with quiet():
        gap = np.abs(np.subtract(x, y, dtype=np.result_type(x, y, np.float64)))
    worst = format_number(gap.max())
    text = "equal in every element" if not gap.any() else f"largest difference {worst}"
    return [line(Span(f"{session.at} − {pinned}: {text}", "note"))]
