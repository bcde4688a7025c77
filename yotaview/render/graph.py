"""The tape as a graph: one statement unfolded, the ops around one op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yota.tape import Call, Constant, Input, Var
from yotaview.render.canvas import DOWN, JOINTS, LEFT, RIGHT, UP
from yotaview.render.layered import Arrangement, Node
from yotaview.render.line import Line, Page, Span, cells, clean, cut, line
from yotaview.render.once import once
from yotaview.render.source import gradient_names
from yotaview.render.text import describe, phase_of, target

if TYPE_CHECKING:
    from yotaview.model.groups import Groups
    from yotaview.model.session import Session

MOST = 40


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
    edges = [(a.id, v.id) for v in ops for a in reads(session, v) if a in inside]
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
    outer = [a for a in reads(session, var) if not isinstance(session.tape[a], Constant)]
    hint = target(op) or " ".join(map(str, outer[:2]))
    return Node(f"{var} {cut(clean(name), 14)} {hint}".strip(), role, var == session.at)


def reads(session: Session, var: Var) -> list[Var]:
    """Return what an op reads, each once."""
    op = session.tape[var]
    return list(dict.fromkeys(op.operands)) if isinstance(op, Call) else []


def neighbours(session: Session, hops: int, width: int, height: int) -> Page:
    """Return the op at the position with what it reads and what reads it."""
    var = session.at
    into, out = reads(session, var), session.users(var)
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
    before = dict.fromkeys(a for v in into for a in reads(session, v))
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
    for name, found in (("in", reads(session, var)), ("out", session.users(var))):
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
