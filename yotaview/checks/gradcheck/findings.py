"""The verdicts on the rules as findings: one for each rule that is off, and a summary."""

from __future__ import annotations

import itertools
import time
from typing import Any

from yota.tape import Call, Var, format_call
from yotaview.capture.functions import is_users
from yotaview.checks.gradcheck import MOST, Report, Verdict, pairs_of, verdicts
from yotaview.model.findings import Finding
from yotaview.model.session import Session
from yotaview.model.summary import format_number

CHECK = "gradcheck"
OWN = "primitives"
SECONDS = 60.0


def check_gradients(session: Session) -> list[Finding]:
    """Return the rules that differences of their op contradict; the user's functions do not run."""
    return _checked(session, CHECK, own=False)


def check_primitives(session: Session) -> list[Finding]:
    """Return the rules of the user's own primitives that are off; this runs the primitives."""
    return _checked(session, OWN, own=True)


def _checked(session: Session, check: str, *, own: bool) -> list[Finding]:
    if session.tape.reverse_start is None or session.call is None:
        return []
    report = run_checks(session, own=own)
    if own and not report.total:
        return []
    found = [finding_of(session, v, check) for v in report.off]
    at = next(iter(session.tape.result_vars), Var(1))
    place, name = session.row.place, session.row.name
    return [*found, Finding(check, "note", at, report.text, place, name)]


def run_checks(session: Session, *, own: bool = False, seconds: float = SECONDS) -> Report:
    """Check every rule, up to a number of rules and a time; with `own` only the user's rules."""
    opened, tape = session.opened, session.tape
    pairs = [p for p in pairs_of(opened) if not own or _is_own(tape[p[0]])]
    report, start = Report(len(pairs)), time.perf_counter()
    for verdict in itertools.islice(verdicts(opened, own=own, only=pairs), MOST):
        report.add(verdict)
        if time.perf_counter() - start > seconds:
            break
    return report


def _is_own(op: Any) -> bool:
    return isinstance(op, Call) and is_users(op)


def finding_of(session: Session, verdict: Verdict, check: str = CHECK) -> Finding:
    """Return what is said of a rule that is off."""
    op = session.tape[verdict.of]
    frames = op.origin.frames
    return Finding(
        check,
        "alarm",
        verdict.of,
        f"the rule of {format_call(op) if isinstance(op, Call) else verdict.of} is off: "
        f"{numbers_of(verdict)}",
        op.origin.place,
        frames[0].qualname if frames else session.row.name,
        "wrong rule",
        verdict.element,
        f"look at the rule of {op.name if isinstance(op, Call) else verdict.of} for {verdict.wrt}",
    )


def numbers_of(verdict: Verdict) -> str:
    """Return the worst element with its two numbers."""
    place = f"[{', '.join(map(str, verdict.element))}]" if verdict.element else ""
    return (
        f"δ{verdict.wrt}{place} is {format_number(verdict.recorded)}, "
        f"differences give {format_number(verdict.numerical)}"
    )
