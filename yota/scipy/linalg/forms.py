"""Matrices of a given form: blocks, constant diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as _linalg

from yota.errors import RuleError
from yota.rules.registry import find_box
from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper("yota.scipy.linalg", "scipy.linalg")


def block_diag_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one block: the part of the cotangent that it fills."""

    def pulled(dy: Array, y: Array, *blocks: Array) -> Array:
        shapes = [(1, 1, *np.shape(b))[-2:] for b in blocks]
        if np.ndim(dy) != 2:
            raise RuleError("no derivative is known of block_diag of several matrices at once")
        r, c = (sum(s[k] for s in shapes[:position]) for k in (0, 1))
        m, n = shapes[position]
        return np.reshape(dy[r : r + m, c : c + n], np.shape(blocks[position]))

    return pulled


def gathered(name: str, values: Array, index: Array) -> Array:
    """Return a matrix of the elements of a vector."""
    if np.ndim(values) != 1:
        raise RuleError(f"{name} of traced values takes vectors")
    return values[index]


def toeplitz(c: Any, r: Any = None) -> Any:
    """Return `scipy.linalg.toeplitz(c, r)`, also of traced vectors."""
    if find_box((c, r)) is None:
        return _linalg.toeplitz(c) if r is None else _linalg.toeplitz(c, r)
    c = np.ravel(c) if np.ndim(c) == 0 else c
    r = np.conjugate(c) if r is None else r
    n, m = np.shape(c)[0], np.shape(r)[0]
    index = np.arange(n)[::-1, None] + np.arange(m)
    return gathered("toeplitz", np.concatenate([c[::-1], r[1:]]), index)


def hankel(c: Any, r: Any = None) -> Any:
    """Return `scipy.linalg.hankel(c, r)`, also of traced vectors."""
    if find_box((c, r)) is None:
        return _linalg.hankel(c) if r is None else _linalg.hankel(c, r)
    r = np.zeros_like(c) if r is None else r
    index = np.arange(np.shape(c)[0])[:, None] + np.arange(np.shape(r)[0])
    return gathered("hankel", np.concatenate([c, r[1:]]), index)


def circulant(c: Any) -> Any:
    """Return `scipy.linalg.circulant(c)`, also of a traced vector."""
    if find_box((c,)) is None:
        return _linalg.circulant(c)
    at = np.arange(np.shape(c)[0])
    return gathered("circulant", c, at[:, None] - at)


block_diag = wrap(_linalg.block_diag, rest=block_diag_vjp)
