"""What the passes and the shared buffers save, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yotaview.render.line import Line, Page, Span, line, wrap_line
from yotaview.render.passes import seconds_text

if TYPE_CHECKING:
    from yotaview.model.savings import Cost, Savings

TITLE = "What passes and buffers save"


def savings_page(savings: Savings, at: int | None, width: int) -> Page:
    """Return a row for each form of the tape, then what CSE and the buffers save."""
    name = max(min(width - 36, 14), 10)
    head = f" {'':<{name}}{'calls':>7}{'FWD µs':>9}{'REV µs':>9}{'µs':>9}"
    rows = [line(Span(head, "dim")), *(_cost_row(c, name) for c in savings.costs), ()]
    told = [_cse(savings), _buffers(savings), _not_run(savings)]
    rows += [part for text in told if text for part in wrap_line(line(f" {text}"), width, 1)]
    return Page(rows, TITLE, f"median of {savings.runs}", None if at is None else at + 1)


def _cost_row(cost: Cost, name: int) -> Line:
    numbers = (cost.forward, cost.reverse, cost.total)
    return line(
        f" {cost.name[:name]:<{name}}{cost.calls:>7}", *(f"{1e6 * s:>9.2f}" for s in numbers)
    )


def _cse(savings: Savings) -> str:
    off, on = savings.recorded, savings.with_cse
    calls, saved = off.calls - on.calls, off.total - on.total
    if not calls:
        return "CSE merges nothing here"
    share = f" ({saved / off.total:.0%})" if off.total else ""
    time = f"{seconds_text(saved)}{share}" if saved > 0 else "no time that can be measured"
    return f"CSE saves {calls} call{'' if calls == 1 else 's'} and {time}"


def _buffers(savings: Savings) -> str:
    shared, alone = savings.shared, savings.unshared
    if not shared:
        return "no buffers: every value is a scalar, or made by its own function"
    share = f" (−{1 - shared / alone:.0%})" if shared < alone else ""
    return f"buffers {shared:,} B, with one array an op {alone:,} B{share}"


def _not_run(savings: Savings) -> str:
    count = savings.recorded.not_run
    if not count:
        return ""
    return f"{count} of {savings.recorded.calls} calls not run: your own, or without a value"
