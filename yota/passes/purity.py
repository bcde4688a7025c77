"""Which functions may run once instead of twice, and which may run ahead of time."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

# Contents that NumPy leaves unspecified are as good as drawn.
_UNSPECIFIED = {np.empty, np.empty_like}

# Functions that give floating-point warnings through errstate alone, or none at all.
_QUIET = {
    np.sum, np.prod, np.max, np.min, np.cumsum, np.cumprod, np.dot, np.where, np.clip,
    np.zeros, np.ones, np.full, np.zeros_like, np.ones_like, np.full_like, np.eye, np.identity,
    np.arange, np.tri, np.tril, np.triu, np.diag, np.copy, np.asarray, np.ascontiguousarray,
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims,
    np.broadcast_to, np.concatenate, np.stack, np.flip, np.roll, np.tile, np.repeat, np.take,
    np.real, np.imag, np.all, np.any, np.argsort, np.sort, np.argmax, np.argmin, np.outer, np.kron,
}  # fmt: skip
_FUNCTIONAL = {
    "identity", "halt", "getitem", "setitem", "add_at", "with_real", "with_imag", "scatter",
    "place", "cast", "item",
}  # fmt: skip


def is_pure(fn: Callable[..., Any]) -> bool:
    """Tell whether equal operands give equal results and nothing else happens.

    A function of the user's counts as pure unless it has a true `__yota_impure__`.
    """
    if isinstance(fn, np.ufunc):
        return True
    if getattr(fn, "__yota_impure__", False) or getattr(fn, "impure", False):
        return False
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.random.Generator | np.random.RandomState):
        return False
    module = getattr(fn, "__module__", None) or ""
    return not module.startswith("numpy.random") and not _is_one_of(fn, _UNSPECIFIED)


def is_foldable(fn: Callable[..., Any]) -> bool:
    """Tell whether `fn` may run while the tape is optimised: known, pure and quiet."""
    if isinstance(fn, np.ufunc) or _is_one_of(fn, _QUIET):
        return True
    if getattr(fn, "__module__", "") in ("yota.rules.functional",):
        return fn.__name__ in _FUNCTIONAL
    return getattr(operator, getattr(fn, "__name__", ""), None) is fn


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
