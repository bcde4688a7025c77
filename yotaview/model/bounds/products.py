"""How many elements products and decompositions have; sizers as those of `sizers`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yotaview.model.bounds.shapes import broadcast, shape_of, size_of, unless_long

MOST_ORDERED = 8


def matrices(a: Any, b: Any, **_: Any) -> int:
    """Return the elements of A·B, and of the solution of A·X = B."""
    left, right = shape_of(a), shape_of(b)
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return broadcast([left[:-2], right[:-2]]) * math.prod(rows) * math.prod(columns)


def matrix_vector(a: tuple[int, ...], v: tuple[int, ...], axis: int) -> int:
    """Return the elements of products of matrices and vectors; `axis` of the matrices is left."""
    return broadcast([a[:-2], v[:-1]]) * a[axis]


def least_squares(a: Any, b: Any, *_: Any, **__: Any) -> int:
    """Return the elements of the X for which A·X is nearest to B."""
    rows, columns = shape_of(a)
    return columns * max(size_of(b) // max(rows, 1), 1)


def inner(a: Any, b: Any, axis: int = -1) -> int:
    """Return the elements of all pairs of slices along a contracted axis."""
    left, right = shape_of(a), shape_of(b)
    if not left or not right:
        return pairs(a, b)
    joint = right[axis if len(right) > 1 else -1]
    return math.prod(left[:-1]) * math.prod(right) // max(joint, 1)


def tensordot(a: Any, b: Any, axes: Any = 2, **_: Any) -> int:
    """Return the elements of a contraction over the last axes and the first, or over named ones."""
    shape = shape_of(a)
    if isinstance(axes, int):
        joint = math.prod(shape[len(shape) - axes :])
    else:
        joint = math.prod(shape[k] for k in np.atleast_1d(axes[0]))
    return pairs(a, b) // max(joint, 1) ** 2


def pairs(a: Any, b: Any, *_: Any, **__: Any) -> int:
    """Return the number of pairs of elements."""
    return size_of(a) * size_of(b)


def multi_dot(arrays: Any, **_: Any) -> int:
    """Return the elements of a product of several matrices."""
    first, last = shape_of(arrays[0]), shape_of(arrays[-1])
    return math.prod(first[:-1]) * math.prod(last[1:])


def einsum(*operands: Any, optimize: Any = False, **_: Any) -> int:
    """Return the elements of a sum, or the steps of its loops where those are too many."""
    if optimize == "optimal" and len(operands) > MOST_ORDERED:
        raise ValueError("the best order of so many operands takes too long to find")
    terms, output = _by_text(*operands) if isinstance(operands[0], str) else _by_lists(operands)
    sizes: dict[Any, int] = {}
    batches = []
    for labels, x in terms:
        shape, at = shape_of(x), labels.index(...) if ... in labels else len(labels)
        behind = len(labels) - at - 1 if ... in labels else 0
        batches.append(shape[at : len(shape) - behind])
        ends = (*shape[:at], *shape[len(shape) - behind :])
        for label, n in zip([k for k in labels if k is not ...], ends, strict=True):
            sizes[label] = max(n, sizes.get(label, 1))
    every = [k for labels, _ in terms for k in labels]
    kept = output if output is not None else [k for k in sizes if every.count(k) == 1]
    batch = broadcast(batches)
    result = batch * math.prod(sizes.get(k, 1) for k in kept)
    return unless_long(result, batch * math.prod(sizes.values()))


Terms = tuple[list[tuple[list[Any], Any]], list[Any] | None]


def _by_text(subscripts: str, *operands: Any) -> Terms:
    """Return the labels of each operand and of the result, None where they are not given."""
    left, arrow, right = subscripts.replace(" ", "").replace("...", ".").partition("->")
    terms = [[... if c == "." else c for c in term] for term in left.split(",")]
    return list(zip(terms, operands, strict=True)), list(right) if arrow else None


def _by_lists(operands: tuple[Any, ...]) -> Terms:
    """Return the same of operands that stand in turn with lists of labels."""
    terms = [(list(labels), x) for x, labels in zip(operands[::2], operands[1::2], strict=False)]
    return terms, list(operands[-1]) if len(operands) % 2 else None


def convolved(a: Any, v: Any, *_: Any) -> int:
    """Return the elements of a convolution, or its steps where those are too many."""
    n, m = size_of(a), size_of(v)
    return unless_long(n + m, n * m)


def covariance(m: Any, y: Any = None, rowvar: Any = True, *_: Any, **__: Any) -> int:
    """Return the elements of the covariances of all pairs of variables."""
    rows = sum((s if rowvar else s[::-1])[0] if len(s) > 1 else 1 for s in map(shape_of, (m, y)))
    return int(rows**2)


def singular(a: Any, full_matrices: bool = True, *_: Any, **__: Any) -> int:
    """Return the elements of U, s and V of a singular value decomposition."""
    *batch, m, n = shape_of(a)
    sides = m * m + n * n if full_matrices else 2 * m * n
    return math.prod(batch) * (sides + min(m, n))


def orthogonal(a: Any, mode: str = "reduced") -> int:
    """Return the elements of Q and R of matrices."""
    *batch, m, n = shape_of(a)
    return math.prod(batch) * ((m * m if mode == "complete" else m * n) + m * n)
