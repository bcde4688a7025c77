"""NumPy's functions that write into an array, as writes at an index of a traced array."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from yota.rules.functional import add_at
from yota.rules.index import may_repeat, open_index
from yota.tracing import views
from yota.tracing.box import Traced, record


def _copyto(dst: Traced, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if where is not True:
        src = np.where(where, src, dst)
    src = src if isinstance(src, Traced) else np.broadcast_to(src, np.shape(dst))
    views.store(dst, src, casting)


def _put(a: Traced, ind: Any, v: Any, mode: str = "raise") -> None:
    places = _in_range(np.reshape(np.asarray(ind), -1), math.prod(np.shape(a)), mode)
    _write_flat(a, places, v)


def _in_range(places: Any, size: int, mode: str) -> Any:
    if mode == "wrap":
        return np.mod(places, size)
    if mode == "clip":
        return np.clip(places, 0, size - 1)
    if np.any((places < -size) | (places >= size)):
        wrong = places[(places < -size) | (places >= size)][0]
        raise IndexError(f"index {wrong} is out of bounds for axis 0 with size {size}")
    return np.where(places < 0, places + size, places)


def _write_flat(a: Traced, places: Any, values: Any) -> None:
    """Write values, repeated as often as it takes, at places counted through the whole array."""
    if len(places):
        a[np.unravel_index(places, np.shape(a))] = _repeated(values, len(places))


def _repeated(values: Any, count: int) -> Any:
    flat = np.reshape(values, -1)
    size = np.size(flat)
    return flat if size == count else flat[np.arange(count) % size]


def _place(arr: Traced, mask: Any, vals: Any) -> None:
    if isinstance(vals, Traced) and vals._cell is arr._cell:
        raise arr._trace.escape(
            arr, "np.place with values out of the array itself", "give a copy of the values"
        )
    mask = np.reshape(np.not_equal(mask, 0), np.shape(arr))
    count = int(np.sum(mask))
    if count and not np.size(vals):
        raise ValueError("Cannot insert from an empty array!")
    if count:
        arr[mask] = _repeated(vals, count)


def _putmask(a: Traced, mask: Any, values: Any) -> None:
    mask = np.not_equal(mask, 0)
    if np.shape(mask) != np.shape(a):
        raise ValueError("putmask: mask and data must be the same size")
    everywhere = np.reshape(_repeated(values, math.prod(np.shape(a))), np.shape(a))
    a[mask] = everywhere[mask]


def _put_along_axis(arr: Traced, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        if not arr.flags.c_contiguous:
            raise ValueError("assignment destination is read-only")  # as numpy has it
        return _write_flat_once(arr, np.asarray(indices), values)
    arr[open_index(np.shape(arr), indices, axis % np.ndim(arr))] = values
    return None


def _write_flat_once(arr: Traced, places: Any, values: Any) -> None:
    size = math.prod(np.shape(arr))
    arr[np.unravel_index(_in_range(places, size, "raise"), np.shape(arr))] = values


def _fill_diagonal(a: Traced, val: Any, wrap: bool = False) -> None:
    # numpy checks the shape, and tells by where it writes which places are meant
    numbers = np.zeros(np.shape(a), bool)
    np.fill_diagonal(numbers, True, wrap)
    _write_flat(a, np.flatnonzero(numbers), val)


WRITERS: dict[Callable[..., Any], Callable[..., None]] = {
    np.copyto: _copyto,
    np.put: _put,
    np.place: _place,
    np.putmask: _putmask,
    np.put_along_axis: _put_along_axis,
    np.fill_diagonal: _fill_diagonal,
}


def write_at(ufunc: np.ufunc, a: Traced, indices: Any, *operand: Any) -> None:
    """Apply `ufunc` in place, once for each time that an index names a place: `ufunc.at`."""
    if ufunc in (np.add, np.subtract) and a.dtype.kind in "fc":
        value = operand[0] if ufunc is np.add else np.negative(operand[0])
        return views.write(a, record(add_at, a, indices, value))
    if not may_repeat(indices):
        a[indices] = ufunc(a[indices], *operand)
        return None
    shape = np.shape(a[indices])
    values = [np.reshape(np.broadcast_to(v, shape), -1) for v in operand]
    places = np.reshape(_places(np.shape(a), indices), -1)
    for chosen in _rounds(places):
        at = np.unravel_index(places[chosen], np.shape(a))
        a[at] = ufunc(a[at], *(v[chosen] for v in values))
    return None


def _places(shape: tuple[int, ...], indices: Any) -> Any:
    """Return which elements an index names, counted through the whole array."""
    return np.reshape(np.arange(math.prod(shape)), shape)[_plain(indices)]


def _plain(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(_plain, index))
    return np.asarray(index) if isinstance(index, Traced) else index


def _rounds(places: Any) -> Iterator[Any]:
    """Yield positions in `places`, in rounds that name no element twice, in order of occurrence."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.searchsorted(ordered, ordered)
    occurrence = np.empty_like(order)
    occurrence[order] = np.arange(len(order)) - first
    for k in range(int(occurrence.max(initial=-1)) + 1):
        yield np.flatnonzero(occurrence == k)
