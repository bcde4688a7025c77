"""Rules of sorting and of choosing among elements by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.rules.registry import Live, defvjp, nondiff, takes_list, unbroadcast, zero

Array = Any


def sort_vjp(dy: Array, y: Array, a: Array, axis: int | None = -1, *_: Any, **__: Any) -> Array:
    """Carry each cotangent back along the permutation; equal elements keep their order."""
    if axis is None:
        back = np.argsort(np.argsort(np.reshape(a, -1), kind="stable"))
        return np.reshape(np.take(dy, back), np.shape(a))
    back = np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(dy, back, axis=axis)


def partition_vjp(
    dy: Array, y: Array, a: Array, kth: Any, axis: int | None = -1, *_: Any, **__: Any
) -> Array:
    """Carry each cotangent to the sorted place of its value, and from there back."""
    # np.argpartition need not permute as np.partition does.
    ordered = np.take_along_axis(dy, np.argsort(y, axis=axis, kind="stable"), axis=axis)
    return sort_vjp(ordered, y, a, axis)


def sort_complex_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Carry each cotangent back along the permutation."""
    return sort_vjp(dy, y, a, -1)


@takes_list
def select_vjp(dy: Array, y: Array, condlist: Any, choicelist: Any, default: Array = 0) -> Any:
    """Pull back to the choice whose condition is the first to hold."""
    free: Array = True
    pulled = []
    for condition, choice in zip(condlist, choicelist, strict=True):
        mask = condition if free is True else np.logical_and(free, condition)
        pulled.append(unbroadcast(np.where(mask, dy, 0), np.shape(choice)))
        unmet = np.logical_not(condition)
        free = unmet if free is True else np.logical_and(free, unmet)
    return type(choicelist)(pulled) if type(choicelist) in (list, tuple) else np.stack(pulled)


def select_default_vjp(
    dy: Array, y: Array, condlist: Any, choicelist: Any, default: Array
) -> Array:
    """Pull back to the default where no condition holds."""
    for condition in condlist:
        dy = np.where(condition, 0, dy)
    return unbroadcast(dy, np.shape(default))


@takes_list
def choose_vjp(
    dy: Array, y: Array, a: Array, choices: Any, out: Any = None, mode: str = "raise"
) -> Any:
    """Pull back to the choice that `a` numbers."""
    n = len(choices)
    at = np.mod(a, n) if mode == "wrap" else np.clip(a, 0, n - 1) if mode == "clip" else a
    parts = [
        unbroadcast(np.where(np.equal(at, k), dy, 0), np.shape(c)) for k, c in enumerate(choices)
    ]
    return type(choices)(parts) if type(choices) in (list, tuple) else np.stack(parts)


defvjp(np.sort, sort_vjp, live=Live.MOVES)
defvjp(np.sort_complex, sort_complex_vjp, live=Live.MOVES)
defvjp(np.partition, partition_vjp, zero, live=Live.MOVES)
defvjp(np.select, zero, select_vjp, select_default_vjp, live=Live.SELECTS)
defvjp(np.choose, zero, choose_vjp, live=Live.SELECTS)

for _fn in (np.argsort, np.argpartition, np.lexsort):
    nondiff(_fn)
