"""Views and writes: every write becomes a functional op, and every name of the memory sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.arrays import same_layout
from yota.errors import TraceError
from yota.rules.functional import cast, getitem, identity, setitem, with_imag, with_real

if TYPE_CHECKING:
    from collections.abc import Callable

    from yota.tape import Var
    from yota.tracing.box import Traced


@dataclass(slots=True)
class Cell:
    """The memory behind an array and its views: each write through any of them is a new version."""

    owner: Var
    version: int = 0
    written_at: str = ""
    # a name of it, or of a copy, is a view in some memory layouts and a copy in others
    by_layout: bool = False


_BY_LAYOUT = (np.reshape, np.ravel)


def follow(box: Traced, fn: Any, args: Any, kwargs: Any, operands: list[Traced]) -> Traced:
    """Let a result share the memory of the operand that it is a view of, if it is one."""
    value = box._value
    if box._cell is None or fn is identity:
        return box
    if fn in _BY_LAYOUT:
        for x in (box, *operands):
            mark_by_layout(x)
    for operand in operands:
        if operand._cell is not None and (
            value is operand._value or _is_view(value, operand._value)
        ):
            box._cell, box._seen = operand._cell, operand._cell.version
            if args and args[0] is operand:
                box._parent = (operand, fn, args[1:], kwargs)
            break
    return box


def mark_by_layout(box: Traced) -> None:
    """Note that the memory layout decided what shares memory with an array, if it is one."""
    if box._cell is not None:
        box._cell.by_layout = True


def _is_view(value: Any, of: Any) -> bool:
    return value.base is not None and np.may_share_memory(value, of)


def sync(box: Traced) -> None:
    """Bring a view up to date with its array; raise TraceError where that cannot be done."""
    if box._cell is None or box._seen == box._cell.version:
        return
    if box._parent is None:
        raise TraceError(
            f"{box._trace.origin().place}: this array shares memory with one that was written at "
            f"{box._cell.written_at}; its own contents are no longer known. Take the view again "
            "after the write, or write into a copy"
        )
    parent, fn, args, kwargs = box._parent
    sync(parent)
    new = box._trace.record(fn, (parent, *args), kwargs)
    box._var, box._value, box._seen = new._var, new._value, box._cell.version


def write(box: Traced, new: Traced) -> None:
    """Let an array, and every array that it is a view of, hold what `new` holds.

    What would come to lie in memory otherwise than in NumPy is taken again from the array behind
    it at its next use.
    """
    if box._cell is None:
        raise TypeError(f"a {type(box._value).__name__} cannot be written in place")
    box._trace.written.add(box._cell.owner)
    box._trace.by_layout |= box._cell.by_layout
    if not box._value.flags.writeable:
        raise ValueError("assignment destination is read-only")
    sync(box)
    cell = box._cell
    cell.version += 1
    cell.written_at = box._trace.origin().place
    held = new
    while box._parent is not None:
        parent, fn, args, kwargs = box._parent
        back = _UNVIEW.get(fn) if parent._seen == cell.version - 1 else None
        above = back(parent, held, args, kwargs) if back is not None else None
        if above is None:
            break
        if same_layout(held._value, box._value):
            _hold(box, held)
        box, held = parent, above
    _hold(box, _laid_out(box, held))


def _hold(box: Traced, held: Traced) -> None:
    box._var, box._value, box._seen = held._var, held._value, box._cell.version  # type: ignore[union-attr]  # an array


def _laid_out(box: Traced, held: Traced) -> Traced:
    """Return what `held` holds in the memory layout of `box`."""
    if same_layout(held._value, box._value):
        return held
    whole = type(box)(box._trace, box._var, box._value)
    laid: Traced = box._trace.record(setitem, (whole, Ellipsis, held), {})
    return laid


def store(target: Traced, value: Any, casting: Any = "same_kind") -> None:
    """Write a result into an array, cast and broadcast as NumPy's `out=` does."""
    plain = value._value if hasattr(value, "_value") else value
    # numpy itself decides whether the store is allowed, on a throw-away copy
    np.copyto(np.array(target._value), plain, casting=casting)
    if np.shape(value) != np.shape(target):
        value = np.broadcast_to(value, np.shape(target))
    if value.dtype != target._value.dtype:
        value = cast(value, target._value.dtype)
    write(target, value)


def _unview_item(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    # a box of its own: the parent counts as stale until it holds the result
    whole = type(parent)(parent._trace, parent._var, parent._value)
    written: Traced = parent._trace.record(setitem, (whole, args[0], new), {})
    return written


def _unview_shape(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced | None:
    order = kwargs.get("order", "C")
    return _reshaped(parent, new, order)


def _unview_reshape(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced | None:
    return _reshaped(parent, new, args[1] if len(args) > 1 else kwargs.get("order", "C"))


def _unview_ravel(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced | None:
    return _reshaped(parent, new, args[0] if args else kwargs.get("order", "C"))


def _reshaped(parent: Traced, new: Traced, order: Any) -> Traced | None:
    if order not in ("C", "F"):
        return None
    more = {} if order == "C" else {"order": order}
    shaped: Traced = parent._trace.record(np.reshape, (new, parent._value.shape), more)
    return shaped


def _unview_transpose(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    axes = args[0] if args else kwargs.get("axes")
    axes = (axes,) if isinstance(axes, int) else axes
    ndim = new._value.ndim
    back = None if axes is None else tuple(int(k) for k in np.argsort([a % ndim for a in axes]))
    turned: Traced = parent._trace.record(np.transpose, (new, back), {})
    return turned


def _unview_real(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    return _with_part(with_real, parent, new)


def _unview_imag(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    return _with_part(with_imag, parent, new)


def _with_part(fn: Any, parent: Traced, new: Traced) -> Traced:
    whole = type(parent)(parent._trace, parent._var, parent._value)
    written: Traced = parent._trace.record(fn, (whole, new), {})
    return written


def _unview_turned(fn: Any) -> Callable[..., Traced | None]:
    """Return how a view by `fn`, which shows each element once, is written back."""

    def unview(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced | None:
        if not all(type(a) in (int, tuple) for a in (*args, *kwargs.values())):
            return None
        shape = parent._value.shape
        places = fn(np.arange(parent._value.size).reshape(shape), *args, **kwargs)
        back = np.argsort(np.ravel(places))
        flat = parent._trace.record(np.reshape, (new, (-1,)), {})
        turned = parent._trace.record(getitem, (flat, back), {})
        return parent._trace.record(np.reshape, (turned, shape), {})  # type: ignore[no-any-return]

    return unview


_TURNING: tuple[Any, ...] = (
    np.flip, np.flipud, np.fliplr, np.rot90, np.swapaxes, np.moveaxis, np.rollaxis,
    np.matrix_transpose, np.atleast_1d, np.atleast_2d, np.atleast_3d,
)  # fmt: skip
_UNVIEW: dict[Any, Callable[..., Traced | None]] = {
    **{fn: _unview_turned(fn) for fn in _TURNING},
    getitem: _unview_item,
    np.real: _unview_real,
    np.imag: _unview_imag,
    np.ravel: _unview_ravel,
    np.reshape: _unview_reshape,
    np.squeeze: _unview_shape,
    np.expand_dims: _unview_shape,
    np.transpose: _unview_transpose,
}
