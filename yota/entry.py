"""From a caller's arguments to the leaves that a tape takes, and from its values to results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.errors import GuardError
from yota.ops import Var
from yota.structs import Static, flatten, unflatten


@dataclass(frozen=True, slots=True)
class Entry:
    """How arguments become inputs: one structure per positional argument and keyword."""

    name: str = "f"
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    names: tuple[str, ...] = ()
    as_float: bool = False

    def leaves(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Return the numeric leaves of arguments of this structure, else raise GuardError."""
        leaves: list[Any] = []
        missing = [n for n in self.names[len(args) :] if n in kwargs]
        if len(args) + len(missing) == len(self.args):
            args = (*args, *(kwargs[n] for n in missing))
            kwargs = {k: v for k, v in kwargs.items() if k not in missing}
        given = (*args, *(kwargs[k] for k, _ in self.kwargs if k in kwargs))
        wanted = (*self.args, *(s for _, s in self.kwargs))
        if len(args) != len(self.args) or set(kwargs) != {k for k, _ in self.kwargs}:
            raise GuardError(
                f"{self.name} was recorded with {self._count()}; it was called with "
                f"{len(args)} arguments and keywords {sorted(kwargs)}"
            )
        for k, (value, structure) in enumerate(zip(given, wanted, strict=True)):
            if self.as_float and k < len(self.args):
                value = ints_to_floats(value)
            found, shape = flatten(value, first=len(leaves))
            if not _same_structure(shape, structure):
                raise GuardError(
                    f"an argument of {self.name} has another structure or another fixed value than "
                    "the one that was recorded; trace the function again with these arguments"
                )
            leaves += found
        return leaves

    def _count(self) -> str:
        return f"{len(self.args)} arguments and keywords {sorted(k for k, _ in self.kwargs)}"


def ints_to_floats(value: Any) -> Any:
    """Return `value` with its int leaves, arrays too, as floats."""
    leaves, structure = flatten(value, leaf=_is_int)
    return unflatten(structure, [_to_float(v) for v in leaves]) if leaves else value


def _is_int(x: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return bool(x.dtype.kind in "iu")
    return isinstance(x, int) and not isinstance(x, bool)


def _to_float(x: Any) -> Any:
    return (
        x.astype(float)
        if isinstance(x, np.ndarray)
        else np.float64(x)
        if isinstance(x, np.generic)
        else float(x)
    )


def _same_structure(a: Any, b: Any) -> bool:
    if isinstance(a, Static) and isinstance(b, Static):
        return type(a.value) is type(b.value) and _equal(a.seen, b.seen)
    if hasattr(a, "children") and hasattr(b, "children"):
        if (a.number, a.type, a.keys) != (b.number, b.type, b.keys):
            return False
        return all(map(_same_structure, a.children, b.children))
    return bool(a == b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (ValueError, TypeError):
        return False


@dataclass(frozen=True, slots=True)
class Structured:
    """A tree of vars and plain values: `leaves[i]` is a Var, or a value that was no op.

    `kinds[i]` is the kind of value that the caller gets: python, scalar, array, or "" for as it is.
    """

    structure: Any
    leaves: tuple[Any, ...]
    kinds: tuple[str, ...]


def tree_vars(tree: Any) -> Iterator[Var]:
    """Yield the vars of a result or of gradients."""
    if isinstance(tree, Structured):
        yield from (v for v in tree.leaves if isinstance(v, Var))
    elif isinstance(tree, tuple):
        for t in tree:
            yield from tree_vars(t)


def hand_out(tree: Any, values: Mapping[Var, Any]) -> Any:
    """Return a `Structured` as the caller's own: fresh arrays in the recorded structure."""
    if not isinstance(tree, Structured):
        return tree
    leaves = [
        as_kind(values[v] if isinstance(v, Var) else v, kind)
        for v, kind in zip(tree.leaves, tree.kinds, strict=True)
    ]
    return unflatten(tree.structure, leaves)


def as_kind(value: Any, kind: str) -> Any:
    """Return a value that nothing else refers to, as a Python number, NumPy scalar or array."""
    if kind == "python" and isinstance(value, np.ndarray | np.generic):
        return value.item()
    if kind == "array" or (kind == "" and isinstance(value, np.ndarray)):
        return np.array(value, order="K")
    return value[()] if kind == "scalar" and isinstance(value, np.ndarray) else value
