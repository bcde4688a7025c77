"""Rules of indexing, of writing without side effects, and of gathering."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from yota.rules.functional import (
    add_at,
    cast,
    getitem,
    identity,
    item,
    place,
    scatter,
    setitem,
    with_imag,
    with_real,
)
from yota.rules.registry import NONDIFF, Live, defvjp, nondiff, primitive, unbroadcast, zero

Array = Any


def may_repeat(index: Any) -> bool:
    """Tell whether an index can name an element twice: all that is not known to be free of it."""
    return not all(_is_distinct(i) for i in (index if type(index) is tuple else (index,)))


def _is_distinct(part: Any) -> bool:
    if part is None or part is Ellipsis or type(part) in (slice, int, bool):
        return True
    if type(part) is list:
        return bool(part) and all(type(b) in (bool, np.bool_) for b in part)
    kind = getattr(getattr(part, "dtype", None), "kind", "")
    return kind == "b" or (kind in ("i", "u") and np.ndim(part) == 0)


def put_back(dy: Array, index: Any, shape: tuple[int, ...]) -> Array:
    """Return zeros of `shape` with `dy` where `index` read it; what was read twice adds up."""
    return scatter(dy, index, shape) if may_repeat(index) else place(dy, index, shape)


def getitem_vjp(dy: Array, y: Array, x: Array, index: Any) -> Array:
    """Write the cotangent back to where the value was read."""
    return put_back(dy, index, np.shape(x))


def setitem_target_vjp(dy: Array, y: Array, x: Array, index: Any, value: Array) -> Array:
    """Pull back to what was not overwritten."""
    return setitem(dy, index, 0)


def setitem_value_vjp(dy: Array, y: Array, x: Array, index: Any, value: Array) -> Array:
    """Pull back to the value written; of several writes to one element only the last counts."""
    if may_repeat(index):
        kept = scatter(
            np.reshape(dy, -1), (np.reshape(writers(y, index, value), -1),), (np.size(value) + 1,)
        )
        return np.reshape(kept[1:], np.shape(value))
    return unbroadcast(_without_lead(dy[index], np.ndim(value)), np.shape(value))


@primitive
def writers(x: Array, index: Any, value: Array) -> Array:
    """Return for each element of `x` which element of `value` a write of it leaves there, or 0.

    They count from 1.  NumPy's order of writing follows the memory layout of the arrays, so what
    is written here are numbers in the layout of `value`.
    """
    value = np.asarray(value)
    number = zeros_in_layout(value)
    # Elements that share their memory, as those of a broadcast array do, share a number.
    number[...] = np.reshape(np.arange(1, value.size + 1), value.shape)
    new = zeros_in_layout(x)
    new[index] = number
    return np.array(new)


def zeros_in_layout(x: Array) -> Array:
    """Return whole zeros whose elements lie in memory as those of `x` do, as close as they can."""
    unit = math.gcd(*x.strides) or 1
    steps = [8 * (s // unit) for s in x.strides]
    ends = [s * (n - 1) for s, n in zip(steps, x.shape, strict=True)]
    low, high = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    memory = np.zeros((high - low) // 8 + 1, np.int64)
    return np.ndarray(x.shape, memory.dtype, memory, -low, steps)


NONDIFF.add(writers)


def add_at_value_vjp(dy: Array, y: Array, x: Array, index: Any, value: Array) -> Array:
    """Pull back to what was added, however often."""
    return unbroadcast(_without_lead(dy[index], np.ndim(value)), np.shape(value))


def _without_lead(read: Array, ndim: int) -> Array:
    """Return `read` itself: an assigned value broadcasts as an operand does."""
    lead = ndim - np.ndim(read)
    # NumPy lets a value have more axes than its target if those in front are of length 1.
    return np.reshape(read, (1,) * lead + np.shape(read)) if lead > 0 else read


def take_vjp(
    dy: Array, y: Array, a: Array, indices: Any, axis: int | None = None, out: Any = None,
    mode: str = "raise",
) -> Array:  # fmt: skip
    """Add the cotangent at the positions that were taken."""
    shape = np.shape(a)
    size = math.prod(shape) if axis is None else shape[axis]
    indices = indices if hasattr(indices, "dtype") else np.asarray(indices)
    if mode == "wrap":
        indices = np.mod(indices, size)
    elif mode == "clip":
        indices = np.clip(indices, 0, size - 1)
    if axis is None:
        return np.reshape(scatter(dy, (indices,), (size,)), shape)
    return scatter(dy, along(axis, np.ndim(a), indices), shape)


def along(axis: int, ndim: int, index: Any) -> tuple[Any, ...]:
    """Return the index that applies `index` to one axis."""
    return (slice(None),) * (axis % ndim) + (index,)


def take_along_axis_vjp(
    dy: Array, y: Array, arr: Array, indices: Array, axis: int | None = -1
) -> Array:
    """Add the cotangent at the positions that were taken, slice by slice."""
    shape = np.shape(arr)
    if axis is None:
        return np.reshape(scatter(dy, (indices,), (math.prod(shape),)), shape)
    return scatter(dy, open_index(shape, indices, axis % len(shape)), shape)


def open_index(shape: tuple[int, ...], indices: Array, axis: int) -> tuple[Any, ...]:
    """Return the index of take_along_axis: counting along each axis but one."""
    ndim = len(shape)
    return tuple(
        indices if k == axis else np.reshape(np.arange(n), (1,) * k + (n,) + (1,) * (ndim - k - 1))
        for k, n in enumerate(shape)
    )


def compress_vjp(
    dy: Array, y: Array, condition: Array, a: Array, axis: int | None = None, out: Any = None
) -> Array:
    """Put the cotangent back where the condition held."""
    chosen, shape = np.flatnonzero(condition), np.shape(a)
    if axis is None:
        return np.reshape(place(dy, (chosen,), (math.prod(shape),)), shape)
    return place(dy, along(axis, len(shape), chosen), shape)


def extract_vjp(dy: Array, y: Array, condition: Array, arr: Array) -> Array:
    """Put the cotangent back where the condition held."""
    return compress_vjp(dy, y, condition, arr)


def delete_vjp(dy: Array, y: Array, arr: Array, obj: Any, axis: int | None = None) -> Array:
    """Put the cotangent back to what was kept."""
    shape = np.shape(arr)
    size = math.prod(shape) if axis is None else shape[axis]
    kept = np.delete(np.arange(size), obj)
    if axis is None:
        return np.reshape(place(dy, (kept,), (size,)), shape)
    return place(dy, along(axis, len(shape), kept), shape)


def insert_vjp(
    dy: Array, y: Array, arr: Array, obj: Any, values: Array, axis: int | None = None
) -> Array:
    """Pull back to the array that values were inserted into."""
    shape = np.shape(arr)
    size = math.prod(shape) if axis is None else shape[axis]
    count = np.shape(y)[0 if axis is None else axis] - size
    origin = np.insert(np.arange(size), obj, np.full(count, -1))
    old = np.flatnonzero(np.greater_equal(origin, 0))
    taken = np.take(dy, old, axis=axis)
    return np.reshape(taken, shape)


def insert_values_vjp(
    dy: Array, y: Array, arr: Array, obj: Any, values: Array, axis: int | None = None
) -> Array:
    """Pull back to what was inserted, however often: where its numbers go tells where it stands."""
    size = np.size(values)
    numbers = np.reshape(np.arange(1, size + 1), np.shape(values))
    source = np.insert(np.zeros(np.shape(arr), int), obj, numbers, axis)
    summed = scatter(np.reshape(dy, -1), (np.reshape(source, -1),), (size + 1,))
    return np.reshape(summed[1:], np.shape(values))


def window_vjp(
    dy: Array, y: Array, x: Array, window_shape: Any, axis: Any = None, **options: Any
) -> Array:
    """Add up the windows that an element is seen through."""
    shape = np.shape(x)
    numbers = np.reshape(np.arange(math.prod(shape)), shape)
    source = sliding_window_view(numbers, window_shape, axis)
    return np.reshape(scatter(dy, (source,), (math.prod(shape),)), shape)


def trim_zeros_vjp(dy: Array, y: Array, filt: Array, trim: str = "fb", axis: Any = None) -> Array:
    """Put the cotangent back where the rest stood; what was cut off has slope 0."""
    shape, counts = np.shape(filt), np.shape(dy)
    filled = np.not_equal(filt, 0)
    index = []
    for k, count in enumerate(counts):
        others = tuple(n for n in range(len(shape)) if n != k)
        start = (
            np.argmax(np.any(filled, axis=others))
            if count < shape[k] and "f" in trim.lower()
            else 0
        )
        index.append(np.reshape(start + np.arange(count), (-1, *(1,) * (len(shape) - k - 1))))
    return place(dy, tuple(index), shape)


def cast_vjp(dy: Array, y: Array, x: Array, dtype: Any) -> Array:
    """Pull back unchanged: the engine casts to the argument's dtype."""
    return dy


defvjp(identity, lambda dy, y, x: dy, live=Live.MOVES)
defvjp(cast, cast_vjp, live=Live.MOVES)
defvjp(getitem, getitem_vjp, zero, live=Live.SELECTS)
defvjp(setitem, setitem_target_vjp, zero, setitem_value_vjp, live=Live.SELECTS)
defvjp(add_at, lambda dy, y, x, index, value: dy, zero, add_at_value_vjp, live=Live.MOVES)
defvjp(
    with_real,
    lambda dy, y, x, value: 1j * np.imag(dy),
    lambda dy, y, x, value: unbroadcast(np.real(dy), np.shape(value)),
)
defvjp(
    with_imag,
    lambda dy, y, x, value: np.real(dy) + 0j,
    lambda dy, y, x, value: unbroadcast(-np.imag(dy), np.shape(value)),
)
defvjp(scatter, lambda dy, y, x, index, shape: dy[index], zero, live=Live.MOVES)
defvjp(place, lambda dy, y, x, index, shape: dy[index], zero, live=Live.MOVES)
defvjp(np.take, take_vjp, zero, live=Live.SELECTS)
defvjp(np.take_along_axis, take_along_axis_vjp, zero, live=Live.SELECTS)
defvjp(np.compress, zero, compress_vjp, live=Live.SELECTS)
defvjp(np.extract, zero, extract_vjp, live=Live.SELECTS)
defvjp(np.delete, delete_vjp, zero, live=Live.SELECTS)
defvjp(np.insert, insert_vjp, zero, insert_values_vjp, live=Live.MOVES)
defvjp(sliding_window_view, window_vjp, zero, live=Live.MOVES)
defvjp(np.trim_zeros, trim_zeros_vjp, live=Live.SELECTS)

defvjp(np.bincount, zero, lambda dy, y, x, weights, minlength=0: dy[x], live=Live.MOVES)

for _fn in (np.nonzero, np.flatnonzero, np.argwhere, np.searchsorted, np.digitize):
    nondiff(_fn)
defvjp(item, lambda dy, y, x: np.reshape(dy, np.shape(x)), live=Live.MOVES)
