"""Array methods of boxes: NumPy's functions under the methods' names."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.rules.functional import cast, halt, identity, item
from yota.structs import flatten, unflatten
from yota.tracing import views
from yota.tracing.box import METHODS, Traced, record


def _shape_args(args: tuple[Any, ...]) -> Any:
    return args[0] if len(args) == 1 else args


def _reshape(x: Traced, *shape: Any, **kwargs: Any) -> Any:
    return np.reshape(x, _shape_args(shape), **kwargs)


def _transpose(x: Traced, *axes: Any) -> Any:
    return np.transpose(x, _shape_args(axes)) if axes else np.transpose(x)


def _flatten(x: Traced, order: Any = "C") -> Any:
    return np.copy(np.ravel(x, order))


def _astype(
    x: Traced,
    dtype: Any,
    order: str = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    old, new = x._value.dtype, np.dtype(dtype)
    if not np.can_cast(old, new, casting):
        raise TypeError(f"Cannot cast array data from {old!r} to {new!r} with casting {casting!r}")
    if old == new and not copy:
        views.mark_by_layout(x)
        if order == "K" or x._value.astype(new, order, copy=False) is x._value:
            return x
    made = record(cast, x, new)
    made = made if order == "K" or not np.ndim(x) else _copy(made, order)
    if old == new and not copy:
        views.mark_by_layout(made)
    return made


def _copy(x: Traced, order: Any = "C") -> Any:
    return np.copy(x, order=order) if np.ndim(x) else record(identity, x)


def _item(x: Traced, *index: Any) -> Any:
    at = _shape_args(index)
    if not index:
        return record(item, x)
    return record(item, x[at] if isinstance(at, tuple) else np.ravel(x)[at])


def _fill(x: Traced, value: Any) -> None:
    x[...] = value


def _sort_in_place(x: Traced, axis: int = -1, **kwargs: Any) -> None:
    views.store(x, np.sort(x, axis=axis, **kwargs))


def _partition_in_place(x: Traced, kth: Any, axis: int = -1, **kwargs: Any) -> None:
    views.store(x, np.partition(x, kth, axis=axis, **kwargs))


def _tolist(x: Any) -> Any:
    return [_tolist(row) for row in x] if np.ndim(x) else record(item, x)


def _conj(x: Traced) -> Any:
    if not np.iscomplexobj(x._value):
        return x
    return (
        np.conjugate(x) if isinstance(x, np.ndarray | np.generic) else record(item, np.conjugate(x))
    )


def _clip(x: Traced, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    return np.clip(x, min, max, out=out, **kwargs)


def _view(x: Traced, dtype: Any = None, type: Any = None) -> Any:
    given = [t for t in (dtype, type) if t is not None and t is not np.ndarray]
    if given and np.dtype(given[0]) != x._value.dtype:
        raise x._trace.escape(
            x, f".view({given[0]!r})", "use x.astype, or np.real and np.imag of complex values"
        )
    return x[...]


def _to_device(x: Traced, device: Any, /, *, stream: Any = None) -> Any:
    x._value.to_device(device, stream=stream)
    return x


METHODS |= {
    name: getattr(np, name)
    for name in (
        "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose",
        "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ravel",
        "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace",
        "var",
    )
}  # fmt: skip
METHODS |= {
    "astype": _astype,
    "clip": _clip,
    "copy": _copy,
    "conj": _conj,
    "conjugate": _conj,
    "fill": _fill,
    "flatten": _flatten,
    "item": _item,
    "partition": _partition_in_place,
    "ptp": np.ptp,
    "put": np.put,
    "reshape": _reshape,
    "sort": _sort_in_place,
    "to_device": _to_device,
    "tolist": _tolist,
    "transpose": _transpose,
    "view": _view,
    "compress": lambda x, condition, axis=None: np.compress(condition, x, axis=axis),
}


def stop_gradient(x: Any) -> Any:
    """Return `x`, a value or any structure, as a constant of the gradient."""
    leaves, structure = flatten(x, leaf=lambda v: isinstance(v, Traced))
    return unflatten(structure, [record(halt, v) for v in leaves]) if leaves else x
