"""Calls of Fourier transforms."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.families.table import makes

NORMS = ("None", "'ortho'", "'forward'", "'backward'")


@makes("np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.hfft np.fft.ihfft")
def along_one(d: Draw, name: str) -> str:
    x = d.array(kind="real" if name in ("np.fft.rfft", "np.fft.ihfft") else "any", low=1, least=2)
    axis = d.axis(x, none=False, many=False)
    n = d.shape_of(x)[int(axis)]
    length = None if d.chance(0.5) else d.integer(max(n - 1, 2), n + 2)
    return f"{name}({x}, {length}, {axis}{d.options(norm=d.pick(NORMS))})"


@makes(
    "np.fft.fft2 np.fft.ifft2 np.fft.fftn np.fft.ifftn np.fft.rfft2 np.fft.rfftn np.fft.irfft2 "
    "np.fft.irfftn"
)
def along_many(d: Draw, name: str) -> str:
    x = d.array(kind="real" if "rfft" in name and "irfft" not in name else "any", low=2, least=4)
    shape = d.shape_of(x)
    n = len(shape)
    axes = tuple(d.signed(int(k), n) for k in d.rng.permutation(n)[:2])
    s = tuple(max(2, shape[k] + d.integer(-1, 1)) for k in axes)
    rest = d.pick(["", f", axes={axes}", f", s={s}, axes={axes}", f", {s}, {axes}"])
    return f"{name}({x}{rest}{d.options(norm=d.pick(NORMS))})"


@makes("np.fft.fftshift np.fft.ifftshift")
def shift(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    return f"{name}({x}{d.options(axes=d.axis(x))})"
