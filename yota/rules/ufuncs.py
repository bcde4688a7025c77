"""Rules of the ufuncs' methods: reduce, accumulate and reduceat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.elementwise import softmax_weight
from yota.rules.functional import scatter
from yota.rules.index import along, open_index
from yota.rules.reduce import number_extreme_vjp, prod_vjp, restore, spread
from yota.rules.registry import NONDIFF, Live, defvjp, refuse_real, zero

Array = Any


def logaddexp_reduce_vjp(exp: Callable[..., Array]) -> Callable[..., Array]:
    """Return the rule of a sum of exponentials in logarithms: each gets its part of the sum.

    Where all are -inf the slopes are 0.
    """

    def pulled(
        dy: Array, y: Array, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None,
        keepdims: bool = False, initial: Any = None, where: Array = True,
    ) -> Array:  # fmt: skip
        weight = exp(softmax_weight(restore(y, array, axis, keepdims), array))
        dx = restore(dy, array, axis, keepdims) * weight
        return dx if where is True else np.where(where, dx, 0)

    return pulled


def hypot_reduce_vjp(
    dy: Array, y: Array, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = None, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back through a length; at 0 the slope is taken as 0."""
    y = restore(y, array, axis, keepdims)
    return spread(dy, array, axis, keepdims, where) * array / np.where(np.equal(y, 0), 1, y)


def extreme_reduce_vjp(
    dy: Array, y: Array, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = None, where: Array = True,
) -> Array:  # fmt: skip
    """Pull back to where the extreme of the numbers stands; ties share equally."""
    return number_extreme_vjp(dy, y, array, axis, None, keepdims, initial, where)


def running_extreme_vjp(
    dy: Array, y: Array, array: Array, axis: int = 0, dtype: Any = None, out: Any = None
) -> Array:
    """Pull back to where each running extreme stood last; a NaN that lasts is its own."""
    ndim, n = np.ndim(array), np.shape(array)[axis]
    tail = ndim - 1 - axis % ndim
    place = np.reshape(np.arange(n), (n,) + (1,) * tail)
    stands = np.logical_or(np.equal(array, y), np.logical_and(np.isnan(array), np.isnan(y)))
    source = np.maximum.accumulate(np.where(stands, place, 0), axis)
    return scatter(dy, open_index(np.shape(array), source, axis % ndim), np.shape(array))


class Segments:
    """The slices that reduceat reduces: from each index to the next, or the index alone."""

    def __init__(self, indices: Any, n: int) -> None:
        starts = [int(k) for k in np.reshape(np.asarray(indices), -1)]
        pairs = zip(starts, [*starts[1:], n], strict=False)
        self.slices = [slice(s, e if s < e else s + 1) for s, e in pairs]
        self.lengths = [s.stop - s.start for s in self.slices]
        self.starts = np.cumsum([0, *self.lengths])[:-1]
        members = [np.arange(s.start, s.stop) for s in self.slices]
        self.members = np.concatenate([np.arange(0), *members])

    def repeated(self, r: Array, axis: int) -> Array:
        """Return each slice's value once for each of its members."""
        return np.repeat(r, self.lengths, axis=axis)


def reduceat_vjp(share: Callable[..., Array]) -> Callable[..., Array]:
    """Return the rule of a reduceat, given what each member of a slice gets."""

    def pulled(
        dy: Array, y: Array, array: Array, indices: Any, axis: int = 0, dtype: Any = None,
        out: Any = None,
    ) -> Array:  # fmt: skip
        refuse_real("reduceat", dtype, array)
        parts = Segments(indices, np.shape(array)[axis])
        members = np.take(array, parts.members, axis=axis)
        dx = share(parts, dy, y, members, axis)
        return scatter(dx, along(axis, np.ndim(array), parts.members), np.shape(array))

    return pulled


def _sum_share(parts: Segments, dy: Array, y: Array, members: Array, axis: int) -> Array:
    return parts.repeated(dy, axis)


def _extreme_share(parts: Segments, dy: Array, y: Array, members: Array, axis: int) -> Array:
    top = parts.repeated(y, axis)
    hit = np.logical_or(np.equal(members, top), np.logical_and(np.isnan(members), np.isnan(top)))
    hits = np.add.reduceat(hit, parts.starts, axis)
    return np.where(hit, parts.repeated(dy / hits, axis), 0)


def _product_share(parts: Segments, dy: Array, y: Array, members: Array, axis: int) -> Array:
    ndim = np.ndim(members)
    found = [members[along(axis, ndim, slice(0, 0))]]
    for k, (start, length) in enumerate(zip(parts.starts, parts.lengths, strict=True)):
        part = members[along(axis, ndim, slice(int(start), int(start) + length))]
        at = along(axis, ndim, slice(k, k + 1))
        found.append(prod_vjp(dy[at], y[at], part, axis, keepdims=True))
    return np.concatenate(found, axis=axis)


_fn: Any
defvjp(np.logaddexp.reduce, logaddexp_reduce_vjp(np.exp))
defvjp(np.logaddexp2.reduce, logaddexp_reduce_vjp(np.exp2))
defvjp(np.hypot.reduce, hypot_reduce_vjp)
for _fn in (np.fmax, np.fmin):
    defvjp(_fn.reduce, extreme_reduce_vjp, live=Live.SELECTS)
for _fn in (np.maximum, np.minimum, np.fmax, np.fmin):
    defvjp(_fn.accumulate, running_extreme_vjp, live=Live.SELECTS)
    defvjp(_fn.reduceat, reduceat_vjp(_extreme_share), zero, live=Live.SELECTS)
defvjp(np.add.reduceat, reduceat_vjp(_sum_share), zero, live=Live.SELECTS)
defvjp(np.multiply.reduceat, reduceat_vjp(_product_share), zero)
for _fn in [fn for fn in NONDIFF if isinstance(fn, np.ufunc) and fn.nin == 2]:
    NONDIFF.update((_fn.reduce, _fn.accumulate, _fn.outer, _fn.reduceat))
