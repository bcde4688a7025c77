"""Why a number is what it is: the exact terms of one element, and the elements they come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Tape, Var
from yotaview.capture.functions import is_users
from yotaview.model.forms import Opaque
from yotaview.model.replay import quiet
from yotaview.model.summary import modulus
from yotaview.model.why.ask import Ask, Terms
from yotaview.model.why.elements import (
    Element,
    NoElement,
    Part,
    Term,
    array_of,
    first_element,
    index_text,
    most_urgent,
    name_of_element,
    read,
)
from yotaview.model.why.moving import MOVING, moving
from yotaview.model.why.pointwise import is_pointwise, pointwise
from yotaview.model.why.slopes import slopes, tolerance
from yotaview.model.why.sums import CONTRACTIONS, SUMMING, contributions, product, reduced

__all__ = [
    "Element",
    "Explainer",
    "NoElement",
    "Part",
    "Term",
    "Why",
    "first_element",
    "index_text",
    "most_urgent",
    "name_of_element",
    "read",
]

LIMIT = 64
SMALL = 100_000
NAMED = {*MOVING, *SUMMING, *CONTRACTIONS, "einsum"}
FAMILIES: tuple[Callable[[Ask], Terms | None], ...] = (
    contributions,
    lambda ask: pointwise(ask) if is_pointwise(ask.op) else None,
    moving,
    reduced,
    product,
    slopes,
)


@dataclass(frozen=True, slots=True)
class Why:
    """What an element is made of, the largest terms first.

    `kind` is given (nothing on the tape made it), sum, made (a function of a few numbers), passed
    (moved, not changed), chosen, slopes (the terms are derivatives and do not add up) or unknown;
    `count` terms there are, those not listed sum to `rest`.
    """

    element: Element
    value: Any
    kind: str
    terms: tuple[Term, ...] = ()
    count: int = 0
    rest: Any = 0.0
    note: str = ""

    @property
    def exact(self) -> bool:
        """Tell whether the terms, listed or not, add up to the element."""
        return self.kind in ("sum", "made", "passed", "chosen")

    @property
    def total(self) -> Any:
        """The sum of all terms."""
        with quiet():
            return sum((t.value for t in self.terms[::-1]), start=self.rest)


class Explainer:
    """Explains the elements of one tape with its values.

    Ops in `barred` are not run for it; those in `edited` have their values from the user.
    """

    def __init__(
        self,
        tape: Tape,
        values: Mapping[Var, Any],
        barred: Collection[Var] = (),
        edited: Collection[Var] = (),
    ) -> None:
        self.tape, self.values, self.barred, self.edited = tape, values, barred, edited
        self.kept: dict[Any, Any] = {}

    def at_once(self, var: Var) -> bool:
        """Tell whether the terms of an op's elements are found without a wait that is felt."""
        op = self.tape[var]
        operands = (*op.operands, var) if isinstance(op, Call) else (var,)
        sizes = (array_of(self.values.get(v)) for v in operands)
        small = all(x is not None and x.size <= SMALL for x in sizes)
        named = not isinstance(op, Call) or is_pointwise(op) or op.name in NAMED
        return small and named

    def why(self, element: Element, limit: int = LIMIT) -> Why:
        """Return the terms of an element; raises NoElement where there is no such element."""
        value = read(self.values, element)
        op = self.tape[element.var]
        if element.var in self.edited:
            return Why(element, value, "given", note=f"{element.var} is set by the what-if")
        if not isinstance(op, Call):
            return Why(element, value, "given", note=_given(op))
        if element.var in self.barred or isinstance(op.fn, Opaque) or is_users(op):
            return Why(element, value, "unknown", note=f"{op.name} is not NumPy's: it is not run")
        missing = next((v for v in op.operands if v not in self.values), None)
        if missing is not None:
            return Why(element, value, "unknown", note=f"{missing} has no value")
        ask = Ask(self.tape, self.values, element, op, value, self.kept)
        terms = self._terms(ask)
        if terms is None:
            names = ", ".join(map(str, dict.fromkeys(op.operands))) or "no operand"
            note = f"depends on all of {names}; no derivative of {op.name} says how"
            return Why(element, value, "unknown", note=note)
        return _listed(element, value, terms, limit)

    def _terms(self, ask: Ask) -> Terms | None:
        with quiet():
            for family in FAMILIES:
                try:
                    terms = family(ask)
                except (IndexError, ValueError, TypeError, KeyError, OverflowError):
                    continue  # a form of the call that the family does not know
                if terms is not None and (terms.kind == "slopes" or _adds_up(terms, ask.y)):
                    return terms
        return None

    def source(self, element: Element) -> Element:
        """Return the element that was moved here, through however many ops that only move."""
        for _ in range(len(self.tape)):
            op = self.tape[element.var]
            known = element.var in self.values and element.var not in self.edited
            if not isinstance(op, Call) or not known:
                return element
            if element.var in self.barred or isinstance(op.fn, Opaque) or is_users(op):
                return element
            ask = Ask(self.tape, self.values, element, op, read(self.values, element), self.kept)
            try:
                terms = moving(ask)
            except (IndexError, ValueError, TypeError, KeyError):
                return element
            moved = terms.describe(0).parts[0].element if terms is not None else None
            if moved is None:
                return element
            element = moved
        return element


def _given(op: Any) -> str:
    match op:
        case Input():
            return "the seed" if op.origin.role == "seed" else f"{op.name} is an input"
        case Constant():
            name = op.name or "this"
            return "the seed" if op.origin.role == "seed" else f"{name} is a captured constant"
    return ""


def _adds_up(terms: Terms, y: Any) -> bool:
    """Tell whether the terms sum to the element, up to the rounding of a sum."""
    with quiet():
        total, size = np.sum(terms.values), np.sum(np.abs(terms.values))
        if np.isnan(y) or not np.isfinite(size):
            return True
        is_complex = np.iscomplexobj(total)
        gap = modulus(complex(total) - complex(y)) if is_complex else abs(total - y)
        return bool(gap <= tolerance(y) * size)


def _listed(element: Element, value: Any, terms: Terms, limit: int) -> Why:
    """Return the largest terms; what is not finite comes first."""
    values = terms.values
    with quiet():
        size = np.abs(values) if values.dtype.kind != "b" else values.astype(int)
        size = np.where(np.isfinite(size), size, np.inf)
        if len(values) > limit:
            top = np.argpartition(-size, limit)[:limit]
        else:
            top = np.arange(len(values))
        top = top[np.argsort(-size[top], kind="stable")]
        left = np.ones(len(values), bool)
        left[top] = False
        rest = np.sum(values[left]) if len(values) > limit else values.dtype.type(0)
    listed = tuple(terms.describe(int(k)) for k in top)
    return Why(element, value, terms.kind, listed, len(values), rest, terms.note)
