"""The value of one op over the kept calls: where it lay in each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from yotaview.model.overcalls import is_quick, over_calls
from yotaview.model.summary import Summary, format_number
from yotaview.render.line import Line, Span, line
from yotaview.render.once import known, once

if TYPE_CHECKING:
    from yota.tape import Var
    from yotaview.model.session import Session

Facts = list[tuple[int, Summary | None]]


def facts_over_calls(session: Session, var: Var) -> Facts:
    """Return the facts of an op's value in each kept call, found once."""
    found: Facts = once(session.opened, ("calls", var), lambda: over_calls(session, var))
    return found


def are_known(session: Session, var: Var) -> bool:
    """Tell whether the facts are there, or come at once."""
    return is_quick(session) or known(session.opened, ("calls", var)) is not None


def calls_lines(session: Session, var: Var, width: int, height: int) -> list[Line]:
    """Return the range of a value in each kept call on one scale; ● is the mean."""
    if not are_known(session, var):
        text = f"replaying {len(session.row.calls)} kept calls"
        return [line(Span(text, "dim"))]
    facts = facts_over_calls(session, var)
    ends = [e for _, f in facts if f is not None for e in (f.minimum, f.maximum) if e is not None]
    if not ends:
        return [line(Span("no finite number in any kept call", "dim"))]
    low, high = min(ends), max(ends)
    head = f"{len(facts)} of {session.row.count:,} calls kept, {format_number(low)} … "
    rows = [line(Span(f"{head}{format_number(high)}; ● mean", "dim"))]
    room = max(height - 1, 1)
    first = max(0, min(session.call_index - room // 2, len(facts) - room))
    label = max(len(f"{n:,}") for n, _ in facts) + 2
    current = session.call.number if session.call is not None else 0
    for number, f in facts[first : first + room]:
        mark = Span("▶" if number == current else " ", "current")
        chart = _chart(f, low, high, max(width - label - 14, 8))
        mean = "" if f is None or f.mean is None else format_number(f.mean)
        bad = "" if f is None or f.finite else f" nan {f.nan} inf {f.inf}"
        tail = (Span(f" {mean}"), Span(bad, "alert"))
        rows.append(line(mark, Span(f"{number:,}".ljust(label), "number"), chart, *tail))
    return rows


def _chart(facts: Summary | None, low: float, high: float, room: int) -> Span:
    """Draw the range from minimum to maximum on a scale of `room` cells, the mean as a dot."""
    if facts is None or facts.minimum is None or facts.maximum is None or facts.mean is None:
        return Span("no value".ljust(room), "dim")

    def at(x: float) -> int:
        span = high - low
        share = (x - low) / span if span > 0 and math.isfinite(span) else 0.5
        return max(0, min(room - 1, int(share * room)))

    cells = [" "] * room
    for k in range(at(facts.minimum), at(facts.maximum) + 1):
        cells[k] = "─"
    cells[at(facts.mean)] = "●"
    return Span("".join(cells), "forward")
