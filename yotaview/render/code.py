"""The generated code with the position in it, and what each buffer holds there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from yota.tape import Call, Constant, Input, Spec, Tape, Var
from yotaview.render.line import Line, Page, Span, clean, cut, line, spread, wrap_line
from yotaview.render.once import once
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, STOP, Marks, brief, describe, phase_of

if TYPE_CHECKING:
    from yota.buffers import Buffer, Plan
    from yota.codegen import Source
    from yotaview.model.session import Session

NOT_RUN = "not run: grad ran the trace"
NO_BUFFERS = "a program without buffers"
AROUND = 100
SECTIONS = {"P": "note", "B": "forward", "E": "reverse"}


def section(source: Source, number: int) -> str:
    """Return the section of a line, P, B or E; empty outside of them."""
    for name, lines in (("P", source.prologue), ("B", source.body), ("E", source.epilogue)):
        if number in lines:
            return name
    return " "


class CodeRows(Rows):
    """The lines of generated code, each drawn when it is asked for."""

    def __init__(self, session: Session, source: Source, marks: Marks, at: int, room: int) -> None:
        super().__init__(session)
        self.source, self.marks, self.at, self.room = source, marks, at, room
        self.texts = split(source)
        self.digits = len(str(len(self.texts)))

    def __len__(self) -> int:
        return len(self.texts)

    def row(self, index: int) -> Line:
        """Draw one line of the code."""
        return _row(self, index + 1, self.texts[index])


@lru_cache(maxsize=4)
def _split(text: str) -> tuple[str, ...]:
    return tuple(text.rstrip("\n").split("\n"))


def split(source: Source) -> tuple[str, ...]:
    """Return the lines of generated code."""
    return _split(source.text)


def code_page(session: Session, source: Source, marks: Marks, at: int, width: int) -> Page:
    """Return the source with the line `at` marked, and at the right which op a line computes."""
    state = f" · {NOT_RUN}" if session.program.why_retraced else ""
    note = "P prologue · B body · E epilogue" if width >= 78 else "P · B · E"
    return Page(
        CodeRows(session, source, marks, at, width), f"{source.form} code{state}", note, at - 1
    )


def _row(rows: CodeRows, number: int, text: str) -> Line:
    session, source = rows.session, rows.source
    ops = source.ops_of.get(number, ())
    mark = Span(NOW, "current") if number == rows.at else Span(" ")
    if any(v in rows.marks.breakpoints for v in ops) and number != rows.at:
        mark = Span(STOP, "breakpoint")
    name = section(source, number)
    code = text.partition("  # ")[0].rstrip() or text
    ahead = bool(ops) and all(v in session.tape and not session.is_known(v) for v in ops)
    role = "dim" if ahead or code.lstrip().startswith("#") else _role(session, ops)
    head = (
        mark,
        Span(f" {number:>{rows.digits}} ", "dim"),
        Span(f"{name} ", SECTIONS.get(name, "")),
    )
    body = Span(clean(code.removeprefix("    ") if name != " " else code), role)
    return spread(line(*head, body), line(Span(" ".join(map(str, ops)), "number")), rows.room)


def _role(session: Session, ops: tuple[Var, ...]) -> str:
    for var in ops:
        if var in session.tape:
            return phase_of(session.tape, var)
    return ""


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
    alive = holds is not None and at is not None and plan.last_use[holds] >= at
    text = f"holds {holds}" if holds is not None else "free"
    last = len(f"holds {session.stepper.order[-1]}") + 1
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
    places, total = session.stepper.positions, max(len(session.stepper), 1)
    cells = [Span(" ")] * room
    for n, (var, last) in enumerate(_occupants(session, plan, k)):
        start = places.get(var, 0) * room // total
        end = max(places.get(last, total - 1) * room // total, start)
        span = Span("█▓"[n % 2], phase_of(session.tape, var) if var in session.tape else "")
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
    occupants = _occupants(session, plan, k)
    here = bisect_left(occupants, at, key=lambda pair: pair[0])
    near = occupants[max(here - AROUND, 0) : here + AROUND]
    rows += [_occupant(session, var, last, at) for var, last in near]
    return Page(rows, f"{plan.buffers[k].name} occupants")


def _occupant(session: Session, var: Var, last: Var, at: Var) -> Line:
    name = clean(describe(session.tape[var])) if var in session.tape else ""
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
    code = session.program.optimised
    for var in dict.fromkeys(getattr(code.ops.get(at), "operands", [])):
        place = _kept_in(code, plan, var)
        shown = brief(session, var) if session.is_known(var) else "not computed yet"
        rows.append(
            line(Span("reads ", "dim"), Span(f"{var} ", "number"), f"{place}  ", Span(shown, "dim"))
        )
    if session.is_known(at):
        rows.append(
            line(Span("wrote ", "dim"), Span(f"{at} ", "number"), Span(brief(session, at), "dim"))
        )
    return rows
