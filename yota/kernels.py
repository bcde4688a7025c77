"""Functions that forms put on a tape: NumPy's results by several calls, each on a part in cache."""

from __future__ import annotations

from typing import Any

import numpy as np

# More terms are summed in chunks of so many, and rows are visited in blocks of so many.
CHUNK = 1 << 16
BLOCK = 1 << 12


def dot_in_chunks(x: Any, y: Any) -> Any:
    """Return the dot of two long vectors, summed in chunks."""
    total = x[:CHUNK].dot(y[:CHUNK])
    for start in range(CHUNK, x.shape[0], CHUNK):
        total += x[start : start + CHUNK].dot(y[start : start + CHUNK])
    return total


def sum_in_chunks(ones: Any, x: Any, out: Any = None) -> Any:
    """Return the sum of a long table's rows, summed in chunks as long as `ones`."""
    size = ones.shape[0]
    total = ones.dot(x[:size], out)
    for start in range(size, x.shape[0], size):
        part = x[start : start + size]
        total += ones[: part.shape[0]].dot(part)
    return total


def max_by_columns(x: Any, out: Any = None) -> Any:
    """Return the greatest number in each row of a table of few columns."""
    return _by_columns(np.maximum, x, out)


def min_by_columns(x: Any, out: Any = None) -> Any:
    """Return the least number in each row of a table of few columns."""
    return _by_columns(np.minimum, x, out)


def _by_columns(fn: Any, x: Any, out: Any) -> Any:
    if out is None:
        out = np.empty(x.shape[0], x.dtype)
    for start in range(0, x.shape[0], BLOCK):
        columns, best = x[start : start + BLOCK].T, out[start : start + BLOCK]
        fn(columns[0], columns[1], out=best)
        for column in columns[2:]:
            fn(best, column, out=best)
    return out


KERNELS = {dot_in_chunks, sum_in_chunks, max_by_columns, min_by_columns}
TAKE_OUT = KERNELS - {dot_in_chunks}
