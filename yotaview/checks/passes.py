"""The check of all rewrites of the open call, and its findings."""

from __future__ import annotations

from collections.abc import Callable

from yota.tape import Var
from yotaview.checks.rewrites import SECONDS, TRIALS, Replays, StageCheck, verify
from yotaview.model.bounds import Bounds
from yotaview.model.findings import Finding
from yotaview.model.opened import SavedRow
from yotaview.model.session import Session

CHECK = "passes"


def replays_of(session: Session) -> Replays:
    """Return the inputs and values of the open call to verify rewrites on."""
    opened = session.opened
    call = opened.call
    is_saved = isinstance(opened.row, SavedRow)
    return Replays(
        session.program.tape,
        () if call is None else tuple(call.inputs),
        opened.values,
        opened.problems,
        lambda: Bounds() if is_saved else None,
    )


def verified(
    session: Session,
    trials: int = TRIALS,
    seconds: float = SECONDS,
    stopped: Callable[[], bool] = lambda: False,
) -> list[StageCheck]:
    """Return what is known of every rewrite of the open call's program."""
    return verify(
        session.program.stages,
        replays_of(session),
        trials=trials,
        seconds=seconds,
        stopped=stopped,
    )


def check_passes(session: Session) -> list[Finding]:
    """Return the rewrites that change a value or break the tape, and what was done unrecorded."""
    if session.row.failure is not None:
        return []
    found = []
    for check in verified(session):
        name = check.stage.name
        found += [_finding(session, v, f"{name}: {text}") for v, text in check.faults]
        for var, verdict in check.silent.items():
            if verdict.wrong:
                text = f"{name}: changed without a record: {verdict.wrong}"
                found.append(_finding(session, var, text))
        for rewrite, verdict in zip(check.stage.rewrites, check.verdicts, strict=True):
            if verdict.wrong:
                into = f" into {rewrite.into}" if rewrite.into is not None else ""
                text = f"{name} {rewrite.kind}{into} ({rewrite.why}): {verdict.wrong}"
                found.append(_finding(session, rewrite.var, text))
    return found


def _finding(session: Session, var: Var, text: str) -> Finding:
    op = session.tape.ops.get(var)
    place = op.origin.place if op is not None else ""
    return Finding(CHECK, "alarm", var, text, place or session.row.place, session.row.name)
