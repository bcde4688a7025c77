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
    nondiff,
    refuse_real,
    takes_list,
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

    @takes_list
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
        output = "..." + "".join(sorted(c for c in set(named) if named.count(c) == 1))
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
        full = in_full(dy, np.size(a), np.size(v), mode)
        dx = np.convolve(full, np.flip((v, a)[position]), "valid")
        return np.reshape(dx, np.shape((a, v)[position]))

    return pulled


def correlate_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one of the two vectors correlated: convolved with one turned round."""

    def pulled(dy: Array, y: Array, a: Array, v: Array, mode: str = "valid") -> Array:
        n, m = np.size(a), np.size(v)
        # NumPy swaps the two where the second is longer, and turns the result round.
        full = in_full(dy, n, m, mode) if n >= m else np.flip(in_full(np.flip(dy), n, m, mode))
        if position == 0:
            return np.convolve(full, conj(v), "valid")
        return conj(np.flip(np.convolve(full, np.flip(a), "valid")))

    return pulled


# Blocks and copies.


@takes_list
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
    if not size:
        return np.zeros_like(a)
    flat = scatter(np.reshape(dy, -1), (np.arange(total) % size,), (size,))
    return np.reshape(flat, np.shape(a))


def full_like_vjp(dy: Array, y: Array, a: Array, fill_value: Array, *_: Any, **__: Any) -> Array:
    """Sum over all places that were filled."""
    return unbroadcast(dy, np.shape(fill_value))


defvjp(np.einsum, rest=einsum_vjp)
defvjp(np.convolve, convolve_vjp(0), convolve_vjp(1))
defvjp(np.correlate, correlate_vjp(0), correlate_vjp(1))
defvjp(np.block, block_vjp, live=Live.MOVES)
defvjp(np.resize, resize_vjp, live=Live.MOVES)
defvjp(np.full_like, zero, full_like_vjp, live=Live.MOVES)

_fn: Any
for _fn in (np.unravel_index, np.ravel_multi_index, np.tril_indices_from, np.triu_indices_from):
    nondiff(_fn)
for _fn in (np.diag_indices_from, np.packbits, np.unpackbits, np.einsum_path):
    nondiff(_fn)
