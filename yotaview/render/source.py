"""The user's lines around an op, and why its value is what it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from yota.tape import Call, Frame, Input, Var, base_name
from yotaview.checks.gradcheck import Verdict
from yotaview.checks.gradcheck.findings import numbers_of
from yotaview.model.unlike import unlike
from yotaview.render.line import Line, Page, Span, clean, cut, line, wrap_line
from yotaview.render.text import ALERT, RAISED, RIGHT, WRONG, describe, failure_text

if TYPE_CHECKING:
    from yotaview.model.session import Session

NO_SOURCE = "source not available"
INDENT = 5


def why_page(
    session: Session, width: int, height: int, later: str = "", checked: Sequence[Verdict] = ()
) -> Page:
    """Return the explanation of the op at the position: source line, rule, what goes in and out.

    `later` says what the passes made of the op, `checked` what became of its rules.  What is too
    long goes on in the next line, so that an alert can be read whole.
    """
    title = "Why it raised" if session.failed_here else "Why this value"
    note = _note(session) or rules_note(checked)
    if edits_here(session):
        note, checked, later = "set by the what-if", (), ""
    rows = [*(wrong_rule(v) for v in checked if v.status == "off"), *_told(session)]
    if later:
        rows.append(line(Span("code ", "dim"), Span(clean(later), "note")))
    told = [part for row in rows for part in wrap_line(row, width, INDENT)]
    if height <= 5:
        return Page([_place(session), *told], title, note)
    window = source_lines(session, max(height - len(told) - 1, height // 3))
    return Page([*window, (), *told], "Source + rule", note)


def rules_note(checked: Sequence[Verdict]) -> str:
    """Return what became of an op's rules, as `gradcheck ✓ 9e-11`."""
    if any(v.status == "off" for v in checked):
        return f"gradcheck {WRONG} off"
    errors = [v.error for v in checked if v.status == "ok"]
    if errors:
        some = next((v for v in checked if v.size), None)
        part = f", {some.elements:,} of {some.size:,} elements" if some is not None else ""
        return f"gradcheck {RIGHT} {max(errors):.0e}{part}"
    return f"gradcheck: not checked, {checked[0].reason}" if checked else ""


def wrong_rule(verdict: Verdict) -> Line:
    """Return the worst element of a rule that is off, with the two numbers."""
    return line(Span(f"{WRONG} the rule of {verdict.of} is off: {numbers_of(verdict)}", "alert"))


def edits_here(session: Session) -> list[str]:
    """Return the edits by which the what-if in sight sets the op at the position."""
    branch = None if session.failed_here else getattr(session.opened, "branch", None)
    return [e.text for e in branch.edits if e.var == session.at] if branch is not None else []


def _note(session: Session) -> str:
    if session.failed_here:
        return "raised here"
    return "" if session.is_known(session.at) else "not computed yet"


def _frame(session: Session) -> Frame | None:
    if session.failed_here and session.row.failure is not None:
        frames = session.row.failure.origin.frames
    else:
        frames = session.tape[session.at].origin.frames
    return frames[0] if frames else None


def _place(session: Session) -> Line:
    frame = _frame(session)
    if frame is None:
        return line(Span("no line of your code", "dim"))
    text = session.source_line(frame)
    place = f"{base_name(frame.file)}:{frame.line}"
    shown = Span(NO_SOURCE, "dim") if text is None else Span(clean(text.strip()))
    return line(Span(place, "key"), Span(" │ ", "dim"), shown)


def source_lines(session: Session, room: int) -> list[Line]:
    """Return the lines around the op's own, which is marked."""
    frame = _frame(session)
    if frame is None:
        return [line(Span("no line of your code", "dim"))]
    window = session.source_window(frame, room // 3, room - room // 3 - 1)
    if not window:
        return [_place(session)]
    return [
        line(
            Span("▶ " if here else "  ", "current"),
            Span(f"{number:>4} ", "dim"),
            Span(clean(text), "title" if here else ""),
        )
        for number, text, here in window[:room]
    ]


def _told(session: Session) -> list[Line]:
    if session.failed_here:
        return failure_lines(session)
    var = session.at
    if edits := edits_here(session):
        told = line(Span("given ", "dim"), Span(clean("; ".join(edits)), "title"))
        return [told, *(row for row in [users_line(session, var)] if row)]
    rule = clean(session.rule_text(var))
    rows = [
        *alert_lines(session, var),
        line(Span("rule ", "dim"), rule) if rule else (),
        contribution_line(session, var),
        users_line(session, var),
    ]
    return [row for row in rows if row]


def failure_lines(session: Session) -> list[Line]:
    """Say what raised, why, and in whose derivative."""
    failure, culprit = session.row.failure, session.culprit
    if failure is None:
        return []
    rows = [line(Span(f"{RAISED} {failure_text(session)}", "alert"))]
    if told := unlike(session.capture, session.row_index):
        rows.append(line(Span("unlike ", "dim"), Span(clean(told), "note")))
    rows.append(line(clean(failure.error)))
    if culprit is not None:
        text = f"in the derivative of {culprit} {describe(session.tape[culprit])}"
        rows.append(line(Span(text, "note"), Span("   % goes there", "dim")))
    return rows


def alert_lines(session: Session, var: Var) -> list[Line]:
    """Return every alert that begins at an op, whole."""
    roles = {"alarm": "alert", "masked": "note"}
    return [
        line(Span(f"{ALERT} {a.level}: {clean(a.text)}", roles.get(a.level, "dim")))
        for a in session.alerts
        if a.var == var
    ]


def contribution_line(session: Session, var: Var) -> Line:
    """Say what a reverse op adds to which cotangent, or what a forward op is made of."""
    tape, op = session.tape, session.tape[var]
    wrt = op.origin.wrt
    if wrt is None or wrt not in tape:
        made = ", ".join(f"{v} {_short(session, v)}" for v in _operands(session, var))
        return line(Span("from ", "dim"), clean(made)) if made else ()
    parts = session.contributions(wrt)
    if op.origin.role == "accumulate":
        told = f"   adds up, {len(parts)} contributions in all"
        return line(Span(f"δ{wrt}", "reverse"), f" ← {describe(op)}", Span(told, "dim"))
    at = next((k for k, c in enumerate(parts, 1) if c.var == var), 0)
    if at:
        text, count = (
            describe(op),
            f"{at} of {len(parts)} contribution{'' if len(parts) == 1 else 's'}",
        )
        return line(Span(f"δ{wrt}", "reverse"), f" ← {text}", Span(f"   {count} to δ{wrt}", "dim"))
    onward = next((c.var for c in parts if c.of == op.origin.of and c.var > var), None)
    text = (
        f" ← {describe(tape[onward])} at {onward}"
        if onward is not None
        else f" of {describe(tape[wrt])}"
    )
    return line(Span("a step to ", "dim"), Span(f"δ{wrt}", "reverse"), text)


def _operands(session: Session, var: Var) -> list[Var]:
    op = session.tape[var]
    return list(dict.fromkeys(op.operands)) if isinstance(op, Call) else []


def _short(session: Session, var: Var) -> str:
    return cut(describe(session.tape[var]).partition("(")[0], 20)


def gradient_names(session: Session, var: Var) -> list[str]:
    """Return the gradients that an op completes, as `∂/∂W1`."""
    tape = session.tape
    found = (tape[v] for v in tape.inputs if tape.cotangents.get(v) == var)
    return [f"∂/∂{clean(op.name)}" for op in found if isinstance(op, Input)]


def users_line(session: Session, var: Var) -> Line:
    """Say which ops read the value, and which gradient it is."""
    readers = session.users(var)
    shown = "  ".join(f"{v} {_short(session, v)}" for v in readers[:4])
    more = f"  … {len(readers) - 4} more" if len(readers) > 4 else ""
    names = gradient_names(session, var)
    if not shown and not names:
        return ()
    return line(Span("into ", "dim"), clean(shown + more), Span("  " + " ".join(names), "note"))
