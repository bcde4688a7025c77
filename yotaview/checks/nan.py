"""Where NaN and infinity begin, and whether they reach a result or a gradient."""

from __future__ import annotations

from dataclasses import replace

from yota.tape import Call, Var
from yotaview.model.autopsy.oddities import oddities_before
from yotaview.model.findings import Finding
from yotaview.model.nonfinite import CHECK
from yotaview.model.session import Session


def check_nan(session: Session) -> list[Finding]:
    """Return every origin in the open call; one without a name where its values cannot be had."""
    found = [_with_cure(f, session) for f in session.alerts if f.check == CHECK]
    outcome = session.call is not None and session.call.number in set(session.row.nonfinite)
    if outcome and not any(f.level == "alarm" for f in found):
        text = "value or gradient holds NaN or infinity; the op at which it begins cannot be named"
        var = next(iter(session.tape.outputs), Var(0))
        found.append(Finding(CHECK, "alarm", var, text, session.row.place, session.row.name))
    return found


def _with_cure(finding: Finding, session: Session) -> Finding:
    """Add shapes, oddity and cure of an alarm; of a masked one what others answer."""
    if finding.level != "alarm":
        right = finding.var in session.opened.tried.naive
        told = "; the gradient is right, a tool that does not track masks answers NaN"
        return replace(finding, text=finding.text + told) if right else finding
    tape, op = session.tape, session.tape[finding.var]
    shapes = [
        f"{v} {tape[v].spec.text(short=True)}"
        for v in dict.fromkeys(op.operands if isinstance(op, Call) else ())
    ]
    odd = oddities_before(tape, session.opened.values, finding.var)
    tried = session.opened.tried.get(finding.var)
    parts = (
        finding.text,
        f"operands {', '.join(shapes)}" if shapes else "",
        f"before it {odd[0].var} {odd[0].text}" if odd else "",
        f"cure: {finding.cure}" if finding.cure else "",
        tried.text if tried is not None else "",
    )
    return replace(finding, text="; ".join(p for p in parts if p))
