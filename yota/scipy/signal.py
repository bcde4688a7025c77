"""`scipy.signal.convolve` for traced values; every other name is SciPy's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal as _signal

from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper(__name__, "scipy.signal")


def in_full(dy: Array, n: tuple[int, ...], m: tuple[int, ...], mode: str) -> Array:
    """Return the cotangent of the full convolution of which `mode` keeps a part."""
    pads = []
    for have, a, b in zip(np.shape(dy), n, m, strict=True):
        start = (a + b - 1 - have) // 2
        pads.append((start, a + b - 1 - have - start))
    return dy if mode == "full" else np.pad(dy, pads)


def convolve_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one operand: the cotangent convolved with the other, turned around."""

    def pulled(
        dy: Array, y: Array, in1: Array, in2: Array, mode: str = "full", method: str = "auto"
    ) -> Array:
        other = (in2, in1)[position]
        if np.ndim(other) == 0:
            return dy * other
        whole = in_full(dy, np.shape(in1), np.shape(in2), mode)
        return convolve(whole, np.flip(other), "valid", method)

    return pulled


convolve = wrap(_signal.convolve, convolve_vjp(0), convolve_vjp(1))


def __getattr__(name: str) -> Any:
    return getattr(_signal, name)


def __dir__() -> list[str]:
    return dir(_signal)
