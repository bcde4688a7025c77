"""Functions that call the user's: rebuilt from functions with rules, so that calls are followed.

A twin runs where traced values meet its function of NumPy, and returns what that returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.functional import cast
from yota.rules.registry import composed

Array = Any


@composed(np.apply_along_axis)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Array, *args: Any, **kwargs: Any
) -> Array:
    """Return what np.apply_along_axis returns; `func1d` is followed in each slice."""
    ndim = np.ndim(arr)
    last = np.moveaxis(arr, axis, -1)
    lead = np.shape(last)[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [func1d(last[(*at, Ellipsis)], *args, **kwargs) for at in np.ndindex(lead)]
    first = found[0] if hasattr(found[0], "dtype") else np.asarray(found[0])
    parts = [_like(r, np.shape(first), first.dtype) for r in found]
    whole = np.reshape(np.stack(parts), (*lead, *np.shape(first)))
    # the axes of a result take the place of the axis that was reduced
    k, new = axis % ndim, np.ndim(first)
    axes = range(ndim - 1 + new)
    return np.transpose(whole, [*axes[:k], *axes[ndim - 1 :], *axes[k : ndim - 1]])


def _like(r: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a result as it is stored beside the first one: in its shape and dtype."""
    made = r if np.shape(r) == shape else np.broadcast_to(r, shape)
    return cast(made, dtype) if np.result_type(made) != dtype else made


@composed(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Array, axes: Any) -> Array:
    """Return what np.apply_over_axes returns; `func` is followed at each axis."""
    ndim, value = np.ndim(a), a
    for axis in axes if np.ndim(axes) else (axes,):
        axis = ndim + axis if axis < 0 else axis
        result = func(value, axis)
        if np.ndim(result) != np.ndim(value):
            result = np.expand_dims(result, axis)
        if np.ndim(result) != np.ndim(value):
            raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


@composed(np.piecewise)
def piecewise(x: Array, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Return what np.piecewise returns; the functions are followed, each on its own elements."""
    x = x if hasattr(x, "dtype") and np.ndim(x) else np.reshape(x, ())
    if np.isscalar(condlist) or (not _is_condition(condlist[0]) and np.ndim(x) != 0):
        condlist = [condlist]
    conditions = [
        cast(c, np.bool_) if hasattr(c, "dtype") else np.asarray(c, bool) for c in condlist
    ]
    if len(conditions) == len(funclist) - 1:
        conditions.append(np.logical_not(np.any(np.stack(conditions), axis=0)))
    if len(conditions) != len(funclist):
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    y = np.zeros_like(x)
    for condition, func in zip(conditions, funclist, strict=True):
        if not callable(func):
            y[condition] = func
            continue
        chosen = x[condition]
        if np.size(chosen) > 0:
            y[condition] = func(chosen, *args, **kw)
    return y


def _is_condition(c: Any) -> bool:
    return isinstance(c, list | np.ndarray)
