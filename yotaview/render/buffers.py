"""What each buffer of the code holds at the position, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from yota.tape import Call, Spec, Var
from yotaview.model.summary import summarise
from yotaview.render.line import Line, Page, Span, cells, clean, cut, line, wrap_line
from yotaview.render.once import once
from yotaview.render.rows import Rows
from yotaview.render.text import brief, describe, facts_text, phase_of

if TYPE_CHECKING:
    from yota.buffers import Buffer, Plan
    from yotaview.model.occupants import Occupants
    from yotaview.model.session import Session

NO_BUFFERS = "a program without buffers"
MANY, ROOMY = 5_000, 66


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
    """Return where on the recorded tape each op of the code belongs."""
    return session.occupants(plan.form).places


def _order(session: Session, plan: Plan) -> dict[Var, int]:
    """Return which in the code each op is."""
    return session.occupants(plan.form).order


@dataclass(frozen=True, slots=True)
class Chosen:
    """The buffer that is looked at closely, and whether its own lines stand above the others."""

    buffer: int | None = None
    told: bool = False
    checked: str = ""


def buffer_page(
    session: Session,
    plan: Plan,
    at: Var | None,
    width: int,
    height: int,
    why: str = "",
    chosen: Chosen | None = None,
) -> Page:
    """Return each buffer, what it holds at the position, and its occupants over time.

    Above stands `why` the code has another op at the position than the tape, where that is so.
    Parts of a buffer stand below it only while the current op reads or writes them.
    """
    chosen = chosen or Chosen()
    title = f"Buffers at {at}" if at is not None else "Buffers"
    above = wrap_line(line(Span(clean(why), "note")), width, 2) if why else []
    if chosen.checked:
        above.append(line(Span(clean(chosen.checked), "ok" if "✓" in chosen.checked else "alert")))
    if not plan.buffers:
        return Page([*above, line(Span(without_buffers(session), "dim"))], title)
    holds = holds_now(session, plan, at)
    if chosen.told and chosen.buffer is not None and at is not None:
        above += told_of(session, plan, chosen.buffer, at)
    total = wrap_line(total_line(plan), width, 2)
    above, below = (above, total) if chosen.told else ([*above, *total], [])
    order = _shown(session, plan, at, height)
    rows = BufferRows(session, plan, order, holds, at, width, above, below)
    return Page(rows, title, "▲ now · █▓ successive", rows.row_of(chosen.buffer))


def _shown(session: Session, plan: Plan, at: Var | None, height: int) -> list[int]:
    """Return the buffers in the order of the rows: those in use first where there are many."""
    known, used = session.occupants(plan.form), _used(session, plan, at)
    order = list(known.wholes)
    if len(order) > height - 2:
        first = sorted({known.whole(k) for k in used})
        order = [*first, *(k for k in order if k not in set(first))]
    return [j for k in order for j in (k, *(p for p in sorted(used) if _is_part(known, p, k)))]


def _is_part(known: Occupants, part: int, whole: int) -> bool:
    return part != whole and known.whole(part) == whole


def told_of(session: Session, plan: Plan, k: int, at: Var) -> list[Line]:
    """Return what a buffer holds, who wrote it and who needs it still, in two lines."""
    known = session.occupants(plan.form)
    name = plan.buffers[k].name
    held = held_in(session, plan, k, at)
    after = known.next_access(k, at, 1, writes=True)
    onward = f"next write {after.var}" if after is not None else "no further write"
    if held is None:
        return [line(Span(f"{name} ", "key"), "nothing written yet · ", Span(onward, "dim"))]
    op = known.code[held]
    what = f"{held} {clean(describe(op))}"
    needed = named(known.needed_by(held, at))
    where = session.opened.code_map(plan.form).stop_of(held)
    return [
        line(
            Span(f"{name} ", "key"), f"{what}  ", Span(code_brief(session, plan.form, held), "dim")
        ),
        line(
            Span("by ", "dim"),
            f"line {where.line}" if where is not None else "no line of its own",
            Span("  needed by ", "dim"),
            needed or "nothing more",
            Span(f"  {onward}", "dim"),
        ),
    ]


def named(vars_: Sequence[Var], most: int = 4) -> str:
    """Return ops by their numbers, many as how many there are."""
    more = f" … {len(vars_) - most} more" if len(vars_) > most else ""
    return " ".join(map(str, vars_[:most])) + more


def done_at(session: Session, plan: Plan, at: Var | None) -> Var | None:
    """Return the last op of the code that has run: `at`, the one before where `at` lies ahead."""
    if at is None or at not in session.tape or session.is_known(at):
        return at
    order = _order(session, plan)
    ops = once(session.opened, ("code", plan.form), lambda: list(order))
    return ops[order[at] - 1] if order[at] else None


def holds_now(session: Session, plan: Plan, at: Var | None) -> dict[int, Var]:
    """Return what each buffer holds at the position, for which the op `at` of the code stands."""
    done = done_at(session, plan, at)
    return {} if done is None else plan.holds(done)


def held_in(session: Session, plan: Plan, k: int, at: Var) -> Var | None:
    """Return what a buffer or the latest of its parts holds at the position."""
    known, holds = session.occupants(plan.form), holds_now(session, plan, at)
    found = [holds[j] for j in (k, *known.parts.get(k, ())) if j in holds]
    return max(found, key=known.order.__getitem__, default=None)


def code_brief(session: Session, form: str, var: Var) -> str:
    """Return a value of the code in a few words, also of an op that a pass made."""
    if var in session.tape:
        return brief(session, var) if session.is_known(var) else "not computed yet"
    code = session.program.tape_of(form)
    if len(code) > MANY:
        return "made by a pass"
    values, problems = session.opened.values_on(code)
    if var not in values:
        return problems.get(var, "no value")
    facts = once(session.opened, ("made", form, var), lambda: summarise(values[var]))
    return facts_text(facts, values[var])


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
    return [*rows, total_line(plan)]


def _type(buffer: Buffer) -> str:
    return Spec("array", np.dtype(buffer.dtype), buffer.shape).text(short=True)


def without_buffers(session: Session) -> str:
    """Say that there are no buffers, and why."""
    arrays = any(isinstance(op, Call) and op.spec.shape for _, op in session.program.optimised)
    why = "every array is handed out or a view" if arrays else "its values are scalars"
    return f"{NO_BUFFERS}: {why}"


class BufferRows(Rows):
    """What stands above, a buffer a line, and what stands below."""

    def __init__(
        self,
        session: Session,
        plan: Plan,
        order: Sequence[int],
        holds: dict[int, Var],
        at: Var | None,
        room: int,
        above: Sequence[Line] = (),
        below: Sequence[Line] = (),
    ) -> None:
        super().__init__(session)
        self.plan, self.order, self.holds, self.at, self.room = plan, order, holds, at, room
        self.above, self.below = list(above), list(below)

    def __len__(self) -> int:
        return len(self.above) + len(self.order) + len(self.below)

    def row_of(self, k: int | None) -> int | None:
        """Return the row of a buffer, or of what it is a part of."""
        if k is None:
            return None
        k = k if k in self.order else self.session.occupants(self.plan.form).whole(k)
        return len(self.above) + list(self.order).index(k) if k in self.order else None

    def buffer_of(self, row: int) -> int | None:
        """Return the buffer of a row, None for a line above them."""
        at = row - len(self.above)
        return self.order[at] if 0 <= at < len(self.order) else None

    def row(self, index: int) -> Line:
        """Draw one line."""
        if index < len(self.above):
            return self.above[index]
        if index >= len(self.above) + len(self.order):
            return self.below[index - len(self.above) - len(self.order)]
        k = self.order[index - len(self.above)]
        return buffer_row(self.session, self.plan, k, self.holds.get(k), self.at, self.room)


def _used(session: Session, plan: Plan, at: Var | None) -> set[int]:
    code = session.program.tape_of(plan.form)
    if at is None or at not in code:
        return set()
    near = [at, *getattr(code[at], "operands", [])]
    return {plan.slot[v] for v in near if v in plan.slot}


def total_line(plan: Plan) -> Line:
    """Return the bytes of all buffers, what of them is in use at most, and those of no sharing."""
    total, apart = plan.nbytes, plan.unshared_nbytes
    saved = f" (−{100 * (apart - total) / apart:.0f}%)" if apart > total else ""
    count = sum(b.within is None for b in plan.buffers)
    parts = len(plan.buffers) - count
    many = f" in {parts} parts" if parts else ""
    peak = f", peak {plan.peak_nbytes:,} B" if plan.peak_nbytes < total else ""
    plural = "" if count == 1 else "s"
    text = f"{count} buffer{plural}{many} {total:,} B{peak}, one array an op {apart:,} B{saved}"
    return line(Span(text, "dim"))


def _shape(buffer: Buffer) -> str:
    return cut(f"[{','.join(map(str, buffer.shape))}]", 12)


def _widths(plan: Plan) -> tuple[int, int, int]:
    names, shapes = (len(b.name) for b in plan.buffers), (len(_shape(b)) for b in plan.buffers)
    return max(names), max(shapes), max(len(f"{b.nbytes:,}") for b in plan.buffers)


def buffer_row(
    session: Session, plan: Plan, k: int, holds: Var | None, at: Var | None, width: int
) -> Line:
    """Return a buffer with what it holds, until when, and its occupants over time."""
    buffer, known = plan.buffers[k], session.occupants(plan.form)
    sizes = once(session.opened, ("widths", plan.form), lambda: _widths(plan))
    part = "└" if buffer.within is not None else ""
    name = f"{part}{buffer.name}"
    head = f"{name:<{sizes[0]}} {_shape(buffer):<{sizes[1]}} {buffer.nbytes:>{sizes[2]},} B "
    order = _order(session, plan)
    alive = holds is not None and at is not None and order[plan.last_use[holds]] >= order[at]
    text = f"holds {holds}" if holds is not None else "free"
    parts = known.parts.get(k, ())
    if parts and holds is None and at is not None:
        now = holds_now(session, plan, at)
        held = [j for j in parts if j in now]
        text = f"{len(held)} of {len(parts)} parts written"
        alive = any(order[plan.last_use[now[j]]] >= order[at] for j in held)
    elif width >= ROOMY and holds is not None:
        text += f" until {plan.last_use[holds]}" if alive else " done"
    last = len(f"holds {max(plan.last_use)}") + 1
    room = max(last + (last + 1 if width >= ROOMY else 0), 11)
    held_by = Span(text.ljust(room - 1) + " ", "number" if alive else "dim")
    rest = width - cells(head) - cells(held_by.text)
    return line(Span(head), held_by, *occupancy(session, plan, k, at, max(rest, 8)))


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
        session.opened, ("who", plan.form, k), lambda: _with_parts(session, plan, k)
    )
    return found


def _with_parts(session: Session, plan: Plan, k: int) -> list[tuple[Var, Var]]:
    """Return the occupants of a buffer and of its parts, in the order of the code."""
    return [(v, plan.last_use[v]) for v in session.occupants(plan.form).written_by(k)]


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
