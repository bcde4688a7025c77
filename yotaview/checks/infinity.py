"""Every origin of an infinity, also of one that vanishes again."""

from __future__ import annotations

from dataclasses import replace

from yota.tape import Constant, Input
from yotaview.model.findings import Finding, Level
from yotaview.model.nonfinite import finding_of, remover
from yotaview.model.session import Session

CHECK = "inf"


def check_infinity(session: Session) -> list[Finding]:
    """Return an alarm for each op that makes an infinity which no selection removes."""
    found = []
    for root in session.opened.roots:
        given = isinstance(root.case.op, Input | Constant)
        if root.what != "infinity" or (given and not root.through):
            continue
        level: Level = "masked" if remover(root) is not None else "alarm"
        finding = replace(finding_of(root, session.row.name), check=CHECK, level=level)
        gone = "; it vanishes again" if level == "alarm" and not root.through else ""
        found.append(replace(finding, text=finding.text + gone))
    return found
