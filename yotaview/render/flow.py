"""Breakpoints, alerts, and how large the cotangents are from the result back to the inputs."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING

from yota.tape import Var
from yotaview.model.summary import format_number
from yotaview.render.line import Line, Page, Span, bar, clean, cut, line, wrap_line
from yotaview.render.stops import break_lines, watch_lines
from yotaview.render.text import ALERT, describe, has_value, quick_facts

if TYPE_CHECKING:
    from yotaview.model.session import Session

Flow = list[tuple[Var, Var]]


def cotangent_order(session: Session) -> Flow:
    """Return (cotangent, primal) in the order in which the reverse pass completes them."""
    tape = session.tape
    return sorted((c, p) for p, c in tape.cotangents.items() if c in tape and p in tape)


def flow_page(session: Session, flow: Flow, width: int, height: int) -> Page:
    """Return the pane beside the value: stops, alerts, norms of cotangents around the position."""
    rows = capped(watch_lines(session, width), max(height // 3, 3), "watches", "B lists all")
    rows += capped(_stops(session), max(height // 3, 1), "breakpoints", "B lists all")
    rows += capped(_alerts(session, width), max(height // 3, 1), "alerts", "! goes to each")
    if flow:
        rows += [(), line(Span("gradient flow ‖δ‖, result → inputs (log bars)", "dim"))]
        rows += norms(session, flow, width, max(height - len(rows), 1))
    watch = "Watch / " if session.stops.watches(session.row_index) else ""
    return Page(rows, f"{watch}Breakpoints / Alerts / Flow")


def capped(rows: list[Line], room: int, noun: str, how: str) -> list[Line]:
    """Return as many rows as there is room for; the last says how many there are."""
    if len(rows) <= room:
        return rows
    kept = max(room - 1, 0)
    told = f"{kept} of {len(rows)} lines of {noun} shown; {how}"
    return [*rows[:kept], line(Span(told, "dim"))]


def _stops(session: Session) -> list[Line]:
    found = break_lines(session)
    return found or [line(Span("no breakpoint: b sets one on the current op", "dim"))]


def _alerts(session: Session, width: int) -> list[Line]:
    if not session.alerts:
        return [line(Span("no alert: every recorded value is finite", "dim"))]
    roles = {"alarm": "alert", "masked": "note"}
    rows = (
        line(
            Span(f"{ALERT} " if a.level == "alarm" else "  ", "alert"),
            Span(f"{a.var} ".ljust(6), "number"),
            Span(clean(f"{a.level}: {a.text}"), roles.get(a.level, "dim")),
        )
        for a in session.alerts
    )
    return [part for row in rows for part in wrap_line(row, width, 8)]


def norms(session: Session, flow: Flow, width: int, room: int) -> list[Line]:
    """Return the cotangents around the position, one a line, with bars on a log scale."""
    done = bisect_right(flow, session.at, key=lambda pair: pair[0])
    start = max(0, min(done - room + 2, len(flow) - room))
    shown = flow[start : start + room]
    sizes = {c: _norm(session, c) for c, _ in shown if session.is_known(c)}
    finite = [s for s in sizes.values() if s is not None and 0 < s < math.inf]
    low, high = (min(finite), max(finite)) if finite else (1.0, 1.0)
    name = max(min(width - 38, 24), 10)
    rows = []
    for cotangent, primal in shown:
        text = cut(clean(describe(session.tape[primal])), name - 1).ljust(name)
        head = (Span(f"δ{primal} ".ljust(6), "reverse"), Span(text))
        if cotangent not in sizes:
            rows.append(line(*head, Span("not computed yet", "dim")))
            continue
        size = sizes[cotangent]
        share = _share(size, low, high)
        here = Span(" ◀", "current") if cotangent == session.at else Span("")
        blocks = Span(bar(share, max(width - name - 20, 4)), "reverse")
        rows.append(line(*head, f"{_text(size):>10} ", blocks, here))
    return rows


def _norm(session: Session, var: Var) -> float | None:
    if not has_value(session, var):
        return None
    facts = quick_facts(session, var)
    return facts.norm if facts.finite else math.nan if facts.nan else math.inf


def _text(size: float | None) -> str:
    return "no value" if size is None else format_number(float(f"{size:.5g}"))


def _share(size: float | None, low: float, high: float) -> float:
    if size is None or not 0 < size < math.inf:
        return 0.0
    span = math.log10(high / low) + 2
    return (math.log10(size / low) + 2) / span
