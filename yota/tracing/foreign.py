"""Operands whose class is neither Python's nor NumPy's: what NumPy makes of them, or an error."""

from __future__ import annotations

import functools
import operator
import sys
from typing import Any

import numpy as np

from yota.errors import TraceError

_NUMBERS: tuple[Any, ...] = (float, complex, int)


@functools.lru_cache(maxsize=1024)
def is_foreign(kind: Any) -> bool:
    """Tell whether a class may bring operators of its own into a call of NumPy's."""
    root = kind.__module__.partition(".")[0]
    return root not in ("numpy", "scipy", "yota") and root not in sys.stdlib_module_names


def has_protocol(kind: Any, name: str) -> bool:
    """Tell whether a class that is no array answers one of NumPy's protocols itself."""
    return (
        is_foreign(kind)
        and not issubclass(kind, np.ndarray)
        and getattr(kind, name, None) is not None
    )


def overrides(kind: Any, name: str) -> bool:
    """Tell whether a subclass of a number has an operator of its own, which Python asks first."""
    base = next((b for b in _NUMBERS if issubclass(kind, b)), None)
    return is_foreign(kind) and getattr(kind, name, None) is not getattr(base, name, None)


def seen_by_numpy(x: Any, place: str) -> Any:
    """Return an operand of a foreign class as the number or array that NumPy would make of it.

    Raises TraceError where NumPy would fall back to the object's own operators: what those do is
    not on the tape.
    """
    kind: Any = type(x)
    if callable(x) or isinstance(x, str | bytes) or not is_foreign(kind):
        return x
    for number in _NUMBERS:
        if isinstance(x, number):
            return number.__pos__(x)  # the plain number, by the base's own method
    if isinstance(x, np.generic):
        return np.asarray(x)[()]
    if hasattr(kind, "__index__"):
        return operator.index(x)
    if any(hasattr(kind, n) for n in ("__array__", "__array_interface__", "__buffer__")):
        made = np.asarray(x)
        if not made.dtype.hasobject:
            return np.array(made)
    raise TraceError(
        f"{place + ': ' if place else ''}a {kind.__name__} meets a traced value in a call of "
        f"NumPy's, which would run the operators of {kind.__name__} where they cannot be followed: "
        "pass a number or an array, or use Python's operators"
    )


def plain_of(x: Any) -> str:
    """Return how to make a plain array of one of a subclass, without losing what it adds."""
    if isinstance(x, np.ma.MaskedArray):
        return "pass its .data and mask apart, with np.where(mask, 0.0, data) inside"
    return "use np.asarray(...) on it first"
