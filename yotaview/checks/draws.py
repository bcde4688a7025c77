"""Inputs like the recorded ones, to see whether a rewrite holds for others, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def drawn(inputs: Sequence[Any], number: int) -> list[Any]:
    """Return random inputs of the recorded types and shapes: near the recorded ones, or far."""
    rng = np.random.default_rng(number)
    return [_drawn(x, rng, near=number % 2 == 1) for x in inputs]


def _drawn(x: Any, rng: np.random.Generator, *, near: bool) -> Any:
    if isinstance(x, bool) or not isinstance(x, np.ndarray | np.generic | float | complex):
        return x
    old = np.asarray(x)
    if old.dtype.kind not in "fc":
        # an index stays within what it indexes
        return rng.permutation(old.ravel()).reshape(old.shape) if old.ndim else x
    noise = rng.standard_normal(old.shape)
    if old.dtype.kind == "c":
        noise = noise + 1j * rng.standard_normal(old.shape)
    with np.errstate(all="ignore"):
        size = np.nanmean(np.abs(old[np.isfinite(old)])) if np.isfinite(old).any() else 1.0
        new = old + 0.3 * np.abs(old) * noise if near else noise * (size or 1.0)
        new = np.asarray(new, old.dtype)
    if isinstance(x, np.ndarray):
        return np.array(new, order="F" if x.flags.f_contiguous and x.ndim > 1 else "C")
    return type(x)(new.item()) if isinstance(x, float | complex) else x.dtype.type(new)
