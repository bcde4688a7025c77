"""Rules of functions that move, repeat, join or cut without computing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.functional import place, scatter
from yota.rules.index import along
from yota.rules.registry import Live, defvjp, nondiff, takes_list, unbroadcast, zero

Array = Any
Axes = int | tuple[int, ...] | None


def back_to_shape(dy: Array, y: Array, a: Array, *_: Any, **__: Any) -> Array:
    """Give the cotangent the argument's shape."""
    return np.reshape(dy, np.shape(a))


def reshape_vjp(
    dy: Array, y: Array, a: Array, shape: Any = None, order: str = "C", **_: Any
) -> Array:
    """Give the cotangent the argument's shape, read in the same order."""
    return np.reshape(dy, np.shape(a), order=order_of(a, order))


def ravel_vjp(dy: Array, y: Array, a: Array, order: str = "C") -> Array:
    """Give the cotangent the argument's shape, read in the same order."""
    return np.reshape(dy, np.shape(a), order=order_of(a, order))


def order_of(a: Array, order: str) -> Any:
    """Return the order in which an array was read, where its memory decides."""
    if order in ("A", "K") and hasattr(a, "flags"):
        if a.flags.c_contiguous or a.flags.f_contiguous or order == "A":
            return "F" if a.flags.fnc else "C"
        raise RuleError(
            "no derivative is known of reading an array with gaps in order 'K': use 'C' or 'F'"
        )
    return order if order == "F" else "C"


def broadcast_to_vjp(dy: Array, y: Array, array: Array, shape: Any, subok: bool = False) -> Array:
    """Sum over what was repeated."""
    return unbroadcast(dy, np.shape(array))


# Orders of axes and of elements along them.


def transpose_vjp(dy: Array, y: Array, a: Array, axes: Sequence[int] | int | None = None) -> Array:
    """Undo the permutation of axes."""
    if axes is None or isinstance(axes, int):  # NumPy takes a number for the one axis there is
        return np.transpose(dy)
    return np.transpose(dy, inverse(axes))


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """Return the inverse of a permutation of axes, which may be named negatively."""
    return tuple(int(k) for k in np.argsort([k % len(axes) for k in axes]))


def rollaxis_vjp(dy: Array, y: Array, a: Array, axis: int, start: int = 0) -> Array:
    """Undo the permutation of axes."""
    # The shape of an empty stand-in whose lengths are the axes' numbers tells the permutation.
    stand_in = np.empty(tuple(range(np.ndim(a))))
    return np.transpose(dy, inverse(np.rollaxis(stand_in, axis, start).shape))


def roll_vjp(dy: Array, y: Array, a: Array, shift: Any, axis: Axes = None) -> Array:
    """Roll back."""
    back = tuple(-s for s in shift) if type(shift) in (tuple, list) else -shift
    return np.roll(dy, back, axis)


def rot90_vjp(dy: Array, y: Array, m: Array, k: int = 1, axes: Any = (0, 1)) -> Array:
    """Turn back."""
    return np.rot90(dy, -k, axes)


# Repetition.


def repeat_vjp(dy: Array, y: Array, a: Array, repeats: Any, axis: int | None = None) -> Array:
    """Sum over the copies."""
    shape = np.shape(a)
    flat = (math.prod(shape),) if axis is None else shape or (1,)
    at = 0 if axis is None else axis % len(flat)
    if type(repeats) is int:
        split = (*flat[: at + 1], repeats, *flat[at + 1 :])
        return np.reshape(np.sum(np.reshape(dy, split), axis=at + 1), shape)
    source = np.repeat(np.arange(flat[at]), repeats)
    return np.reshape(scatter(dy, along(at, len(flat), source), flat), shape)


def tile_vjp(dy: Array, y: Array, A: Array, reps: Any) -> Array:  # noqa: N803  # NumPy's name
    """Sum over the copies."""
    reps = tuple(int(r) for r in np.ravel(reps))
    ndim = max(len(reps), np.ndim(A))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - np.ndim(A)) + np.shape(A)
    split = tuple(n for pair in zip(reps, shape, strict=True) for n in pair)
    summed = np.sum(np.reshape(dy, split), axis=tuple(range(0, 2 * ndim, 2)))
    return np.reshape(summed, np.shape(A))


# Joining: an argument that is a list takes a list.


def cut(dy: Array, shapes: Sequence[tuple[int, ...]], axis: int) -> list[Array]:
    """Cut `dy` along `axis` into pieces as long as `shapes` say."""
    pieces, start = [], 0
    ndim = np.ndim(dy)
    for length in lengths_along(shapes, ndim, axis):
        pieces.append(dy[along(axis, ndim, slice(start, start + length))])
        start += length
    return pieces


def lengths_along(shapes: Sequence[tuple[int, ...]], ndim: int, axis: int) -> list[int]:
    """Return the lengths along `axis`; what has too few axes has length 1."""
    return [s[axis % ndim] if len(s) == ndim else 1 for s in shapes]


def pieces_like(dy: Array, arrays: Any, shapes: Sequence[tuple[int, ...]], axis: int) -> Any:
    """Return the pieces as the kind of sequence that was joined."""
    pieces = cut(dy, shapes, axis)
    if type(arrays) in (list, tuple):
        pieces = [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]
        return type(arrays)(pieces)
    return np.stack([np.reshape(p, np.shape(arrays)[1:]) for p in pieces])


@takes_list
def concatenate_vjp(
    dy: Array, y: Array, arrays: Any, axis: int | None = 0, *_: Any, **__: Any
) -> Any:
    """Cut the cotangent where the arrays were joined."""
    shapes = [np.shape(a) for a in arrays]
    if axis is None:
        return pieces_like(dy, arrays, [(math.prod(s),) for s in shapes], 0)
    return pieces_like(dy, arrays, shapes, axis)


@takes_list
def stack_vjp(dy: Array, y: Array, arrays: Any, axis: int = 0, *_: Any, **__: Any) -> Any:
    """Cut the cotangent where the arrays were stacked."""
    pieces = [dy[along(axis, np.ndim(dy), k)] for k in range(np.shape(dy)[axis])]
    return type(arrays)(pieces) if type(arrays) in (list, tuple) else np.stack(pieces)


def joined_vjp(axis: int) -> Callable[..., Any]:
    """Return the rule of a joiner along one axis, which vectors may not have or have as the last.

    It first gives arrays with too few axes more of them, of length 1.
    """

    @takes_list
    def pulled(dy: Array, y: Array, tup: Any, *_: Any, **__: Any) -> Any:
        return pieces_like(dy, tup, [np.shape(a) for a in tup], axis)

    return pulled


def append_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of np.append for one of its two arrays."""

    def pulled(dy: Array, y: Array, arr: Array, values: Array, axis: int | None = None) -> Array:
        return concatenate_vjp(dy, y, (arr, values), axis)[position]

    return pulled


# Cutting: the cotangent is a list.


def split_vjp(dy: Any, y: Any, ary: Array, sections: Any, axis: int = 0) -> Array:
    """Join the pieces' cotangents."""
    return np.concatenate(list(dy), axis=axis)


def hsplit_vjp(dy: Any, y: Any, ary: Array, sections: Any) -> Array:
    """Join the pieces' cotangents along the second axis; a vector's along its only one."""
    return np.concatenate(list(dy), axis=1 if np.ndim(ary) > 1 else 0)


def unstack_vjp(dy: Any, y: Any, x: Array, /, *, axis: int = 0) -> Array:
    """Stack the pieces' cotangents."""
    return np.stack(list(dy), axis=axis)


def at_least_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the arrays given more axes."""

    def pulled(dy: Any, y: Any, *arys: Array) -> Array:
        return np.reshape(dy if len(arys) == 1 else dy[position], np.shape(arys[position]))

    return pulled


def ix_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the vectors turned into an open grid."""
    return lambda dy, y, *args: np.reshape(dy[position], np.shape(args[position]))


def broadcast_arrays_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the arrays broadcast against each other."""

    def pulled(dy: Any, y: Any, *args: Array, subok: bool = False) -> Array:
        return unbroadcast(dy[position], np.shape(args[position]))

    return pulled


def meshgrid_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the grid's axes."""

    def pulled(
        dy: Any, y: Any, *xi: Array, copy: bool = True, sparse: bool = False, indexing: str = "xy"
    ) -> Array:
        swapped = indexing == "xy" and len(xi) > 1 and position < 2
        own = 1 - position if swapped else position
        summed = np.sum(dy[position], axis=tuple(k for k in range(len(xi)) if k != own))
        return np.reshape(summed, np.shape(xi[position]))

    return pulled


# Diagonals and triangles.


def diagonal_vjp(
    dy: Array, y: Array, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    """Put the cotangent on the diagonal."""
    shape = np.shape(a)
    rest = [n for k, n in enumerate(shape) if k not in (axis1 % len(shape), axis2 % len(shape))]
    start = np.arange(np.shape(dy)[-1])
    index = (Ellipsis, start + max(-offset, 0), start + max(offset, 0))
    placed = place(dy, index, (*rest, shape[axis1], shape[axis2]))
    return np.moveaxis(placed, (-2, -1), (axis1, axis2))


def trace_vjp(
    dy: Array, y: Array, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1,
    dtype: Any = None, out: Any = None,
) -> Array:  # fmt: skip
    """Repeat the cotangent along the diagonal."""
    length = np.diagonal(np.empty(np.shape(a)), offset, axis1, axis2).shape[-1]
    spread = np.broadcast_to(np.expand_dims(dy, -1), (*np.shape(dy), length))
    return diagonal_vjp(spread, y, a, offset, axis1, axis2)


def diag_vjp(dy: Array, y: Array, v: Array, k: int = 0) -> Array:
    """Take the diagonal, or put the cotangent on it."""
    return np.diagonal(dy, k) if np.ndim(v) == 1 else diagonal_vjp(dy, y, v, k)


def diagflat_vjp(dy: Array, y: Array, v: Array, k: int = 0) -> Array:
    """Take the diagonal."""
    return np.reshape(np.diagonal(dy, k), np.shape(v))


_fn: Any
for _fn in (np.squeeze, np.expand_dims):
    defvjp(_fn, back_to_shape, live=Live.MOVES)
for _fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    defvjp(_fn, rest=at_least_vjp, live=Live.MOVES)
defvjp(np.reshape, reshape_vjp, live=Live.MOVES)
defvjp(np.ravel, ravel_vjp, live=Live.MOVES)
defvjp(np.copy, lambda dy, y, a, *_, **__: dy, live=Live.MOVES)
defvjp(np.broadcast_to, broadcast_to_vjp, live=Live.MOVES)
defvjp(np.broadcast_arrays, rest=broadcast_arrays_vjp, live=Live.MOVES)
defvjp(np.ix_, rest=ix_vjp, live=Live.MOVES)
defvjp(np.meshgrid, rest=meshgrid_vjp, live=Live.MOVES)
defvjp(np.transpose, transpose_vjp, live=Live.MOVES)
defvjp(np.moveaxis, lambda dy, y, a, src, dst: np.moveaxis(dy, dst, src), live=Live.MOVES)
defvjp(np.swapaxes, lambda dy, y, a, axis1, axis2: np.swapaxes(dy, axis1, axis2), live=Live.MOVES)
defvjp(np.rollaxis, rollaxis_vjp, live=Live.MOVES)
defvjp(np.flip, lambda dy, y, m, axis=None: np.flip(dy, axis), live=Live.MOVES)
defvjp(np.fliplr, lambda dy, y, m: np.fliplr(dy), live=Live.MOVES)
defvjp(np.flipud, lambda dy, y, m: np.flipud(dy), live=Live.MOVES)
defvjp(np.roll, roll_vjp, zero, live=Live.MOVES)
defvjp(np.rot90, rot90_vjp, live=Live.MOVES)
defvjp(np.repeat, repeat_vjp, zero, live=Live.MOVES)
defvjp(np.tile, tile_vjp, zero, live=Live.MOVES)
defvjp(np.concatenate, concatenate_vjp, live=Live.MOVES)
defvjp(np.stack, stack_vjp, live=Live.MOVES)
defvjp(np.vstack, joined_vjp(0), live=Live.MOVES)
defvjp(np.hstack, joined_vjp(1), live=Live.MOVES)
defvjp(np.dstack, joined_vjp(2), live=Live.MOVES)
defvjp(np.column_stack, joined_vjp(1), live=Live.MOVES)
defvjp(np.append, append_vjp(0), append_vjp(1), live=Live.MOVES)
for _fn in (np.split, np.array_split):
    defvjp(_fn, split_vjp, live=Live.MOVES)
defvjp(np.hsplit, hsplit_vjp, live=Live.MOVES)
defvjp(np.vsplit, lambda dy, y, ary, sections: split_vjp(dy, y, ary, sections, 0), live=Live.MOVES)
defvjp(np.dsplit, lambda dy, y, ary, sections: split_vjp(dy, y, ary, sections, 2), live=Live.MOVES)
defvjp(np.diag, diag_vjp, live=Live.SELECTS)
defvjp(np.diagflat, diagflat_vjp, live=Live.MOVES)
defvjp(np.diagonal, diagonal_vjp, live=Live.SELECTS)
defvjp(np.trace, trace_vjp, live=Live.SELECTS)
defvjp(np.tril, lambda dy, y, m, k=0: np.tril(dy, k), live=Live.SELECTS)
defvjp(np.triu, lambda dy, y, m, k=0: np.triu(dy, k), live=Live.SELECTS)
defvjp(np.astype, lambda dy, y, x, *_, **__: dy, live=Live.MOVES)
if hasattr(np, "unstack"):
    defvjp(np.unstack, unstack_vjp, live=Live.MOVES)
for _fn in (np.matrix_transpose, np.linalg.matrix_transpose):
    defvjp(_fn, lambda dy, y, x: np.swapaxes(dy, -1, -2), live=Live.MOVES)
defvjp(
    np.linalg.diagonal,
    lambda dy, y, x, *, offset=0: diagonal_vjp(dy, y, x, offset, -2, -1),
    live=Live.SELECTS,
)
defvjp(
    np.linalg.trace,
    lambda dy, y, x, *, offset=0, dtype=None: trace_vjp(dy, y, x, offset, -2, -1),
    live=Live.SELECTS,
)

for _fn in (np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like):
    nondiff(_fn)
for _fn in (np.result_type, np.can_cast, np.min_scalar_type, np.common_type):
    nondiff(_fn)
