"""Tapes as JSON lines: one object that describes the tape, then one an op."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from yota.tape import Call, Constant, Frame, Op, Var, base_name
from yotaview.model.summary import Summary, format_number, summarise
from yotaview.render.passes import stage_objects
from yotaview.render.tapes import outcome

if TYPE_CHECKING:
    from yotaview.capture import Failure
    from yotaview.model.session import Session

FORMAT = 1
FLOAT_BITS = 1_000  # what a reader of JSON takes for a number


def json_lines(session: Session, ops: bool = True, stage: str = "reverse") -> Iterator[str]:
    """Yield the lines of the open call: the tape's own line, then what the stage consists of.

    That is an op a line; of stage `buffers` a buffer a line, of `code` one line with the source.
    """
    if session.row.failure is not None:
        stage = "reverse"  # it has no other
    told = {"stages": stage_objects(session)} if ops and session.row.failure is None else {}
    yield dump({**tape_object(session), "stage": stage, **told})
    if ops:
        yield from map(dump, _stage_objects(session, stage))


def _stage_objects(session: Session, stage: str) -> Iterator[dict[str, Any]]:
    if stage == "buffers":
        yield from buffer_objects(session)
    elif stage == "code":
        source = session.program.source()
        head = {"v": FORMAT, "tape": session.row_index + 1}
        yield {**head, "form": source.form, "source": source.text}
    else:
        whole = stage == "reverse"
        for var, op in session.tape if whole else session.program.stage(stage).tape:
            yield op_object(session, var, op)


def buffer_objects(session: Session) -> Iterator[dict[str, Any]]:
    """Yield each buffer with the ops computed into it, each with the last op that needs it."""
    plan = session.program.plan()
    for k, buffer in enumerate(plan.buffers):
        yield {
            "v": FORMAT,
            "tape": session.row_index + 1,
            "buffer": buffer.name,
            "dtype": str(buffer.dtype),
            "shape": list(buffer.shape),
            "bytes": buffer.nbytes,
            "holds": [[v.id, last.id] for v, last in plan.occupants(k)],
        }


def dump(thing: dict[str, Any]) -> str:
    """Return an object as one line."""
    text = json.dumps(thing, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def tape_object(session: Session) -> dict[str, Any]:
    """Return what describes a tape and its capture."""
    row, capture = session.row, session.capture
    failure = row.failure
    call = session.call.number if session.call is not None else None
    return {
        "v": FORMAT,
        "tape": session.row_index + 1,
        "kind": row.kind,
        "function": row.name,
        "loc": row.place,
        "script": capture.script,
        "exit": capture.exit_code,
        "error": capture.error,
        "cut": capture.cut,
        "calls": row.count,
        "kept": len(row.calls),
        "call": call,
        "ops": len(row.tape),
        "forward": row.forward_count,
        "reverse": row.reverse_count,
        "value": number(outcome(row, call)),
        "norm": number(row.norm_of(call)),
        "nonfinite": len(row.nonfinite),
        "failure": failure and _failure(session, failure),
    }


def _failure(session: Session, failure: Failure) -> dict[str, Any]:
    of = session.culprit.id if session.culprit is not None else None
    return {"text": failure.text, "loc": failure.place, "error": failure.error, "of": of}


def op_object(session: Session, var: Var, op: Op) -> dict[str, Any]:
    """Return one op with the facts of its value; those are null where it is not known."""
    reverse = session.tape.is_reverse(var)
    call = op if isinstance(op, Call) else None
    of, wrt = op.origin.of, op.origin.wrt
    return {
        "v": FORMAT,
        "tape": session.row_index + 1,
        "id": var.id,
        "phase": "REV" if reverse else "FWD",
        "op": "call" if call else "const" if isinstance(op, Constant) else "inp",
        "fn": call.name if call else None,
        "name": None if call else getattr(op, "name", ""),
        "args": [v.id for v in call.operands] if call else [],
        "of": of.id if of is not None else None,
        "adj": wrt.id if wrt is not None else None,
        "role": op.origin.role,
        "completes": completed.id if (completed := session.opened.twins.get(var)) else None,
        "type": op.spec.text(short=True),
        "dtype": str(op.spec.dtype) if op.spec.dtype is not None else None,
        "shape": list(op.spec.shape),
        "loc": op.origin.place,
        "frames": [_frame(f) for f in op.origin.frames],
        **_facts(session, var),
    }


def _frame(frame: Frame) -> str:
    return f"{base_name(frame.file)}:{frame.line} {frame.qualname}"


def _facts(session: Session, var: Var) -> dict[str, Any]:
    known = var in session.opened.values
    facts = summarise(session.opened.values[var]) if known else Summary("", 0)
    names = ("minimum", "maximum", "mean", "std", "norm")
    found: dict[str, Any] = {
        n[:3] if n.endswith("imum") else n: number(getattr(facts, n)) for n in names
    }
    found |= {n: getattr(facts, n) if known else None for n in ("nan", "inf", "zero")}
    measured = "magnitude" if facts.is_complex else "value"
    return {**found, "measured": measured if facts.minimum is not None else None}


def number(x: Any) -> float | str | None:
    """Return a number that JSON can hold; NaN, infinities and complex numbers as text."""
    if isinstance(x, int) and x.bit_length() > FLOAT_BITS:
        return format_number(x)
    if x is None or (not isinstance(x, complex) and math.isfinite(x)):
        return x
    return str(x)
