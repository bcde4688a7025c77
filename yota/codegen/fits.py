"""What an entry calls for arguments that its own lines do not see through."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.codegen.runtime import MISS, PYTHON
from yota.errors import GuardError
from yota.structs import Node, Static, flatten, is_float, snapshot
from yota.tape import Tape, Var, check_guard, ints_to_floats


class Fits:
    """Take an argument of one structure apart."""

    def __init__(self, structure: Any, first: int) -> None:
        self.structure, self.first = structure, first

    def __call__(self, value: Any) -> list[Any] | None:
        """Return the leaves, None where the structure or a fixed value is another one."""
        leaves, structure = flatten(value, self.first)
        return leaves if same_structure(structure, self.structure) else None


class Same:
    """Compare a fixed value with the recorded one."""

    def __init__(self, static: Static) -> None:
        self.kind, self.seen = type(static.value), static.seen

    def __call__(self, value: Any) -> bool:
        """Tell whether `value` is of the same type and holds the same."""
        return type(value) is self.kind and is_same(snapshot(value), self.seen)


class Seed:
    """Bring a seed into the recorded type."""

    def __init__(self, tape: Tape, var: Var) -> None:
        self.spec = tape[var].spec

    def __call__(self, seed: Any) -> Any:
        """Return the seed in the output's dtype, MISS where its shape is another one."""
        if seed is None or isinstance(seed, str) or np.shape(seed) != self.spec.shape:
            return MISS
        if self.spec.kind == "array":
            return np.array(seed, dtype=self.spec.dtype)
        kind = self.spec.dtype.type if self.spec.kind == "scalar" else PYTHON[self.spec.dtype.kind]
        return kind(seed)


class Holds:
    """Ask whether the guards of a tape hold."""

    def __init__(self, tape: Tape) -> None:
        self.guards = tape.guards

    def __call__(self, k: int, value: Any) -> bool:
        """Tell whether Python reads the same of `value` as guard `k` recorded."""
        try:
            check_guard(self.guards[k], value)
        except (GuardError, ValueError, TypeError, ArithmeticError):
            return False
        return True


def as_floats(argument: Any) -> Any:
    """Return an argument with its ints as floats, MISS where there is a float in it already."""
    leaves, _ = flatten(argument)
    return MISS if any(map(is_float, leaves)) else ints_to_floats(argument)


def same_structure(a: Any, b: Any) -> bool:
    """Tell whether two structures are alike in everything that a trace may depend on."""
    stack = [(a, b)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, Static) and isinstance(b, Static):
            if type(a.value) is not type(b.value) or not is_same(a.seen, b.seen):
                return False
        elif isinstance(a, Node) and isinstance(b, Node):
            if (a.number, a.type) != (b.number, b.type) or not is_same(a.keys, b.keys):
                return False
            stack += zip(a.children, b.children, strict=True)
        elif a != b:
            return False
    return True


def is_same(a: Any, b: Any) -> bool:
    """Tell whether two snapshots hold equal values of the same types: 1, 1.0 and True differ."""
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(is_same, a, b))
    try:
        return a is b or bool(a == b)
    except (ValueError, TypeError):
        return False
