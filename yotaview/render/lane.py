"""The lane of time: the whole tape in one row, whatever its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yotaview.render.header import op_count
from yotaview.render.line import Line, Span, joined, line
from yotaview.render.once import once
from yotaview.render.text import ALERT, RAISED, SEED, STOP, Marks

if TYPE_CHECKING:
    from yota.tape import Var
    from yotaview.model.session import Session

LEAD = 7
GLYPHS = {"inputs": ("·", "input"), "forward": ("─", "forward"), "reverse": ("═", "reverse")}


def lane(session: Session, marks: Marks, width: int) -> list[Line]:
    """Return the lane and, below it, the names of the phases."""
    total, index = len(session.stepper), session.stepper.index
    count = f" {op_count(session).removeprefix('op ')} "
    room = max(width - LEAD - len(count), 4)
    bounds = _bounds(session)
    cells = [_cell(k, bounds, room, total) for k in range(room)]
    _pin(cells, session, marks, room, total)
    cells[_column(index, room, total)] = Span("▲", "current")
    return [
        line(Span(" time  ", "title"), *joined(cells), Span(count, "title")),
        _names(bounds, room, total),
    ]


def _bounds(session: Session) -> tuple[int, int]:
    """Return how many ops are inputs and where the reverse pass begins."""
    order, tape = session.stepper.order, session.tape
    start = tape.reverse_start
    places = session.stepper.positions
    reverse = places[start] if start is not None and start in places else len(session.stepper)
    edges = session.stepper.edges
    inputs = next((k for k in edges if 0 < k < reverse), 0)
    if session.phase(order[0]) != "inputs":
        inputs = 0
    return inputs, reverse


def _column(index: int, room: int, total: int) -> int:
    return min(room - 1, index * room // max(total, 1))


def _cell(k: int, bounds: tuple[int, int], room: int, total: int) -> Span:
    index = k * total // room
    phase = "inputs" if index < bounds[0] else "forward" if index < bounds[1] else "reverse"
    return Span(*GLYPHS[phase])


def _pin(cells: list[Span], session: Session, marks: Marks, room: int, total: int) -> None:
    places = session.stepper.positions
    if session.tape.seed in places:
        cells[_column(places[session.tape.seed], room, total)] = Span(SEED, "seed")  # type: ignore[index]  # tested above
    for found, span in (
        (marks.breakpoints, Span(STOP, "breakpoint")),
        (marks.alarms, Span(ALERT, "alert")),
    ):
        for column in _columns(session, found, room, total):
            cells[column] = span
    for index, letter in marks.letters:
        cells[_column(index, room, total)] = Span(letter, "key")
    if session.stepper.raised:
        cells[_column(total - 1, room, total)] = Span(RAISED, "alert")


def _columns(session: Session, found: frozenset[Var], room: int, total: int) -> set[int]:
    """Return where marks stand on the lane, the same at every position."""
    places = session.stepper.positions
    columns: set[int] = once(
        session.opened,
        ("columns", room, found),
        lambda: {_column(places[v], room, total) for v in found},
    )
    return columns


def _names(bounds: tuple[int, int], room: int, total: int) -> Line:
    starts = (
        (_column(0, room, total), "inputs", "input", bounds[0] > 0),
        (_column(bounds[0], room, total), "forward ▸", "forward", bounds[1] > bounds[0]),
        (_column(bounds[1], room, total), "◂ reverse", "reverse", bounds[1] < total),
    )
    ends = [starts[1][0], starts[2][0] if starts[2][3] else room, room]
    row: list[Span] = [Span(" " * LEAD)]
    column = 0
    for (start, name, role, shown), end in zip(starts, ends, strict=True):
        gap = max(end - start - len(name), 0) // 2 if role != "input" else 0
        if column and start + gap == column:
            gap += 1  # apart from the name before it
        if not shown or start + gap < column or start + gap + len(name) > room:
            continue
        row += [Span(" " * (start + gap - column)), Span(name, role)]
        column = start + gap + len(name)
    return line(*row)


def call_lane(session: Session, width: int) -> list[Line]:
    """Return the calls of the open row: kept ones as dots, non-finite ones marked."""
    row = session.row
    count = f" call {session.call.number}/{row.count} " if session.call else " no call kept "
    room = max(width - LEAD - len(count), 4)
    cells = [Span("─", "dim")] * room
    total = max(row.count, 1)
    for call in row.calls:
        cells[_column(call.number - 1, room, total)] = Span("●", "forward")
    for number in row.nonfinite:
        cells[_column(number - 1, room, total)] = Span(ALERT, "alert")
    if session.call:
        cells[_column(session.call.number - 1, room, total)] = Span("▲", "current")
    kept = "this call raised" if row.failure is not None else row.kept_text or "every call kept"
    return [
        line(Span(" calls ", "title"), *joined(cells), Span(count, "title")),
        line(Span(" " * LEAD + kept, "dim")),
    ]
