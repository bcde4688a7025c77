"""What NumPy's two protocols ask of a box: ufuncs with their methods, and NumPy's functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.errors import TraceError
from yota.rules.functional import cast
from yota.rules.lazily import learn
from yota.rules.registry import COMPOSED, NONDIFF, VJP, find_box, zero
from yota.tracing import views
from yota.tracing.box import Traced, brief, record
from yota.tracing.foreign import has_protocol
from yota.tracing.writers import WRITERS, write_at

# What the answer does not depend on the values for: run on them, nothing is recorded.
STATIC = {
    np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj, np.isrealobj, np.can_cast,
    np.may_share_memory, np.shares_memory, np.common_type, np.min_scalar_type,
    np.array_repr, np.array_str, np.array2string,
}  # fmt: skip
_OF_MEMORY = {np.may_share_memory, np.shares_memory}
_TEXTS = {np.array_repr, np.array_str, np.array2string}


def call_ufunc(box: Traced, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Record a ufunc, or one of its methods; `out=` of a traced array is a write into it."""
    if any(has_protocol(type(x), "__array_ufunc__") for x in inputs):
        return NotImplemented
    learn(ufunc)
    out = kwargs.pop("out", None)
    if method == "at" and isinstance(inputs[0], Traced):
        return write_at(ufunc, *inputs)
    inputs = tuple(map(as_array, inputs))
    if method == "at" or any(o is not None and not isinstance(o, Traced) for o in out or ()):
        target = inputs[0] if method == "at" else next(o for o in out if not isinstance(o, Traced))
        raise box._trace.escape(
            box,
            f"a write into a plain array ({ufunc.__name__} into {brief(target)})",
            "write `B = B + t` instead of `B += t`, or make the array inside the function with "
            "np.zeros_like(t) or yota.numpy",
        )
    if method != "__call__":
        result = _way_of(ufunc, method)(ufunc, method, inputs, kwargs)
    else:
        where = kwargs.pop("where", True)
        result = record(ufunc, *inputs, **kwargs)
        if where is not True:
            result = _where_out(ufunc, where, result, out)
    return _into(out, result)


def call_function(box: Traced, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Record one of NumPy's functions; what only asks for shapes and types is not recorded."""
    if func is np.shape and not kwargs and len(args) == 1 and args[0] is box:
        # the most frequent question by far
        views.sync(box)
        return np.shape(box._value)
    if any(has_protocol(kind, "__array_function__") for kind in types):
        return NotImplemented
    if func in _TEXTS:
        box._trace.tell()
    if func in STATIC:
        box._trace.by_layout |= func in _OF_MEMORY
        return _run_plain(func, args, kwargs)
    if func in WRITERS:
        return _write_function(box, func, args, kwargs)
    if func in COMPOSED:
        return COMPOSED[func](*args, **kwargs)
    out, args = _take_out(func, args, kwargs)
    if out is not None and not isinstance(out, Traced):
        raise box._trace.escape(
            box, f"out= of {func.__name__}", "leave out= away and use what the function returns"
        )
    kwargs = {k: v for k, v in kwargs.items() if k != "out" and v is not np._NoValue}
    args, kwargs = _without_lists(func, *_positional(func, args, kwargs))
    return _into(None if out is None else (out,), record(func, *args, **kwargs))


def array(x: Any, dtype: Any = None) -> Any:
    """Return what `np.array` returns, also for nested lists that hold traced values."""
    if find_box((x,)) is None:
        return np.array(x, dtype=dtype)
    if isinstance(x, Traced):
        made = np.copy(x) if x._cell is not None else np.reshape(x, ())
    else:
        made = np.stack([array(v) if type(v) in (list, tuple) else v for v in x])
    return made if dtype is None else record(cast, made, np.dtype(dtype))


def as_array(x: Any) -> Any:
    """Return a list or tuple that stands for an array as that array."""
    return array(x) if type(x) in (list, tuple) else x


def _without_lists(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return operands with lists that stand for arrays as arrays: rules compute with them."""
    if func not in VJP:
        return args, kwargs
    rule = VJP[func].rule
    args = tuple(as_array(a) if _asks_for_array(rule(k)) else a for k, a in enumerate(args))
    lists = [k for k, v in kwargs.items() if type(v) in (list, tuple)]
    if lists:
        names = [p.name for p in _parameters(func) if p.kind is not p.KEYWORD_ONLY]
        lists = [k for k in lists if k in names and _asks_for_array(rule(names.index(k)))]
    return args, kwargs | {k: as_array(kwargs[k]) for k in lists}


def _asks_for_array(rule: Any) -> bool:
    return rule is not None and rule is not zero and not getattr(rule, "takes_list", False)


def _take_out(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return `out=`, wherever it was given, and the positional arguments without it."""
    if "out" in kwargs:
        return kwargs["out"], args
    names = [p.name for p in _parameters(func) if p.kind is not p.KEYWORD_ONLY]
    at = names.index("out") if "out" in names else len(args)
    if at >= len(args):
        return None, args
    after = args[at + 1 :]
    return args[at], (*args[:at], None, *after) if after else args[:at]


def _into(out: Any, result: Any) -> Any:
    """Write a result into `out=` where it was given, as NumPy does."""
    if out is None:
        return result
    results = result if isinstance(result, tuple) else (result,)
    for target, value in zip(out, results, strict=True):
        if target is not None:
            views.store(target, value)
    return out if isinstance(result, tuple) else out[0]


def _where_out(ufunc: Any, where: Any, result: Any, out: Any) -> Any:
    if out is None or out[0] is None:
        raise TraceError(
            f"{ufunc.__name__}(where=...) without out= leaves elements undefined: "
            "use np.where(mask, result, 0.0)"
        )
    return np.where(where, result, out[0])


def _run_plain(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*_plain(args), **_plain(kwargs))


def _plain(tree: Any) -> Any:
    if isinstance(tree, Traced):
        views.sync(tree)
        return tree._value
    if type(tree) in (tuple, list):
        return type(tree)(_plain(t) for t in tree)
    return {k: _plain(t) for k, t in tree.items()} if type(tree) is dict else tree


def _write_function(box: Traced, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
    if args and isinstance(args[0], Traced):
        return WRITERS[func](*args, **kwargs)
    raise box._trace.escape(
        box,
        f"np.{func.__name__} into a plain array",
        "make the array inside the function with np.zeros_like(t) or yota.numpy, or build a new "
        "one with np.where",
    )


# functions written in C, whose signatures not every NumPy tells
_SIGNATURES: dict[Any, Callable[..., None]] = {
    np.dot: lambda a, b, out=None: None,
    np.inner: lambda a, b: None,
    np.vdot: lambda a, b: None,
    np.where: lambda condition, x=None, y=None: None,
    np.concatenate: lambda arrays, axis=0, out=None: None,
    np.bincount: lambda x, weights=None, minlength=0: None,
}


@functools.cache
def _parameters(func: Any) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(_SIGNATURES.get(func, func)).parameters.values())
    except (TypeError, ValueError):
        return ()


def _positional(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Move traced arrays that were passed by keyword to their positions: rules look there."""
    boxed = [k for k, v in kwargs.items() if find_box((v,)) is not None]
    if not boxed:
        return args, kwargs
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    params = [p for p in _parameters(func) if p.kind in places]
    names = [p.name for p in params]
    boxed = [k for k in boxed if k in names]
    if not boxed:
        return args, kwargs
    last = max(names.index(k) for k in boxed)
    missing = params[len(args) : last + 1]
    empty = (inspect.Parameter.empty, np._NoValue)
    if any(p.name not in kwargs and p.default in empty for p in missing):
        return args, kwargs
    moved = tuple(kwargs.get(p.name, p.default) for p in missing)
    rest = {k: v for k, v in kwargs.items() if k not in {p.name for p in missing}}
    return (*args, *moved), rest


def _no_method(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    box = find_box((inputs, tuple(kwargs.values())))
    raise TraceError(
        f"{box._trace.origin().place}: np.{ufunc.__name__}.{method} of a traced "
        f"{brief(box._value)} is not followed: use the function of NumPy that does the same, "
        "or a yota.primitive with its own rule"
    )


def _reduction(fn: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
        x, *more = inputs
        names = ("axis", "dtype", "out", "keepdims", "initial", "where")
        given = dict(zip(names, more, strict=False)) | kwargs
        axis = given.pop("axis", 0)
        return fn(x, axis=axis, **{k: v for k, v in given.items() if k != "out"})

    return reduce


def _fold(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """Apply a binary ufunc along one axis, row after row, as its reduce and accumulate do."""
    x, *more = inputs
    given = dict(zip(("axis", "dtype"), more, strict=False)) | kwargs
    axis = given.pop("axis", 0)
    if axis is None and np.ndim(x) == 1:
        axis = 0
    if (
        not isinstance(axis, int)
        or any(v is not None for v in given.values())
        or not np.shape(x)[axis]
    ):
        return _no_method(ufunc, method, inputs, kwargs)
    rows = list(np.moveaxis(x, axis, 0))
    totals = rows[:1]
    for row in rows[1:]:
        totals.append(record(ufunc, totals[-1], row))
    return totals[-1] if method == "reduce" else np.stack(totals, axis=axis)


def _outer(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    a, b = inputs
    tall = np.reshape(a, np.shape(a) + (1,) * np.ndim(b))
    return record(ufunc, tall, b, **kwargs)


_UFUNC_METHODS: dict[tuple[Any, str], Callable[..., Any]] = {
    (np.add, "reduce"): _reduction(np.sum),
    (np.multiply, "reduce"): _reduction(np.prod),
    (np.maximum, "reduce"): _reduction(np.max),
    (np.minimum, "reduce"): _reduction(np.min),
    (np.logical_and, "reduce"): _reduction(np.all),
    (np.logical_or, "reduce"): _reduction(np.any),
    (np.add, "accumulate"): _reduction(np.cumsum),
    (np.multiply, "accumulate"): _reduction(np.cumprod),
}


def _way_of(ufunc: Any, method: str) -> Callable[..., Any]:
    """Return how one of a ufunc's methods is recorded."""
    if (ufunc, method) in _UFUNC_METHODS:
        return _UFUNC_METHODS[ufunc, method]
    bound = getattr(ufunc, method)
    if bound in VJP or bound in NONDIFF or ufunc.signature is not None:
        return lambda ufunc, method, inputs, kwargs: record(bound, *inputs, **kwargs)
    if method == "outer":
        return _outer
    return _fold if method in ("reduce", "accumulate") and ufunc.nin == 2 else _no_method


_PROTOCOLS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("__array_ufunc__", call_ufunc),
    ("__array_function__", call_function),
)
for _name, _answer in _PROTOCOLS:
    setattr(Traced, _name, _answer)
