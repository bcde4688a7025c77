"""The rows of a capture: what was called where, how often, with what outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from yota.tape import Call, Constant, Input
from yotaview.model.summary import format_number, single
from yotaview.model.unlike import unlike
from yotaview.render.line import Line, Page, Span, clean, cut, line, sparkline, wrap, wrap_line
from yotaview.render.once import once
from yotaview.render.text import NOW

if TYPE_CHECKING:
    from yotaview.capture import Capture, Row
    from yotaview.model.session import Session


FEW = 400
SOME = 8
WIDE, HUGE = 100, 180


def value_text(row: Row, call: int | None = None) -> str:
    """Return the value of a call, the last by default, or its type where it is no number."""
    if row.failure is not None:
        return "—"
    value, real = outcome(row, call), row.value_of(call)
    if value is not None:
        return format_number(value)
    if real is not None:
        return f"Re {format_number(real)}"
    found = row.tape.result_vars
    return row.tape[found[0]].spec.text(short=True) if found and not row.values else "—"


def outcome(row: Row, call: int | None = None) -> Any:
    """Return the number that a call gave, None where it is not known.

    The history holds real parts: a complex number is known of the calls that are kept.
    """
    value, found = row.value_of(call), row.tape.result_vars
    dtype = row.tape[found[0]].spec.dtype if found else None
    if value is None or dtype is None or dtype.kind != "c":
        return value
    wanted = row.count if call is None else call
    return next((single(c.value) for c in row.calls if c.number == wanted), None)


def norm_text(row: Row, call: int | None = None) -> str:
    """Return the norm of the gradient of a call, the last by default."""
    norm = row.norm_of(call)
    return "—" if norm is None else format_number(norm)


def heading(session: Session, stage: str = "reverse") -> Line:
    """Return the line above a tape in text: which one, which call, its outcome."""
    row, number = session.row, session.call.number if session.call is not None else None
    call = f" call {number}/{row.count}" if number is not None else ""
    norm = f" |grad| {norm_text(row, number)}" if row.norms else ""
    told = f" stage {stage}" if stage != "reverse" else ""
    text = f"tape {session.row_index + 1} {row.name} {row.place}{call}"
    outcome = f"value {value_text(row, number)}".replace("—", "-") + norm
    return line(Span(clean(f"{text} {outcome} {status(row)}{told}"), "title"))


def status(row: Row) -> str:
    """Return the outcome of a row in a few words."""
    if row.failure is not None:
        return clean(f"raised {row.failure.error.partition(':')[0]}")
    if row.nonfinite and row.count > 1:
        found = f"{len(row.nonfinite):,} of {row.count:,}"
        return f"NaN/inf in {found}, first {row.nonfinite[0]:,}"
    if row.nonfinite:
        return "NaN/inf"
    return "ok" if row.has_gradient else "no gradient"


def short_status(row: Row, wide: bool) -> str:
    """Return the outcome of a row where there is little room: the first bad call of many."""
    if row.nonfinite and row.count > 1:
        many = f", {len(row.nonfinite):,} of {row.count:,}" if wide else ""
        return f"NaN @{row.nonfinite[0]}{many}"
    return status(row)


def row_name(row: Row) -> str:
    """Return the function of a row, or the operation that raised."""
    return clean(f"✗ {row.failure.text}" if row.failure is not None else row.name)


def place_text(row: Row) -> str:
    """Return the line of the call, or the line that raised."""
    return row.failure.place if row.failure is not None else row.place


def list_lines(capture: Capture, call: int | None = None) -> list[Line]:
    """Return the table that `--list` prints, with the values of a call, by default the last."""
    table = [("#", "function", "called at", "calls", "fwd", "rev", "value", "|grad|", "status")]
    for number, row in enumerate(capture.rows, 1):
        table.append(
            (
                "" if row.failure is not None else str(number),
                cut(row_name(row), 40),
                place_text(row),
                str(row.count) if row.count else "",
                str(row.forward_count),
                str(row.reverse_count),
                value_text(row, call).replace("—", "-"),
                norm_text(row, call).replace("—", "-"),
                status(row),
            )
        )
    widths = [max(len(r[k]) for r in table) for k in range(len(table[0]))]
    return [_table_row(r, widths, head=k == 0) for k, r in enumerate(table)]


def _table_row(cells: Sequence[str], widths: Sequence[int], *, head: bool) -> Line:
    right = {3, 4, 5}
    padded = [
        c.rjust(w) if k in right else c.ljust(w)
        for k, (c, w) in enumerate(zip(cells, widths, strict=True))
    ]
    role = "dim" if head else ""
    bad = "raised" in cells[-1] or "NaN" in cells[-1]
    return line(
        Span("  ".join(padded[:-1]) + "  ", role), Span(padded[-1], "alert" if bad else role)
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """Which rows of a capture are listed, in which order, and how they were chosen."""

    order: Sequence[int]
    at: int
    marked: frozenset[int] = frozenset()
    wanted: str = ""
    sort: str = ""


def tapes_page(session: Session, listing: Listing, width: int) -> Page:
    """Return the list of rows of the Tapes view."""
    wide, huge = width >= WIDE, width >= HUGE
    name = 12 if wide else 9
    head = f"    # {'function':<{name}}{'called at':<15}{'calls':>6}{'fwd':>5}{'rev':>5}  "
    head += f"{'value':<12}{'‖∇‖':<10}"
    head += f"{'values by call':<18}" if wide else ""
    head += f"{'‖∇‖ by call':<18}{'kept':<26}{'inputs':<34}" if huge else ""
    rows = [line(Span(f"{head}status", "dim"))]
    for index in listing.order:
        rows.append(_tape_row(session, index, index in listing.marked, name, width))
    note = _note(session.capture, listing, wide)
    return Page(rows, "Captured tapes", note, listing.at + 1)


def _note(capture: Capture, listing: Listing, wide: bool) -> str:
    count, shown = len(capture.rows), len(listing.order)
    noun = "tape" if count == 1 else "tapes"
    parts = [f"exit {capture.exit_code}" if not listing.wanted else ""]
    parts.append(f"{count} {noun}" if shown == count else f"{shown} of {count} {noun} shown")
    if wide or listing.wanted:
        parts.append(f"filter: {clean(listing.wanted) or '—'}")
    if wide:
        parts += [f"sort: {listing.sort}", f"marked: {len(listing.marked)}"]
    return " · ".join(p for p in parts if p)


def _tape_row(session: Session, index: int, marked: bool, name: int, width: int) -> Line:
    wide, huge = width >= WIDE, width >= HUGE
    row = session.capture.rows[index]
    urgent = bool(row.nonfinite) or row.failure is not None
    marks = (
        Span(NOW if index == session.row_index else " ", "current"),
        Span("!" if urgent else " ", "alert"),
        Span("*" if marked else " ", "note"),
    )
    number = "" if row.failure is not None else str(index + 1)
    if row.failure is not None:
        text = f"{number:>2} {cut(row_name(row), name + 24):<{name + 25}}"
        return line(*marks, Span(text, "alert"), f"{place_text(row)}  ", Span(status(row), "alert"))
    forward, reverse = _op_counts(row)
    counts = f"{row.count:>6}{forward:>5}{reverse:>5}  "
    spark = [Span(f"{sparkline(row.values, 16):<18}", "forward")] if wide else []
    if huge:
        inputs = cut("  ".join(_named_ops(row, Input)), 32)
        spark.append(Span(f"{sparkline(row.norms, 16):<18}", "reverse"))
        spark.append(Span(f"{row.kept_text or 'every call kept':<26}{clean(inputs):<34}", "dim"))
    return line(
        *marks,
        f"{number:>2} ",
        Span(f"{cut(row_name(row), name - 1):<{name}}", "title"),
        Span(f"{cut(row.place, 14):<15}", "dim"),
        counts,
        f"{cut(value_text(row), 11):<12}{cut(norm_text(row), 9):<10}",
        *spark,
        Span(short_status(row, wide), "alert" if urgent else "ok"),
    )


def _op_counts(row: Row) -> tuple[int, int]:
    found: tuple[int, int] = once(row.tape, "ops", lambda: (row.forward_count, row.reverse_count))
    return found


def _named_ops(row: Row, kind: type[Input] | type[Constant]) -> list[str]:
    """Return the inputs or constants with their types, equal ones once with their number."""

    def make() -> list[str]:
        found = (op for _, op in row.tape if isinstance(op, kind) and op.origin.role != "seed")
        texts = Counter(f"{op.name or 'unnamed'} {op.spec.text(short=True)}" for op in found)
        return [text if n == 1 else f"{text} ×{n}" for text, n in texts.items()]

    named: list[str] = once(row.tape, kind, make)
    return named


def preview_page(session: Session, index: int, width: int) -> Page:
    """Return what a row consists of."""
    row = session.capture.rows[index]
    place = f" ({row.place})" if row.place else ""
    title = f"Preview tape {index + 1} {row_name(row)}{place}"
    rows = _named("inputs", "  ".join(_named_ops(row, Input)[:12]), width)
    constants = _named_ops(row, Constant)
    rows += _named("consts", "  ".join(constants[:12]), width) if constants else []
    calls = [op.name for _, op in islice(row.tape, FEW) if isinstance(op, Call)][:24]
    if row.failure is not None:
        rows += _named("raised", f"{row.failure.text}   {row.failure.place}", width)
        rows += _named("", row.failure.error, width)
        return Page([*rows, *_unlike(session, index, width)], title)
    rows += _named("value", f"{value_text(row)}   ‖∇‖ {norm_text(row)}", width)
    rows += _unlike(session, index, width)
    if row.count > 1:
        rows.append(
            line(
                Span("calls    ", "dim"),
                f"{row.count:,}  ",
                Span(sparkline(row.values, width - 24), "forward"),
            )
        )
        rows += _named("kept", kept_told(row), width)
    if row.nonfinite:
        rows += _named("NaN/inf", nonfinite_told(row), width)
    if row.norms:
        rows += _named("norms", _ends(row.norms), width)
    rows += _norms_by_key(row, width) if row.count > 1 else []
    rows += _named("ops", " ".join(calls) + (" …" if len(calls) == 24 else ""), width)
    return Page(rows, title, row.kind)


def _unlike(session: Session, index: int, width: int) -> list[Line]:
    """Say why a row is not one with an earlier one of the same call."""
    row = session.capture.rows[index]
    told: str = once(row.tape, "unlike", lambda: unlike(session.capture, index))
    return _named("unlike", told, width) if told else []


def kept_told(row: Row) -> str:
    """Say which calls are kept, and why not all where that is so."""
    if not row.kept_text:
        return "every call"
    return f"{row.kept_text}: first, last, first with NaN or inf, and some between"


def nonfinite_told(row: Row) -> str:
    """Say which calls hold NaN or infinity, the first by name."""
    found = row.nonfinite
    if row.count == 1:
        return "value or gradient holds NaN or infinity"
    if len(found) == 1:
        return f"in call {found[0]:,}, the only one of {row.count:,}"
    shown = ", ".join(f"{n:,}" for n in found[:SOME])
    more = f", …: {SOME} of {len(found):,} shown" if len(found) > SOME else ""
    return f"first in call {found[0]:,}; {len(found):,} of {row.count:,} calls: {shown}{more}"


def _norms_by_key(row: Row, width: int) -> list[Line]:
    """Return the history of each gradient, the first few of many."""
    names = list(row.by_key)[:SOME]
    if len(row.by_key) < 2:
        return []
    room = min(max(map(len, names)), 20)
    rows = [
        line(
            Span(("by input" if k == 0 else "").ljust(9), "dim"),
            f"{cut(clean(f'∂{name}'), room + 1):<{room + 1}}  ",
            Span(sparkline(row.by_key[name], max(width - room - 34, 8)), "reverse"),
            Span(f"  {_ends(row.by_key[name]).removeprefix('‖∇‖ ')}", "dim"),
        )
        for k, name in enumerate(names)
    ]
    if len(names) < len(row.by_key):
        rows.append(line(Span(f"         {len(names)} of {len(row.by_key)} inputs shown", "dim")))
    return rows


def _ends(norms: Sequence[float]) -> str:
    return f"‖∇‖ first {format_number(norms[0])} … last {format_number(norms[-1])}"


def _named(name: str, text: str, width: int) -> list[Line]:
    parts = wrap(clean(text), max(width - 9, 10))
    return [
        line(Span((name if k == 0 else "").ljust(9), "dim"), part) for k, part in enumerate(parts)
    ]


def output_page(capture: Capture, width: int) -> Page:
    """Return what the script printed, and its error."""
    rows = [line(clean(text)) for text in capture.output.splitlines()]
    if capture.error:
        rows += [line(Span(clean(text), "alert")) for text in capture.error.splitlines()]
    if capture.cut:
        rows.append(line(Span(clean(capture.cut), "note")))
    rows = rows or [line(Span("the script printed nothing", "dim"))]
    return Page([part for row in rows for part in wrap_line(row, width)], "Script output")
