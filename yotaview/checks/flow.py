"""Whether gradients arrive at the inputs: not zero, not vanishing, not exploding."""

from __future__ import annotations

from dataclasses import replace

from yotaview.model.findings import Finding
from yotaview.model.gradients import find_flow
from yotaview.model.session import Session


def check_flow(session: Session) -> list[Finding]:
    """Return an alarm for each input whose gradient is dead, vanishes or explodes, and where."""
    opened = session.opened
    found = find_flow(session.tape, opened.values, session.users, session.row.name)
    return [replace(f, text=f.with_cure) for f in found]
