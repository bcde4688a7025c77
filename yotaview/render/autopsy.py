"""The autopsy of a NaN: where it began and why, what carried it, what was odd before, the cure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from yota.tape import Call, Input, Tape, Var
from yotaview.model.autopsy import Root
from yotaview.model.autopsy.oddities import oddities_before
from yotaview.model.nonfinite import TRAP, cause_name, cure_of, operand_texts, remover
from yotaview.render.line import Line, Page, Span, clean, line, wrap_line
from yotaview.render.once import once
from yotaview.render.text import ALERT, describe

if TYPE_CHECKING:
    from yotaview.model.session import Session

HEAD = 8
SHOWN = 5
NAIVE = "a tool that does not track masks answers NaN here"


def autopsy_page(session: Session, var: Var, width: int) -> Page:
    """Return the autopsy of the origin at an op, in the width of the screen."""
    roots = session.opened.roots
    at = next((k for k, r in enumerate(roots) if r.var == var), None)
    if at is None:
        return Page([line(Span(f"nothing begins at {var}", "dim"))], "Autopsy")
    rows = [
        part for row in autopsy_lines(session, roots[at]) for part in wrap_line(row, width, HEAD)
    ]
    note = "! next · W what made it · esc closes"
    return Page(rows, f"Autopsy: origin {at + 1} of {len(roots)}", note)


def autopsy_lines(session: Session, root: Root) -> list[Line]:
    """Return all that is known about one origin, a fact a line."""
    return [_verdict(session, root), *(_row(head, text) for head, text in _facts(session, root))]


def _row(head: str, text: str) -> Line:
    helped = "ok" if "gradient finite" in text else "warm"
    role = {"cure": "ok", "tried": helped, "why": "alert"}.get(head, "")
    return line(Span(head.ljust(HEAD), "dim"), Span(clean(text), role))


def _verdict(session: Session, root: Root) -> Line:
    level = "alarm" if root.through else "masked"
    role = "alert" if root.through else "note"
    place = f"[{', '.join(map(str, root.element))}]" if root.element else ""
    text = (
        f"{ALERT} {level}: {root.what} begins at {root.var}{place} {_name(session.tape, root.var)}"
    )
    return line(Span(text, role), Span(f"   {root.count} of {root.size} elements", "dim"))


def _name(tape: Tape, var: Var) -> str:
    op = tape[var]
    return op.name if isinstance(op, Call) else describe(op)


def _facts(session: Session, root: Root) -> Iterator[tuple[str, str]]:
    yield "why", _why(root)
    yield "at", _place(session, root)
    yield from _operation(session, root)
    if root.because is not None:
        yield "because", f"of the infinity of {_named(session, [root.because])}: W goes there"
    yield from _spread(session, root)
    yield from _before(session, root)
    if cure_of(root) and root.through:
        yield "cure", cure_of(root)
        tried = session.opened.tried.get(root.var)
        if tried is not None:
            yield "tried", _outcome(tried.text)
    elif cause_name(root) == TRAP:
        yield "cure", f"none is needed; elsewhere a {cure_of(root)}"


def _outcome(text: str) -> str:
    """Return what a trial says, without the word that stands before it."""
    return text.replace("not tried:", "no:", 1).removeprefix("tried").lstrip(": ")


def _why(root: Root) -> str:
    name = cause_name(root)
    why = name if name == root.cause.name else f"{name}: {root.cause.name}"
    shown = list(dict.fromkeys(operand_texts(root)))
    return f"{why} ({', '.join(shown)})" if shown else why


def _place(session: Session, root: Root) -> str:
    op = root.case.op
    if not op.origin.frames:
        return "no line of your code"
    frame = op.origin.frames[0]
    source = session.source_line(frame)
    text = f"{op.origin.place} in {frame.qualname}"
    return f"{text}: {source.strip()}" if source is not None else text


def _operation(session: Session, root: Root) -> Iterator[tuple[str, str]]:
    """Yield the op with its type, each operand with its own, and whose derivative it is."""
    op, tape = root.case.op, session.tape
    yield "op", f"{root.var} = {describe(op)}   {op.spec.text(short=True)}"
    for v in dict.fromkeys(op.operands if isinstance(op, Call) else ()):
        yield "", f"{v} {_name(tape, v)}   {tape[v].spec.text(short=True)}"
    primal = root.case.primal
    if primal is not None:
        made = tape[primal]
        yield "of", f"the derivative of {primal} = {describe(made)}   {made.origin.place}"


def _spread(session: Session, root: Root) -> Iterator[tuple[str, str]]:
    """Yield what handed it on, what repeats it in the derivative, and where it ends."""
    if root.carried:
        yield "carried", f"by {_chain(session, root.carried)}{_reached(session, root)}"
    if root.echoes:
        yield "again", f"for the same reason at {_named(session, root.echoes)}"
    gone = remover(root)
    if gone is not None:
        yield "removed", f"by {_named(session, [gone])} {session.tape[gone].origin.place}: no alarm"
        if root.case.tape.reverse_start is not None:
            naive = f"; {NAIVE}" if root.var in session.opened.tried.naive else ""
            yield "", f"the gradient is right{naive}"
    elif not root.through and root.vanished:
        yield "ends", f"at {_named(session, root.vanished)}: no result and no gradient has it"


def _chain(session: Session, found: Iterable[Var]) -> str:
    found = list(found)
    more = f" → … {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return " → ".join(f"{v} {_name(session.tape, v)}" for v in found[:SHOWN]) + more


def _named(session: Session, found: Iterable[Var]) -> str:
    found = list(found)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(f"{v} {_name(session.tape, v)}" for v in found[:SHOWN]) + more


def _reached(session: Session, root: Root) -> str:
    """Say which results and gradients hold it."""
    tape = session.tape
    found = ["the value"] if any(v in root.into for v in tape.result_vars) else []
    for var in tape.inputs:
        op = tape[var]
        if isinstance(op, Input) and tape.cotangents.get(var) in root.into:
            found.append(f"∂/∂{op.name}")
    return f", into {', '.join(found)}" if found else ""


def _before(session: Session, root: Root) -> Iterator[tuple[str, str]]:
    found = once(
        session.opened,
        ("oddities", root.var),
        lambda: oddities_before(session.tape, session.opened.values, root.var),
    )
    for oddity in found:
        place = session.tape[oddity.var].origin.place
        yield "before", f"{oddity.var} {_name(session.tape, oddity.var)} {place}: {oddity.text}"
