"""In what a row of a capture differs from an earlier one of the same function."""

from __future__ import annotations

from yota.tape import Call, Input, Op, Tape, format_call
from yotaview.capture import Capture, Row

FEW = 3


def unlike(capture: Capture, index: int) -> str:
    """Say in what a row differs from the last one of the same call before it that had a result.

    Empty where there is none, or nothing that shows.
    """
    row, rows = capture.rows[index], capture.rows
    for k in reversed(range(index)):
        other = rows[k]
        if other.failure is None and (other.name, other.site) == (row.name, row.site):
            found = _inputs(row, other) or _ops(row, other)
            return f"{found} in tape {k + 1}" if found else ""
    return ""


def _inputs(row: Row, other: Row) -> str:
    """Return the inputs that have another type, or are only there or only here."""
    here, there = _types(row.tape), _types(other.tape)
    told = [
        f"{name} is {here.get(name, 'no input')} here, {there.get(name, 'no input')}"
        for name in dict.fromkeys([*here, *there])
        if here.get(name) != there.get(name)
    ]
    more = [f"{len(told) - FEW} more inputs differ, too"] if len(told) > FEW else []
    return "; ".join([*more, *told[:FEW]])


def _types(tape: Tape) -> dict[str, str]:
    ops = (tape[v] for v in tape.inputs if v != tape.seed)
    return {op.name: op.spec.text(short=True) for op in ops if isinstance(op, Input)}


def _ops(row: Row, other: Row) -> str:
    """Return the first op that is another one: another way through the function."""
    here, there = _forward(row.tape), _forward(other.tape)
    for k, text in enumerate(here):
        if k >= len(there):
            return f"{text} here, nothing more"
        if text != there[k]:
            return f"{text} here, {there[k]}"
    return ""


def _forward(tape: Tape) -> list[str]:
    """Return the calls up to the reverse pass, each with its line."""
    return [_told(str(v), op) for v, op in tape if isinstance(op, Call) and not tape.is_reverse(v)]


def _told(name: str, op: Op) -> str:
    assert isinstance(op, Call)
    return f"{name} {format_call(op)} {op.origin.place}".rstrip()
