"""The whole tape in a mirror: each statement above, its reverse ops below, in one column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from yota.tape import Call, Input, Var
from yotaview.render.canvas import Canvas
from yotaview.render.graph import reads
from yotaview.render.line import Line, Page, Span, clean, cut, line
from yotaview.render.once import once

if TYPE_CHECKING:
    from yotaview.model.groups import Group, Groups
    from yotaview.model.session import Session

PITCH_GAP = 4
FEW = 3


def mirror(session: Session, groups: Groups, width: int) -> Page:
    """Return every statement once above (forward) and once below (reverse), in the same column."""
    heads = once(session.opened, "heads", lambda: _heads(session, groups))
    done = bisect_right(heads, session.stepper.index)
    at = (groups.of.get(session.at), session.tape.is_reverse(session.at), done)
    page: Page = once(
        session.opened, ("mirror", width, *at), lambda: _mirror(session, groups, width)
    )
    return page


def _heads(session: Session, groups: Groups) -> list[int]:
    """Return the positions at which a box of the mirror, or the name of a gradient, lights up."""
    first = [part[0] for g in groups.groups for part in (g.forward, g.reverse) if part]
    tape, places = session.tape, session.stepper.positions
    made = [tape.cotangents[v] for v in tape.inputs if v in tape.cotangents]
    return sorted(places[v] for v in (*first, *made) if v in places)


def _mirror(session: Session, groups: Groups, width: int) -> Page:
    count = len(groups.groups)
    here = groups.of.get(session.at)
    title = f"Whole tape ({count} group{'' if count == 1 else 's'})"
    if not count:
        return Page([line(Span("no call on this tape", "dim"))], title)
    box = max(11, min(24, (width - 2) // min(count, 7) - PITCH_GAP))
    pitch = box + PITCH_GAP
    first = 0
    if count * pitch > width and here is not None:
        first = max(0, here - max(width // pitch, 1) // 2)
    last = min(count, first + width // pitch + 2)
    canvas = Canvas()
    tall = 2
    for n in range(first, last):
        _column(canvas, session, groups, n, 1 + (n - first) * pitch, box, tall, here)
    for n in range(first, last):
        _arrows(canvas, session, groups, n, (n - first) * pitch, pitch, box, tall, count)
    rows = canvas.lines()
    return Page(
        [*rows, (*_ends(session), *_further(session, groups, first, last))],
        title,
        "FWD ▸ above, REV ◂ below, ┊ value kept for it",
    )


def _texts(text: str, box: int, tall: int) -> list[str]:
    """Return a statement in the rows of its box."""
    room = box - 2
    text = clean(text)
    if tall == 1 or len(text) <= room:
        return [cut(text, room), *[""] * (tall - 1)]
    at = max(text.rfind(c, room // 2, room) for c in " (,") + 1 or room
    return [text[:at].strip(), cut(text[at:].strip(), room)]


def _column(
    canvas: Canvas,
    session: Session,
    groups: Groups,
    n: int,
    x: int,
    box: int,
    tall: int,
    here: int | None,
) -> None:
    group = groups.groups[n]
    reverse = session.tape.is_reverse(session.at)
    now = n == here
    known = session.is_known(group.forward[0])
    role = "forward" if known else "dim"
    canvas.box(x, 0, box, _texts(group.label, box, tall), role, now and not reverse)
    _under(canvas, x, tall + 1, box, group.forward)
    if not group.reverse:
        return
    if _saves(session, group):
        canvas.text(x + box // 2, tall + 2, "┊", "note")
    known = session.is_known(group.reverse[0])
    text = ["δ " + t if k == 0 else t for k, t in enumerate(_texts(group.label, box - 2, tall))]
    canvas.box(
        x,
        tall + 3,
        box,
        [cut(t, box - 2) for t in text],
        "reverse" if known else "dim",
        now and reverse,
    )
    _under(canvas, x, 2 * tall + 4, box, group.reverse)


def _under(canvas: Canvas, x: int, y: int, box: int, found: Sequence[Var]) -> None:
    """Write the numbers of ops into the lower edge of a box."""
    numbers = f" {_numbers(found)} "
    if len(numbers) > box - 2:
        numbers = f" {found[0]}… "
    canvas.text(x + (box - len(numbers)) // 2, y, numbers, "number")


def _numbers(found: Sequence[Var]) -> str:
    if len(found) == 1:
        return str(found[0])
    joint = found[-1].id - found[0].id == len(found) - 1
    return f"%{found[0].id}{'–' if joint else '…'}{found[-1].id}"


def _saves(session: Session, group: Group) -> bool:
    """Tell whether a reverse op of the statement reads what its forward ops made or read."""
    made = set(group.forward)
    for var in group.forward:
        op = session.tape[var]
        made.update(op.operands if isinstance(op, Call) else ())
    return any(made.intersection(getattr(session.tape[v], "operands", ())) for v in group.reverse)


def _arrows(
    canvas: Canvas,
    session: Session,
    groups: Groups,
    n: int,
    x: int,
    pitch: int,
    box: int,
    tall: int,
    count: int,
) -> None:
    if n + 1 >= count:
        return
    middle, start = 1 + (tall - 1) // 2, x + 1 + box
    if _linked(session, groups, groups.groups[n].forward, groups.groups[n + 1].forward):
        canvas.text(start, middle, "─" * (PITCH_GAP - 1) + "▸", "forward")
    if _linked(session, groups, groups.groups[n + 1].reverse, groups.groups[n].reverse):
        canvas.text(start, tall + 3 + middle, "◂" + "─" * (PITCH_GAP - 1), "reverse")


def _linked(session: Session, groups: Groups, source: list[Var], reader: list[Var]) -> bool:
    made = set(source)
    return any(made.intersection(getattr(session.tape[v], "operands", ())) for v in reader)


def _further(session: Session, groups: Groups, first: int, last: int) -> Line:
    """Name the edges between statements that are no neighbours: no arrow shows them."""
    found = []
    for n in range(first, last):
        for var in (*groups.groups[n].forward, *groups.groups[n].reverse):
            found += [f"{a}▸{var}" for a in reads(session, var) if _skips(session, groups, a, var)]
            if len(found) > FEW:
                return line(Span(f"  also {'  '.join(found[:FEW])}  …", "dim"))
    return line(Span(f"  also {'  '.join(found)}", "dim")) if found else ()


def _skips(session: Session, groups: Groups, a: Var, b: Var) -> bool:
    """Tell whether an edge within one pass leads past a statement."""
    if session.tape.is_reverse(a) != session.tape.is_reverse(b):
        return False
    return abs(groups.of.get(a, groups.of[b]) - groups.of[b]) > 1


def _ends(session: Session) -> Line:
    """Return which ops hold the gradients, and the seed."""
    tape = session.tape
    spans: list[Span] = []
    for var in tape.inputs:
        made, op = tape.cotangents.get(var), tape[var]
        if made is not None and made in tape and isinstance(op, Input):
            role = "input" if session.is_known(made) else "dim"
            spans.append(Span(f" ∂{clean(op.name)} ◂ {made}  ", role))
    if session.tape.seed is not None:
        spans.append(Span(f" seed ▸ {session.tape.seed}", "seed"))
    return line(*spans)
