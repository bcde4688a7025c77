"""What each buffer of the code holds at the position, and over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from yota.tape import Call, Constant, Input, Spec, Tape, Var
from yotaview.render.line import Line, Page, Span, clean, cut, line, wrap_line
from yotaview.render.once import once
from yotaview.render.rows import Rows
from yotaview.render.text import brief, describe, phase_of

if TYPE_CHECKING:
    from yota.buffers import Buffer, Plan
    from yotaview.model.session import Session

NO_BUFFERS = "a program without buffers"
AROUND = 100


def role_of(session: Session, form: str, ops: Sequence[Var]) -> str:
    """Return the colour of what computes `ops`; one that a pass made has the phase of its cause."""
    for var in ops:
        if var in session.tape:
            return phase_of(session.tape, var)
        op = session.program.tape_of(form).ops.get(var)
        if op is not None:
            return "forward" if op.origin.wrt is None else "reverse"
    return ""


def places_of(session: Session, plan: Plan) -> dict[Var, int]:
    """Return where on the recorded tape each op of the code belongs.

    One that a pass made belongs to the next op that was recorded.
    """

    def make() -> dict[Var, int]:
        recorded = session.stepper.positions
        found, onward = dict(recorded), len(recorded) - 1
        for var in reversed(plan.last_use):
            onward = found[var] = recorded.get(var, onward)
        return found

    places: dict[Var, int] = once(session.opened, ("places", plan.form), make)
    return places


def _order(session: Session, plan: Plan) -> dict[Var, int]:
    """Return which in the code each op is."""

    def make() -> dict[Var, int]:
        return {v: k for k, v in enumerate(plan.last_use)}

    order: dict[Var, int] = once(session.opened, ("order", plan.form), make)
    return order


def buffer_page(
    session: Session, plan: Plan, at: Var | None, width: int, height: int, why: str = ""
) -> Page:
    """Return each buffer, what it holds at the position, and its occupants over time.

    Above stands `why` the code has another op at the position than the tape, where that is so.
    """
    title = f"Buffers at {at}" if at is not None else "Buffers"
    above = wrap_line(line(Span(clean(why), "note")), width, 2) if why else []
    if not plan.buffers:
        return Page([*above, line(Span(without_buffers(session), "dim"))], title)
    holds = plan.holds(at) if at is not None else {}
    order: Sequence[int] = range(len(plan.buffers))
    if len(order) > height - 1 - len(above):
        used = _used(session, plan, at)
        order = [*sorted(used), *(k for k in order if k not in used)]
    rows = BufferRows(session, plan, order, holds, at, width, above)
    return Page(rows, title, "▲ now · █▓ successive")


def buffer_lines(session: Session, plan: Plan) -> list[Line]:
    """Return a buffer a line: name, type, bytes, and what it holds in turn, each until when."""
    if not plan.buffers:
        return [line(without_buffers(session))]
    sizes = [len(b.name) for b in plan.buffers], [len(_type(b)) for b in plan.buffers]
    rows = []
    for k, buffer in enumerate(plan.buffers):
        held = ", ".join(f"{v} until {last}" for v, last in plan.occupants(k))
        head = f"{buffer.name:<{max(sizes[0])}}  {_type(buffer):<{max(sizes[1])}}"
        rows.append(line(head, Span(f"  {buffer.nbytes:>9,} B", "dim"), f"  {held}"))
    return [*rows, _total(plan)]


def _type(buffer: Buffer) -> str:
    return Spec("array", np.dtype(buffer.dtype), buffer.shape).text(short=True)


def without_buffers(session: Session) -> str:
    """Say that there are no buffers, and why."""
    arrays = any(isinstance(op, Call) and op.spec.shape for _, op in session.program.optimised)
    why = "every array is handed out or a view" if arrays else "its values are scalars"
    return f"{NO_BUFFERS}: {why}"


class BufferRows(Rows):
    """What stands above, the total, then a buffer a line."""

    def __init__(
        self,
        session: Session,
        plan: Plan,
        order: Sequence[int],
        holds: dict[int, Var],
        at: Var | None,
        room: int,
        above: Sequence[Line] = (),
    ) -> None:
        super().__init__(session)
        self.plan, self.order, self.holds, self.at, self.room = plan, order, holds, at, room
        self.above = [*above, _total(plan)]

    def __len__(self) -> int:
        return len(self.above) + len(self.order)

    def row(self, index: int) -> Line:
        """Draw one line."""
        if index < len(self.above):
            return self.above[index]
        k = self.order[index - len(self.above)]
        return _buffer_row(self.session, self.plan, k, self.holds.get(k), self.at, self.room)


def _used(session: Session, plan: Plan, at: Var | None) -> set[int]:
    if at is None or at not in session.tape:
        return set()
    near = [at, *getattr(session.tape[at], "operands", [])]
    return {plan.slot[v] for v in near if v in plan.slot}


def _total(plan: Plan) -> Line:
    total, apart = plan.nbytes, plan.unshared_nbytes
    saved = f" (−{100 * (apart - total) / apart:.0f}%)" if apart > total else ""
    return line(
        Span(f"{len(plan.buffers)} buffers {total:,} B, one array an op {apart:,} B{saved}", "dim")
    )


def _shape(buffer: Buffer) -> str:
    return cut(f"[{','.join(map(str, buffer.shape))}]", 12)


def _widths(plan: Plan) -> tuple[int, int, int]:
    names, shapes = (len(b.name) for b in plan.buffers), (len(_shape(b)) for b in plan.buffers)
    return max(names), max(shapes), max(len(f"{b.nbytes:,}") for b in plan.buffers)


def _buffer_row(
    session: Session, plan: Plan, k: int, holds: Var | None, at: Var | None, width: int
) -> Line:
    buffer = plan.buffers[k]
    sizes = once(session.opened, ("widths", plan.form), lambda: _widths(plan))
    head = f"{buffer.name:<{sizes[0]}} {_shape(buffer):<{sizes[1]}} {buffer.nbytes:>{sizes[2]},} B "
    order = _order(session, plan)
    alive = holds is not None and at is not None and order[plan.last_use[holds]] >= order[at]
    text = f"holds {holds}" if holds is not None else "free"
    last = len(f"holds {max(plan.last_use)}") + 1
    held = Span(text.ljust(max(last, 11)), "number" if alive else "dim")
    room = width - len(head) - len(held.text) - 1
    return line(Span(head), held, *occupancy(session, plan, k, at, max(room, 8)))


def occupancy(session: Session, plan: Plan, k: int, at: Var | None, room: int) -> list[Span]:
    """Return a row of time with a buffer's occupants, one shade and the next in turn."""
    cells = list(
        once(session.opened, ("row", plan.form, k, room), lambda: _fill(session, plan, k, room))
    )
    if at is not None:
        column = min(room - 1, session.stepper.index * room // max(len(session.stepper), 1))
        cells[column] = Span("▲" if cells[column].text == " " else cells[column].text, "current")
    return cells


def _occupants(session: Session, plan: Plan, k: int) -> list[tuple[Var, Var]]:
    found: list[tuple[Var, Var]] = once(
        session.opened, ("who", plan.form, k), lambda: plan.occupants(k)
    )
    return found


def _fill(session: Session, plan: Plan, k: int, room: int) -> list[Span]:
    places, total = places_of(session, plan), max(len(session.stepper), 1)
    cells = [Span(" ")] * room
    for n, (var, last) in enumerate(_occupants(session, plan, k)):
        start = places[var] * room // total
        end = max(places[last] * room // total, start)
        span = Span("█▓"[n % 2], role_of(session, plan.form, [var]))
        for column in range(start, min(end + 1, room)):
            cells[column] = span
    return cells


def history_page(session: Session, plan: Plan, at: Var | None, width: int) -> Page:
    """Return the occupants of the buffer that the current op writes, and what the op reads."""
    if not plan.buffers:
        return Page([line(Span(without_buffers(session), "dim"))], "Occupants")
    k = plan.slot.get(at) if at is not None else None
    if k is None or at is None:
        return Page([line(Span(f"{at} is computed into no buffer", "dim"))], "Occupants")
    rows = _reads(session, plan, at)
    occupants, order = _occupants(session, plan, k), _order(session, plan)
    here = bisect_left(occupants, order[at], key=lambda pair: order[pair[0]])
    near = occupants[max(here - AROUND, 0) : here + AROUND]
    code = session.program.tape_of(plan.form)
    rows += [_occupant(code, var, last, at) for var, last in near]
    return Page(rows, f"{plan.buffers[k].name} occupants")


def _occupant(code: Tape, var: Var, last: Var, at: Var) -> Line:
    name = clean(describe(code[var]))
    now = Span("  ◀ now", "current") if var == at else Span("")
    return line(
        Span(f"{var} ".ljust(6), "number"),
        cut(name, 26).ljust(27),
        Span(f"until {last}", "dim"),
        now,
    )


def _kept_in(code: Tape, plan: Plan, var: Var) -> str:
    """Say where the code finds a value."""
    if var in plan.slot:
        return plan.buffers[plan.slot[var]].name
    kinds = {Input: "argument", Constant: "constant"}
    return kinds.get(type(code[var]), "not in a buffer")


def _reads(session: Session, plan: Plan, at: Var) -> list[Line]:
    rows = []
    code = session.program.tape_of(plan.form)
    for var in dict.fromkeys(getattr(code.ops.get(at), "operands", [])):
        place, shown = _kept_in(code, plan, var), _shown(session, var)
        rows.append(
            line(Span("reads ", "dim"), Span(f"{var} ", "number"), f"{place}  ", Span(shown, "dim"))
        )
    if session.is_known(at):
        rows.append(
            line(Span("wrote ", "dim"), Span(f"{at} ", "number"), Span(brief(session, at), "dim"))
        )
    return rows


def _shown(session: Session, var: Var) -> str:
    if var not in session.tape:
        return "made by a pass, not recorded"
    return brief(session, var) if session.is_known(var) else "not computed yet"
