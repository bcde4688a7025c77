"""A finding as the line that `--check` prints."""

from __future__ import annotations

from yotaview.model.findings import Finding
from yotaview.model.session import Session


def line_of(finding: Finding, session: Session) -> str:
    """Return a finding as one line with its place, its op's number and its function's name."""
    place = finding.place or session.row.place or session.capture.name
    call = (
        f" call {session.call.number}" if session.call is not None and session.row.count > 1 else ""
    )
    return (
        f"{place}: {finding.var} in {finding.function}: {finding.level}: {finding.text} "
        f"[{finding.check}, tape {session.row_index + 1}{call}]"
    )
