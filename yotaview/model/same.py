"""How far two values are apart: to the last bit, or in units in the last place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Distance:
    """The element at which two values differ most, the two numbers there, and by how many ulp."""

    ulp: float
    index: tuple[int, ...] = ()
    first: Any = None
    second: Any = None
    what: str = ""


def same_bits(a: Any, b: Any) -> bool:
    """Tell whether two values are of one type and have the same bits; NaN equals NaN."""
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same_bits, a, b))
    if type(a) is not type(b) and not (_is_plain(a) and _is_plain(b)):
        return False
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.hasobject:
        return a is b or bool(np.all(x == y))
    if x.tobytes() == y.tobytes():
        return True
    return x.dtype.kind in "fc" and bool(np.all(_equal(x, y)))


def _is_plain(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic)


def _equal(x: Any, y: Any) -> Any:
    """Return where two arrays of floats are the same: NaN with NaN, and zeros by their sign."""
    if x.dtype.kind == "c":
        return _equal(x.real, y.real) & _equal(x.imag, y.imag)
    return ((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))


def distance(a: Any, b: Any, scale: Any = None) -> Distance:
    """Return how far `b` is from `a`; ulp are those of `scale` where it is greater.

    Infinite where types, shapes or what is NaN differ.  Zeros count as equal whatever their sign.
    """
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        if len(a) != len(b):
            return Distance(np.inf, what=f"{len(a)} values, {len(b)} behind")
        found = (distance(x, y) for x, y in zip(a, b, strict=True))
        return max(found, key=lambda d: d.ulp, default=Distance(0.0))
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype != y.dtype or x.shape != y.shape:
        return Distance(np.inf, what=f"{_kind(x)} before, {_kind(y)} behind")
    if x.dtype.hasobject or x.dtype.kind not in "fc":
        off = np.where(np.asarray(x != y), np.inf, 0.0)
        return _worst(off, x, y)
    off = _ulps(x, y, scale)
    return _worst(off, x, y)


def _ulps(x: Any, y: Any, scale: Any) -> Any:
    eps = np.finfo(x.dtype).eps
    with np.errstate(all="ignore"):
        size = np.abs(x) if scale is None else np.maximum(np.abs(x), np.abs(scale))
        # the gap between neighbours never falls below that of the smallest normal number
        gap = np.maximum(_power_below(size), np.finfo(x.dtype).tiny) * eps
        off = np.abs(x - y) / gap
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def _power_below(size: Any) -> Any:
    mantissa, exponent = np.frexp(size)
    return np.where(mantissa == 0, 0.0, np.ldexp(np.ones_like(mantissa), exponent - 1))


def _worst(off: Any, x: Any, y: Any) -> Distance:
    if not off.size:
        return Distance(0.0)
    k = int(np.argmax(off))
    index = tuple(int(i) for i in np.unravel_index(k, off.shape))
    return Distance(float(off.flat[k]), index, x[index], y[index])


def _kind(x: Any) -> str:
    return f"{x.dtype}[{','.join(map(str, x.shape))}]"
