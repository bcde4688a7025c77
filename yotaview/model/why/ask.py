"""What is asked of a family of ops: which numbers one element of a call is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from yota.tape import Call, Tape, Var, map_vars
from yotaview.model.why.elements import Element, Part, Term, array_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Terms:
    """What the terms add, all of them; `describe` says what the one of a number is made of.

    `kind` is sum, made, passed, chosen, or slopes where the values are derivatives that do not
    add up to the element; `note` is what else there is to say.
    """

    values: Array
    describe: Callable[[int], Term]
    kind: str = "sum"
    note: str = ""


@dataclass(eq=False)
class Ask:
    """One element of one call, with its operands."""

    tape: Tape
    values: Any
    element: Element
    op: Call
    y: Any
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def index(self) -> tuple[int, ...]:
        """The index of the element."""
        return self.element.index

    @cached_property
    def args(self) -> list[Any]:
        """The values of the positional operands."""
        return [map_vars(a, self.values.__getitem__) for a in self.op.args]

    @cached_property
    def kwargs(self) -> dict[str, Any]:
        """The values of the operands given by name."""
        return {k: map_vars(v, self.values.__getitem__) for k, v in self.op.kwargs}

    def part(self, raw: Any, value: Any, index: tuple[int, ...]) -> Part:
        """Return an element of an operand."""
        x = array_of(value)
        number = x[index] if x is not None else value
        return Part(number, Element(raw, index) if isinstance(raw, Var) else None)

    def shrunk(self, value: Any) -> tuple[int, ...]:
        """Return the index of the element of an operand that broadcasting puts at this element."""
        shape = np.shape(value)
        lead = len(self.index) - len(shape)
        return tuple(0 if n == 1 else k for k, n in zip(self.index[lead:], shape, strict=True))

    def beside(self, k: int) -> Part:
        """Return the element of positional operand `k` that stands at this element."""
        return self.part(self.op.args[k], self.args[k], self.shrunk(self.args[k]))


def one(
    value: Any, parts: tuple[Part, ...], form: str, kind: str = "made", note: str = ""
) -> Terms:
    """Return a single term."""
    return Terms(np.asarray([value]), lambda _: Term(value, parts, form), kind, note)


def leaves(raw: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each operand in an operand that may be a list of them, with its value."""
    if isinstance(raw, tuple | list):
        for r, v in zip(raw, value, strict=True):
            yield from leaves(r, v)
    else:
        yield raw, value
