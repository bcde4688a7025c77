"""What a mutant is: one fault that can be put in and taken out again."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yota

Code = types.CodeType
_known: dict[int, tuple[Code, int]] = {}
_numbers: dict[Any, int] = {}


def number_of(code: Code) -> int:
    """Return the number of what code says and where it stands.

    Two code objects of one function may be unequal by what was specialized in them as they ran.
    """
    if id(code) not in _known:
        number = _numbers.setdefault(_content(code), len(_numbers))
        _known[id(code)] = (code, number)
    return _known[id(code)][1]


def _content(code: Code) -> Any:
    inner = tuple(_content(c) if isinstance(c, Code) else repr(c) for c in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (
        code.co_filename,
        code.co_qualname,
        tuple(code.co_positions()),
        code.co_code,
        names,
        inner,
    )


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, what it changes, and whose tests have to notice.

    `touched` holds lines of code of rules, or a function of the table.
    """

    place: str
    change: str
    touched: frozenset[Any]
    put_in: Callable[[], None] = field(repr=False)
    take_out: Callable[[], None] = field(repr=False)
    # Of other code it is not known that a rule ever runs it.
    is_of_a_rule: bool = False
    # Tells after the checks whether the fault changed anything at all; None: it is not known.
    took_effect: Callable[[], bool] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return f"{self.place}: {self.change}"

    @contextmanager
    def active(self) -> Iterator[None]:
        """Run the body with the fault in."""
        forget()
        self.put_in()
        try:
            yield
        finally:
            self.take_out()
            forget()


def forget() -> None:
    """Drop what the engine remembers of rules."""
    reset: Any = getattr(yota, "reset", None)
    if reset is not None:
        reset()
