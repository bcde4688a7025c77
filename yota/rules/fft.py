"""Rules of Fourier transforms: each is its own transpose, but for lengths and halves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.index import along
from yota.rules.registry import Live, conj, defvjp

Array = Any
OTHER_NORM: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "forward": "backward",
    "ortho": "ortho",
}


def fitted(dx: Array, length: int, axis: int) -> Array:
    """Cut one axis to a length, or fill it up with zeros."""
    ndim, have = np.ndim(dx), np.shape(dx)[axis]
    if have > length:
        return dx[along(axis, ndim, slice(0, length))]
    if have < length:
        widths = [(0, 0)] * ndim
        widths[axis] = (0, length - have)
        return np.pad(dx, widths)
    return dx


def plain_vjp(fn: Callable[..., Array]) -> Callable[..., Array]:
    """Return the rule of a transform that is a symmetric matrix: itself."""

    def pulled(
        dy: Array, y: Array, a: Array, n: int | None = None, axis: int = -1,
        norm: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        return fitted(fn(dy, n, axis, norm), np.shape(a)[axis], axis)

    return pulled


def rfft_vjp(
    dy: Array, y: Array, a: Array, n: int | None = None, axis: int = -1,
    norm: Any = None, out: Any = None,
) -> Array:  # fmt: skip
    """Pull back through the first half of the transform of a real signal."""
    length = np.shape(a)[axis]
    n = length if n is None else n
    return fitted(np.real(np.fft.fft(dy, n, axis, norm)), length, axis)


def irfft_vjp(
    dy: Array, y: Array, a: Array, n: int | None = None, axis: int = -1,
    norm: Any = None, out: Any = None,
) -> Array:  # fmt: skip
    """Pull back to the half spectrum: what stands for two frequencies counts twice."""
    n = np.shape(y)[axis]
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    tail = np.ndim(dy) - 1 - axis % np.ndim(dy)
    weights = np.reshape(weights, (-1,) + (1,) * tail)
    half = np.conjugate(np.fft.rfft(dy, n, axis, OTHER_NORM[norm])) * weights
    return fitted(half, np.shape(a)[axis], axis)


def chosen_axes(a: Array, s: Any, axes: Any) -> list[int]:
    """Return the axes of a transform along several, nonnegative."""
    ndim = np.ndim(a)
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    return [k % ndim for k in axes]


def many_vjp(fn: Callable[..., Array], axes_by_default: Any) -> Callable[..., Array]:
    """Return the rule of a transform along several axes."""

    def pulled(
        dy: Array, y: Array, a: Array, s: Any = None, axes: Any = axes_by_default,
        norm: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        axes = chosen_axes(a, s, axes)
        dx = fn(dy, None, axes, norm)
        for k in axes:
            dx = fitted(dx, np.shape(a)[k], k)
        return dx

    return pulled


def rfftn_vjp(axes_by_default: Any) -> Callable[..., Array]:
    """Return the rule of a real transform along several axes: the last first, then the others."""

    def pulled(
        dy: Array, y: Array, a: Array, s: Any = None, axes: Any = axes_by_default,
        norm: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        *others, last = chosen_axes(a, s, axes)
        shape = np.shape(a)
        for k in others:
            dy = fitted(np.fft.fft(dy, None, k, norm), shape[k], k)
        n = shape[last] if s is None or s[-1] is None or s[-1] == -1 else s[-1]
        return fitted(np.real(np.fft.fft(dy, n, last, norm)), shape[last], last)

    return pulled


def irfftn_vjp(axes_by_default: Any) -> Callable[..., Array]:
    """Return the rule of an inverse real transform along several axes."""

    def pulled(
        dy: Array, y: Array, a: Array, s: Any = None, axes: Any = axes_by_default,
        norm: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        *others, last = chosen_axes(a, s, axes)
        dx = irfft_vjp(dy, y, a, None, last, norm)
        for k in others:
            dx = fitted(np.fft.ifft(dx, None, k, norm), np.shape(a)[k], k)
        return dx

    return pulled


def hfft_vjp(
    dy: Array, y: Array, a: Array, n: int | None = None, axis: int = -1,
    norm: Any = None, out: Any = None,
) -> Array:  # fmt: skip
    """Pull back as irfft of the conjugate does."""
    return np.conjugate(irfft_vjp(dy, y, a, n, axis, OTHER_NORM[norm]))


def ihfft_vjp(
    dy: Array, y: Array, a: Array, n: int | None = None, axis: int = -1,
    norm: Any = None, out: Any = None,
) -> Array:  # fmt: skip
    """Pull back as the conjugate of rfft does."""
    return rfft_vjp(conj(dy), y, a, n, axis, OTHER_NORM[norm])


_fn: Any
for _fn in (np.fft.fft, np.fft.ifft):
    defvjp(_fn, plain_vjp(_fn))
for _fn in (np.fft.fft2, np.fft.ifft2):
    defvjp(_fn, many_vjp(_fn, (-2, -1)))
for _fn in (np.fft.fftn, np.fft.ifftn):
    defvjp(_fn, many_vjp(_fn, None))
defvjp(np.fft.rfft, rfft_vjp)
defvjp(np.fft.irfft, irfft_vjp)
defvjp(np.fft.hfft, hfft_vjp)
defvjp(np.fft.ihfft, ihfft_vjp)
defvjp(np.fft.rfft2, rfftn_vjp((-2, -1)))
defvjp(np.fft.rfftn, rfftn_vjp(None))
defvjp(np.fft.irfft2, irfftn_vjp((-2, -1)))
defvjp(np.fft.irfftn, irfftn_vjp(None))
defvjp(np.fft.fftshift, lambda dy, y, x, axes=None: np.fft.ifftshift(dy, axes), live=Live.MOVES)
defvjp(np.fft.ifftshift, lambda dy, y, x, axes=None: np.fft.fftshift(dy, axes), live=Live.MOVES)
