"""Which values decide on the way that a program takes, so that their bits must be NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.shapes import may_vary
from yota.tape import Call, Op, Tape, Var

# Functions that jump: a last bit more or less in the operand may give quite another result.
_JUMPS = {
    np.floor, np.ceil, np.trunc, np.rint, np.sign, np.heaviside, np.floor_divide, np.remainder,
    np.fmod, np.modf, np.frexp, np.spacing, np.nextafter, np.round, np.around, np.fix, np.divmod,
    np.signbit, np.unique, np.argsort, np.argmax, np.argmin,
}  # fmt: skip


def deciding(tape: Tape) -> set[Var]:
    """Return the vars that a guard, a comparison, a shape or a jump depends on."""
    found = {g.var for g in tape.guards}
    for var in reversed(tape.ops):
        op = tape[var]
        if isinstance(op, Call) and (var in found or decides(op, tape)):
            found.update(op.operands)
    return found


def decides(op: Call, tape: Tape) -> bool:
    """Tell whether a call makes something discrete of its operands."""
    if may_vary(op, tape) or _is_one_of(op.fn, _JUMPS):
        return True
    return _is_discrete(op) and any(not _is_discrete(tape[v]) for v in op.operands)


def _is_discrete(op: Op) -> bool:
    return op.spec.dtype is not None and op.spec.dtype.kind in "biu"


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
