"""The tape as a graph: statements in a mirror, one statement unfolded, the ops around one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from yota.tape import Call, Constant, Input, Var
from yotaview.render.canvas import DOWN, JOINTS, LEFT, RIGHT, UP, Canvas
from yotaview.render.layered import Arrangement, Node
from yotaview.render.line import Line, Page, Span, cells, clean, cut, line
from yotaview.render.once import once
from yotaview.render.source import gradient_names
from yotaview.render.text import describe, phase_of, target

if TYPE_CHECKING:
    from yotaview.model.groups import Group, Groups
    from yotaview.model.session import Session

PITCH_GAP = 4
MOST = 40
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
            found += [f"{a}▸{var}" for a in _reads(session, var) if _skips(session, groups, a, var)]
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


def unfolded(session: Session, groups: Groups, width: int) -> Page:
    """Return the ops of the current statement in layers, forward and reverse."""
    here = groups.of.get(session.at)
    if here is None:
        return Page(
            [line(Span(f"{session.at} {describe(session.tape[session.at])}: no statement", "dim"))],
            "Group",
        )
    group = groups.groups[here]
    number = f"line {group.frame.line}" if group.frame is not None else "no line"
    title = f"Group {cut(clean(group.label), 30)} ({number})"
    ops = [*group.forward, *group.reverse]
    dropped = max(len(ops) - MOST, 0)
    if dropped:
        middle = max(0, min(ops.index(session.at) - MOST // 2, len(ops) - MOST))
        ops = ops[middle : middle + MOST]
    inside = set(ops)
    nodes = {v.id: _node(session, v) for v in ops}
    edges = [(a.id, v.id) for v in ops for a in _reads(session, v) if a in inside]
    arrangement = once(
        session.opened, ("group", ops[0], len(ops)), lambda: Arrangement(nodes, edges)
    )
    canvas, corners = arrangement.draw(nodes)
    note = f"{len(ops)} of {len(ops) + dropped} ops shown" if dropped else f"{len(ops)} ops"
    x, y = corners.get(session.at.id, (0, 0))
    return Page(
        canvas.lines(), title, note, cursor=y + 1 if corners else None, column=x, marked=False
    )


def _node(session: Session, var: Var) -> Node:
    op = session.tape[var]
    role = phase_of(session.tape, var) if session.is_known(var) else "dim"
    name = op.name if isinstance(op, Call) else describe(op)
    outer = [a for a in _reads(session, var) if not isinstance(session.tape[a], Constant)]
    hint = target(op) or " ".join(map(str, outer[:2]))
    return Node(f"{var} {cut(clean(name), 14)} {hint}".strip(), role, var == session.at)


def _reads(session: Session, var: Var) -> list[Var]:
    op = session.tape[var]
    return list(dict.fromkeys(op.operands)) if isinstance(op, Call) else []


def neighbours(session: Session, hops: int, width: int, height: int) -> Page:
    """Return the op at the position with what it reads and what reads it."""
    var = session.at
    into, out = _reads(session, var), session.users(var)
    centre = cut(_label(session, var, width // 3), max(width // 3, 10))
    inner = cells(centre) + 2
    room = max((width - 8 - inner) // 2, 10)
    side = max(height - (2 if hops > 1 else 0), 1)
    left = _side(session, into, side, room, arrow=False)
    right = _side(session, out, side, room, arrow=True)
    rows = max(len(left), len(right), 1)
    middle = (rows - 1) // 2
    lines = []
    for k in range(rows):
        lines.append(
            line(
                *_cell(left, k, rows, room),
                Span(_joint(k, len(left), rows, left=True), "dim"),
                Span(
                    (f" {centre} " if k == middle else " " * inner),
                    "current" if k == middle else "",
                ),
                Span(_joint(k, len(right), rows, left=False), "dim"),
                *_cell(right, k, rows, room),
            )
        )
    if hops > 1:
        lines += _second(session, into, out, width)
    title = f"Neighbourhood of {var} ({hops} hop{'' if hops == 1 else 's'})"
    return Page(lines, title, f"reads {len(into)} · read by {len(out)}")


def _cell(found: list[Span], k: int, rows: int, room: int) -> tuple[Span, ...]:
    offset = (rows - len(found)) // 2
    span = found[k - offset] if 0 <= k - offset < len(found) else Span("")
    text = cut(span.text, room)
    return (Span(text + " " * (room - cells(text)), span.role),)


def _side(session: Session, found: list[Var], height: int, room: int, *, arrow: bool) -> list[Span]:
    spans = []
    for var in found[:height]:
        role = phase_of(session.tape, var) if session.is_known(var) else "dim"
        spans.append(Span(_label(session, var, room), role))
    if len(found) > height:
        spans[-1] = Span(f"… {len(found) - height + 1} more", "dim")
    return spans


def _label(session: Session, var: Var, room: int = 80) -> str:
    """Return an op with its shape, and what it is the gradient of where that fits."""
    op = session.tape[var]
    spec = op.spec.text(short=True)
    shape = spec[spec.find("[") :] if "[" in spec else spec
    name = op.name if isinstance(op, Call) else describe(op)
    tail = " ".join(gradient_names(session, var)) or target(op)
    short = clean(f"{var} {name} {shape}")
    return clean(f"{short} {tail}".strip()) if cells(short) + len(tail) < room else short


def _joint(k: int, count: int, rows: int, *, left: bool) -> str:
    """Return the piece of the bracket between a side and the centre in row `k`."""
    if not count:
        return "    "
    middle, offset = (rows - 1) // 2, (rows - count) // 2
    first, last = min(offset, middle), max(offset + count - 1, middle)
    own = offset <= k < offset + count
    if not first <= k <= last:
        return "    "
    up, down = k > first, k < last
    inner = k == middle
    return _glyphs(own, up, down, inner, left=left)


def _glyphs(own: bool, up: bool, down: bool, inner: bool, *, left: bool) -> str:
    toward, away = (LEFT, RIGHT) if left else (RIGHT, LEFT)
    bits = (
        (toward if own else 0) | (away if inner else 0) | (UP if up else 0) | (DOWN if down else 0)
    )
    joint = JOINTS.get(bits, " ").translate(SQUARE)
    before, after = (
        (("─" if own else " "), ("─▸" if inner else "  "))
        if left
        else (("─" if inner else " "), ("─▸" if own else "  "))
    )
    return f"{before}{joint}{after}"


SQUARE = str.maketrans("╭╮╰╯", "┌┐└┘")


def _second(session: Session, into: list[Var], out: list[Var], width: int) -> list[Line]:
    """Return what lies a hop further on both sides."""
    before = dict.fromkeys(a for v in into for a in _reads(session, v))
    after = dict.fromkeys(u for v in out for u in session.users(v))
    rows = []
    for name, found in (("before", before), ("after", after)):
        text = "  ".join(_label(session, v) for v in list(found)[:6])
        rows.append(line(Span(f"{name:<7}", "dim"), cut(text, width - 8)))
    return rows


def facts(session: Session, width: int) -> Page:
    """Return the op at the position with its operands and readers, one a line."""
    var = session.at
    op = session.tape[var]
    rows = [
        line(f"{op.spec.text(short=True)}  {op.spec.nbytes:,} B   ", Span(target(op), "reverse"))
    ]
    for name, found in (("in", _reads(session, var)), ("out", session.users(var))):
        for k, v in enumerate(found[:8]):
            kind = "input" if isinstance(session.tape[v], Input) else ""
            rows.append(
                line(Span((name if k == 0 else "").ljust(5), "dim"), Span(_label(session, v), kind))
            )
        if len(found) > 8:
            rows.append(line(Span(f"     … {len(found) - 8} more", "dim")))
    rows.append(line(Span("fan-out ", "dim"), str(len(session.users(var)))))
    name = op.name if isinstance(op, Call) else describe(op)
    return Page(rows, f"{var} {clean(name)}")
