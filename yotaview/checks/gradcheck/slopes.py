"""Numerical derivatives of one op: differences of four steps, with the error that they leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[[Any], Array]
# The steps are relative to the size of the argument, and to 1.
STEP = float(np.finfo(float).eps) ** (1 / 3)
# With a relative error as small as this no other step is tried.
ENOUGH = 1e-7
LEAST = 4 * float(np.finfo(float).smallest_subnormal)


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative with its error; `kink` where the two sides differ whatever the step."""

    value: Array
    error: Array
    kink: Array


def slope_along(f: Function, x: Array, direction: Array) -> Slope:
    """Return the derivative of `f`, element by element of its value, along a direction.

    Each element of the value is taken at the step whose error is the least.
    """
    size = np.maximum(np.abs(x), float(np.finfo(float).tiny) ** 0.5)
    here = np.asarray(f(x))
    own = _differences(f, x, direction * STEP * size, here)
    if bool(np.all(own.error <= ENOUGH * np.abs(own.value))):
        return own
    one = _differences(f, x, direction * STEP * np.maximum(size, 1.0), here)
    better = own.error < one.error
    better |= ~np.isfinite(one.error)
    return Slope(
        np.where(better, own.value, one.value),
        np.where(better, own.error, one.error),
        np.where(better, own.kink, one.kink),
    )


def _differences(f: Function, x: Array, step: Array, here: Array) -> Slope:
    """Take central differences with a step and half of it, extrapolated to none."""
    far, near = _pair(f, x, step), _pair(f, x, step / 2)
    scale = _per_element(step, here.shape)
    wide = (far[0] - far[1]) / (2 * scale)
    narrow = (near[0] - near[1]) / scale
    value = (4 * narrow - wide) / 3
    eps = float(np.finfo(here.dtype).eps) if here.dtype.kind in "fc" else STEP
    # a value that underflowed is off by as much as the least number, however small it is
    noise = (4 * eps * (np.abs(near[0]) + np.abs(near[1])) + LEAST) / np.abs(scale)
    error = np.abs(narrow - wide) + noise
    turn = np.abs(near[0] + near[1] - 2 * here) / (np.abs(scale) / 2)
    wider = np.abs(far[0] + far[1] - 2 * here) / np.abs(scale)
    kink = (turn > 0.75 * wider) & (turn > 1e-6 * np.abs(value) + 8 * noise)
    return Slope(value, error, kink)


def _pair(f: Function, x: Array, step: Array) -> tuple[Array, Array]:
    return np.asarray(f(x + step)), np.asarray(f(x - step))


def _per_element(step: Array, shape: tuple[int, ...]) -> Array:
    """Return the size of the step that an element of the value saw."""
    size = np.abs(step)
    return size if not size.ndim or size.shape == shape else np.broadcast_to(size, shape)


def slope_of_sum(f: Callable[[Any], Any], x: Array, direction: Array) -> Slope:
    """Return the derivative of a number along a direction, steps relative to it."""

    def along(t: Any) -> Array:
        found: Array = np.asarray(f(x + t * direction))
        return found

    here = along(0.0)
    best = _differences(along, np.asarray(0.0), np.asarray(STEP), here)
    for size in (1e-2, 1e2):
        if bool(best.error <= ENOUGH * np.abs(best.value)) and not best.kink:
            break
        found = _differences(along, np.asarray(0.0), np.asarray(STEP * size), here)
        if _better(found, best):
            best = found
    return best


def _better(one: Slope, other: Slope) -> bool:
    return bool(one.error < other.error) or not np.isfinite(other.error)
