"""Compute ahead of time what depends on constants alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.passes.purity import is_foldable
from yota.passes.rewrite import Rewrite
from yota.tape import Call, Constant, Tape, Var, map_vars, spec_of

_KEPT_BYTES = 1 << 20
_FILLED = {np.ones_like, np.zeros_like}


def fold_constants(tape: Tape) -> Tape:
    """Replace calls on constants by their value, unless it is big or computing it would warn."""
    new = Rewrite(tape, "fold")
    known: dict[Var, Any] = {}
    handed_out = set(tape.outputs)
    for var, op in tape:
        if isinstance(op, Constant):
            known[var] = op.value
        elif isinstance(op, Call):
            found, why = folded(op, known), "computed once: all operands are constant"
            if found is None and var not in handed_out:
                found, why = filled(op), "computed once: it depends on a shape alone"
            if found is not None:
                known[var] = found.value
                new.change(var, found, why)
                continue
        new.keep(var)
    return new.done()


def filled(op: Call) -> Constant | None:
    """Return the constant that `ones_like` or `zeros_like` of a value amounts to."""
    if not _is_one_of(op.fn, _FILLED) or len(op.args) != 1 or {k for k, _ in op.kwargs} - {"dtype"}:
        return None
    spec = op.spec
    if spec.kind != "array" or spec.order not in "CF" or spec.nbytes > _KEPT_BYTES:
        return None
    if spec.dtype.kind not in "biufc":
        return None
    fill = np.ones if op.fn is np.ones_like else np.zeros
    value = fill(spec.shape, spec.dtype, spec.order)  # type: ignore[call-overload]  # C or F
    return Constant(spec=spec, origin=op.origin, value=value)


def folded(op: Call, known: dict[Var, Any]) -> Constant | None:
    """Return the constant that a call amounts to, None where it has to stay."""
    if any(v not in known for v in op.operands) or not is_foldable(op.fn):
        return None
    if op.spec.kind not in ("array", "scalar", "python") or op.spec.nbytes > _KEPT_BYTES:
        return None
    value = _compute(op, known)
    if spec_of(value) != op.spec or op.spec.dtype.hasobject:
        return None
    return Constant(spec=op.spec, origin=op.origin, value=value)


def _compute(op: Call, known: dict[Var, Any]) -> Any:
    args = map_vars(op.args, known.__getitem__)
    kwargs = {k: map_vars(v, known.__getitem__) for k, v in op.kwargs}
    try:
        # A warning has to appear at each call, not once while the tape is optimised.
        with np.errstate(all="raise"):
            return op.fn(*args, **kwargs)
    except (ArithmeticError, ValueError, TypeError, IndexError):
        return None


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
