"""One part of an op: what it reads, how it computes, what it writes, what that adds to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yota.tape import Call, Var
from yotaview.model.parts import ACCUMULATE, COMPUTE, READ, Gain, gains_of, part_name, parts_of
from yotaview.model.watches import noun
from yotaview.render.line import Line, Page, Span, clean, line, wrap_line
from yotaview.render.stops import value_text
from yotaview.render.text import describe, has_value

if TYPE_CHECKING:
    from yotaview.model.session import Session


def part_page(session: Session, width: int, height: int, place: str = "") -> Page:
    """Return the part at the position; `place` says which buffer the code computes the op into."""
    name, var = part_name(session.opened, session.stepper), session.at
    rows = {
        READ: lambda: _read(session, var),
        COMPUTE: lambda: _compute(session, var),
        ACCUMULATE: lambda: _accumulate(session, var),
    }.get(name, lambda: _write(session, var, place))()
    lines = [part for row in rows for part in wrap_line(row, width, 5)]
    names = [n for n, _ in parts_of(session.opened, var)]
    title = f"{var} {name}"
    at = names.index(name)
    strip = " ".join(
        f"{'✓' if k < at else '▶' if k == at else '·'} {n}" for k, n in enumerate(names)
    )
    room = len(title) + len(strip) + 10 <= width
    return Page(lines, title, strip if room else f"part {at + 1} of {len(names)}")


def part_text(session: Session) -> str:
    """Return the part at the position in a line, for where its page is not in sight."""
    page = part_page(session, 10_000, 10)
    first = "".join(s.text for s in page.lines[0]) if page.lines else ""
    return f"{page.title}: {first}"


def _shown(session: Session, var: Var) -> str:
    if not session.is_known(var):
        return "not computed yet"
    if not has_value(session, var):
        return session.opened.problems.get(var, "no value")
    return value_text(session.recorded(var))


def _read(session: Session, var: Var) -> list[Line]:
    op = session.tape[var]
    operands = list(dict.fromkeys(op.operands)) if isinstance(op, Call) else []
    if not operands:
        return [line("reads no op: its operands are literals")]
    return [
        line(
            Span("reads ", "dim"),
            Span(f"{v} ", "number"),
            f"{clean(describe(session.tape[v]))}  ",
            Span(_shown(session, v)),
        )
        for v in operands
    ]


def _compute(session: Session, var: Var) -> list[Line]:
    op = session.tape[var]
    rule = clean(session.rule_text(var))
    if not session.tape.is_reverse(var):
        rule = rule.partition("  ⇒")[0]
    rows = [line(Span("computes ", "dim"), f"{var} = {describe(op)}")]
    if rule:
        rows.append(line(Span("rule ", "dim"), rule))
    if op.origin.role == "accumulate":
        rows[1:] = [line(Span("rule ", "dim"), "contributions to a cotangent add up")]
    return rows


def _write(session: Session, var: Var, place: str) -> list[Line]:
    rows = [line(Span("writes ", "dim"), Span(f"{var} ", "number"), Span(_shown(session, var)))]
    if place:
        rows.append(line(Span("into ", "dim"), Span(clean(place), "note")))
    return rows


def _accumulate(session: Session, var: Var) -> list[Line]:
    rows: list[Line] = []
    for gain in sorted(gains_of(session.opened, var), key=lambda g: (-g.count, g.primal)):
        rows += _gathered(session, gain)
    return rows


def gain_line(session: Session, gain: Gain) -> Line:
    """Return `δ%7 complete, 2 of 2 contributions`."""
    state = "complete" if gain.complete else "so far"
    count = f"{gain.number} of {gain.count} {noun(gain.count)}"
    of = f"   of {clean(describe(session.tape[gain.primal]))}"
    return line(Span(f"δ{gain.primal} {state}", "reverse"), f", {count}", Span(of, "dim"))


def _gathered(session: Session, gain: Gain) -> list[Line]:
    rows = [gain_line(session, gain)]
    tape = session.tape
    for k, term in enumerate(session.opened.terms[gain.primal], 1):
        of = tape.ops.get(term.of) if term.of is not None else None
        through = f"  through {term.of} {getattr(of, 'name', '')}" if of is not None else ""
        rows.append(
            line(
                Span(f"  {k} ", "dim"),
                Span(f"{term.var} ", "number"),
                f"{clean(describe(tape[term.var]))}",
                Span(clean(through), "dim"),
                f"  {_shown(session, term.var) if k <= gain.number else 'not added yet'}",
            )
        )
    return rows
