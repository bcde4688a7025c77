"""What the shapes of operands say about the size of a result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

MAX_STEPS = 1 << 37


def shapes_in(tree: Any) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the arrays and numbers among operands."""
    if isinstance(tree, np.ndarray | np.generic):
        yield tree.shape
    elif isinstance(tree, bool | int | float | complex):
        yield ()
    elif isinstance(tree, dict):
        yield from shapes_in(list(tree.values()))
    elif isinstance(tree, tuple | list) and _holds_array(tree):
        for t in tree:
            yield from shapes_in(t)
    elif isinstance(tree, tuple | list):  # numbers, which NumPy makes an array of
        inner = [s for t in tree for s in shapes_in(t)]
        yield (len(tree), *max(inner, key=len, default=()))


def _holds_array(tree: Any) -> bool:
    if isinstance(tree, tuple | list):
        return any(map(_holds_array, tree))
    return isinstance(tree, np.ndarray | dict)


def largest(tree: Any) -> int:
    """Return the largest integer among operands, a tuple of integers counted as their product."""
    if isinstance(tree, bool):
        return 0
    if isinstance(tree, int | np.integer):
        return abs(int(tree))
    if isinstance(tree, np.ndarray) and tree.dtype.kind in "iu" and tree.size:
        return max(abs(int(tree.min())), abs(int(tree.max())))
    if isinstance(tree, dict):
        return largest(list(tree.values()))
    if not isinstance(tree, tuple | list) or not tree:
        return 0
    if all(isinstance(n, int | np.integer) for n in tree):
        return math.prod(max(abs(int(n)), 1) for n in tree)
    return max(map(largest, tree))


def broadcast(shapes: list[tuple[int, ...]]) -> int:
    """Return the elements of a joint shape, an upper bound where shapes do not fit together."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return math.prod(max(sizes) for sizes in zip(*padded, strict=True))


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of an operand."""
    return np.shape(x)


def size_of(x: Any) -> int:
    """Return the elements of an operand."""
    return math.prod(np.shape(x))


def elements(shape: Any) -> int:
    """Return the elements of a shape as NumPy takes it: a number or a sequence of them."""
    return math.prod([abs(int(n)) for n in np.atleast_1d(np.asarray(shape))])


def unless_long(size: int, steps: int) -> int:
    """Return a size, or the number of steps that lead to it where nobody would wait for them."""
    return size if steps <= MAX_STEPS else steps
