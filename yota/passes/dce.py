"""Leave out what nobody needs."""

from __future__ import annotations

from yota.passes.purity import is_pure
from yota.passes.rewrite import Rewrite
from yota.tape import Call, Input, Tape, Var


def drop_dead(tape: Tape) -> Tape:
    """Drop what neither results, gradients nor guards need; inputs and impure calls stay."""
    live = live_vars(tape)
    new = Rewrite(tape, "dce")
    for var, _ in tape:
        if var in live:
            new.keep(var)
        else:
            new.drop(var, "not needed by any result")
    return new.done()


def live_vars(tape: Tape) -> set[Var]:
    """Return the ops that something observable depends on."""
    live = {*tape.outputs, *(g.var for g in tape.guards)}
    for var in reversed(tape.ops):
        op = tape[var]
        if isinstance(op, Input) or (isinstance(op, Call) and not is_pure(op.fn)):
            live.add(var)
        if var in live and isinstance(op, Call):
            live.update(op.operands)
    return live
