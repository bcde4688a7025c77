"""What is written on and around the boxes of a graph."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yota.tape import Call, Input, Var
from yotaview.model.gradients import short_number
from yotaview.render.line import Line, Span, cells, clean, cut, line
from yotaview.render.once import once
from yotaview.render.text import describe, facts_of, has_value

if TYPE_CHECKING:
    from yotaview.model.boxes import Boxes
    from yotaview.model.outline import Node
    from yotaview.model.session import Session


FEW = 3


@dataclass(frozen=True, slots=True)
class Face:
    """The texts of a box whatever the position, and the ops that make them known."""

    label: str
    head: str
    numbers: str
    back: str = ""
    back_numbers: str = ""
    kept: tuple[str, ...] = ()
    gradients: tuple[tuple[str, Var], ...] = ()
    first: Var | None = None
    first_back: Var | None = None
    cotangent: Var | None = None


def face(session: Session, boxes: Boxes, node: Node) -> Face:
    """Return the texts of a node."""
    found: Face = once(session.opened, ("face", node), lambda: _face(session, boxes, node))
    return found


def _face(session: Session, boxes: Boxes, node: Node) -> Face:
    outline = boxes.outline
    forward, back = outline.forward(node), outline.reverse(node)
    last = forward[-1]
    name = outline.name(last) or str(last)
    count = f"{len(back)} op{'' if len(back) == 1 else 's'}"
    return Face(
        label=clean(_label(session, node, last)),
        head=_head(node, bool(outline.children(node))),
        numbers=numbers(forward),
        back=f"δ{name} · {count}" if back else "",
        back_numbers=numbers(back) if back else "",
        kept=tuple(_kept(session, boxes, node, back)),
        gradients=tuple(_gradients(session, back)),
        first=forward[0],
        first_back=back[0] if back else None,
        cotangent=outline.cotangent(node),
    )


def _label(session: Session, node: Node, last: Var) -> str:
    if node.kind != "op":
        return node.label
    call = describe(session.tape[last])
    return f"{node.label}{call[call.find('(') :]}" if "(" in call else node.label


def _head(node: Node, folded: bool) -> str:
    """Return what stands in the upper edge: that it unfolds, how often it runs, which run it is."""
    parts = ["+"] if folded else []
    if node.count > 1:
        parts.append(f"×{node.count:,}")
    if node.number:
        parts.append(f"#{node.number:,}")
    return " ".join(parts)


def head_of_box(shown: Face) -> str:
    """Return how often a box runs, to stand before its text."""
    head = shown.head.removeprefix("+").strip()
    return f"{head} " if head else ""


def numbers(found: Sequence[Var]) -> str:
    """Return the numbers of ops: `%8`, `%5–7`, or `%5…20` where others stand between."""
    if len(found) == 1:
        return str(found[0])
    joint = found[-1].id - found[0].id == len(found) - 1
    return f"%{found[0].id}{'–' if joint else '…'}{found[-1].id}"


def _kept(session: Session, boxes: Boxes, node: Node, back: Sequence[Var]) -> list[str]:
    """Return the forward values that the reverse ops of a node read, by name where known."""
    tape, of = session.tape, boxes.outline.of
    read = dict.fromkeys(
        v for b in back[:2000] for v in getattr(tape[b], "operands", ()) if not tape.is_reverse(v)
    )
    own = [v for v in read if node.start <= of.get(v, -1) < node.end]
    rest = [v for v in read if v not in set(own)]
    return list(dict.fromkeys(value_name(session, boxes, v) for v in (*own, *rest)))


def value_name(session: Session, boxes: Boxes, var: Var) -> str:
    """Return the user's name of a value, else its number."""
    op = session.tape[var]
    name = boxes.outline.name(var) if isinstance(op, Call) else getattr(op, "name", "")
    return clean(name) or str(var)


def _gradients(session: Session, back: Sequence[Var]) -> list[tuple[str, Var]]:
    made = once(session.opened, "gradients", lambda: _made(session))
    return [(name, v) for v in back for name in made.get(v, ())]


def _made(session: Session) -> dict[Var, list[str]]:
    tape = session.tape
    found: dict[Var, list[str]] = {}
    for var in tape.inputs:
        cotangent, op = tape.cotangents.get(var), tape[var]
        if cotangent is not None and cotangent in tape and isinstance(op, Input):
            found.setdefault(cotangent, []).append(f"∂{clean(op.name)} {cotangent}")
    return found


def size_text(session: Session, shown: Face) -> str:
    """Return the norm of the cotangent of a box, or that it lies ahead."""
    var = shown.cotangent
    if var is None:
        return ""
    if not session.is_known(var):
        return "not yet"
    if not has_value(session, var):
        return "no value"
    facts = facts_of(session, var)
    if facts.norm is None or not facts.finite:
        return "‖δ‖ not finite" if facts.size else ""
    return f"‖δ‖ {short_number(facts.norm)}" + (" dead" if facts.norm == 0 else "")


def progress(session: Session, boxes: Boxes, box: int | None) -> str:
    """Say in which iteration of a folded loop the position lies."""
    if box is None or boxes.nodes[box].count < 2:
        return ""
    begins = boxes.nodes[box].begins
    k = bisect_right(begins, boxes.outline.of[session.at])
    return f"{k:,} of {len(begins):,}"


def wrapped(text: str, room: int, rows: int) -> list[str]:
    """Return a text in so many rows, broken where code breaks well."""
    found: list[str] = []
    while text and len(found) < rows - 1 and cells(text) > room:
        at = max(text.rfind(c, room // 2, room) for c in " (,") + 1 or room
        found.append(text[:at].strip())
        text = text[at:].strip()
    found.append(cut(text, room))
    return found + [""] * (rows - len(found))


def far_links(session: Session, boxes: Boxes, here: int | None) -> Line:
    """Name the boxes that the current one is linked with beyond its neighbours."""
    reads, read_by = boxes.far(here) if here is not None else ([], [])
    parts = []
    for word, found in (("reads", reads), ("read by", read_by)):
        names = ", ".join(face(session, boxes, boxes.nodes[n]).numbers for n in found[:FEW])
        more = f" and {len(found) - FEW} more" if len(found) > FEW else ""
        parts += [Span(f" ╌ {word} {names}{more} ", "dim")] if found else []
    return line(*parts)
