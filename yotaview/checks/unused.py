"""Inputs whose gradient is zero because no path leads from them to the result."""

from __future__ import annotations

from dataclasses import replace

from yotaview.model.findings import Finding
from yotaview.model.session import Session
from yotaview.model.unused import find_unused


def check_unused(session: Session) -> list[Finding]:
    """Return an alarm for each float input that no derivative reaches, at the op that cuts it."""
    return [replace(f, level="alarm") for f in find_unused(session.tape)]
