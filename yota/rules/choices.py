"""Rules of the functions that choose between operands, element by element."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from yota.rules.elementwise import every, refuse_options
from yota.rules.registry import Live, Rule, elementwise, is_complex, refuse_real, zero

Array = Any
# The bounds of clip have a second name in some versions.
CLIP_NAMES = inspect.signature(np.clip).parameters


def larger_vjp(dy: Array, y: Array, this: Array, other: Array) -> Array:
    """Pull back to one operand of a maximum; a tie gives each a half, a NaN hands on all."""
    tie = np.where(np.equal(this, other), dy * 0.5, dy)
    return np.where(np.less(this, other), 0, tie)


def smaller_vjp(dy: Array, y: Array, this: Array, other: Array) -> Array:
    """Pull back to one operand of a minimum; a tie gives each a half, a NaN hands on all."""
    tie = np.where(np.equal(this, other), dy * 0.5, dy)
    return np.where(np.greater(this, other), 0, tie)


def number_winner_vjp(dy: Array, y: Array, this: Array, other: Array) -> Array:
    """Pull back to one operand of fmax or fmin, which look for a number beside a NaN."""
    return np.where(np.equal(this, y), np.where(np.equal(other, y), dy * 0.5, dy), 0)


def through_nan(dy: Array, dx: Array, this: Array) -> Array:
    """Return `dx`, NaN where the value is NaN through `this`: no comparison tells a slope there.

    Where no cotangent arrives nothing is wrong.
    """
    return np.where(np.logical_and(np.isnan(this), dy), math.nan, dx)


def swapped(rule: Rule) -> Rule:
    """Return a rule for the second operand from one for the first."""

    def pulled(dy: Array, y: Array, this: Array, other: Array) -> Array:
        return rule(dy, y, other, this)

    return pulled


def bound(given: Array, keyword: Array) -> Array:
    """Return the bound of a clip, given under either of its names."""
    return keyword if given is None or given is np._NoValue else given


def clip_vjp(
    dy: Array, y: Array, a: Array, a_min: Array = None, a_max: Array = None, out: Any = None,
    *, min: Array = None, max: Array = None, **options: Any,
) -> Array:  # fmt: skip
    """Pull back to what is clipped; on a bound the slope is 1."""
    low, high = bound(a_min, min), bound(a_max, max)
    refuse_clip(options, a, low, high)
    # compared so that a NaN, which clip hands on, has slope 1
    dx = dy if low is None else np.where(np.less(a, low), 0, dy)
    return dx if high is None else np.where(np.greater(a, high), 0, dx)


def refuse_clip(options: dict[str, Any], *operands: Array) -> None:
    """Raise RuleError for the options that the rules of clip cannot honour."""
    options = dict(options)
    refuse_real("np.clip", options.pop("dtype", None), *operands)
    refuse_options("np.clip", options)


def clip_low_vjp(
    dy: Array, y: Array, a: Array, a_min: Array = None, a_max: Array = None, out: Any = None,
    *, min: Array = None, max: Array = None, **options: Any,
) -> Array:  # fmt: skip
    """Pull back to the lower bound; on the bound the slope is 0."""
    low, high = bound(a_min, min), bound(a_max, max)
    refuse_clip(options, a, low, high)
    dx = np.where(np.greater_equal(a, low), 0, dy)
    return dx if high is None else np.where(np.greater(low, high), 0, dx)


def clip_high_vjp(
    dy: Array, y: Array, a: Array, a_min: Array = None, a_max: Array = None, out: Any = None,
    *, min: Array = None, max: Array = None, **options: Any,
) -> Array:  # fmt: skip
    """Pull back to the upper bound; on the bound the slope is 0."""
    low, high = bound(a_min, min), bound(a_max, max)
    refuse_clip(options, a, low, high)
    return np.where(np.less_equal(a if low is None else np.maximum(a, low), high), 0, dy)


def nan_to_num_vjp(dy: Array, y: Array, x: Array, *_: Any, **__: Any) -> Array:
    """Pull back where the element is kept; of a complex one each part for itself."""
    if not is_complex(x):
        return np.where(np.isfinite(x), dy, 0)
    real = np.where(np.isfinite(np.real(x)), np.real(dy), 0)
    return real + 1j * np.where(np.isfinite(np.imag(x)), np.imag(dy), 0)


every((np.maximum,), larger_vjp, swapped(larger_vjp), live=Live.SELECTS)
every((np.minimum,), smaller_vjp, swapped(smaller_vjp), live=Live.SELECTS)
every(
    (np.fmax, np.fmin),
    number_winner_vjp,
    lambda dy, y, a, b: number_winner_vjp(dy, y, b, a),
    live=Live.SELECTS,
)
every((np.heaviside,), zero, lambda dy, y, x, h: np.where(np.equal(x, 0), dy, 0), live=Live.SELECTS)
elementwise(
    np.clip,
    clip_vjp,
    clip_low_vjp,
    clip_high_vjp,
    live=Live.SELECTS,
    keywords={"min": clip_low_vjp, "max": clip_high_vjp} if "min" in CLIP_NAMES else None,
)
elementwise(np.nan_to_num, nan_to_num_vjp, live=Live.SELECTS)
elementwise(
    np.where,
    zero,
    lambda dy, y, c, a, b: np.where(c, dy, 0),
    lambda dy, y, c, a, b: np.where(c, 0, dy),
    live=Live.SELECTS,
)
