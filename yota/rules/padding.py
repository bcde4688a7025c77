"""Rules of np.pad: NumPy pads axis after axis, so the cotangent is taken back in reverse order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.functional import place, scatter
from yota.rules.quantiles import median_vjp
from yota.rules.reduce import extreme_vjp
from yota.rules.registry import Live, defvjp, unbroadcast

Array = Any
Width = tuple[int, int]

# The modes that only copy elements; np.pad of element numbers tells which.
COPYING = ("edge", "reflect", "symmetric", "wrap")


def widths_of(pad_width: Any, ndim: int) -> list[Width]:
    """Return the width before and behind each axis."""
    if type(pad_width) is dict:
        given = [pad_width.get(k, pad_width.get(k - ndim, 0)) for k in range(ndim)]
        return [widths_of(w, 1)[0] for w in given]
    return [(int(b), int(e)) for b, e in np.broadcast_to(pad_width, (ndim, 2))]


def pad_vjp(
    dy: Array, y: Array, array: Array, pad_width: Any, mode: Any = "constant", **options: Any
) -> Array:
    """Pull back to what was padded; where the margin is made of elements they get its share.

    Of equal extremes in a margin's `maximum` or `minimum` each gets an equal share.
    """
    shape = np.shape(array)
    for axis, width, n in reversed(_steps(pad_width, shape)):
        g = np.moveaxis(dy, axis, -1)
        before = np.moveaxis(_before(y, shape, widths_of(pad_width, len(shape)), axis), axis, -1)
        dy = np.moveaxis(_axis_back(g, before, axis, width, n, mode, options), -1, axis)
    return dy


def _steps(pad_width: Any, shape: tuple[int, ...]) -> list[tuple[int, Width, int]]:
    widths = widths_of(pad_width, len(shape))
    return [(k, w, n) for k, (w, n) in enumerate(zip(widths, shape, strict=True)) if w != (0, 0)]


def _before(y: Array, shape: tuple[int, ...], widths: list[Width], axis: int) -> Array:
    """Return the array as it was when this axis was padded: cut out of the result."""
    both = list(zip(widths, shape, strict=True))
    core = [slice(b, b + n) for (b, _), n in both]
    return y[tuple([slice(None)] * axis + core[axis:])]


def _axis_back(
    g: Array, x: Array, axis: int, width: Width, n: int, mode: Any, options: dict[str, Any]
) -> Array:
    """Pull back along the last axis, where `x` was padded by `width`."""
    left, right = width
    core = g[..., left : left + n]
    if mode in ("constant", "empty"):
        return core
    if mode in COPYING and options.get("reflect_type", "even") == "even":
        source = np.pad(np.arange(n), width, mode)
        return scatter(g, (Ellipsis, source), (*np.shape(g)[:-1], n))
    if mode in ("reflect", "symmetric"):
        # with mirrored differences a margin holds multiples of elements: a matrix says which
        return g @ np.pad(np.eye(n), (width, (0, 0)), mode, reflect_type="odd")
    if mode == "linear_ramp":
        return core + _ramp_back(g, left, right, n)
    if mode in _MARGINS:
        lengths = _per_axis(options.get("stat_length"), axis, np.ndim(g))
        margins = (g[..., :left], 0, lengths[0]), (g[..., left + n :], 1, lengths[1])
        for margin, end, length in margins:
            core = core + _statistic_back(mode, margin, x, end, length)
        return core
    raise RuleError(f"no derivative is known of np.pad with mode {mode!r}")


def _per_axis(option: Any, axis: int, ndim: int) -> tuple[Any, Any]:
    if option is None:
        return None, None
    before, behind = np.broadcast_to(option, (ndim, 2))[axis]
    return int(before), int(behind)


def _ramp_back(g: Array, left: int, right: int, n: int) -> Array:
    """Pull back to the edges, from which a ramp rises or falls to the end values."""
    up, down = np.arange(left) / max(left, 1), np.arange(right)[::-1] / max(right, 1)
    size = (*np.shape(g)[:-1], n)
    first = np.sum(g[..., :left] * up, axis=-1, keepdims=True)
    last = np.sum(g[..., left + n :] * down, axis=-1, keepdims=True)
    return place(first, (Ellipsis, slice(0, 1)), size) + place(
        last, (Ellipsis, slice(n - 1, n)), size
    )


def _statistic_back(mode: str, margin: Array, x: Array, end: int, length: int | None) -> Array:
    """Pull a margin back through the statistic of the elements beside it."""
    n = np.shape(x)[-1]
    size = n if length is None else min(length, n)
    at = slice(0, size) if end == 0 else slice(n - size, n)
    total = np.sum(margin, axis=-1, keepdims=True)
    return place(_MARGINS[mode](total, x[..., at]), (Ellipsis, at), np.shape(x))


_MARGINS: dict[str, Callable[[Array, Array], Array]] = {
    "mean": lambda g, x: np.broadcast_to(g / np.shape(x)[-1], np.shape(x)),
    "maximum": lambda g, x: extreme_vjp(g, np.max(x, -1, keepdims=True), x, -1, None, True),
    "minimum": lambda g, x: extreme_vjp(g, np.min(x, -1, keepdims=True), x, -1, None, True),
    "median": lambda g, x: median_vjp(False)(g, None, x, -1, None, False, True),
}


def margin_vjp(name: str) -> Callable[..., Array]:
    """Return the rule of `constant_values` or `end_values`: what the margins were filled with."""

    def pulled(
        dy: Array, y: Array, array: Array, pad_width: Any, mode: Any = "constant", **options: Any
    ) -> Array:
        shape = np.shape(array)
        found: list[Array] = [0.0] * (2 * len(shape))
        for axis, (left, right), n in reversed(_steps(pad_width, shape)):
            g = np.moveaxis(dy, axis, -1)
            up = np.ones(left) if mode == "constant" else 1 - np.arange(left) / max(left, 1)
            down = np.ones(right) if mode == "constant" else 1 - np.arange(right) / max(right, 1)
            found[2 * axis] = np.sum(g[..., :left] * up)
            found[2 * axis + 1] = np.sum(g[..., left + n :] * down[::-1])
            core = np.moveaxis(g[..., left : left + n], -1, axis)
            dy = (
                core
                if mode == "constant"
                else core + np.moveaxis(_ramp_back(g, left, right, n), -1, axis)
            )
        if not shape:
            return np.zeros_like(options[name])
        pairs = np.reshape(np.stack(found), (len(shape), 2))
        return unbroadcast(pairs, np.shape(options[name]))

    return pulled


def hands_on(*_: Any, reflect_type: str = "even", **__: Any) -> Live:
    """Tell how a padding hands on the mask: mirrored differences hold elements less elements."""
    return Live.SELECTS if reflect_type == "even" else Live.OPAQUE


defvjp(
    np.pad,
    pad_vjp,
    live=hands_on,
    keywords={name: margin_vjp(name) for name in ("constant_values", "end_values")},
)
