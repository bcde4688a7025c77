"""How many elements a result has, for the functions where a shape or a number decides it.

A sizer takes the call's own arguments.  It may answer too much, by a factor of a few, but never
too little; what it raises says that it cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yotaview.model.bounds import products
from yotaview.model.bounds.bins import binned
from yotaview.model.bounds.shapes import (
    MAX_STEPS,
    broadcast,
    elements,
    shape_of,
    size_of,
    unless_long,
)

Sizer = Callable[..., int]


def _differences(a: Any, n: int = 1, *_: Any, **__: Any) -> int:
    return unless_long(size_of(a), int(n) * MAX_STEPS // max(*shape_of(a), 1))


def _found(element: Any, test_elements: Any, *_: Any, kind: Any = None, **__: Any) -> int:
    if kind == "table":
        raise ValueError("a table as long as the numbers are large")
    return size_of(element) + size_of(test_elements)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> int:
    n = size_of(a) if axis is None else shape_of(a)[axis]
    times = np.asarray(repeats)
    longest = int(times.item()) * n if times.size == 1 else sum(map(int, times.ravel()))
    return longest * (size_of(a) // max(n, 1))


def _powers(x: Any, n: Any = None, *_: Any, **options: Any) -> int:
    count = options.get("N", n)
    return size_of(x) * (size_of(x) if count is None else abs(int(count)))


def _padded(array: Any, pad_width: Any, *_: Any, **__: Any) -> int:
    shape = shape_of(array)
    if isinstance(pad_width, dict):
        named = (pad_width.get(k, pad_width.get(k - len(shape), 0)) for k in range(len(shape)))
        pad_width = [np.broadcast_to(np.asarray(w), 2) for w in named]
    widths = np.broadcast_to(np.asarray(pad_width), (len(shape), 2)).tolist()
    return math.prod(n + abs(int(a)) + abs(int(b)) for n, (a, b) in zip(shape, widths, strict=True))


def _like(
    a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, **_: Any
) -> int:
    return size_of(a) if shape is None else elements(shape)


def _full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> int:
    return max(_like(a, *args, **kwargs), size_of(fill_value))


def _linspace(start: Any, stop: Any, num: int = 50, *_: Any, **__: Any) -> int:
    return abs(int(num)) * broadcast([shape_of(start), shape_of(stop)])


def _transformed(a: Any, n: Any = None, axis: int = -1, *_: Any, **__: Any) -> int:
    """Return the elements of a Fourier transform along one axis; the inverse real one doubles."""
    size = size_of(a)
    return 2 * (size if n is None else size // max(shape_of(a)[axis], 1) * abs(int(n)))


def _transformed_all(a: Any, s: Any = None, axes: Any = None, *_: Any, **__: Any) -> int:
    shape = shape_of(a)
    if s is None:
        return 2 * math.prod(shape)
    count = len(np.atleast_1d(s))
    over = range(-count, 0) if axes is None else axes
    return math.prod(shape) // max(math.prod(shape[k] for k in over), 1) * elements(s)


def _taken(a: Any, indices: Any, axis: Any = None, *_: Any, **__: Any) -> int:
    each = 1 if axis is None else size_of(a) // max(shape_of(a)[axis], 1)
    return size_of(indices) * each


def _indexed(x: Any, index: Any) -> int:
    """Return the elements of x[index]: index arrays together give one shape for their axes."""
    if not isinstance(x, np.ndarray):
        return 1
    parts = index if isinstance(index, tuple) else (index,)
    parts = tuple(np.asarray(p) if isinstance(p, list | range | np.ndarray) else p for p in parts)
    axes = [_axes(p) for p in parts]
    room, k, rest = x.ndim - sum(axes), 0, x.size
    shapes: list[tuple[int, ...]] = []
    for part, count in zip(parts, axes, strict=True):
        if isinstance(part, np.ndarray):
            is_mask = part.dtype.kind == "b"
            shapes.append((int(np.count_nonzero(part)),) if is_mask else part.shape)
            rest //= max(math.prod(x.shape[k : k + count]), 1)
        k += room if part is Ellipsis else count
    return rest * broadcast(shapes)


def _axes(part: Any) -> int:
    """Count the axes that a part of an index stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool | np.bool_):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


def _inserted(arr: Any, obj: Any, values: Any, axis: Any = None) -> int:
    long = size_of(arr) if axis is None else shape_of(arr)[axis]
    count = len(range(*obj.indices(long))) if isinstance(obj, slice) else size_of(obj)
    each = 1 if axis is None else size_of(arr) // max(long, 1)
    return size_of(arr) + max(count * each, size_of(values))


def _quantile(a: Any, q: Any, axis: Any = None, *_: Any, **__: Any) -> int:
    axes = np.atleast_1d(range(np.ndim(a)) if axis is None else axis)
    along = math.prod(shape_of(a)[int(k)] for k in axes)
    return size_of(a) + size_of(q) * (size_of(a) // max(along, 1))


def _on_diagonal(v: Any, k: int = 0) -> int:
    return (size_of(v) + abs(int(k))) ** 2


def _sections(ary: Any, indices_or_sections: Any, *_: Any, **__: Any) -> int:
    parts = np.asarray(indices_or_sections)
    return size_of(ary) + (int(parts) if parts.ndim == 0 else parts.size)


SIZERS: dict[str, Sizer] = {
    "argwhere": lambda a: int(np.count_nonzero(a)) * np.ndim(a),
    "bincount": lambda x, weights=None, minlength=0: max(
        int(np.max(x, initial=0)) + 1, int(minlength)
    ),
    "broadcast_to": lambda array, shape, **_: elements(shape),
    "corrcoef": products.covariance,
    "convolve": products.convolved,
    "correlate": products.convolved,
    "counts": binned,
    "counts_in_cells": lambda columns, edges, *_: math.prod(map(size_of, edges)),
    "cov": products.covariance,
    "diag": lambda v, k=0: _on_diagonal(v, k) if np.ndim(v) == 1 else size_of(v),
    "diagflat": _on_diagonal,
    "diff": _differences,
    "dot": lambda a, b, **_: products.inner(a, b, -2),
    "einsum": products.einsum,
    "einsum_path": products.einsum,
    "empty_like": _like,
    "full_like": _full_like,
    "geomspace": _linspace,
    "getitem": _indexed,
    "histogram_bin_edges": binned,
    "identity": lambda x: x * x if isinstance(x, int) else size_of(x),
    "inner": products.inner,
    "insert": _inserted,
    "isin": _found,
    "kron": products.pairs,
    "linspace": _linspace,
    "logspace": _linspace,
    "lstsq": products.least_squares,
    "matmul": products.matrices,
    "matvec": lambda a, v, **_: products.matrix_vector(shape_of(a), shape_of(v), -2),
    "meshgrid": lambda *xi, **_: len(xi) * math.prod(size_of(x) for x in xi),
    "multi_dot": products.multi_dot,
    "nanpercentile": _quantile,
    "nanquantile": _quantile,
    "nonzero": lambda a: int(np.count_nonzero(a)) * np.ndim(a),
    "ones_like": _like,
    "outer": products.pairs,
    "pad": _padded,
    "percentile": _quantile,
    "place": lambda x, index, shape: elements(shape),
    "places": lambda count, q, *_: int(np.max(count, initial=0)) + products.pairs(count, q),
    "polyval": lambda p, x: size_of(x) * (size_of(p) // max(len(p), 1)),
    "qr": products.orthogonal,
    "quantile": _quantile,
    "reduceat": lambda a, indices, axis=0, **_: _taken(a, indices, axis),
    "repeat": _repeat,
    "resize": lambda a, new_shape: elements(new_shape),
    "scatter": lambda x, index, shape: elements(shape),
    "second_cofactors": lambda a, g: size_of(a) * shape_of(a)[-1],
    "solve": products.matrices,
    "svd": products.singular,
    "take": _taken,
    "tensordot": products.tensordot,
    "tile": lambda a, reps: size_of(a) * elements(reps),
    "unpackbits": lambda a, *_, **__: 8 * size_of(a),
    "unravel_index": lambda indices, shape, **_: size_of(indices) * size_of(shape),
    "vecmat": lambda v, a, **_: products.matrix_vector(shape_of(a), shape_of(v), -1),
    "vander": _powers,
    "zeros_like": _like,
    **dict.fromkeys(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), _transformed),
    **dict.fromkeys(("fft2", "ifft2", "rfft2", "irfft2"), _transformed_all),
    **dict.fromkeys(("fftn", "ifftn", "rfftn", "irfftn"), _transformed_all),
    **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), _sections),
}
