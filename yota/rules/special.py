"""Rules of einsum, convolution and other functions that fit no family."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.functional import place, scatter
from yota.rules.registry import (
    Live,
    conj,
    defvjp,
    is_complex,
    nondiff,
    refuse_real,
    unbroadcast,
    zero,
)

Array = Any
# Labels by number in the order in which einsum sorts them, so that capitals come first.
LETTERS = string.ascii_uppercase + string.ascii_lowercase
# Not so in all versions of NumPy if it optimizes.
_einsum: Any = np.einsum
AS_OPTIMIZED = _einsum(np.empty((1, 2)), [0, 26], optimize=True).shape == (1, 2)


# einsum.


def einsum_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one operand of einsum, in either of its call forms."""

    def pulled(dy: Array, y: Array, *args: Any, **kwargs: Any) -> Array:
        if type(args[0]) is str:
            terms, operands, own = args[0], list(args[1:]), position - 1
        else:
            terms, own = as_string(args, bool(kwargs.get("optimize"))), position // 2
            operands = list(args[: len(args) // 2 * 2 : 2])
        refuse_real("np.einsum", kwargs.get("dtype"), *operands)
        inputs, output = labels(terms, operands)
        return operand_cotangent(dy, inputs, output, operands, own, bool(kwargs.get("optimize")))

    return pulled


def as_string(args: tuple[Any, ...], optimize: bool) -> str:
    """Return einsum's string form of alternating operands and lists of labels."""
    letters = string.ascii_letters if optimize and not AS_OPTIMIZED else LETTERS
    terms = [_as_term(t, letters) for t in args[1::2]]
    joined = ",".join(terms)
    return f"{joined}->{_as_term(args[-1], letters)}" if len(args) % 2 else joined


def _as_term(sublist: Any, letters: str) -> str:
    return "".join("..." if k is Ellipsis else letters[k] for k in sublist)


def labels(subscripts: str, operands: list[Array]) -> tuple[list[str], str]:
    """Return one label an axis for each operand and for the output; ellipses are spelled out."""
    subscripts = subscripts.replace(" ", "")
    left, arrow, output = subscripts.partition("->")
    terms = left.split(",")
    if not arrow:
        named = left.replace("...", "").replace(",", "")
        output = "..." if "..." in left else ""
        output += "".join(sorted(c for c in set(named) if named.count(c) == 1))
    hidden = [np.ndim(x) - len(t.replace("...", "")) for t, x in zip(terms, operands, strict=True)]
    free = [c for c in LETTERS if c not in subscripts][: max(hidden, default=0)]
    spelled = [
        t.replace("...", "".join(free[len(free) - n :])) for t, n in zip(terms, hidden, strict=True)
    ]
    return spelled, output.replace("...", "".join(free))


def operand_cotangent(
    dy: Array, inputs: list[str], output: str, operands: list[Array], own: int, optimize: bool
) -> Array:
    """Contract the cotangent with the other operands; spread it over what was summed away."""
    shape, mine = np.shape(operands[own]), inputs[own]
    unique = "".join(dict.fromkeys(mine))
    others = [k for k in range(len(operands)) if k != own]
    known = set(output).union(*(inputs[k] for k in others))
    target = "".join(c for c in unique if c in known)
    terms = ",".join([output, *(inputs[k] for k in others)])
    options: Any = {"optimize": True} if optimize else {}
    dx = np.einsum(f"{terms}->{target}", dy, *(operands[k] for k in others), **options)
    lengths = tuple(shape[mine.index(c)] for c in unique)
    missing = tuple(k for k, c in enumerate(unique) if c not in known)
    dx = np.expand_dims(dx, missing) if missing else dx
    # An axis of length 1 may stand for all, as in broadcasting, on either side.
    both = zip(lengths, np.shape(dx), strict=True)
    dx = unbroadcast(dx, tuple(n if n == 1 else m for n, m in both))
    dx = dx if np.shape(dx) == lengths else np.broadcast_to(dx, lengths)
    return dx if unique == mine else on_diagonal(dx, unique, mine, shape)


def on_diagonal(dx: Array, unique: str, mine: str, shape: tuple[int, ...]) -> Array:
    """Put the cotangent where equal labels have equal indices."""
    ndim = len(unique)
    index = []
    for c, n in zip(mine, shape, strict=True):
        at = unique.index(c)
        index.append(np.reshape(np.arange(n), (1,) * at + (n,) + (1,) * (ndim - at - 1)))
    return place(dx, tuple(index), shape)


# Convolution of vectors.


def in_full(dy: Array, n: int, m: int, mode: str) -> Array:
    """Return the cotangent of the full convolution of which `mode` keeps a part."""
    short, long = min(n, m), max(n, m)
    if mode not in ("full", "same", "valid"):
        raise RuleError(f"mode {mode!r}: say 'full', 'same' or 'valid'")
    if mode == "full":
        return dy
    start = short - 1 if mode == "valid" else (short - 1) // 2
    length = long - short + 1 if mode == "valid" else long
    return place(dy, slice(start, start + length), (n + m - 1,))


def convolve_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the two vectors convolved."""

    def pulled(dy: Array, y: Array, a: Array, v: Array, mode: str = "full") -> Array:
        full = in_full(dy, np.shape(a)[0], np.shape(v)[0], mode)
        return np.convolve(full, np.flip((v, a)[position]), "valid")

    return pulled


def correlate_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the two vectors correlated: convolved with one turned round."""

    def pulled(dy: Array, y: Array, a: Array, v: Array, mode: str = "valid") -> Array:
        n, m = np.shape(a)[0], np.shape(v)[0]
        # NumPy swaps the two where the second is longer, and turns the result round.
        full = in_full(dy, n, m, mode) if n >= m else np.flip(in_full(np.flip(dy), n, m, mode))
        if position == 0:
            return np.convolve(full, conj(v), "valid")
        return conj(np.flip(np.convolve(full, np.flip(a), "valid")))

    return pulled


# Statistics.


def cov_vjp(
    dy: Array, y: Array, m: Array, other: Any = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None, fweights: Any = None, aweights: Any = None, *,
    dtype: Any = None,
) -> Array:  # fmt: skip
    """Pull a covariance matrix back to the observations of one data set without weights."""
    refuse_real("np.cov", dtype, m)
    if other is not None or fweights is not None or aweights is not None:
        raise RuleError("the derivative of np.cov is known for one data set without weights")
    flip = not rowvar and np.ndim(m) == 2
    x = np.reshape(m, (1, -1)) if np.ndim(m) < 2 else np.transpose(m) if flip else m
    k, n = np.shape(x)
    x = x - np.mean(x, axis=1, keepdims=True)
    g = np.reshape(dy, (k, k)) / (n - (ddof if ddof is not None else 0 if bias else 1))
    dx = g @ conj(x) + conj(np.transpose(g) @ x)
    dx = dx - np.mean(dx, axis=1, keepdims=True)
    return np.reshape(np.transpose(dx) if flip else dx, np.shape(m))


def corrcoef_vjp(
    dy: Array, y: Array, x: Array, other: Any = None, rowvar: bool = True,
    bias: Any = None, ddof: Any = None, *, dtype: Any = None,
) -> Array:  # fmt: skip
    """Pull back through the covariance, divided by the standard deviations."""
    if other is not None or np.ndim(x) < 2 or is_complex(x):
        raise RuleError("the derivative of np.corrcoef is known for one real matrix")
    c = np.cov(x, rowvar=rowvar)
    variance = np.diagonal(c)
    size = np.sqrt(np.outer(variance, variance))
    own = np.sum((dy + np.transpose(dy)) * y, axis=1) / variance * -0.5
    return cov_vjp(dy / size + np.diag(own), c, x, None, rowvar)


# Polynomials, spacing, blocks.


def polyval_coefficients_vjp(dy: Array, y: Array, p: Array, x: Array) -> Array:
    """Sum the cotangent times each power."""
    n = np.shape(p)[0]
    return np.stack([np.sum(dy * x ** (n - 1 - k)) for k in range(n)])


def polyval_point_vjp(dy: Array, y: Array, p: Array, x: Array) -> Array:
    """Multiply by the polynomial's derivative."""
    n = np.shape(p)[0]
    slope = 0.0 * x
    for k in range(n - 1):
        slope = slope * x + p[k] * (n - 1 - k)
    return dy * slope


def linspace_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one end of an even spacing."""

    def pulled(
        dy: Any, y: Any, start: Array, stop: Array, num: int = 50, endpoint: bool = True,
        retstep: bool = False, dtype: Any = None, axis: int = 0, **_: Any,
    ) -> Array:  # fmt: skip
        g = np.moveaxis(dy[0] if retstep else dy, axis, -1)
        t = np.linspace(0.0, 1.0, num, endpoint)
        dx = np.sum(g * (t if position else 1 - t), axis=-1)
        if retstep and num > 1:
            step = dy[1] / (num - 1 if endpoint else num)
            dx = dx + (step if position else -step)
        return unbroadcast(dx, np.shape((start, stop)[position]))

    return pulled


def gradient_vjp(
    dy: Any, y: Any, f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> Array:
    """Pull back through differences at an even spacing, one-sided at the ends."""
    ndim = np.ndim(f)
    axes = range(ndim) if axis is None else axis if type(axis) in (tuple, list) else (axis,)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if edge_order != 1 or any(np.ndim(s) for s in steps):
        raise RuleError("the derivative of np.gradient is known for even spacing, edge_order=1")
    parts = dy if type(y) in (tuple, list) else (dy,)
    total: Array = 0.0
    for g, step, k in zip(parts, steps, axes, strict=True):
        total = total + np.moveaxis(_differences_back(np.moveaxis(g, k, -1) / step), -1, k)
    return total


def _differences_back(g: Array) -> Array:
    def padded(part: Array, before: int, after: int) -> Array:
        return np.pad(part, [(0, 0)] * (np.ndim(g) - 1) + [(before, after)])

    n = np.shape(g)[-1]
    inner, first, last = g[..., 1:-1] * 0.5, g[..., :1], g[..., -1:]
    ends = padded(first, 1, n - 2) - padded(first, 0, n - 1)
    ends = ends + padded(last, n - 1, 0) - padded(last, n - 2, 1)
    return padded(inner, 2, 0) - padded(inner, 0, 2) + ends


def block_vjp(dy: Array, y: Array, arrays: Any) -> Any:
    """Cut the cotangent into the blocks, nested as they were given."""
    depth, inner = 0, arrays
    while type(inner) is list:
        depth, inner = depth + 1, inner[0]
    return _cut_blocks(dy, arrays, depth)


def _cut_blocks(g: Array, tree: Any, depth: int) -> Any:
    if type(tree) is not list:
        return np.reshape(g, np.shape(tree))
    pieces, start = [], 0
    for branch in tree:
        shape = np.block(_stand_in(branch)).shape
        length = shape[-depth] if depth <= len(shape) else 1
        at = (Ellipsis, slice(start, start + length), *(slice(None),) * (depth - 1))
        pieces.append(_cut_blocks(g[at], branch, depth - 1))
        start += length
    return pieces


def _stand_in(tree: Any) -> Any:
    return [_stand_in(b) for b in tree] if type(tree) is list else np.empty(np.shape(tree))


def resize_vjp(dy: Array, y: Array, a: Array, new_shape: Any) -> Array:
    """Add up the copies."""
    size, total = math.prod(np.shape(a)), math.prod(np.shape(y))
    flat = scatter(np.reshape(dy, -1), (np.arange(total) % max(size, 1),), (size,))
    return np.reshape(flat, np.shape(a))


def full_like_vjp(dy: Array, y: Array, a: Array, fill_value: Array, *_: Any, **__: Any) -> Array:
    """Sum over all places that were filled."""
    return unbroadcast(dy, np.shape(fill_value))


defvjp(np.einsum, rest=einsum_vjp)
defvjp(np.convolve, convolve_vjp(0), convolve_vjp(1))
defvjp(np.correlate, correlate_vjp(0), correlate_vjp(1))
defvjp(np.cov, cov_vjp)
defvjp(np.corrcoef, corrcoef_vjp)
defvjp(np.polyval, polyval_coefficients_vjp, polyval_point_vjp)
defvjp(np.linspace, linspace_vjp(0), linspace_vjp(1), zero)
defvjp(np.gradient, gradient_vjp)
defvjp(np.block, block_vjp, live=Live.MOVES)
defvjp(np.resize, resize_vjp, live=Live.MOVES)
defvjp(np.full_like, zero, full_like_vjp, live=Live.MOVES)

_fn: Any
for _fn in (np.unravel_index, np.ravel_multi_index, np.tril_indices_from, np.triu_indices_from):
    nondiff(_fn)
for _fn in (np.diag_indices_from, np.ix_, np.packbits, np.unpackbits, np.einsum_path):
    nondiff(_fn)
