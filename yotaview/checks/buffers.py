"""Whether the generated code and its buffers give what the tape gives."""

from __future__ import annotations

from yota.tape import Call, Var
from yotaview.checks.hazards import Hazard, plan_hazards
from yotaview.checks.running import Run
from yotaview.model.findings import Finding, Level
from yotaview.model.session import Session
from yotaview.model.stages import runs_users_code

CHECK = "buffers"


def hazards_of(session: Session) -> tuple[list[Hazard], str]:
    """Return what is wrong with buffers and code of the open call, and why the code was not run.

    That is empty where it was run: on the recorded inputs, each value compared with the tape's.
    """
    found: list[Hazard] = []
    for form in ("lean", "bound"):
        code = session.program.tape_of(form)
        values, _ = session.opened.values_on(code)
        found += plan_hazards(code, session.program.plan(form), values)
    why = why_not_run(session)
    if not why:
        found += _run(session)
    return found, why


def why_not_run(session: Session) -> str:
    """Say why the generated code is not run here, nothing where it is."""
    if session.call is None:
        return "no call of it was kept"
    if session.opened.unproven:
        return "it comes from a file that holds ops which are not run"
    code = session.program.tape_of("lean")
    user = next((v for v, op in code if isinstance(op, Call) and runs_users_code(op)), None)
    return "" if user is None else f"{user} would run your own function"


def _run(session: Session) -> list[Hazard]:
    program, call = session.program, session.call
    code = program.tape_of("lean")
    values, _ = session.opened.values_on(code)
    run = Run(code, program.source("lean"), values, program.plan("lean"))
    try:
        run.run(call.inputs if call is not None else ())
    except Exception as error:  # an error of the code is what is looked for
        var = next(reversed(run.seen), Var(0))
        text = f"the code raises behind {var}: {type(error).__name__}: {error}"
        return [*run.found, Hazard("raises", var, var, text)]
    return run.found


def check_buffers(session: Session) -> list[Finding]:
    """Return what reads a value that is overwritten, writes what is not its own, or differs."""
    if session.row.failure is not None:
        return []
    found, why = hazards_of(session)
    rows = [_finding(session, "alarm", h.var, f"{h.kind}: {h.text}") for h in found]
    if why:
        text = f"the plan was checked, the code was not run: {why}"
        rows.append(_finding(session, "note", next(iter(session.tape.ops)), text))
    return rows


def _finding(session: Session, level: Level, var: Var, text: str) -> Finding:
    ops = session.program.tape_of("lean").ops
    op = session.tape.ops.get(var) or ops.get(var)
    place = op.origin.place if op is not None else ""
    return Finding(CHECK, level, var, text, place or session.row.place, session.row.name)
