"""Why a number is what it is: its terms, the largest first, on screen, as text and as JSON."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Call, Var, base_name
from yotaview.model.summary import modulus
from yotaview.model.textbook import ALIASES
from yotaview.model.why import Element, Explainer, Part, Why, index_text, name_of_element
from yotaview.model.why.follow import Row, rows_of
from yotaview.model.why.formula import formula
from yotaview.model.why.trail import Trail
from yotaview.render.line import Line, Page, Span, bar, clean, cut, line, width, wrap_line
from yotaview.render.once import once
from yotaview.render.source import alert_lines, gradient_names
from yotaview.render.text import NOW, describe, phase_of, target

if TYPE_CHECKING:
    from yotaview.model.session import Session

FEW, LISTED, MOST = 6, 12, 64
MADE = {"multiply": "the product of", "divide": "the quotient of", "negative": "minus"}
BARS = 8
INDENT = 4


def number_text(value: Any) -> str:
    """Return a number with its sign and six digits."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, complex | np.complexfloating):
        return f"{complex(value):.6g}"
    if isinstance(value, int | np.integer):
        return f"{int(value):+d}"
    x = float(value)
    return (
        "nan" if math.isnan(x) else f"{x:+.6g}" if x else "-0" if math.copysign(1, x) < 0 else "0"
    )


def explainer_of(session: Session) -> Explainer:
    """Return what explains the elements of the open call."""
    opened = session.opened
    made: Explainer = once(
        opened,
        "explainer",
        lambda: Explainer(opened.tape, opened.values, opened.unproven, opened.edited),
    )
    return made


def why_of(session: Session, element: Element, limit: int = MOST) -> tuple[Why, list[Row]]:
    """Return the explanation of an element with the rows one can follow, found once."""

    def make() -> tuple[Why, list[Row]]:
        explainer = explainer_of(session)
        why = explainer.why(element, limit)
        return why, rows_of(explainer, why)

    found: tuple[Why, list[Row]] = once(session.opened, ("why", element, limit), make)
    return found


def why_lines(session: Session, element: Element, room: int, limit: int = LISTED) -> list[Line]:
    """Return the explanation as text: what the element is, its terms, what they sum to."""
    why, rows = why_of(session, element, limit)
    head = [p for row in heading(session, why) for p in wrap_line(row, room, INDENT)]
    body = [row_line(session, why, r, room) for r in rows]
    return [*head, *body, *tail(why)]


def why_page(session: Session, trail: Trail, room: int) -> Page:
    """Return the pane for the last element of a trail, with the row that is followed marked."""
    why, rows = why_of(session, trail.element)
    head = [p for row in heading(session, why) for p in wrap_line(row, room, INDENT)]
    side = trail.side(rows) if rows else 0
    body = [
        row_line(session, why, r, room, side if k == trail.row else None)
        for k, r in enumerate(rows)
    ]
    several = bool(rows) and len(rows[trail.row].ways) > 1
    note = "enter follow  esc back" if room > 60 else "enter  esc"
    note = f"h/l factor  {note}" if several else note
    title = f"Why {trail_text(session, trail.elements, room - len(note) - 12)}"
    at = len(head) + trail.row if rows else None
    return Page([*head, *body, *tail(why)], title, note, at)


def cursor_lines(session: Session, element: Element, room: int) -> list[Line]:
    """Return the largest terms of the element one stands on, where they are found at once."""
    explainer = explainer_of(session)
    if not isinstance(session.tape[element.var], Call) or not explainer.at_once(element.var):
        return []
    why, rows = why_of(session, element, FEW)
    head = line(
        Span("element ", "dim"), Span(own_name(session, element), "title"), " = ",
        Span(number_text(why.value), "number"), Span("   W: why", "dim"),
    )  # fmt: skip
    made = formula(session.tape, element, lambda v: np.shape(session.recorded(v)))
    told = [line(Span("   = ", "dim"), clean(made))] if made else []
    body = [row_line(session, why, r, room) for r in rows]
    return [head, *told, line(Span(_told(session, why), "note")), *body, *tail(why)]


def trail_text(session: Session, trail: Sequence[Element], room: int) -> str:
    """Return the elements one came through, the last ones where there is no room for all."""
    names = [clean(own_name(session, e)) for e in trail]
    text = " › ".join(names)
    while len(names) > 1 and len(text) > room:
        names = names[1:]
        text = "… › " + " › ".join(names)
    return text


def own_name(session: Session, element: Element) -> str:
    """Return an element as `∂W1[0,2]` where it is of a gradient, else by its op."""
    names = gradient_names(session, element.var)
    if len(names) == 1:
        return f"∂{names[0].removeprefix('∂/∂')}{index_text(element.index, element.item)}"
    return name_of_element(session.tape, element)


def heading(session: Session, why: Why) -> list[Line]:
    """Return what the element is, where it was written, by which formula, and what follows."""
    element, tape = why.element, session.tape
    var, op = element.var, session.tape[why.element.var]
    name = own_name(session, element)
    same = f"{var}{index_text(element.index, element.item)}"
    also = "" if name == same else f"{same} "
    wrt = target(op)
    rows = [
        line(
            Span(name, "title"),
            " = ",
            Span(number_text(why.value), "number"),
            Span(
                f"   {also}= {clean(describe(op))}" if isinstance(op, Call) else f"   {also}", "dim"
            ),
            Span(f"   {wrt}" if wrt else "", "reverse"),
        ),
        *alert_lines(session, var),
        _place(session, var),
    ]
    if isinstance(op, Call) and op.origin.wrt is not None:
        rule = clean(session.rule_text(var))
        rows.append(line(Span("rule ", "dim"), rule) if rule else ())
    if text := formula(tape, element, lambda v: np.shape(session.recorded(v))):
        rows.append(line(Span("   = ", "dim"), clean(text)))
    return [*(r for r in rows if r), line(Span(_told(session, why), "note"))]


def _place(session: Session, var: Var) -> Line:
    frames = session.tape[var].origin.frames
    if not frames:
        return ()
    text = session.source_line(frames[0])
    place = f"{base_name(frames[0].file)}:{frames[0].line}"
    return line(
        Span(place, "key"), Span(" │ ", "dim"), clean((text or "source not available").strip())
    )


def _told(session: Session, why: Why) -> str:
    """Say how the rows below make the element."""
    op = session.tape[why.element.var]
    name = op.name if isinstance(op, Call) else ""
    note = f": {why.note}" if why.note else ""
    match why.kind:
        case "sum":
            many = f"the sum of {why.count:,} terms" if why.count != 1 else "one product of these"
            order = ", the largest first"
            if why.count > 1 and modulus(why.terms[0].value) == 0:
                order = ", each 0"
            return f"{many}{order if why.count > 1 else ''}{note}"
        case "made":
            parts = len(why.terms[0].parts)
            what = MADE.get(ALIASES.get(name, name), f"{name} of")
            return f"{what} {'this number' if parts == 1 else f'these {parts} numbers'}{note}"
        case "passed":
            return why.note or f"moved here unchanged by {name}"
        case "chosen":
            return f"chosen by {name}{note}"
        case "slopes":
            return f"{name} has no exact terms: it depends on all of these, the steepest first"
        case "unknown":
            return why.note
    return f"{why.note}: nothing on the tape made it"


def row_line(session: Session, why: Why, row: Row, room: int, side: int | None = None) -> Line:
    """Return a row: what it adds, a bar of its share, what it is made of; `side` marks a part."""
    mark = Span(f"{NOW} " if side is not None else "  ", "current")
    if why.count == 1 and len(why.terms[0].parts) > 1:
        part = row.parts[0]
        number = Span(f"  {number_text(part.value)}" if part.element is not None else "", "number")
        shown = line(mark, _name(session, part), number)
        return line(*shown, *_about(session, part, room - width(shown)))
    value = row.term.slope if why.kind == "slopes" else row.term.value
    lead = f"slope {number_text(value)}" if why.kind == "slopes" else number_text(value)
    bars = (Span(_bar(why, value).ljust(BARS) + "  ", "cold" if _negative(value) else "warm"),)
    shown = line(
        mark,
        Span(f"{lead:<11}  ", "number"),
        *(bars if room >= 60 and why.count > 1 else ()),
        *_form(session, row, side),
    )
    left = room - width(shown)
    return line(*shown, *_about(session, row.parts[row.lead], left)) if left > 12 else shown


def _negative(value: Any) -> bool:
    return not np.iscomplexobj(value) and bool(value < 0)


def _bar(why: Why, value: Any) -> str:
    first = why.terms[0]
    top = modulus(first.slope if why.kind == "slopes" else first.value)
    size = modulus(value)
    if not math.isfinite(size):
        return "!" * 3
    if top == 0:
        return ""
    return bar(size / top, BARS) if math.isfinite(top) else bar(1.0, 1)


def _form(session: Session, row: Row, side: int | None) -> list[Span]:
    """Return a term's formula with the numbers of its parts in it."""
    spans: list[Span] = []
    several = len(row.ways) > 1
    for text, name, _, _ in string.Formatter().parse(row.term.form):
        spans.append(Span(text))
        if name is None:
            continue
        k = int(name)
        chosen = several and side == k
        spans.append(Span("›" if chosen else "", "current"))
        spans.append(_name(session, row.parts[k]))
        if row.parts[k].element is not None:
            spans.append(Span(f" {number_text(row.parts[k].value)}", "key" if chosen else "number"))
    return spans


def _name(session: Session, part: Part) -> Span:
    if part.element is None:
        return Span(number_text(part.value), "number")
    name = clean(name_of_element(session.tape, part.element))
    return Span(name, phase_of(session.tape, part.element.var))


def _about(session: Session, part: Part, room: int) -> list[Span]:
    """Say which op a part is an element of, and where the user wrote it."""
    if part.element is None or room < 6:
        return []
    op = session.tape[part.element.var]
    wrt = target(op)
    text = (
        f"   {describe(op)}  {op.origin.place}"
        if isinstance(op, Call)
        else f"   {part.element.var} {describe(op)}"
    )
    return [
        Span(f"   {wrt}" if wrt else "", "reverse"),
        Span(cut(clean(text), room - len(wrt) - 3), "dim"),
    ]


def tail(why: Why) -> list[Line]:
    """Say what is not listed, and that the terms sum to the element."""
    rows: list[Line] = []
    hidden = why.count - len(why.terms)
    if hidden > 0:
        rest = "" if why.kind == "slopes" else f", the rest sum to {number_text(why.rest)}"
        rows.append(line(Span(f"  {len(why.terms):,} of {why.count:,} shown{rest}", "note")))
    if why.kind == "sum" and why.count > 1:
        rows.append(
            line(
                Span("  sum ", "dim"),
                Span(number_text(why.total), "number"),
                Span(_check(why), "ok"),
            )
        )
    return rows


def _check(why: Why) -> str:
    gap = modulus(complex(why.total) - complex(why.value))
    if not math.isfinite(gap):
        return ""
    return " ✓ the element to the last bit" if gap == 0 else f" ✓ the element, to {gap:.0e}"


def why_object(session: Session, element: Element, limit: int = LISTED) -> dict[str, Any]:
    """Return the explanation for JSON, in numbers of full precision."""
    from yotaview.render.json import FORMAT, number

    why, rows = why_of(session, element, limit)
    op = session.tape[element.var]

    def plain(x: Any) -> Any:
        return number(x.item() if isinstance(x, np.generic | np.ndarray) else x)

    def part(p: Part) -> dict[str, Any]:
        e = p.element
        at = (
            {}
            if e is None
            else {"id": e.var.id, "index": list(e.index), "name": name_of_element(session.tape, e)}
        )
        return {**at, "value": plain(p.value)}

    return {
        "v": FORMAT,
        "tape": session.row_index + 1,
        "element": own_name(session, element),
        "id": element.var.id,
        "index": list(element.index),
        "value": plain(why.value),
        "fn": op.name if isinstance(op, Call) else None,
        "loc": op.origin.place,
        "kind": why.kind,
        "exact": why.exact,
        "note": why.note,
        "count": why.count,
        "rest": plain(why.rest),
        "sum": plain(why.total) if why.exact else None,
        "terms": [_term(row, plain, part) for row in rows],
    }


def _term(row: Row, plain: Any, part: Any) -> dict[str, Any]:
    adds = (
        {"slope": plain(row.term.slope)}
        if row.term.slope is not None
        else {"value": plain(row.term.value)}
    )
    return {**adds, "form": row.term.form, "parts": [part(p) for p in row.parts]}
