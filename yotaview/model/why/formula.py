"""The formula of one element: the steps of its rule written as one expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Call, Tape, Var
from yotaview.model.textbook import ALIASES
from yotaview.model.why.elements import Element, name_of_element
from yotaview.model.why.pointwise import form_of, is_pointwise

DEEP = 6
ATOM, PRODUCT, SUM = range(3)
# how a function is written, how tightly it binds, and how tightly each operand must
WRITTEN = {
    "add": ("{0} + {1}", SUM, (SUM, SUM)),
    "subtract": ("{0} − {1}", SUM, (SUM, PRODUCT)),
    "multiply": ("{0} × {1}", PRODUCT, (PRODUCT, PRODUCT)),
    "divide": ("{0} / {1}", PRODUCT, (PRODUCT, ATOM)),
    "negative": ("−{0}", PRODUCT, (PRODUCT,)),
    "power": ("{0} ** {1}", PRODUCT, (ATOM, ATOM)),
    "square": ("{0}²", PRODUCT, (ATOM,)),
    "sqrt": ("√{0}", ATOM, (ATOM,)),
    "reciprocal": ("1 / {0}", PRODUCT, (ATOM,)),
}


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    binds: int = ATOM
    steps: int = 0

    def within(self, level: int) -> str:
        return f"({self.text})" if self.binds > level else self.text


class _Writer:
    def __init__(self, tape: Tape, shape: Callable[[Var], tuple[int, ...]]) -> None:
        self.tape, self.shape = tape, shape

    def call(self, op: Call, index: tuple[int, ...], deep: int) -> _Text:
        """Write a call with what its operands are made of in the same rule."""
        name = ALIASES.get(op.name, op.name)
        args = op.args[:1] if name in ("cast", "nan_to_num") else op.args
        parts = [self.operand(op, a, index, deep) for a in args]
        steps = 1 + sum(p.steps for p in parts)
        if name == "multiply" and len(parts) == 2 and parts[0].text == parts[1].text:
            return _Text(f"{parts[0].within(ATOM)}²", PRODUCT, steps)
        form, binds, levels = WRITTEN.get(name) or (
            form_of(name, len(parts)), ATOM, (SUM,) * len(parts)
        )  # fmt: skip
        texts = (p.within(level) for p, level in zip(parts, levels, strict=True))
        return _Text(form.format(*texts), binds, steps)

    def operand(self, op: Call, arg: Any, index: tuple[int, ...], deep: int) -> _Text:
        """Write an operand: a literal, an element by its name, or what it is made of."""
        if not isinstance(arg, Var):
            return _Text(_literal(arg))
        shape = self.shape(arg)
        lead = len(index) - len(shape)
        at = tuple(0 if n == 1 else k for k, n in zip(index[lead:], shape, strict=True))
        inner = self.tape[arg]
        if deep and isinstance(inner, Call) and _same_rule(inner, op) and _is_written(inner):
            return self.call(inner, at, deep - 1)
        return _Text(name_of_element(self.tape, Element(arg, at)))


def formula(tape: Tape, element: Element, shape: Callable[[Var], tuple[int, ...]]) -> str:
    """Return how an element is made, as `%41[0,2] × (1 − %7[0,2]²)`; empty where one op says it.

    Ops of the same rule are written out, what they start from is named; `shape` gives that of an
    op's value.
    """
    op = tape[element.var]
    if not isinstance(op, Call) or not _is_written(op) or element.item is not None:
        return ""
    written = _Writer(tape, shape).call(op, element.index, DEEP)
    return written.text if written.steps > 1 else ""


def _is_written(op: Call) -> bool:
    if not is_pointwise(op) or op.name in ("where", "clip"):
        return False
    return not isinstance(op.fn, np.ufunc) or op.fn.nin == len(op.args)


def _same_rule(inner: Call, op: Call) -> bool:
    a, b = inner.origin, op.origin
    return a.role == b.role == "rule" and (a.of, a.wrt) == (b.of, b.wrt)


def _literal(arg: Any) -> str:
    if isinstance(arg, np.ndarray):
        return f"{arg.reshape(-1)[0]:.6g}" if arg.size == 1 else "a literal"
    return f"{arg:.6g}" if isinstance(arg, int | float) and not isinstance(arg, bool) else str(arg)
