"""A finding as the line that `--check` prints."""

from __future__ import annotations

from yotaview.capture import Capture
from yotaview.model.findings import Finding
from yotaview.model.session import Session
from yotaview.model.unlike import unlike


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


def raised_line(capture: Capture, index: int) -> str:
    """Return what raised in the call of a row, and what was unlike the last one that did not."""
    row = capture.rows[index]
    failure = row.failure
    assert failure is not None
    told = unlike(capture, index)
    text = f"{failure.place}: in {row.name}: raised at {failure.text}: {failure.error}"
    return f"{text}; {told} [tape {index + 1}]" if told else f"{text} [tape {index + 1}]"
