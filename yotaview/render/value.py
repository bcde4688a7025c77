"""A value as facts, grid, heat or histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Var, format_value
from yotaview.model.forms import text_of
from yotaview.model.summary import (
    LARGE,
    Summary,
    format_number,
    modulus,
    numeric,
    quick_summary,
    sample_of,
    summarise,
    whole_text,
)
from yotaview.render.calls import calls_lines
from yotaview.render.grid import Cursor, grid_lines
from yotaview.render.line import Line, Page, Span, bar, cells, clean, cut, line, wrap, wrap_line
from yotaview.render.source import failure_lines
from yotaview.render.text import RAISED, describe, has_value, quick_facts

if TYPE_CHECKING:
    from yotaview.model.session import Session

# below this the numbers themselves matter more than what they come to
LOW = 7
FAR = 1e300
MODES = ("grid", "heat", "histogram", "summary", "calls")


def page(session: Session, mode: str, cursor: Cursor | None, width: int, height: int) -> Page:
    """Return the pane of the value at the position; `cursor` is the element one stands on."""
    var = session.at
    if session.failed_here:
        return Page(failure(session, width), f"Value {RAISED}", "not computed")
    title = f"Value {var}"
    if not session.is_known(var) or not has_value(session, var):
        return Page(absent(session, var, width), title)
    value = session.recorded(var)
    head = heading(session, var, width, height)
    room = height - len(head)
    if mode == "calls" and numeric(value) is not None:
        return Page([*head, *calls_lines(session, var, width, room)], title, "v: over kept calls")
    rows, row = body(value, mode, cursor, width, room, quick_facts(session, var))
    note = f"v: {mode}"
    if (numeric(value) is not None) and np.ndim(value) > 2:
        note = f"{note}  V: slice"
    if cursor is not None and cursor.index and mode in ("grid", "heat"):
        told = f"[{','.join(map(str, cursor.index))}] {element_text(value, cursor.index)}"
        note = f"{told}  {note}" if len(told) + len(note) + len(title) + 10 < width else told
    return Page([*head, *rows], title, note, None if row is None else row + len(head), marked=False)


def element_text(value: Any, cell: tuple[int, ...]) -> str:
    """Return one element with six digits, a complex one with its magnitude and phase."""
    try:
        v = np.asarray(value)[cell]
        text = format_number(v)
        if not np.iscomplexobj(v):
            return text
        return f"{text} |z| {modulus(v):.4g} ∠{np.degrees(np.angle(v)):.4g}°"
    except Exception as error:  # one number may have no text, the rest stays
        return type(error).__name__


def value_kind(session: Session) -> str:
    """Say how many axes the value at the position has."""
    if session.failed_here or not has_value(session, session.at):
        return "no value"
    return f"the value of {session.at} is {np.ndim(session.recorded(session.at))}-D"


def failure(session: Session, width: int) -> list[Line]:
    """Say what raised instead of giving a value."""
    failed = session.row.failure
    place = [line(Span(failed.place, "dim"))] if failed is not None else []
    return [p for row in (*failure_lines(session), *place) for p in wrap_line(row, width, 2)]


def absent(session: Session, var: Var, width: int) -> list[Line]:
    """Say why there is no value: not computed yet, or not to be had."""
    head = line(Span(f"{var} ", "number"), clean(describe(session.tape[var])))
    if not session.is_known(var):
        text = f"not computed yet (op {session.stepper.positions[var] + 1})"
    else:
        text = session.opened.problems.get(var, "this row keeps no values")
    return [head, line(Span(cut(clean(text), width), "dim"))]


def heading(session: Session, var: Var, width: int, height: int) -> list[Line]:
    """Return the facts of a value in three to five lines."""
    facts = quick_facts(session, var)
    op = session.tape[var]
    name = describe(op).partition("(")[0]
    kind = facts.type_text
    rows = [line(Span(f"{var} ", "number"), Span(name), f"  {kind}  ", f"{facts.nbytes:,} B")]
    if height < LOW:
        return rows
    if height >= 14 and (told := adjoint(session, var)):
        rows.append(line(Span(told, "reverse")))
    if facts.sampled:
        told = f"sample of {facts.sampled:,}; all {facts.size:,} are being counted"
        rows += [line(Span(part, "note")) for part in wrap(told, width)]
    return [*rows, *fact_lines(facts, spacious=height >= 14, width=width)]


def adjoint(session: Session, var: Var) -> str:
    """Say whose cotangent the op completes or adds to."""
    wrt = session.tape[var].origin.wrt
    if wrt is None or wrt not in session.tape:
        return ""
    whole = session.tape.cotangents.get(wrt) == var
    how = "adjoint of" if whole else f"towards δ{wrt} of"
    return f"{how} {wrt} {describe(session.tape[wrt])}"


def fact_lines(facts: Summary, *, spacious: bool, width: int) -> list[Line]:
    """Return range with bars, moments and counts."""
    if facts.minimum is None:
        return [_counts(facts, width)] if facts.size else [line(Span(facts.note, "dim"))]
    if facts.size == 1 and facts.finite:
        return []
    low, high = format_number(facts.minimum), format_number(facts.maximum)
    rows = [line(f"{facts.symbol}∈[", low, " ", Span(facts.bars, "forward"), " ", high, "]")]
    if spacious:
        lead, name = (f"{facts.symbol}: ", "z") if facts.is_complex else ("", "x")
        moments = f"μ={format_number(facts.mean)} σ={format_number(facts.std)}"
        rows.append(line(f"{lead}{moments} ‖{name}‖={format_number(facts.norm)}"))
    return [*rows, _counts(facts, width)]


def _counts(facts: Summary, width: int) -> Line:
    if facts.type_text.startswith("bool"):
        return line(f"True {facts.positive:,}  False {facts.zero:,}")
    parts = [
        Span(f"nan {facts.nan}", "alert" if facts.nan else ""),
        Span(f"inf {facts.inf}", "alert" if facts.inf else ""),
        Span(f"zero {facts.zero}"),
    ]
    if not facts.is_complex:
        parts += [Span(f"− {facts.negative}"), Span(f"+ {facts.positive}")]
    gap = "  " if sum(cells(p.text) + 2 for p in parts) - 2 <= width else " "
    return line(*(piece for p in parts for piece in (gap, p)))[1:]


def body(
    value: Any,
    mode: str,
    cursor: Cursor | None,
    width: int,
    height: int,
    facts: Summary | None = None,
) -> tuple[list[Line], int | None]:
    """Return a value below its facts, and the line of the element one stands on."""
    x = numeric(value)
    if x is None:
        return [line(cut(clean(_item_text(v)), width)) for v in _items(value)], None
    if x.size == 0:
        return [], None
    if x.ndim == 0:
        return [line("= ", Span(clean(format_number(x[()])), "title"))], None
    if mode == "histogram":
        return histogram(sample_of(x), width, height, x.size), None
    if mode == "summary":
        return moments(x, facts or quick_summary(x)), None
    if cursor is None or len(cursor.index) != x.ndim:
        cursor = Cursor((0,) * x.ndim)
    return grid_lines(
        x, cursor, width, height, heat_only=mode == "heat", largest=_largest(x, facts)
    )


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def _item_text(v: Any) -> str:
    """Return a value that has no grid as text; an object of the user's is not asked for its own."""
    if isinstance(v, np.ndarray):
        return text_of(v) if v.dtype.hasobject else repr(v)
    return whole_text(v) if type(v) is int else format_value(v)


def _largest(x: np.ndarray[Any, Any], facts: Summary | None) -> float | None:
    """Return the largest magnitude of a large array, from its facts; None of others."""
    if x.size <= LARGE or facts is None or facts.maximum is None or facts.minimum is None:
        return None if x.size <= LARGE else 1.0
    return max(abs(facts.minimum), abs(facts.maximum))


def moments(x: np.ndarray[Any, Any], facts: Summary | None = None) -> list[Line]:
    """Return every fact on a line of its own."""
    facts = facts or summarise(x)
    named = (
        ("minimum", facts.minimum),
        ("maximum", facts.maximum),
        ("mean", facts.mean),
        ("std", facts.std),
        ("norm", facts.norm),
    )
    of = f"of {facts.symbol} " if facts.is_complex else ""
    rows = [line(Span(name.ljust(9) + of, "dim"), format_number(v)) for name, v in named]
    if x.dtype.kind == "c" and facts.maximum is not None:
        rows.append(_phases(sample_of(x)))
    elif facts.size > 1:
        rows += _quantiles(sample_of(x), facts.size)
    return [*rows, line(Span("elements ", "dim"), f"{facts.size:,}")]


def _quantiles(x: np.ndarray[Any, Any], size: int) -> list[Line]:
    """Return the median and between which numbers nine tenths of the finite elements lie."""
    finite = x[np.isfinite(x)] if x.dtype.kind == "f" else x
    if not finite.size or finite.dtype.kind not in "iuf":
        return []
    low, middle, high = np.quantile(finite.astype(np.float64), (0.05, 0.5, 0.95))
    of = Span(f"  of {x.size:,} sampled" if x.size < size else "", "note")
    return [
        line(Span("median   ", "dim"), format_number(middle), of),
        line(Span("5…95 %   ", "dim"), f"{format_number(low)} … {format_number(high)}", of),
    ]


def _phases(z: np.ndarray[Any, Any]) -> Line:
    """Say between which angles the elements that are finite and not zero lie."""
    angles = np.degrees(np.angle(z[np.isfinite(z) & (z != 0)]))
    if not angles.size:
        return line(Span("phase    ", "dim"), "of no element")
    return line(Span("phase    ", "dim"), f"{angles.min():.4g}° … {angles.max():.4g}°")


def histogram(
    x: np.ndarray[Any, Any], width: int, height: int, whole: int | None = None
) -> list[Line]:
    """Return the finite elements in up to ten bins; `whole` is the size of what `x` is from."""
    real = np.abs(x) if x.dtype.kind == "c" else x.astype(np.float64)
    finite = real[np.isfinite(real)]
    if finite.size == 0:
        return [line(Span("no finite element", "dim"))]
    head = [line(Span("magnitudes |z|", "dim"))] if x.dtype.kind == "c" else []
    if whole is not None and whole > x.size:
        head.append(line(Span(f"sample of {x.size:,} of {whole:,}", "note")))
    bins = max(2, min(10, height - len(head)))
    counts, edges = _binned(finite, bins)
    room = max(width - 32, 4)
    top = max(int(counts.max()), 1)
    return head + [
        line(
            Span(f"{edges[k]:+.3g}".rjust(9) + " … " + f"{edges[k + 1]:+.3g}".ljust(10), "dim"),
            Span(bar(n / top, room), "forward"),
            f" {n}",
        )
        for k, n in enumerate(map(int, counts))
    ]


def _binned(
    x: np.ndarray[Any, Any], bins: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the counts between edges; where numbers lie too close for bins, of each of them."""
    scale = 2.0**-8 if np.max(np.abs(x)) > FAR else 1.0  # the range itself must not overflow
    try:
        counts, edges = np.histogram(x * scale, bins=bins)
    except ValueError:
        values, counts = np.unique(x * scale, return_counts=True)
        edges = np.append(values, values[-1])
    return counts, edges / scale
