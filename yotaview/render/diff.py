"""What differs between two calls, in a few lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from yotaview.model.diff import LARGE, Change, Diff, Ratio
from yotaview.model.summary import format_number
from yotaview.render.diff_rows import FAR, DiffRows, sources_of
from yotaview.render.line import Line, Span, clean, line, sparkline, wrap_line
from yotaview.render.text import describe

NAME = 14
GAUGE = 40


def summary_lines(diff: Diff, width: int) -> list[Line]:
    """Return which two calls are compared, and the outcome."""
    found = [
        _row("left", Span(clean(diff.left.title), "remove")),
        _row("right", Span(clean(diff.right.title), "add")),
        *(_row("calls" if k == 0 else "", clean(text)) for k, text in enumerate(diff.history)),
        _row("structure", structure_text(diff)),
        _row("values", *_values(diff)),
    ]
    if diff.first_large is not None and diff.first_large is not diff.first:
        found.append(_row(f"first > {LARGE:g}", *_place(diff, diff.first_large)))
    if any(diff.growth):
        found.append(_row("ulp growth", *_growth(diff.growth)))
    apart = [r for r in diff.ratios if r.relative != 0.0]
    found += [_row("gradients" if k == 0 else "", *_ratio(r)) for k, r in enumerate(apart)]
    return [part for row in found for part in wrap_line(row, width, NAME)]


def _row(name: str, *parts: Span | str) -> Line:
    return line(Span(name.ljust(NAME), "dim"), *parts)


def structure_text(diff: Diff) -> str:
    """Return what is not the same op for op, as `2 changed, 1 inserted; 49 and 50 ops`."""
    if diff.same_structure:
        return f"equal, {len(diff.left.tape):,} ops"
    told = ", ".join(f"{n:,} {kind}" for kind, n in diff.counts.items() if n)
    return f"{told}; {len(diff.left.tape):,} and {len(diff.right.tape):,} ops"


def _values(diff: Diff) -> list[Span | str]:
    compared = len(diff.growth)
    if diff.first is None:
        return [Span(f"equal to the last bit in all {compared:,} pairs", "ok")]
    differ = sum(u > 0 for u in diff.growth)
    return [f"{differ:,} of {compared:,} pairs differ, first ", *_place(diff, diff.first)]


def _place(diff: Diff, change: Change) -> list[Span | str]:
    """Say where two values differ, and by how much."""
    if change.left is None or change.delta is None:
        return []
    index = change.delta.worst.index
    where = f"[{','.join(map(str, index))}]" if index else ""
    numbers = "/".join(dict.fromkeys(map(str, (change.left, change.right))))
    places = dict.fromkeys(s.partition("  ")[0] for s in sources_of(diff, change) if s)
    return [
        f"{numbers} {describe(diff.left.tape[change.left])}{where}  ",
        Span(delta_text(change), "number"),
        Span("  " + ", ".join(places), "dim"),
    ]


def delta_text(change: Change) -> str:
    """Return the two numbers where they differ most, and how far they are apart."""
    if change.delta is None or change.delta.equal:
        return ""
    worst = change.delta.worst
    if worst.what:
        return worst.what
    pair = f"{format_number(worst.first)} → {format_number(worst.second)}"
    return f"{pair}  {apart_text(change)}"


def apart_text(change: Change) -> str:
    """Return how far two values are apart, as `3 ulp, relative 2e-16`."""
    if change.delta is None or change.delta.equal:
        return ""
    ulp, relative = change.delta.worst.ulp, change.delta.relative
    if math.isinf(ulp):
        return "one is not finite" if math.isinf(relative) else f"relative {relative:.2g}"
    told = f"relative {relative:.2g}"
    return told if relative > FAR else f"{ulp_text(ulp)}, {told}"


def ulp_text(ulp: float) -> str:
    """Return a number of ulp."""
    return f"{ulp:,.0f} ulp" if ulp < 1e6 else f"{ulp:.1e} ulp"


def _growth(ulps: Sequence[float]) -> list[Span | str]:
    """Return the bits that differ, along the tape; infinite ones stand out."""
    bits = [math.log2(1.0 + u) for u in ulps]
    finite = [u for u in ulps if math.isfinite(u)]
    return [
        Span(sparkline(bits, GAUGE), "reverse"),
        f"  up to {ulp_text(max(finite, default=0.0))}",
    ]


def _ratio(ratio: Ratio) -> list[Span | str]:
    finite = math.isfinite(ratio.left) and math.isfinite(ratio.right)
    times = "not finite" if not finite else "from zero"
    if finite and ratio.left:
        times = f"×{ratio.right / ratio.left:.4g}"
    near = "of another shape" if ratio.relative is None else f"relative {ratio.relative:.2g}"
    near = near if finite or ratio.relative is None else ""
    numbers = f"{format_number(ratio.left)} → {format_number(ratio.right)}"
    return [f"∂{clean(ratio.name)}  ", Span(f"‖∇‖ {numbers}  {times}", "number"), f"  {near}"]


def diff_lines(diff: Diff, width: int) -> list[Line]:
    """Return the outcome and the ops that differ, for a file or stdout."""
    rows = DiffRows(diff, width)
    return [*summary_lines(diff, width), *([(), *rows] if rows.stops else [])]
