"""Where NaN and infinity begin, and whether they reach a result or a gradient."""

from __future__ import annotations

from dataclasses import replace

from yota.tape import Var
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
    """Add the cure of an alarm, and what came of trying it; of a masked one what others answer."""
    if finding.level != "alarm":
        right = session.tape.reverse_start is not None and session.opened.naive
        told = "; the gradient is right, a tool that does not track masks answers NaN"
        return replace(finding, text=finding.text + told) if right else finding
    tried = session.opened.tried.get(finding.var)
    text = finding.text + (f"; cure: {finding.cure}" if finding.cure else "")
    return replace(finding, text=f"{text}; {tried.text}" if tried is not None else text)
