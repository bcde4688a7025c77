"""Ops that work element by element: which numbers stand at the element, and the formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.rules import functional
from yota.tape import Call
from yotaview.model.textbook import ALIASES
from yotaview.model.why.ask import Ask, Terms, one
from yotaview.model.why.elements import Part, Term

FORMS = {
    "multiply": "{0} × {1}",
    "divide": "{0} / {1}",
    "power": "{0} ** {1}",
    "negative": "−{0}",
    "positive": "{0}",
    "square": "{0}²",
    "sqrt": "√{0}",
    "reciprocal": "1 / {0}",
    "absolute": "|{0}|",
    "abs": "|{0}|",
    "greater": "{0} > {1}", "less": "{0} < {1}", "greater_equal": "{0} ≥ {1}",
    "less_equal": "{0} ≤ {1}", "equal": "{0} = {1}", "not_equal": "{0} ≠ {1}",
    "floor_divide": "{0} // {1}", "remainder": "{0} mod {1}",
    "logical_and": "{0} and {1}", "logical_or": "{0} or {1}", "logical_not": "not {0}",
    "gt": "{0} > {1}", "lt": "{0} < {1}", "ge": "{0} ≥ {1}", "le": "{0} ≤ {1}",
    "eq": "{0} = {1}", "ne": "{0} ≠ {1}",
}  # fmt: skip
PASSING = {"cast", "astype", "positive", "pos", "halt", "identity", "copy", "item", "conjugate"}
OTHERS = {
    "cast", "astype", "real", "imag", "angle", "nan_to_num", "round", "around", "fix", "sinc",
    "i0", "real_if_close", "isclose", "where", "clip", "halt", "identity", "copy", "item",
    "with_real", "with_imag", "unwrap_angle", "isposinf", "isneginf",
}  # fmt: skip
CHOOSING = {"maximum", "minimum", "fmax", "fmin"}


def is_pointwise(op: Call) -> bool:
    """Tell whether each element of the result depends on the elements at its place alone."""
    if isinstance(op.fn, np.ufunc):
        return op.fn.signature is None and not any(k in ("out", "where") for k, _ in op.kwargs)
    name = op.name
    if name in ("with_real", "with_imag", "cast", "item", "halt", "identity"):
        return op.fn is getattr(functional, name)
    module = getattr(op.fn, "__module__", None) or ""
    if module.endswith("_scimath_impl"):  # numpy.emath: sqrt and the logarithms beyond the reals
        return True
    return (module == "_operator" and name not in ("getitem", "matmul")) or name in OTHERS


def pointwise(ask: Ask) -> Terms | None:
    """Say which operands make the element."""
    name = ALIASES.get(ask.op.name, ask.op.name)
    if name == "where":
        return _where(ask)
    if name == "clip":
        return _clip(ask)
    count = ask.op.fn.nin if isinstance(ask.op.fn, np.ufunc) else len(ask.op.args)
    if isinstance(ask.op.fn, np.ufunc) and count != len(ask.op.args):
        return None
    if name in ("cast", "nan_to_num", "round", "around", "real_if_close"):
        count = 1
    parts = tuple(ask.beside(k) for k in range(count))
    if ask.element.item is not None:
        return one(ask.y, parts, f"{form_of(name, count)}[{ask.element.item}]")
    if name in CHOOSING:
        return _choice(ask, parts)
    if name == "add":
        return _signed(parts, 1)
    if name == "subtract":
        return _signed(parts, -1)
    if name in PASSING and not np.iscomplexobj(ask.y):
        return one(ask.y, parts, "{0}", "passed", _cast_note(parts, ask.y))
    return one(ask.y, parts, form_of(name, count))


def form_of(name: str, count: int) -> str:
    """Return how a formula writes a function of `count` operands."""
    return FORMS.get(name) or f"{name}({', '.join(f'{{{k}}}' for k in range(count))})"


def _cast_note(parts: tuple[Part, ...], y: Any) -> str:
    same = parts[0].value == y or (parts[0].value != parts[0].value and y != y)
    return "" if bool(same) else "rounded to another dtype"


def _signed(parts: tuple[Part, ...], sign: int) -> Terms:
    signs, forms = (1, sign), ("{0}", "{0}" if sign > 0 else "−{0}")
    # in Python's own arithmetic, so that integers neither wrap nor bools refuse
    numbers = [_plain(p.value) * s for p, s in zip(parts, signs, strict=True)]
    return Terms(np.asarray(numbers), lambda k: Term(numbers[k], (parts[k],), forms[k]))


def _plain(value: Any) -> Any:
    if isinstance(value, np.longdouble | np.clongdouble):
        return value
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return int(plain) if isinstance(plain, bool) else plain


def _choice(ask: Ask, parts: tuple[Part, ...]) -> Terms:
    name, (a, b) = ask.op.name, parts
    tie = bool(a.value == b.value)
    first = bool(a.value == ask.y) or bool(a.value != a.value and ask.y != ask.y)
    chosen, other = (a, b) if first else (b, a)
    note = "both are equal" if tie else f"the other is {_short(other.value)}"
    return one(ask.y, (chosen, other), f"{name}({{0}}, {{1}})", "chosen", note)


def _where(ask: Ask) -> Terms | None:
    if len(ask.op.args) != 3:
        return None
    condition = ask.beside(0)
    taken = ask.beside(1 if condition.value else 2)
    note = f"because the condition is {bool(condition.value)}"
    return one(ask.y, (taken, condition), "{0}", "chosen", note)


def _clip(ask: Ask) -> Terms | None:
    x = ask.beside(0)
    bounds = [ask.beside(k) for k in (1, 2) if k < len(ask.args) and ask.args[k] is not None]
    for name, raw in ask.op.kwargs:
        if name in ("min", "a_min", "max", "a_max") and ask.kwargs[name] is not None:
            value = ask.kwargs[name]
            bounds.append(ask.part(raw, value, ask.shrunk(value)))
    for part in (x, *bounds):
        if bool(part.value == ask.y) or bool(part.value != part.value and ask.y != ask.y):
            if part is x:
                return one(ask.y, (x,), "{0}", "chosen", "within the bounds")
            note = f"cut: the value was {_short(x.value)}"
            return one(ask.y, (part, x), "{0}", "chosen", note)
    return None


def _short(value: Any) -> str:
    return f"{value:.6g}" if not isinstance(value, bool | np.bool_) else str(bool(value))
