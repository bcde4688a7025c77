"""The history of one buffer: what it held, who wrote that, who reads it, until when."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from yota.tape import Constant, Input, Tape, Var
from yotaview.render.buffers import Chosen, code_brief, done_at, held_in, named, without_buffers
from yotaview.render.line import Line, Page, Span, clean, cut, line
from yotaview.render.rows import Rows
from yotaview.render.text import describe

if TYPE_CHECKING:
    from yota.buffers import Plan
    from yotaview.model.session import Session

NOW = "  ◀ now"


def history_page(
    session: Session, plan: Plan, at: Var | None, width: int, chosen: Chosen | None = None
) -> Page:
    """Return what the current op reads and writes, then the occupants of the buffer in sight."""
    chosen = chosen or Chosen()
    above: list[Line] = []
    if chosen.checked:
        above.append(line(Span(clean(chosen.checked), "ok" if "✓" in chosen.checked else "alert")))
    if not plan.buffers:
        return Page([*above, line(Span(without_buffers(session), "dim"))], "Occupants")
    if at is None:
        return Page(above, "Occupants")
    above += _reads(session, plan, at)
    k = chosen.buffer if chosen.buffer is not None else plan.slot.get(at)
    if k is None:
        above.append(line(Span(f"{at} is computed into no buffer", "dim")))
        return Page(above, "Occupants")
    rows = OccupantRows(session, plan, k, at, width, above)
    name = plan.buffers[k].name
    return Page(rows, f"{name} occupants", f"{len(rows.occupants):,} in all", rows.cursor)


class OccupantRows(Rows):
    """What stands above, then an occupant a line, with who needs it below the present one."""

    def __init__(
        self, session: Session, plan: Plan, k: int, at: Var, room: int, above: list[Line]
    ) -> None:
        super().__init__(session)
        self.plan, self.k, self.at, self.room, self.above = plan, k, at, room, above
        self.known = session.occupants(plan.form)
        self.occupants = self.known.written_by(k)
        self.held = held_in(session, plan, k, at)
        order, done = self.known.order, done_at(session, plan, at)
        last = -1 if done is None else order[done]
        self.here = bisect_right(self.occupants, last, key=order.__getitem__) - 1

    def __len__(self) -> int:
        return len(self.above) + len(self.occupants) + (self.here >= 0)

    @property
    def cursor(self) -> int:
        """The row of what the buffer holds now."""
        return len(self.above) + max(self.here, 0)

    def occupant_of(self, row: int) -> Var | None:
        """Return the op of a row, None for a line of another kind."""
        k = row - len(self.above)
        if self.here >= 0 and k > self.here:
            k -= 1
        return self.occupants[k] if 0 <= k < len(self.occupants) else None

    def row(self, index: int) -> Line:
        """Draw one line."""
        if index < len(self.above):
            return self.above[index]
        if self.here >= 0 and index == self.cursor + 1:
            return self.needs()
        var = self.occupant_of(index)
        return _occupant(self, var) if var is not None else ()

    def needs(self) -> Line:
        """Say who still reads what the buffer holds, and what that is."""
        var = self.occupants[self.here]
        needed = named(self.known.needed_by(var, self.at), 3)
        text = f"needed by {needed}" if needed else "needed by nothing more"
        return line(
            Span(f"      {text}  "), Span(code_brief(self.session, self.plan.form, var), "dim")
        )


def _occupant(rows: OccupantRows, var: Var) -> Line:
    plan, code = rows.plan, rows.known.code
    last = plan.last_use[var]
    stop = rows.session.opened.code_map(plan.form).stop_of(var)
    where = f"line {stop.line}" if stop is not None else ""
    own = plan.slot.get(var)
    part = f" {plan.buffers[own].name}" if own is not None and own != rows.k else ""
    name = cut(clean(describe(code[var])), max(rows.room - 36, 12))
    now = var == rows.held and rows.known.order[last] >= rows.known.order[rows.at]
    return line(
        Span(f"{var} ".ljust(6), "number"),
        Span(name.ljust(max(rows.room - 36, 12) + 1), "" if now else "dim"),
        Span(f"{where:<8} until {last}{part}", "dim"),
        Span(NOW if var == rows.held else "", "current"),
    )


def _reads(session: Session, plan: Plan, at: Var) -> list[Line]:
    """Return what the current op reads and where that is, and what it wrote."""
    rows = []
    code = session.program.tape_of(plan.form)
    for var in dict.fromkeys(getattr(code.ops.get(at), "operands", [])):
        place, shown = _kept_in(code, plan, var), code_brief(session, plan.form, var)
        rows.append(
            line(Span("reads ", "dim"), Span(f"{var} ", "number"), f"{place}  ", Span(shown, "dim"))
        )
    if at not in session.tape or session.is_known(at):
        place = f"{plan.buffers[plan.slot[at]].name}  " if at in plan.slot else ""
        shown = code_brief(session, plan.form, at)
        rows.append(
            line(Span("wrote ", "dim"), Span(f"{at} ", "number"), place, Span(shown, "dim"))
        )
    return rows


def _kept_in(code: Tape, plan: Plan, var: Var) -> str:
    """Say where the code finds a value."""
    if var in plan.slot:
        return plan.buffers[plan.slot[var]].name
    kinds = {Input: "argument", Constant: "constant"}
    return kinds.get(type(code[var]), "not in a buffer")
