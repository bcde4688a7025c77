"""NumPy's namespace, whose makers of arrays know traced values: `import yota.numpy as np`."""

from __future__ import annotations

import functools as _functools
from typing import Any

import numpy as _np

from yota.rules.registry import find_box
from yota.tracing import array as _array
from yota.tracing import current as _current


def array(
    object: Any, dtype: Any = None, *, order: Any = "K", ndmin: int = 0, **kwargs: Any
) -> Any:
    """Return `numpy.array`, also of lists that hold traced values."""
    if find_box((object,)) is None:
        made = _np.array(object, dtype=dtype, order=order, ndmin=ndmin, **kwargs)
        return made if kwargs.get("copy") is None and "copy" in kwargs else _writable(made)
    made = _array(object, dtype)
    made = made if order in ("K", "A") else _np.copy(made, order=order)
    return _np.reshape(made, (1,) * (ndmin - made.ndim) + made.shape) if ndmin > made.ndim else made


def asarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Return `numpy.asarray`, also of traced values and lists that hold them."""
    if find_box((a,)) is None:
        return _np.asarray(a, dtype=dtype, **kwargs)
    traced_array = hasattr(type(a), "__yota_record__") and isinstance(a, _np.ndarray)
    return a if traced_array and dtype is None else _array(a, dtype)


def _writable(made: Any) -> Any:
    """Return an array that traced values may be stored into, inside a traced function."""
    trace = _current()
    if trace is None or type(made) is not _np.ndarray:
        return made
    return trace.constant(made)


def zeros(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """Return `numpy.zeros`; inside a traced function, traced values may be stored into it."""
    return _writable(_np.zeros(shape, dtype, order))


def ones(shape: Any, dtype: Any = None, order: Any = "C") -> Any:
    """Return `numpy.ones`; inside a traced function, traced values may be stored into it."""
    return _writable(_np.ones(shape, dtype, order))


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """Return `numpy.empty`; inside a traced function zeros, so that every element is defined."""
    return zeros(shape, dtype, order) if _current() is not None else _np.empty(shape, dtype, order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Any:
    """Return `numpy.full`, also of a traced value."""
    if find_box((fill_value,)) is None:
        return _writable(_np.full(shape, fill_value, dtype, order))
    made = _np.copy(_np.broadcast_to(asarray(fill_value), shape))
    return made if dtype is None else _array(made, dtype)


def _maker(make: Any) -> Any:
    @_functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        return _writable(make(*args, **kwargs))

    return made


arange, copy, empty_like, eye, full_like, identity, linspace, ones_like, tri, zeros_like = map(
    _maker,
    (_np.arange, _np.copy, _np.zeros_like, _np.eye, _np.full_like, _np.identity, _np.linspace,
     _np.ones_like, _np.tri, _np.zeros_like),
)  # fmt: skip


def __getattr__(name: str) -> Any:
    return getattr(_np, name)


def __dir__() -> list[str]:
    return dir(_np)
