"""Edits as one writes them, and the value that an op has by one, in its own type."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Constant, Input, Tape, Var, spec_of
from yotaview.model.digits import whole
from yotaview.model.expressions import Expression, ExpressionError, read_expression
from yotaview.model.replay import quiet
from yotaview.model.why.spec import find_var

FORMS = "%7[0,2] = 1.5, W1 *= 2, δ%7 = 0 or %7 = np.clip(x, 0, 1)"
ASSIGNED = re.compile(r"(?P<to>[^=]+?)\s*(?P<by>\*\*|[-+*/])?=(?!=)\s*(?P<what>.+)", re.S)
BY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow,
}  # fmt: skip
PART = re.compile(r"\s*(-?\d+|-?\d*\s*:\s*-?\d*(?:\s*:\s*-?\d*)?|\.\.\.)\s*")


class EditError(ValueError):
    """An edit cannot be read or made; the text says why and what can be written."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Another value for an op, for some of its elements where `index` is not None."""

    var: Var
    index: Any
    by: str
    what: Expression
    text: str


def read_edit(text: str, tape: Tape) -> Edit:
    """Read `%7[0,2] = 1.5`; raises EditError."""
    match = ASSIGNED.fullmatch(text.strip())
    if match is None:
        raise EditError(f"cannot read {text.strip()!r}: write {FORMS}")
    var, index = _target(match["to"].strip(), tape)
    try:
        what = read_expression(match["what"])
    except ExpressionError as error:
        raise EditError(str(error)) from error
    return Edit(var, index, match["by"] or "", what, text.strip())


def _target(text: str, tape: Tape) -> tuple[Var, Any]:
    var = find_var(text, tape)
    if var is not None:
        return var, None
    head, bracket, inside = text.rpartition("[")
    var = find_var(head, tape) if bracket and inside.endswith("]") else None
    if var is None:
        names = [op.name for _, op in tape if isinstance(op, Input | Constant) and op.name]
        raise EditError(f"no {text!r} on this tape: write {FORMS}; names: {', '.join(names)}")
    parts = inside[:-1].split(",")
    if not all(PART.fullmatch(p) for p in parts):
        raise EditError(f"cannot read [{inside}: an index is of numbers, slices and ...")
    return var, tuple(map(_index_part, parts))


def _index_part(text: str) -> Any:
    if ":" in text:
        return slice(*(whole(p.strip()) if p.strip() else None for p in text.split(":")))
    return ... if text.strip() == "..." else whole(text.strip())


def vars_read(edit: Edit, tape: Tape) -> set[Var]:
    """Return the ops whose values an edit reads; its own is among them."""
    named = (find_var(name, tape) for name in edit.what.names)
    return {edit.var, *(v for v in named if v is not None)}


def edited_value(edit: Edit, tape: Tape, values: Mapping[Var, Any]) -> Any:
    """Return the new value of an op, in its own type; raises EditError."""
    if edit.var not in values:
        raise EditError(f"{edit.var} has no value to edit")
    old = values[edit.var]
    try:
        new = edit.what.compute(_lookup(edit.var, tape, values))
        with quiet():
            if edit.by:
                before = old if edit.index is None else np.asarray(old)[edit.index]
                new = BY[edit.by](before, new)
            return _placed(edit, old, new)
    except ExpressionError as error:
        raise EditError(str(error)) from error
    except (IndexError, ValueError, TypeError) as error:
        raise EditError(f"{edit.text}: {error}") from error


def _lookup(var: Var, tape: Tape, values: Mapping[Var, Any]) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        wanted = var if name == "x" else find_var(name, tape)
        if wanted is None:
            raise ExpressionError(f"no name {name!r}: x is the value that is edited")
        if wanted not in values:
            raise ExpressionError(f"{wanted} has no value")
        return values[wanted]

    return find


def _placed(edit: Edit, old: Any, new: Any) -> Any:
    """Return `new`, or `old` with `new` at the index, in the type of `old`."""
    spec = spec_of(old)
    if spec.dtype is None or spec.dtype.kind not in "biufc":
        raise EditError(f"{edit.var} is no number and no array of numbers: it cannot be edited")
    fresh = np.asarray(new)
    exact = fresh.dtype.kind in "biu" and spec.dtype.kind in "fc"
    if not (exact or np.can_cast(fresh.dtype, spec.dtype, "same_kind")):
        raise EditError(
            f"{edit.var} is {spec.text(short=True)}: {fresh.dtype} does not fit into it"
        )
    if spec.kind == "array":
        made = np.array(old, order="K")
        made[... if edit.index is None else edit.index] = fresh
        return made
    if edit.index not in (None, ()):
        raise EditError(f"{edit.var} is a single number: it has no element {list(edit.index)}")
    if fresh.ndim:
        raise EditError(f"{edit.var} is a single number: shape {fresh.shape} does not fit into it")
    number = fresh.astype(spec.dtype)[()]
    return number.item() if spec.kind == "python" else number
