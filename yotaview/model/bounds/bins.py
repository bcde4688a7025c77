"""How many bins a histogram gets where the values decide it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yotaview.model.bounds.shapes import size_of

FEW = 10  # what the rules that know only the number of values may add to it
STONE = 100  # Stone's rule tries this many bins at least


def binned(a: Any, bins: Any = 10, range: Any = None, *_: Any, **__: Any) -> int:
    """Return at least the elements of the edges, those of the values included."""
    if isinstance(bins, str):
        return size_of(a) + FEW + _automatic(np.asarray(a).ravel(), bins, range)
    return size_of(a) + (abs(bins) + 1 if isinstance(bins, int) else size_of(bins))


def _automatic(x: Any, rule: str, ends: Any) -> int:
    """Return at least how many bins NumPy's rules make: `numpy.histogram_bin_edges`, Notes."""
    if rule == "stone":
        return STONE
    if rule not in ("auto", "fd", "scott") or not x.size:
        return 0
    low, high = (x.min(), x.max()) if ends is None else ends
    x = x[(x >= low) & (x <= high)]
    if not x.size:
        return 0
    spread = 3.49 * np.std(x) if rule == "scott" else 2.0 * np.subtract(*np.percentile(x, [75, 25]))
    width = float(spread) * x.size ** (-1 / 3)
    count = (float(high) - float(low)) / width if width else 0.0
    if not math.isfinite(count):
        raise ValueError("no number of bins follows from the values")
    return math.ceil(count)
