"""The longest common subsequence of two sequences of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np

MOST_CELLS = 4_000_000
Match = tuple[int, int]


def matched_in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match]:
    """Return indices of equal keys, rising in both: most of them, or between two very long
    sequences those about keys that each side has once, and what adjoins them."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    inner_a, inner_b = a[start : len(a) - end], b[start : len(b) - end]
    return [
        *((k, k) for k in range(start)),
        *((start + i, start + k) for i, k in _inside(inner_a, inner_b)),
        *((len(a) - k, len(b) - k) for k in range(end, 0, -1)),
    ]


def _inside(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match]:
    if not a or not b:
        return []
    if len(a) * len(b) <= MOST_CELLS:
        return _longest(a, b)
    found: list[Match] = []
    anchors = [(-1, -1), *_anchors(a, b), (len(a), len(b))]
    if len(anchors) == 2:
        return []
    for (i, k), (next_i, next_k) in pairwise(anchors):
        if i >= 0:
            found.append((i, k))
        part = matched_in_order(a[i + 1 : next_i], b[k + 1 : next_k])
        found += [(i + 1 + x, k + 1 + y) for x, y in part]
    return found


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Match]:
    """Yield what stands once on each side, in the order of the first, as far as it rises."""
    once_a, once_b = Counter(a), Counter(b)
    place = {x: k for k, x in enumerate(b) if once_b[x] == 1}
    last = -1
    for i, x in enumerate(a):
        k = place.get(x, -1) if once_a[x] == 1 else -1
        if k > last:
            yield i, k
            last = k


def _longest(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match]:
    """Return a longest common subsequence by the table of lengths, a row in one stroke."""
    numbers: dict[Hashable, int] = {}
    x = [numbers.setdefault(v, len(numbers)) for v in a]
    y = np.array([numbers.setdefault(v, len(numbers)) for v in b])
    best = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a) - 1, -1, -1):
        ahead = np.where(y == x[i], best[i + 1, 1:] + 1, best[i + 1, :-1])
        best[i, :-1] = np.maximum.accumulate(ahead[::-1])[::-1]
    found, i, k = [], 0, 0
    while i < len(a) and k < len(b):
        if x[i] == y[k] and best[i, k] == best[i + 1, k + 1] + 1:
            found.append((i, k))
            i, k = i + 1, k + 1
        elif best[i + 1, k] >= best[i, k + 1]:
            i += 1
        else:
            k += 1
    return found
