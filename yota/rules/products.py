"""Rules of products of vectors, matrices and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.registry import conj, defvjp, refuse, refuse_real, unbroadcast
from yota.rules.shape import inverse

Array = Any


def t(a: Array) -> Array:
    """Return the matrices transposed."""
    return np.swapaxes(a, -1, -2)


def h(a: Array) -> Array:
    """Return the matrices transposed and conjugated."""
    return conj(t(a))


def column(a: Array) -> Array:
    """Return vectors as matrices of one column."""
    return np.expand_dims(a, -1)


def row(a: Array) -> Array:
    """Return vectors as matrices of one row."""
    return np.expand_dims(a, -2)


def refuse_axes(options: dict[str, Any], a: Array, b: Array) -> None:
    """Raise RuleError for the options of a product that its rules cannot honour."""
    refuse_real("a product", options.get("dtype"), a, b)
    known = ("dtype", "casting", "order", "subok")
    rest = {k: v for k, v in options.items() if k not in known}
    refuse("a product", "move the axes with np.moveaxis first", **rest)


def matmul_left_vjp(dy: Array, y: Array, a: Array, b: Array, **options: Any) -> Array:
    """Pull a matrix product back to its left factor."""
    refuse_axes(options, a, b)
    if np.ndim(b) == 1:
        return dy * b if np.ndim(a) == 1 else column(dy) * b
    if np.ndim(a) == 1:
        return unbroadcast((b @ column(dy))[..., 0], np.shape(a))
    return unbroadcast(dy @ t(b), np.shape(a))


def matmul_right_vjp(dy: Array, y: Array, a: Array, b: Array, **options: Any) -> Array:
    """Pull a matrix product back to its right factor."""
    refuse_axes(options, a, b)
    if np.ndim(a) == 1:
        if np.ndim(b) == 1:
            return dy * a
        return column(a) * row(dy)
    if np.ndim(b) == 1:
        return unbroadcast((t(a) @ column(dy))[..., 0], np.shape(b))
    return unbroadcast(t(a) @ dy, np.shape(b))


def dot_left_vjp(dy: Array, y: Array, a: Array, b: Array, out: Any = None) -> Array:
    """Pull np.dot back to its left factor."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(dy * b, np.shape(a))
    if np.ndim(a) <= 2 and np.ndim(b) <= 2:
        return matmul_left_vjp(dy, y, a, b)
    return tensordot_left_vjp(dy, y, a, b, ([-1], [max(np.ndim(b) - 2, 0)]))


def dot_right_vjp(dy: Array, y: Array, a: Array, b: Array, out: Any = None) -> Array:
    """Pull np.dot back to its right factor."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(dy * a, np.shape(b))
    if np.ndim(a) <= 2 and np.ndim(b) <= 2:
        return matmul_right_vjp(dy, y, a, b)
    return tensordot_right_vjp(dy, y, a, b, ([-1], [max(np.ndim(b) - 2, 0)]))


def inner_left_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Pull np.inner back to its left factor."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(dy * b, np.shape(a))
    return tensordot_left_vjp(dy, y, a, b, ([-1], [-1]))


def inner_right_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Pull np.inner back to its right factor."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(dy * a, np.shape(b))
    return tensordot_right_vjp(dy, y, a, b, ([-1], [-1]))


def contracted(a: Array, b: Array, axes: Any) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the contracted axes of both factors of a tensordot, then the free ones."""
    if isinstance(axes, (int, np.integer)):
        axes = (range(np.ndim(a) - axes, np.ndim(a)), range(axes))
    pair = [[k] if isinstance(k, (int, np.integer)) else list(k) for k in axes]
    sums = [[int(k) % n for k in ks] for ks, n in zip(pair, (np.ndim(a), np.ndim(b)), strict=True)]
    free_a = [k for k in range(np.ndim(a)) if k not in sums[0]]
    return sums[0], sums[1], free_a, [k for k in range(np.ndim(b)) if k not in sums[1]]


def tensordot_left_vjp(dy: Array, y: Array, a: Array, b: Array, axes: Any = 2) -> Array:
    """Contract the cotangent with what is free of the right factor."""
    sum_a, sum_b, free_a, free_b = contracted(a, b, axes)
    at = list(range(len(free_a), len(free_a) + len(free_b)))
    order = free_a + [sum_a[int(k)] for k in np.argsort(sum_b)]
    return np.transpose(np.tensordot(dy, b, (at, free_b)), inverse(order))


def tensordot_right_vjp(dy: Array, y: Array, a: Array, b: Array, axes: Any = 2) -> Array:
    """Contract the cotangent with what is free of the left factor."""
    sum_a, sum_b, free_a, free_b = contracted(a, b, axes)
    order = [sum_b[int(k)] for k in np.argsort(sum_a)] + free_b
    at = list(range(len(free_a)))
    return np.transpose(np.tensordot(a, dy, (free_a, at)), inverse(order))


def vdot_left_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Pull vdot back to the factor that it conjugates."""
    return np.reshape(conj(dy * b), np.shape(a))


def vdot_right_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Pull vdot back to the factor that it leaves alone."""
    return np.reshape(dy * conj(a), np.shape(b))


def outer_left_vjp(dy: Array, y: Array, a: Array, b: Array, out: Any = None) -> Array:
    """Pull an outer product back to its left factor."""
    return np.reshape(dy @ np.reshape(b, -1), np.shape(a))


def outer_right_vjp(dy: Array, y: Array, a: Array, b: Array, out: Any = None) -> Array:
    """Pull an outer product back to its right factor."""
    return np.reshape(np.reshape(a, -1) @ dy, np.shape(b))


def kron_parts(dy: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Return cotangent and factors with the factors' axes alternating."""
    ndim = max(np.ndim(a), np.ndim(b))
    left = (1,) * (ndim - np.ndim(a)) + np.shape(a)
    right = (1,) * (ndim - np.ndim(b)) + np.shape(b)
    both = zip(left, right, strict=True)
    return (
        np.reshape(dy, [n for pair in both for n in pair]),
        np.reshape(a, [n for k in left for n in (k, 1)]),
        np.reshape(b, [n for k in right for n in (1, k)]),
    )


def kron_left_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Sum over the right factor's axes."""
    g, _, right = kron_parts(dy, a, b)
    return np.reshape(np.sum(g * right, axis=tuple(range(1, np.ndim(g), 2))), np.shape(a))


def kron_right_vjp(dy: Array, y: Array, a: Array, b: Array) -> Array:
    """Sum over the left factor's axes."""
    g, left, _ = kron_parts(dy, a, b)
    return np.reshape(np.sum(g * left, axis=tuple(range(0, np.ndim(g), 2))), np.shape(b))


def cross_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one factor of a cross product; in the plane its third component is 0."""

    def pulled(
        dy: Array, y: Array, a: Array, b: Array, axisa: int = -1, axisb: int = -1,
        axisc: int = -1, axis: int | None = None,
    ) -> Array:  # fmt: skip
        axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
        a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
        if np.shape(a)[-1] == np.shape(b)[-1] == 2:
            g = np.stack([np.zeros_like(dy), np.zeros_like(dy), dy], axis=-1)
        else:
            g = np.moveaxis(dy, axisc, -1)
        own, other = (a, b) if position == 0 else (b, a)
        dx = np.cross(_in_space(other), g)
        dx = unbroadcast((dx if position == 0 else -dx)[..., : np.shape(own)[-1]], np.shape(own))
        return np.moveaxis(dx, -1, axisb if position else axisa)

    return pulled


def _in_space(a: Array) -> Array:
    if np.shape(a)[-1] == 3:
        return a
    return np.concatenate([a, np.zeros_like(a[..., :1])], axis=-1)


def vecdot_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one factor of vecdot, which conjugates the first."""

    def pulled(
        dy: Array, y: Array, a: Array, b: Array, *, axis: int = -1, keepdims: bool = False,
        **options: Any,
    ) -> Array:  # fmt: skip
        refuse_axes(options, a, b)
        a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
        g = np.moveaxis(dy, axis, -1) if keepdims else column(dy)
        dx = conj(g * b) if position == 0 else g * conj(a)
        return np.moveaxis(unbroadcast(dx, np.shape((a, b)[position])), -1, axis)

    return pulled


def matvec_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one factor of matvec."""

    def pulled(dy: Array, y: Array, a: Array, b: Array, **options: Any) -> Array:
        refuse_axes(options, a, b)
        if position == 0:
            return unbroadcast(column(dy) * row(b), np.shape(a))
        return unbroadcast((t(a) @ column(dy))[..., 0], np.shape(b))

    return pulled


def vecmat_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one factor of vecmat, which conjugates the first."""

    def pulled(dy: Array, y: Array, a: Array, b: Array, **options: Any) -> Array:
        refuse_axes(options, a, b)
        # With an order NumPy 2.4 itself gives wrong products of complex operands.
        refuse("np.vecmat", "leave it away", order=options.get("order"))
        if position == 0:
            return unbroadcast(conj((b @ column(dy))[..., 0]), np.shape(a))
        return unbroadcast(column(conj(a)) * row(dy), np.shape(b))

    return pulled


_fn: Any
for _fn in (np.matmul, np.linalg.matmul):
    defvjp(_fn, matmul_left_vjp, matmul_right_vjp)
for _fn in (np.outer, np.linalg.outer):
    defvjp(_fn, outer_left_vjp, outer_right_vjp)
for _fn in (np.cross, np.linalg.cross):
    defvjp(_fn, cross_vjp(0), cross_vjp(1))
for _fn in (np.vecdot, np.linalg.vecdot):
    defvjp(_fn, vecdot_vjp(0), vecdot_vjp(1))
for _fn in (np.tensordot, np.linalg.tensordot):
    defvjp(_fn, tensordot_left_vjp, tensordot_right_vjp)
defvjp(np.dot, dot_left_vjp, dot_right_vjp)
defvjp(np.inner, inner_left_vjp, inner_right_vjp)
defvjp(np.vdot, vdot_left_vjp, vdot_right_vjp)
defvjp(np.kron, kron_left_vjp, kron_right_vjp)
if hasattr(np, "matvec"):
    defvjp(np.matvec, matvec_vjp(0), matvec_vjp(1))
    defvjp(np.vecmat, vecmat_vjp(0), vecmat_vjp(1))
