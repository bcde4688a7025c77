"""What a pass may not do whatever the values are, told from the two tapes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from yota.errors import TapeError
from yota.program import Stage
from yota.tape import Call, Input, Op, Tape, Var, format_op, map_vars, tree_vars


def faults(before: Tape, stage: Stage) -> list[tuple[Var, str]]:
    """Return the ops at which a pass broke the tape, its record of it, or what may not be moved."""
    return list(dict.fromkeys([*_broken(before, stage), *_impure(before, stage)]))


def _broken(before: Tape, stage: Stage) -> Iterator[tuple[Var, str]]:
    tape = stage.tape
    told = {r.var: r for r in stage.rewrites}
    try:
        tape.verify()
    except TapeError as error:
        yield next(iter(tape.ops), Var(0)), str(error)
    for var, op in tape:
        missing = [v for v in getattr(op, "operands", ()) if v not in tape]
        for lost in dict.fromkeys(missing):
            yield lost, f"{lost} is left out, but {var} reads it"
    for var in before.ops:
        if var not in tape and var not in told:
            yield var, f"{var} is gone without a record"
        if var in tape and told.get(var) is not None and told[var].kind != "changed":
            yield var, f"{var} is recorded as {told[var].kind}, but is on the tape"
    places = {r.var: r.into for r in stage.rewrites if r.kind == "merged" and r.into is not None}
    yield from _silent(before, stage, set(told), places)
    yield from _lost(before, tape)


def _silent(
    before: Tape, stage: Stage, told: set[Var], places: dict[Var, Var]
) -> Iterator[tuple[Var, str]]:
    """Yield ops that are others than before although nothing was recorded of them."""
    forms = stage.name == "fuse"
    for var, op in stage.tape:
        old = before.ops.get(var)
        if old is None or old is op or var in told:
            continue
        if forms and isinstance(old, Call) and isinstance(op, Call) and old.fn is op.fn:
            continue  # its operands go by other numbers, which are compared by value
        if format_op(var, _renamed(old, places)) != format_op(var, op):
            yield var, f"{var} was changed without a record"


def _renamed(op: Op, places: dict[Var, Var]) -> Op:
    if not isinstance(op, Call):
        return op
    args = map_vars(op.args, lambda v: places.get(v, v))
    kwargs = tuple((k, map_vars(x, lambda v: places.get(v, v))) for k, x in op.kwargs)
    return replace(op, args=args, kwargs=kwargs)


def _lost(before: Tape, tape: Tape) -> Iterator[tuple[Var, str]]:
    """Yield results, guards and inputs that are not handed on."""
    for var, op in before:
        if isinstance(op, Input) and var not in tape:
            yield var, f"the input {var} is gone"
    if len(before.guards) != len(tape.guards):
        lost = (
            before.guards[min(len(tape.guards), len(before.guards) - 1)] if before.guards else None
        )
        var = lost.var if lost is not None else Var(0)
        yield var, f"{len(before.guards)} guards before, {len(tape.guards)} behind"
    for old, new in (
        (before.result, tape.result),
        *zip(before.gradients or (), tape.gradients or (), strict=False),
    ):
        if len(list(tree_vars(old))) != len(list(tree_vars(new))):
            var = next(iter(tree_vars(old)), Var(0))
            yield var, "another number of results than before"
    for var in tape.outputs:
        if var not in tape:
            yield var, f"the result {var} is left out"


def _impure(before: Tape, stage: Stage) -> Iterator[tuple[Var, str]]:
    for r in stage.rewrites:
        op = before.ops.get(r.var)
        if (
            isinstance(op, Call)
            and is_drawn(op)
            and r.kind in ("merged", "dropped", "changed", "inside")
        ):
            yield r.var, f"{r.var} = {op.name}(…) gives another value each time: it has to stay"


def is_drawn(op: Call) -> bool:
    """Tell whether a call may give another value each time: random draws, unset memory."""
    fn = op.fn
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.random.Generator | np.random.RandomState):
        return True
    module = str(getattr(fn, "__module__", "") or "")
    marked = bool(getattr(fn, "__yota_impure__", False) or getattr(fn, "impure", False))
    return module.startswith("numpy.random") or fn in (np.empty, np.empty_like) or marked
