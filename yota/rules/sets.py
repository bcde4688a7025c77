"""Rules of arrays taken as sets: each value goes back to the elements that have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.registry import defvjp, nondiff, refuse, refused, zero

Array = Any


def share_by_value(dy: Array, y: Array, own: Array, inputs: tuple[Array, ...]) -> Array:
    """Pull back to the elements of `own` that have each value; equal ones of all inputs share."""
    if not np.size(y):
        return np.zeros_like(own)
    order = np.argsort(y)
    totals: Array = 0
    for x in inputs:
        at, found = _matched(x, y, order)
        totals = totals + np.bincount(at, found, minlength=np.size(y))
    at, found = _matched(own, y, order)
    share = np.take(dy / np.maximum(totals, 1), at)
    return np.reshape(np.where(found, share, 0), np.shape(own))


def _matched(x: Array, y: Array, order: Array) -> tuple[Array, Array]:
    """Return for each element which of the values it has, and whether it has any."""
    flat = np.reshape(x, -1)
    at = np.searchsorted(y, flat, sorter=order)
    at = np.take(order, np.minimum(at, np.size(y) - 1))
    values = np.take(y, at)
    both_nan = np.logical_and(np.isnan(values), np.isnan(flat))
    return at, np.logical_or(np.equal(values, flat), both_nan)


def unique_vjp(
    dy: Any, y: Any, ar: Array, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Array:  # fmt: skip
    """Pull back to the elements that have the value; equal ones share equally."""
    refuse("np.unique", "flatten the array, or take rows by an index", axis=axis)
    refuse("np.unique", "leave it away", equal_nan=None if equal_nan else "False")
    if return_index or return_inverse or return_counts:
        dy, y = dy[0], y[0]
    return share_by_value(dy, y, ar, (ar,))


def union_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of two arrays whose values are joined, or kept if only one has them.

    Equal elements share equally.
    """

    def pulled(dy: Array, y: Array, *arrays: Array, assume_unique: bool = False) -> Array:
        return share_by_value(dy, y, arrays[position], arrays[:2])

    return pulled


def difference_vjp(
    dy: Array, y: Array, ar1: Array, ar2: Array, assume_unique: bool = False
) -> Array:
    """Pull back to the elements that were kept; equal ones share equally."""
    return share_by_value(dy, y, ar1, (ar1,))


def first_of(dy: Any, y: Any, x: Array) -> Array:
    """Pull back the values of a result that counts them or says where they stand."""
    return share_by_value(dy[0], y[0], x, (x,))


defvjp(np.unique, unique_vjp)
defvjp(np.unique_values, lambda dy, y, x: share_by_value(dy, y, x, (x,)))
for _fn in (np.unique_all, np.unique_counts, np.unique_inverse):
    defvjp(_fn, first_of)
defvjp(np.union1d, union_vjp(0), union_vjp(1))
defvjp(np.setxor1d, union_vjp(0), union_vjp(1))
defvjp(np.setdiff1d, difference_vjp, zero)
refused(
    np.intersect1d,
    "a value that two arrays share vanishes when one of them moves: choose with np.isin",
)
for _name in ("isin", "in1d"):
    if hasattr(np, _name):
        nondiff(getattr(np, _name))
