"""Whether a captured value is what it was: in type and to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def same_value(a: Any, b: Any) -> bool:
    """Tell whether two immutable values have one type and one content; a NaN is itself."""
    kind = type(a)
    if kind is not type(b):
        return False
    if issubclass(kind, np.generic):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())
    if kind is float:
        return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (a != a and b != b)
    if kind is complex:
        return same_value(a.real, b.real) and same_value(a.imag, b.imag)
    if issubclass(kind, tuple):
        return len(a) == len(b) and all(map(same_value, a, b))
    if kind is range:
        return (a.start, a.stop, a.step) == (b.start, b.stop, b.step)
    return bool(a == b)


def same_words(a: Any, copy: Any) -> bool:
    """Tell whether an array holds the bytes of which `words` made `copy`."""
    now = words(a)
    return bool(now.shape == copy.shape and not (now != copy).any())


def words(a: Any) -> Any:
    """Return the bytes of an array as integers that compare quickly, in the order of memory."""
    flat = a.ravel(order="K")
    return flat.view(_WORDS.get(flat.dtype.itemsize, np.dtype("u1")))


_WORDS = {2: np.dtype("u2"), 4: np.dtype("u4"), 8: np.dtype("u8"), 16: np.dtype("u8")}
