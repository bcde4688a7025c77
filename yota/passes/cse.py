"""Merge calls that compute the same value."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from yota.passes.purity import is_pure
from yota.passes.rewrite import Rewrite
from yota.tape import Call, Constant, Op, Tape, Var

# Contents of bigger constants are not compared, their identity is.
_COMPARED_BYTES = 1 << 20


def merge_common(tape: Tape) -> Tape:
    """Compute each distinct call, and keep each distinct constant, once."""
    new, seen = Rewrite(tape, "cse"), Seen()
    for var, op in tape:
        moved = new.moved(op)
        twin = seen.twin(var, moved)
        if twin is None:
            new.keep(var, moved)
        else:
            new.put(var, *twin)
    return new.done()


class Seen:
    """The ops of a new tape by what they compute."""

    def __init__(self) -> None:
        self.first: dict[Any, Var] = {}

    def twin(self, var: Var, op: Op) -> tuple[Var, str] | None:
        """Return the earlier op of the same value and why it is, else remember this one."""
        first = self.first.setdefault(key_of(var, op), var)
        if first == var:
            return None
        what = "value" if isinstance(op, Constant) else "function and operands"
        return first, f"same {what} as {first}"


def key_of(var: Var, op: Op) -> Any:
    """Return what two ops have in common exactly if one can stand for both."""
    match op:
        case Constant() if (value := constant_key(op.value)) is not None:
            return ("const", op.spec, value)
        case Call() if is_pure(op.fn) and is_known(op.fn):
            kwargs = tuple(sorted((k, operand_key(v)) for k, v in op.kwargs)) if op.kwargs else ()
            return (op.fn, op.spec, operand_key(op.args), kwargs)
    return var


def is_known(fn: Any) -> bool:
    """Tell whether a function can be part of a key."""
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def constant_key(value: Any) -> Any:
    """Return a constant's bits, None where they cannot be told."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or type(value) is not np.ndarray:
            return None
        if value.nbytes > _COMPARED_BYTES:
            return id(value)
        return (value.strides, value.tobytes())
    return literal_key(value)


def operand_key(tree: Any) -> Any:
    """Return a hashable that is equal for the same vars and bit-equal literals alone."""
    kind = type(tree)
    if kind is Var:
        return tree
    if kind is tuple or kind is list:
        return (kind, *map(operand_key, tree))
    if kind is dict:
        return (dict, *((literal_key(k), operand_key(v)) for k, v in tree.items()))
    if kind is slice:
        return (slice, operand_key(tree.start), operand_key(tree.stop), operand_key(tree.step))
    return literal_key(tree)


def literal_key(value: Any) -> Any:
    """Return type and bits of a literal: 1, 1.0 and True differ, as do 0.0 and -0.0."""
    kind = type(value)
    if kind is float:
        return (float, struct.pack("d", value))
    if kind is complex:
        return (complex, struct.pack("dd", value.real, value.imag))
    if kind in (int, bool, str, bytes):
        return (kind.__name__, value)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return (kind, str(value.dtype), value.tobytes())
    if isinstance(value, np.dtype):
        return (np.dtype, repr(value))
    # The tape keeps the object alive, so its identity is not reused.
    return ("object", id(value))
