"""Where NaN and infinity begin on a tape, and whether they reach a result or a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Tape, Var, format_call
from yotaview.model.autopsy import Root, find_roots
from yotaview.model.autopsy.case import named
from yotaview.model.autopsy.causes import DOUBLE_WHERE
from yotaview.model.autopsy.conditions import SELECTS
from yotaview.model.findings import Finding
from yotaview.model.summary import format_number
from yotaview.model.unused import find_unused

CHECK = "nan"
TRAP = "where-trap"
LIMITS = {np.minimum, np.maximum, np.clip, np.fmin, np.fmax}


def find_nonfinite(
    tape: Tape, values: Mapping[Var, Any], name: str = "", roots: Sequence[Root] | None = None
) -> list[Finding]:
    """Return each op at which NaN or infinity begins, in tape order, then inputs without a path."""
    found = find_roots(tape, values) if roots is None else roots
    return [finding_of(r, name) for r in found] + find_unused(tape)


def finding_of(root: Root, name: str) -> Finding:
    """Return what is said about one origin."""
    op = root.case.op
    forward = root.case.forward if root.case.primal is not None else None
    frames = op.origin.frames or (forward.origin.frames if forward is not None else ())
    return Finding(
        CHECK,
        "alarm" if root.through else "masked",
        root.var,
        _text(root),
        op.origin.place,
        frames[0].qualname if frames else name,
        cause_name(root),
        root.element,
        cure_of(root),
    )


def remover(root: Root) -> Var | None:
    """Return the selection that took an origin's elements out, None if none did."""
    if root.through:
        return None
    for var in root.vanished:
        op = root.case.tape[var]
        if isinstance(op, Call) and (op.fn in SELECTS or op.fn in LIMITS):
            return var
    return None


def cause_name(root: Root) -> str:
    """Return the name of the cause; of what a selection removed, the trap that it is elsewhere."""
    gone = remover(root)
    by = root.case.tape[gone] if gone is not None else None
    trapped = isinstance(by, Call) and by.fn in SELECTS and isinstance(root.case.op, Call)
    return TRAP if trapped else root.cause.name


def cure_of(root: Root) -> str:
    """Return what to write instead."""
    return DOUBLE_WHERE if cause_name(root) == TRAP else root.cause.cure


def _text(root: Root) -> str:
    op, case = root.case.op, root.case
    where = _where(root)
    match op:
        case Input():
            return f"input {op.name} holds {root.what}{where}"
        case Constant():
            return f"constant {op.name or root.var} holds {root.what}{where}"
        case Call():
            text = f"{format_call(op)} gives {root.what}{where}{_operands(root)}"
            name = cause_name(root)
            cause = name if name == root.cause.name else f"{name}, {root.cause.name}"
            of = f"; in the derivative of {_named(case.tape, case.primal)}" if case.primal else ""
            gone = remover(root)
            by = f"; removed by {_named(case.tape, gone)}" if gone is not None else ""
            because = f"; the infinity is {root.because}'s" if root.because is not None else ""
            return f"{text}: {cause}{because}{of}{by}"
    return ""


def _named(tape: Tape, var: Var | None) -> str:
    return named(tape[var], var) if var is not None else ""


def _where(root: Root) -> str:
    if not root.element:
        return ""
    place = ", ".join(map(str, root.element))
    return f" at [{place}], {root.count} of {root.size} elements"


def _operands(root: Root) -> str:
    shown = dict.fromkeys(operand_texts(root))
    return f" where {' and '.join(shown)}" if shown else ""


def operand_texts(root: Root) -> list[str]:
    """Return `%4 is 0` for each operand that has an element there."""
    op = root.case.call
    with np.errstate(all="ignore"):
        found = zip(op.args if op is not None else (), root.case.operands, strict=False)
        return [
            f"{a} is {format_number(x)}" for a, x in found if isinstance(a, Var) and x is not None
        ]
