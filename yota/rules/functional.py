"""Operations NumPy has no function for: indexing, writing, casting without side effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.arrays import copy_layout
from yota.rules.registry import NONDIFF, primitive


@primitive
def identity(x: Any) -> Any:
    """Return `x` itself under a name of its own."""
    return x


@primitive
def getitem(x: Any, index: Any) -> Any:
    """Return `x[index]`."""
    return x[index]


@primitive
def setitem(x: Any, index: Any, value: Any) -> Any:
    """Return a copy of `x` in which `x[index]` is `value`."""
    new = copy_layout(x)
    new[index] = value
    return new


@primitive
def scatter(x: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros of `shape` with `x` added at `index`; repeated indices add up."""
    new = np.zeros(shape, np.asarray(x).dtype)
    np.add.at(new, index, x)
    return new


@primitive
def place(x: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros of `shape` with `x` stored at `index`, where no element is named twice."""
    new = np.zeros(shape, np.asarray(x).dtype)
    new[index] = x
    return new


@primitive
def add_at(x: Any, index: Any, value: Any) -> Any:
    """Return a copy of `x` with `value` added at `index`; repeated indices add up."""
    new = copy_layout(x)
    np.add.at(new, index, value)
    return new


@primitive
def with_real(x: Any, value: Any) -> Any:
    """Return a copy of complex `x` with another real part."""
    new = copy_layout(x)
    new.real = value
    return new


@primitive
def with_imag(x: Any, value: Any) -> Any:
    """Return a copy of complex `x` with another imaginary part."""
    new = copy_layout(x)
    new.imag = value
    return new


@primitive
def cast(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype; the imaginary part is dropped where `dtype` is real."""
    x = np.real(x) if np.iscomplexobj(x) and np.dtype(dtype).kind != "c" else x
    return x.astype(dtype) if hasattr(x, "astype") else np.dtype(dtype).type(x)


@primitive
def item(x: Any) -> Any:
    """Return the only element of `x` as a Python number."""
    return x.item() if hasattr(x, "item") else x


@primitive
def halt(x: Any) -> Any:
    """Return `x`; its derivative is zero by decision."""
    return x


NONDIFF.add(halt)


@primitive
def raises(fn: Any, error: type[BaseException], *args: Any, **kwargs: Any) -> bool:
    """Tell whether `fn(*args, **kwargs)` raises this error."""
    try:
        fn(*args, **kwargs)
    except error:
        return True
    return False
