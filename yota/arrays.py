"""Copies of arrays that keep what NumPy's results depend on: the memory layout."""

from __future__ import annotations

from typing import Any

import numpy as np


def copy_layout(x: Any) -> Any:
    """Return a copy of an array with its strides: sums round alike, and views stay views."""
    new = np.array(x, order="K")
    if new.strides == x.strides or x.size == 0:
        return new
    low, high = np.lib.array_utils.byte_bounds(x)
    if high - low < x.nbytes:
        return new  # elements that share memory must not in the copy
    memory = np.empty(high - low, np.uint8)
    start = x.__array_interface__["data"][0] - low
    new = np.ndarray(x.shape, x.dtype, memory, start, x.strides)
    new[...] = x
    return new


def same_layout(x: Any, y: Any) -> bool:
    """Tell whether two arrays of one shape have the same strides, but for axes of length one."""
    return all(s == t for n, s, t in zip(x.shape, x.strides, y.strides, strict=True) if n > 1)


def own(value: Any) -> Any:
    """Return an array's copy in the same layout, any other value as it is."""
    return copy_layout(value) if isinstance(value, np.ndarray) else value
