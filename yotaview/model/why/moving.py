"""Ops that move elements without changing them: which one stands here now."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from yota.tape import Var
from yotaview.model.replay import quiet
from yotaview.model.why.ask import Ask, Terms, leaves, one
from yotaview.model.why.elements import Element, Part, array_of

EVERY = (-1,)
FIRST = (
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze",
    "broadcast_to", "flip", "fliplr", "flipud", "rot90", "roll", "getitem", "take",
    "take_along_axis", "repeat", "tile", "concatenate", "stack", "hstack", "vstack", "dstack",
    "column_stack", "diag", "diagonal", "diagflat", "tril", "triu", "delete", "resize", "fftshift",
    "ifftshift", "place", "matrix_transpose", "ascontiguousarray", "array_split", "split",
    "hsplit", "vsplit", "dsplit", "unstack", "pad", "sliding_window_view", "block", "array",
    "full_like", "permute_dims", "asarray",
)  # fmt: skip
MOVING: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(FIRST, (0,)),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), EVERY),
    **dict.fromkeys(("broadcast_arrays", "meshgrid", "ix_"), EVERY),
    "setitem": (0, 2), "append": (0, 1), "insert": (0, 2), "select": (1, 2), "choose": (1,),
    "compress": (1,), "extract": (1,), "full_like": (1,),
}  # fmt: skip
LARGEST = 20_000_000


class _Numbers:
    """Gives each element of the operands a number of its own, from 1 on."""

    def __init__(self) -> None:
        self.starts: list[tuple[int, Any, Any]] = []
        self.next = 1

    def of(self, raw: Any, value: Any) -> Any:
        """Return the numbers in the shape of an operand; raises TypeError for what has none."""
        if isinstance(raw, tuple | list):
            return type(raw)(self.of(r, v) for r, v in zip(raw, value, strict=True))
        x = array_of(value)
        if x is None:
            raise TypeError("not numbers")
        self.starts.append((self.next, raw, x))
        ids = np.arange(self.next, self.next + x.size).reshape(x.shape)
        self.next += x.size
        return ids if isinstance(value, np.ndarray) else ids[()]

    def part(self, number: int) -> Part | None:
        """Return the element of a number; None for zero, which the op put there itself."""
        found = next(((s, r, x) for s, r, x in reversed(self.starts) if s <= number), None)
        if found is None:
            return None
        start, raw, x = found
        index = tuple(int(k) for k in np.unravel_index(number - start, x.shape))
        return Part(x[index], Element(raw, index) if isinstance(raw, Var) else None)


def moving(ask: Ask) -> Terms | None:
    """Say which element stands here, None where the op does not only move elements."""
    if ask.op.fn is operator.getitem and isinstance(ask.args[0], tuple | list):
        return _of_tuple(ask)
    if ask.op.name not in MOVING:
        return None
    numbers, moved = _numbered(ask)
    if moved is None:
        return None
    number = int(
        np.asarray(moved if ask.element.item is None else moved[ask.element.item])[ask.index]
    )
    part = numbers.part(number) if number > 0 else None
    if part is None:
        if ask.y != 0:
            return None
        return one(ask.y, (Part(ask.y),), "{0}", "passed", f"a zero that {ask.op.name} put there")
    if not _same(part.value, ask.y):
        return None
    return one(ask.y, (part,), "{0}", "passed")


def _of_tuple(ask: Ask) -> Terms | None:
    whole, item = ask.op.args[0], ask.args[1]
    if not isinstance(whole, Var) or not isinstance(item, int):
        return None
    element = Element(whole, ask.index, item % len(ask.args[0]))
    return one(ask.y, (Part(ask.y, element),), "{0}", "passed")


def _numbered(ask: Ask) -> tuple[_Numbers, Any]:
    """Run the op once on the numbers of its operands' elements."""
    key = ("moved", ask.element.var)
    if key not in ask.kept:
        ask.kept[key] = _run(ask)
    found: tuple[_Numbers, Any] = ask.kept[key]
    return found


def _run(ask: Ask) -> tuple[_Numbers, Any]:
    numbers, args = _Numbers(), list(ask.args)
    wanted = MOVING[ask.op.name]
    positions = range(len(args)) if wanted == EVERY else [k for k in wanted if k < len(args)]
    size = sum(np.size(v) for k in positions for _, v in leaves(ask.op.args[k], args[k]))
    if not positions or size + np.size(ask.y) > LARGEST:
        return numbers, None
    try:
        with quiet():
            for k in positions:
                args[k] = numbers.of(ask.op.args[k], args[k])
            return numbers, ask.op.fn(*args, **ask.kwargs)
    except Exception:  # what cannot be run on numbers is explained by its derivative
        return numbers, None


def _same(source: Any, y: Any) -> bool:
    """Tell whether a value is the one that was read, in its own dtype."""
    with quiet():
        if source == y or (source != source and y != y):
            return True
        cast = np.asarray(source).astype(np.asarray(y).dtype)
        return bool(cast == y)
