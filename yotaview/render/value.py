"""A value as facts, grid, heat or histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Var, format_value
from yotaview.model.forms import text_of
from yotaview.model.summary import (
    Grid,
    Summary,
    format_number,
    grid,
    numeric,
    summarise,
    whole_text,
)
from yotaview.render.line import Line, Page, Span, bar, cells, clean, cut, line, wrap_line
from yotaview.render.source import failure_lines
from yotaview.render.text import RAISED, describe, facts_of, has_value

if TYPE_CHECKING:
    from yotaview.model.session import Session

MODES = ("grid", "heat", "histogram", "summary")
SHADES = " ░▒▓█"


def page(session: Session, mode: str, at: int, width: int, height: int) -> Page:
    """Return the pane of the value at the position."""
    var = session.at
    if session.failed_here:
        return Page(failure(session, width), f"Value {RAISED}", "not computed")
    title = f"Value {var}"
    if not session.is_known(var) or not has_value(session, var):
        return Page(absent(session, var, width), title)
    value = session.recorded(var)
    head = heading(session, var, width, height)
    body = _body(value, mode, at, width, height - len(head))
    note = f"v: {mode}"
    if (numeric(value) is not None) and np.ndim(value) > 2:
        note = f"{note}  V: slice"
    return Page([*head, *body], title, note)


def slice_count(session: Session) -> int:
    """Count the slices of the value at the position; 0 where it has no grid."""
    x = numeric(session.opened.values.get(session.at))
    if session.failed_here or x is None or x.ndim < 3:
        return 0
    return int(np.prod(x.shape[:-2]))


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
    facts = facts_of(session, var)
    op = session.tape[var]
    name = describe(op).partition("(")[0]
    kind = facts.type_text
    rows = [line(Span(f"{var} ", "number"), Span(name), f"  {kind}  ", f"{facts.nbytes:,} B")]
    if height >= 14 and (told := adjoint(session, var)):
        rows.append(line(Span(told, "reverse")))
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
    parts = [
        Span(f"nan {facts.nan}", "alert" if facts.nan else ""),
        Span(f"inf {facts.inf}", "alert" if facts.inf else ""),
        Span(f"zero {facts.zero}"),
    ]
    if not facts.is_complex:
        parts += [Span(f"− {facts.negative}"), Span(f"+ {facts.positive}")]
    gap = "  " if sum(cells(p.text) + 2 for p in parts) - 2 <= width else " "
    return line(*(piece for p in parts for piece in (gap, p)))[1:]


def _body(value: Any, mode: str, at: int, width: int, height: int) -> list[Line]:
    x = numeric(value)
    if x is None:
        return [line(cut(clean(_item_text(v)), width)) for v in _items(value)]
    if x.size == 0:
        return []
    if x.ndim == 0:
        return [line("= ", Span(clean(format_number(x[()])), "title"))]
    if mode == "histogram":
        return histogram(x, width, height)
    if mode == "summary":
        return moments(x)
    return _grid(x, mode, at, width, height)


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def _item_text(v: Any) -> str:
    """Return a value that has no grid as text; an object of the user's is not asked for its own."""
    if isinstance(v, np.ndarray):
        return text_of(v) if v.dtype.hasobject else repr(v)
    return whole_text(v) if type(v) is int else format_value(v)


def moments(x: np.ndarray[Any, Any]) -> list[Line]:
    """Return every fact on a line of its own."""
    facts = summarise(x)
    named = (
        ("minimum", facts.minimum),
        ("maximum", facts.maximum),
        ("mean", facts.mean),
        ("std", facts.std),
        ("norm", facts.norm),
    )
    of = f"of {facts.symbol} " if facts.is_complex else ""
    rows = [line(Span(name.ljust(9) + of, "dim"), format_number(v)) for name, v in named]
    return [*rows, line(Span("elements ", "dim"), f"{facts.size:,}")]


def histogram(x: np.ndarray[Any, Any], width: int, height: int) -> list[Line]:
    """Return the finite elements in up to ten bins."""
    real = np.abs(x) if x.dtype.kind == "c" else x.astype(np.float64)
    finite = real[np.isfinite(real)]
    if finite.size == 0:
        return [line(Span("no finite element", "dim"))]
    head = [line(Span("magnitudes |z|", "dim"))] if x.dtype.kind == "c" else []
    bins = max(2, min(10, height - len(head)))
    counts, edges = np.histogram(finite, bins=bins)
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


def _grid(x: np.ndarray[Any, Any], mode: str, at: int, width: int, height: int) -> list[Line]:
    lead = x.shape[:-2]
    index = np.unravel_index(at % max(int(np.prod(lead)), 1), lead) if lead else ()
    folded, offset = _fold(x, width) if x.ndim == 1 else (x, 0)
    shown = grid(folded, max(height, 1), max(width // 2, 1), tuple(map(int, index)))
    label = max((len(r) for r in shown.row_labels), default=1) + 2
    if mode == "heat":
        return _heat_rows(shown, label, width, height)
    cell = max((len(c) for row in shown.cells for c in row), default=1) + 2
    if label + cell * shown.column_count > width >= label - 2 + (cell - 1) * shown.column_count:
        label, cell = label - 2, cell - 1
    heat = width - label - cell * shown.column_count - 2 >= 3 * shown.column_count
    columns = max(1, min(shown.column_count, (width - label) // cell))
    rows = _head(shown, label, cell, columns, heat, offset)
    tall = max(height - len(rows), 0)
    cropped = shown.row_count > tall or shown.column_count > columns
    for k in range(min(len(shown.cells), tall - cropped)):
        first = f"{k * offset}" if offset else shown.row_labels[k]
        body = [Span(c.rjust(cell), _sign(c)) for c in shown.cells[k][:columns]]
        tail = (Span("   "), *_heat(shown, k, shown.column_count)) if heat else ()
        rows.append(line(Span(first.ljust(label), "dim"), *body, *tail))
    if cropped:
        rows.append(line(Span(_cropped(shown, tall - 1, columns), "dim")))
    return rows


def _fold(x: np.ndarray[Any, Any], width: int) -> tuple[np.ndarray[Any, Any], int]:
    """Lay a vector out in rows; returns it with how many elements a row has."""
    columns = max(1, min(8, (width - 5) // 10))
    if x.size <= columns or columns == 1:
        return x.reshape(1, -1), max(x.size, 1)
    whole = -(-x.size // columns) * columns
    if whole == x.size:
        return x.reshape(-1, columns), columns
    columns = next((c for c in range(columns, 1, -1) if x.size % c == 0), 1)
    return x.reshape(-1, columns), columns


def _head(shown: Grid, label: int, cell: int, columns: int, heat: bool, offset: int) -> list[Line]:
    names = [] if offset else [c.rjust(cell) for c in shown.column_labels[:columns]]
    top = f"{shown.slice_text} {shown.scale}".strip()
    if len(top) < label:
        left = top.ljust(label)
        rows = [line(Span(left + "".join(names), "dim"))] if names else []
    else:
        rows = [line(Span(top, "note"))]
        rows += [line(Span(" " * label + "".join(names), "dim"))] if names else []
    if heat and rows:
        rows[-1] = line(*rows[-1], Span("   heat |x|/max", "dim"))
    return rows


def _cropped(shown: Grid, tall: int, columns: int) -> str:
    rows, cols = min(tall, shown.row_count), min(columns, shown.column_count)
    return f"{max(rows, 0)}×{cols} of {shown.row_count}×{shown.column_count} shown"


def _sign(cell: str) -> str:
    if cell in ("nan", "+inf", "-inf"):
        return "alert"
    return "cold" if cell.startswith("-") else ""


def _heat_rows(shown: Grid, label: int, width: int, height: int) -> list[Line]:
    columns = max(1, min(shown.column_count, (width - label) // 3))
    return [
        line(Span(shown.row_labels[k].ljust(label), "dim"), *_heat(shown, k, columns))
        for k in range(min(len(shown.cells), height))
    ]


def _heat(shown: Grid, row: int, columns: int) -> list[Span]:
    return [_shade(v, shown.largest) for v in shown.numbers[row][:columns]]


def _shade(v: Any, largest: float) -> Span:
    size = float(abs(complex(v)))
    if not np.isfinite(size):
        return Span("!!!", "alert")
    level = SHADES[min(4, int(np.ceil(4 * size / largest)))] if largest else " "
    if np.iscomplexobj(v):  # a magnitude has no sign
        return Span(level * 3, "warm")
    sign = "-" if v < 0 else "+" if size else " "
    return Span(level * 2 + sign, "cold" if v < 0 else "warm")
