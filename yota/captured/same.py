"""Whether a captured value is what it was: in type and to the last bit."""

from __future__ import annotations

import array
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


def floats_of(items: Any) -> bytes:
    """Return the bits of the floats among some values."""
    return array.array("d", [v for v in items if type(v) is float]).tobytes()
