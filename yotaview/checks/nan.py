"""Where NaN and infinity begin, and whether they reach a result or a gradient."""

from __future__ import annotations

from yota.tape import Var
from yotaview.model.findings import Finding
from yotaview.model.nonfinite import CHECK
from yotaview.model.session import Session


def check_nan(session: Session) -> list[Finding]:
    """Return the findings of the open call; one without a name where its values cannot be had."""
    found = list(session.alerts)
    outcome = session.call is not None and session.call.number in set(session.row.nonfinite)
    if outcome and not any(f.level == "alarm" for f in found):
        text = "value or gradient holds NaN or infinity; the op at which it begins cannot be named"
        var = next(iter(session.tape.outputs), Var(0))
        found.append(Finding(CHECK, "alarm", var, text, session.row.place, session.row.name))
    return found


def line_of(finding: Finding, session: Session) -> str:
    """Return a finding as the line that `--check` prints."""
    place = finding.place or session.row.place or session.capture.name
    call = (
        f" call {session.call.number}" if session.call is not None and session.row.count > 1 else ""
    )
    return (
        f"{place}: {finding.var} in {finding.function}: {finding.level}: {finding.text} "
        f"[{finding.check}, tape {session.row_index + 1}{call}]"
    )
