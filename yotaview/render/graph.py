"""The tape as a graph: one statement unfolded, the ops around one op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from yota.tape import Call, Constant, Input, Var
from yotaview.render.canvas import DOWN, JOINTS, LEFT, RIGHT, UP
from yotaview.render.faces import far_links, progress
from yotaview.render.layered import Arrangement
from yotaview.render.layered import Node as Box
from yotaview.render.line import Line, Page, Span, cells, clean, cut, line, wrap_line
from yotaview.render.once import once
from yotaview.render.source import gradient_names
from yotaview.render.text import describe, phase_of, target

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.outline import Node
    from yotaview.model.session import Session

MOST = 40


def unfolded(session: Session, boxes: Boxes) -> Page:
    """Return the ops of the current box in layers, forward and reverse; of a long one a part."""
    here = boxes.at(session.at)
    if here is None:
        text = f"{session.at} {describe(session.tape[session.at])}: an input stands in no box"
        return Page([line(Span(text, "dim"))], "Inside")
    node = _part_of(boxes, boxes.nodes[here], session.at)
    outline = boxes.outline
    ops = [*outline.forward(node), *outline.reverse(node)]
    total = len(ops)
    if total > MOST:
        start = ops.index(session.at) // MOST * MOST  # a part stays until one has left it
        ops = ops[start : start + MOST]
    page = layered(session, boxes, ops)
    title = f"Inside {cut(clean(node.label), 40)} {told_place(node)}".rstrip()
    note = f"{len(ops)} of {total} ops shown" if total > MOST else f"{total} ops"
    return replace(page, title=title, note=note)


def _part_of(boxes: Boxes, node: Node, var: Var) -> Node:
    """Return the smallest part of a long node that holds an op."""
    outline, k = boxes.outline, boxes.outline.of[var]
    while len(outline.forward(node)) + len(outline.reverse(node)) > MOST:
        inner = (c for c in outline.children(node) if c.start <= k < c.end)
        found = next(inner, None)
        if found is None or found.kind == "op":
            break
        node = found
    return node


def told_place(node: Node) -> str:
    """Return line and iteration of a node in brackets."""
    parts = [node.place, f"iteration {node.number}" if node.number else ""]
    text = ", ".join(p for p in parts if p)
    return f"({text})" if text else ""


def layered(session: Session, boxes: Boxes | None, ops: Sequence[Var]) -> Page:
    """Return ops in layers, with the lines between them."""
    inside = set(ops)
    nodes = {v.id: _node(session, boxes, v) for v in ops}
    edges = [(a.id, v.id) for v in ops for a in reads(session, v) if a in inside]
    arrangement = once(session.opened, ("layers", tuple(ops)), lambda: Arrangement(nodes, edges))
    canvas, corners = arrangement.draw(nodes)
    x, y = corners.get(session.at.id, (0, 0))
    return Page(canvas.lines(), cursor=y + 1 if corners else None, column=x, marked=False)


def _node(session: Session, boxes: Boxes | None, var: Var) -> Box:
    op = session.tape[var]
    role = phase_of(session.tape, var) if session.is_known(var) else "dim"
    name = op.name if isinstance(op, Call) else describe(op)
    own = boxes.outline.name(var) if boxes is not None else ""
    name = f"{own} = {name}" if own else name
    outer = [a for a in reads(session, var) if not isinstance(session.tape[a], Constant)]
    hint = target(op) or " ".join(map(str, outer[:2]))
    return Box(f"{var} {cut(clean(name), 18)} {hint}".strip(), role, var == session.at)


def reads(session: Session, var: Var) -> list[Var]:
    """Return what an op reads, each once."""
    op = session.tape[var]
    return list(dict.fromkeys(op.operands)) if isinstance(op, Call) else []


def neighbours(
    session: Session,
    boxes: Boxes | None,
    hops: int,
    width: int,
    height: int,
    pick: int | None = None,
) -> Page:
    """Return the op at the position with what it reads and what reads it, `hops` far.

    `pick` is the neighbour that is chosen, of `around`.
    """
    var = session.at
    title = f"Neighbourhood of {var} ({hops} hop{'' if hops == 1 else 's'})"
    into, out = reads(session, var), session.users(var)
    note = f"reads {len(into)} · read by {len(out)}"
    if hops > 1:
        ops, total = ball(session, var, hops)
        note = f"{len(ops)} of {total:,} ops shown" if total > len(ops) else f"{total} ops"
        return replace(layered(session, boxes, ops), title=title, note=note)
    rows, cursor = _bracket(session, boxes, width, height, pick)
    return Page(rows, title, note, cursor, marked=False)


def around(session: Session) -> list[Var]:
    """Return the neighbours of the op at the position: what it reads, then what reads it."""
    return [*reads(session, session.at), *session.users(session.at)]


def ball(session: Session, var: Var, hops: int) -> tuple[list[Var], int]:
    """Return the ops within some hops, the nearest first where there are too many, and how many."""
    found, edge = {var: None}, [var]
    for _ in range(hops):
        near = (u for v in edge for u in (*reads(session, v), *session.users(v)))
        edge = [u for u in dict.fromkeys(near) if u not in found]
        found.update(dict.fromkeys(edge))
        if len(found) > 10 * MOST:
            break
    return sorted(list(found)[:MOST]), len(found)


def _bracket(
    session: Session, boxes: Boxes | None, width: int, height: int, pick: int | None
) -> tuple[list[Line], int]:
    into, out = reads(session, session.at), session.users(session.at)
    centre = cut(_label(session, boxes, session.at, width // 3), max(width // 3, 10))
    inner = cells(centre) + 2
    room = max((width - 9 - inner) // 2, 10)
    k = -1 if pick is None else pick
    left = _side(session, boxes, into, height, room, k)
    right = _side(session, boxes, out, height, room, k - len(into))
    rows = max(len(left), len(right), 1)
    middle = (rows - 1) // 2
    lines = [
        line(
            *_cell(left, k, rows, room),
            Span(_joint(k, len(left), rows, left=True), "dim"),
            Span(f" {centre} " if k == middle else " " * inner, "current" if k == middle else ""),
            Span(_joint(k, len(right), rows, left=False), "dim"),
            *_cell(right, k, rows, room),
        )
        for k in range(rows)
    ]
    return lines, middle


def _cell(found: list[Span], k: int, rows: int, room: int) -> tuple[Span, ...]:
    offset = (rows - len(found)) // 2
    span = found[k - offset] if 0 <= k - offset < len(found) else Span("")
    text = cut(span.text, room)
    return (Span(text + " " * (room - cells(text)), span.role),)


def _side(
    session: Session, boxes: Boxes | None, found: list[Var], height: int, room: int, pick: int
) -> list[Span]:
    """Return one side of the bracket, the part of it that holds the neighbour chosen."""
    start = max(0, min(pick - height // 2, len(found) - height)) if len(found) > height else 0
    shown = found[start : start + height]
    spans = []
    for k, var in enumerate(shown, start):
        role = phase_of(session.tape, var) if session.is_known(var) else "dim"
        text = _label(session, boxes, var, room - 2)
        spans.append(Span(f"▶ {text}" if k == pick else text, "current" if k == pick else role))
    left = len(found) - start - len(shown)
    if left and pick != start + len(shown) - 1:
        spans[-1] = Span(f"… {left + 1} more", "dim")
    return spans


def _label(session: Session, boxes: Boxes | None, var: Var, room: int = 80) -> str:
    """Return an op with name and shape, and what it is the gradient of where that fits."""
    op = session.tape[var]
    spec = op.spec.text(short=True)
    shape = spec[spec.find("[") :] if "[" in spec else spec
    name = op.name if isinstance(op, Call) else describe(op)
    own = boxes.outline.name(var) if boxes is not None else ""
    name = f"{own} = {name}" if own else name
    tail = " ".join(gradient_names(session, var)) or target(op)
    short = clean(f"{var} {name} {shape}")
    return clean(f"{short} {tail}".strip()) if cells(short) + len(tail) < room else short


def _joint(k: int, count: int, rows: int, *, left: bool) -> str:
    """Return the piece of the bracket between a side and the centre in row `k`."""
    blank = " " * (4 if left else 5)
    if not count:
        return blank
    middle, offset = (rows - 1) // 2, (rows - count) // 2
    first, last = min(offset, middle), max(offset + count - 1, middle)
    own = offset <= k < offset + count
    if not first <= k <= last:
        return blank
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
        else (("─" if inner else " "), ("─▸ " if own else "   "))
    )
    return f"{before}{joint}{after}"


SQUARE = str.maketrans("╭╮╰╯", "┌┐└┘")


def facts(session: Session, boxes: Boxes | None, width: int) -> Page:
    """Return the op at the position with its operands and readers, one a line, and its box."""
    var = session.at
    op = session.tape[var]
    rows = [
        line(f"{op.spec.text(short=True)}  {op.spec.nbytes:,} B   ", Span(target(op), "reverse"))
    ]
    for name, found in (("in", reads(session, var)), ("out", session.users(var))):
        for k, v in enumerate(found[:8]):
            kind = "input" if isinstance(session.tape[v], Input) else ""
            rows.append(
                line(
                    Span((name if k == 0 else "").ljust(5), "dim"),
                    Span(_label(session, boxes, v), kind),
                )
            )
        if len(found) > 8:
            rows.append(line(Span(f"     … {len(found) - 8} more", "dim")))
    rows.append(line(Span("fan-out ", "dim"), str(len(session.users(var)))))
    here = None if boxes is None else boxes.at(var)
    if boxes is not None and here is not None:
        node = boxes.nodes[here]
        rows += [(), line(Span(f"box {here + 1}/{len(boxes.nodes)} ", "dim"), clean(node.label))]
        rows += [line(Span(told, "dim")) for told in (_told_loop(session, boxes, here),) if told]
        rows += [row for row in (far_links(session, boxes, here),) if row]
    name = op.name if isinstance(op, Call) else describe(op)
    wrapped = [part for row in rows for part in wrap_line(row, width, 5)]
    return Page(wrapped, f"{var} {clean(name)}")


def _told_loop(session: Session, boxes: Boxes, here: int) -> str:
    node, at = boxes.nodes[here], progress(session, boxes, here)
    return f"{node.place}   {at and f'iteration {at}'}".strip()
