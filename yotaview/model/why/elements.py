"""One number of a tape: an element of an op's value, what it is called, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Constant, Input, Tape, Var
from yotaview.model.summary import numeric


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the value of `var`; `item` counts within a tuple of arrays."""

    var: Var
    index: tuple[int, ...] = ()
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A number in a term; a literal, or a zero that an op put there, is no element of the tape."""

    value: Any
    element: Element | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """What is added to make an element; `form` says how its parts make it, as `{0} × {1}`.

    `slope` is the derivative of the element by the part where the term is not what is added.
    """

    value: Any
    parts: tuple[Part, ...]
    form: str = "{0}"
    slope: Any = None


class NoElement(ValueError):
    """There is no such element; the text says why."""


def array_of(value: Any, item: int | None = None) -> np.ndarray[Any, Any] | None:
    """Return a value, or an item of a tuple, as an array of numbers; None if it is none."""
    if item is not None:
        value = value[item] if isinstance(value, tuple | list) and item < len(value) else None
    return numeric(value)


def read(values: Mapping[Var, Any], element: Element) -> Any:
    """Return the number; raises NoElement where there is none."""
    if element.var not in values:
        raise NoElement(f"{element.var} has no value")
    x = array_of(values[element.var], element.item)
    if x is None:
        kind = type(values[element.var]).__name__
        raise NoElement(f"{element.var} is not an array of numbers but a {kind}")
    inside = len(element.index) == x.ndim and all(
        0 <= k < n for k, n in zip(element.index, x.shape, strict=True)
    )
    if not inside:
        raise NoElement(f"{element.var} of shape {x.shape} has no element {list(element.index)}")
    return x[element.index]


def most_urgent(value: Any) -> tuple[int, ...]:
    """Return the index of the first element that is not finite, else of the largest."""
    x = array_of(value)
    if x is None or x.size == 0:
        return ()
    with np.errstate(all="ignore"):
        flat = x.reshape(-1)
        bad = ~np.isfinite(flat)
        at = int(np.argmax(bad)) if bad.any() else int(np.argmax(np.abs(flat)))
    return tuple(int(k) for k in np.unravel_index(at, x.shape))


def first_element(values: Mapping[Var, Any], var: Var) -> Element:
    """Return the element of an op that one asks about first; raises NoElement for none."""
    value = values.get(var)
    item = 0 if isinstance(value, tuple | list) else None
    x = array_of(value, item)
    if x is None or x.size == 0:
        raise NoElement(
            f"{var} has no element: its value is {'empty' if x is not None else 'not numbers'}"
        )
    return Element(var, most_urgent(x), item)


def index_text(index: tuple[int, ...], item: int | None = None) -> str:
    """Return an index as it is written behind a name, empty for a number."""
    whole = f"[{item}]" if item is not None else ""
    return f"{whole}[{','.join(map(str, index))}]" if index else whole


def name_of_element(tape: Tape, element: Element) -> str:
    """Return an element as `W1[0,2]` where its op has a name of the user's, else as `%7[0,2]`."""
    op = tape.ops.get(element.var)
    name = op.name if isinstance(op, Input | Constant) else ""
    return f"{name or element.var}{index_text(element.index, element.item)}"
