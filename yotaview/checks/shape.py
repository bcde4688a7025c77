"""Operands that broadcast against each other where they were most likely meant to line up."""

from __future__ import annotations

import numpy as np

from yota.rules.functional import getitem
from yota.tape import Call, Tape, Var, format_call
from yotaview.model.autopsy.masks import is_pointwise
from yotaview.model.findings import Finding
from yotaview.model.session import Session

CHECK = "shape"
MADE_ON_PURPOSE = {np.expand_dims, np.reshape, np.atleast_2d, np.broadcast_to, np.meshgrid}


def check_shapes(session: Session) -> list[Finding]:
    """Return an alarm for each op of the user's that makes (n, n) of (n,) and (n, 1)."""
    tape = session.tape
    found = []
    for var, op in tape:
        if tape.is_reverse(var) or not isinstance(op, Call) or op.origin.wrt is not None:
            continue
        pair = _crossed(tape, op)
        if pair is not None:
            found.append(_finding(session, var, op, *pair))
    return found


def _crossed(tape: Tape, op: Call) -> tuple[Var, Var] | None:
    """Return a vector and a column of as many elements that an op spreads over a square."""
    if not is_pointwise(op) and op.fn is not np.where:
        return None
    operands = [v for v in dict.fromkeys(op.operands) if tape[v].spec.kind == "array"]
    for vector in operands:
        shape = tape[vector].spec.shape
        if len(shape) != 1 or shape[0] < 2:
            continue
        for column in operands:
            if tape[column].spec.shape == (shape[0], 1) and not _on_purpose(tape, column):
                return vector, column
    return None


def _on_purpose(tape: Tape, var: Var) -> bool:
    """Tell whether the user wrote the column as such, as `x[:, None]`."""
    op = tape[var]
    if not isinstance(op, Call):
        return False
    if op.fn is getitem:
        index = op.args[1] if isinstance(op.args[1], tuple) else (op.args[1],)
        return any(k is None for k in index)
    return op.fn in MADE_ON_PURPOSE


def _finding(session: Session, var: Var, op: Call, vector: Var, column: Var) -> Finding:
    tape = session.tape
    shapes = f"{tape[vector].spec.shape} with {tape[column].spec.shape}"
    cure = f"take {column}[:, 0], or {vector}[:, None] if the column is meant"
    text = f"{format_call(op)} broadcasts {shapes} to {op.spec.shape}"
    frames = op.origin.frames
    return Finding(
        CHECK,
        "alarm",
        var,
        f"{text}: every element meets every other; cure: {cure}",
        op.origin.place,
        frames[0].qualname if frames else session.row.name,
        "crossed broadcast",
        (),
        cure,
    )
