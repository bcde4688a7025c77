"""Ops as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.errors import TapeError
from yota.ops import Call, Constant, Input, Op, Var, fn_name


def comment_of(op: Op) -> str:
    """Return what explains an op: an input's or constant's name, else its origin."""
    if isinstance(op, Input | Constant) and op.name:
        return op.name
    return op.origin.comment()


def format_op(var: Var, op: Op, short: bool = False) -> str:
    """Return one op as the tape prints it."""
    match op:
        case Input():
            return f"inp {var}::{op.spec.text(short)}"
        case Constant():
            return f"const {var} = {format_value(op.value)}::{op.spec.text(short)}"
        case Call():
            return f"{var} = {format_call(op)}::{op.spec.text(short)}"
    raise TapeError(f"{var} is no op: {op!r}")


def format_call(op: Call) -> str:
    """Return a call as `sum(%3, axis=0)`."""
    parts = [format_arg(a) for a in op.args]
    parts += [f"{k}={format_arg(v)}" for k, v in op.kwargs]
    return f"{op.name}({', '.join(parts)})"


def format_arg(tree: Any) -> str:
    """Return an operand as text."""
    match tree:
        case tuple():
            items = ", ".join(map(format_arg, tree))
            return f"({items},)" if len(tree) == 1 else f"({items})"
        case list():
            return f"[{', '.join(map(format_arg, tree))}]"
        case dict():
            return "{" + ", ".join(f"{k!r}: {format_arg(v)}" for k, v in tree.items()) + "}"
        case slice():
            ends = ["" if t is None else format_arg(t) for t in (tree.start, tree.stop)]
            return ":".join(ends) + ("" if tree.step is None else f":{format_arg(tree.step)}")
    if tree is Ellipsis:
        return "..."
    return format_value(tree)


def format_value(value: Any) -> str:
    """Return a literal or constant as text; a big array as `[...]`."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 4 and value.dtype.kind != "O" else "[...]"
    if isinstance(value, np.generic):
        return repr(value.item())
    if type(value) is int:
        return int_text(value)
    if isinstance(value, type) or callable(value):
        return fn_name(value)
    if isinstance(value, np.dtype):
        return str(value)
    if type(value).__module__.partition(".")[0] not in ("builtins", "numpy", "yota"):
        # a class of the user's: its own repr is code of his
        plain = next((t for t in (float, complex, int, str) if isinstance(value, t)), None)
        if plain is int:
            return int_text(value)
        return plain.__repr__(value) if plain is not None else f"<{type(value).__name__}>"
    return repr(value)


def int_text(value: int) -> str:
    """Return an integer as Python reads it; in base 16 where Python would not write it in 10."""
    try:
        return int.__repr__(value)
    except ValueError:  # more digits than sys.get_int_max_str_digits() allows
        return hex(value)
