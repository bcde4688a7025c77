"""A long chain of ops in a session, made without tracing."""

from __future__ import annotations

import numpy as np

from yota.program import Program
from yota.structs import flatten
from yota.tape import Call, Frame, Input, Origin, Structured, Tape, spec_of
from yotaview.capture import Capture, KeptCall, Row
from yotaview.model.session import Session


def big_session(count: int) -> Session:
    tape = Tape()
    spec = spec_of(np.zeros(3))
    frames = [Frame("/nowhere/long.py", k, k, 0, 1, "f") for k in range(1, 50)]
    var = tape.push(Input(name="x", spec=spec))
    for k in range(count - 1):
        origin = Origin(frames=(frames[k // 7 % 49],))
        var = tape.push(Call(fn=np.sin if k % 2 else np.cos, args=(var,), spec=spec, origin=origin))
    structure = flatten(np.zeros(3))[1]
    tape.result = Structured(structure, (var,), ("array",))
    call = KeptCall(1, (np.full(3, 0.5),), {})
    row = Row("f", frames[0], Program(tape), tape, "trace", [call], 1, [1.0])
    return Session(Capture("long.py", rows=[row]))
