"""Which inputs' memory layout may change what is computed from them."""

from __future__ import annotations

from collections.abc import Iterable

from yota.decisions import deciding
from yota.tape import Call, Input, Op, Tape, Var


def laid_out(tape: Tape, exact: bool) -> set[Var]:
    """Return the inputs that have to come in the recorded layout.

    Sums round otherwise in another layout, which matters where bits do: with `exact` everywhere,
    else where they decide on the way.  A result that is an array has the layout of its operands.
    """
    arrays = {v for v in tape.inputs if tape[v].spec.kind == "array" and tape[v].spec.shape}
    if exact or any(_is_pinned(tape[v]) for v in arrays):
        return arrays
    results = [v for v in tape.result_vars if _has_layout(tape, v)]
    askers = [x for _, op in tape if isinstance(op, Call) and _asks(op) for x in op.operands]
    return arrays & (deciding(tape) | before(tape, [*results, *askers]))


def _is_pinned(op: Op) -> bool:
    return isinstance(op, Input) and op.pinned


def before(tape: Tape, vars_: Iterable[Var]) -> set[Var]:
    """Return these vars, and all that they depend on."""
    found = set(vars_)
    for var in reversed(tape.ops):
        op = tape[var]
        if var in found and isinstance(op, Call):
            found.update(op.operands)
    return found


def _has_layout(tape: Tape, var: Var) -> bool:
    return tape[var].spec.kind == "array" and len(tape[var].spec.shape) > 1


def _asks(op: Call) -> bool:
    """Tell whether a call takes elements in the order in which they stand in memory."""
    order = dict(op.kwargs).get("order")
    return order in ("A", "K") or any(x in ("A", "K") for x in op.args if type(x) is str)
