"""One tape as a session, without a script."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from yota.errors import YotaError
from yota.program import CallRecord, Program
from yota.tape import Constant, Tape, Var
from yotaview.capture import Capture, KeptCall, Row
from yotaview.capture.functions import users_ops
from yotaview.capture.recorder import count_call
from yotaview.capture.runner import snapshot
from yotaview.capture.structure import literals_of
from yotaview.model.replay import replay
from yotaview.model.session import Session


def session_of(tape: Tape, *args: Any, seed: Any = None, **kwargs: Any) -> Session:
    """Open a tape: with its own values, or with arguments structured as those it was recorded with.

    Raises YotaError where the tape has no values and no arguments are given.
    """
    if args or kwargs:
        inputs = tape.entry.leaves(args, kwargs)
        if len(inputs) < len(tape.inputs):
            inputs.append(seed)
        known = _known(tape, inputs)
    elif tape.values is None:
        raise YotaError("this tape carries no values: call yotaview.show(tape, *args)")
    else:
        inputs = [tape.values[v] for v in tape.inputs]
        known = {v: tape.values[v] for v in users_ops(tape) if v in tape.values}
    row = _row(tape, tuple(np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs), known)
    capture = Capture(_caller(tape), rows=[row])
    capture.sources = snapshot(capture)
    return Session(capture)


def _known(tape: Tape, inputs: list[Any]) -> dict[Var, Any]:
    wanted = users_ops(tape)
    values = tape.replay(inputs) if wanted else {}
    return {v: values[v] for v in wanted}


def _row(tape: Tape, inputs: tuple[Any, ...], known: dict[Var, Any]) -> Row:
    constants = {v: op.value for v, op in tape if isinstance(op, Constant)}
    values, _ = replay(tape, inputs, known)
    outcome = [values.get(v) for v in tape.result_vars]
    value: Any = outcome[0] if len(outcome) == 1 else tuple(outcome)
    gradients = tuple(values[v] for v in tape.gradient_vars if v in values)
    kind = "trace" if tape.reverse_start is None else "gradtape"
    literals = literals_of(tape)
    row = Row(tape.entry.name, None, Program(tape), tape, kind, literals=literals)
    count_call(row, CallRecord(inputs, value, gradients, (), kind))
    shown = value if np.ndim(value) == 0 else None
    row.calls.append(KeptCall(1, inputs, constants, shown, known=known, literals=literals))
    return row


def _caller(tape: Tape) -> str:
    files = [f.file for _, op in tape for f in op.origin.frames[-1:]]
    return files[0] if files else inspect.stack()[-1].filename
