"""Record what a function of plain NumPy does: a box over a value that answers NumPy's protocols."""

from __future__ import annotations

import builtins
import inspect
import functools
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.errors import TraceError
from yota.frames import user_frames
from yota.rules.functional import cast, getitem, halt, identity, item, setitem
from yota.rules.registry import find_box
from yota.tape import (
    Call,
    Constant,
    Entry,
    Guard,
    Origin,
    Tape,
    Var,
    fn_name,
    spec_of,
)

_CURRENT: ContextVar[Trace | None] = ContextVar("yota_trace", default=None)


def current() -> Trace | None:
    """Return the trace under way in this thread or task, None outside."""
    return _CURRENT.get()


@dataclass(frozen=True, slots=True)
class Failure:
    """The call that raised while it was recorded."""

    fn: Callable[..., Any]
    operands: tuple[Any, ...]
    origin: Origin
    error: BaseException


@dataclass(slots=True)
class Cell:
    """The memory behind an array and its views: each write through any of them is a new version."""

    version: int = 0
    written_at: str = ""


class Trace:
    """A tape that is being recorded, with the values of its ops."""

    def __init__(self, entry: Entry, outer: tuple[Any, ...] = ()) -> None:
        self.tape = Tape(entry)
        self.values: dict[Var, Any] = {}
        self.outer = outer
        self.base: Any = None
        self.mark: Origin | None = None
        self.escaped: TraceError | None = None
        self.failure: Failure | None = None
        self.captured: dict[int, tuple[Any, Any, Var]] = {}

    @contextmanager
    def under_way(self, base: Any = None) -> Iterator[None]:
        """Make this the trace that boxes record on; `base` is the frame below the user's function."""
        token = _CURRENT.set(self)
        before, self.base = self.base, self.base or base
        try:
            yield
        finally:
            self.base = before
            _CURRENT.reset(token)

    @contextmanager
    def marked(self, mark: Origin | None) -> Iterator[None]:
        """Give every op that is recorded inside this origin."""
        before, self.mark = self.mark, mark
        try:
            yield
        finally:
            self.mark = before

    def origin(self) -> Origin:
        """Return where the op that is being recorded comes from."""
        return self.mark or Origin(user_frames(self.base) + self.outer)

    def push(self, op: Any, value: Any) -> Traced:
        """Append an op whose value is known and return its box."""
        var = self.tape.push(op)
        self.values[var] = value
        return Traced(self, var, value)

    def constant(self, value: Any, origin: Origin | None = None) -> Traced:
        """Return the box of a captured value; an array is copied, once per content."""
        if not isinstance(value, np.ndarray):
            op = Constant(spec=spec_of(value), value=value, origin=origin or self.origin())
            return self.push(op, value)
        known = self.captured.get(id(value))
        if known is not None and _same_bytes(known[1], value):
            return Traced(self, known[2], known[1])
        copy = np.array(value, order="K")
        copy.flags.writeable = False
        where = origin or self.origin()
        name = "" if self.mark else name_of(value, self.base)
        box = self.push(Constant(spec=spec_of(copy), value=copy, origin=where, name=name), copy)
        self.captured[id(value)] = (value, copy, box._var)
        return box

    def record(self, fn: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        """Run `fn` on the values of its operands and append the call; return boxes of its result."""
        lower = _Lower(self)
        op_args, values = lower.tree(tuple(args))
        op_kwargs, kw_values = lower.tree(kwargs)
        origin = self.origin()
        try:
            result = fn(*values, **kw_values)
        except Exception as error:
            self.explain(error, fn, values, kw_values, origin)
            raise
        if isinstance(result, np.ndarray) and type(result) is not np.ndarray:
            raise TraceError(
                f"{fn_name(fn)} gave a {type(result).__name__} ({origin.place}); subclasses of arrays "
                "are not followed: pass np.asarray(x) into the function"
            )
        call = Call(spec=spec_of(result), origin=origin, fn=fn, args=op_args, kwargs=tuple(op_kwargs.items()))
        if isinstance(result, tuple | list):
            return self.unpack(self.push(call, result), result, lower.boxes)
        if call.spec.dtype is None:
            return result
        return self.push(call, result).follow(fn, args, kwargs, lower.boxes)

    def unpack(self, whole: Traced, result: Any, boxes: list[Traced]) -> Any:
        """Return a box for each item of a tuple or list, in a container of the same type."""
        items = []
        for k, value in enumerate(result):
            call = Call(spec=spec_of(value), origin=self.origin(), fn=operator.getitem, args=(whole._var, k))
            items.append(self.push(call, value).follow(operator.getitem, None, None, boxes))
        if hasattr(type(result), "_fields"):
            return type(result)(*items)
        return type(result)(items)

    def explain(
        self, error: BaseException, fn: Any, values: Any, kw_values: Any, origin: Origin
    ) -> None:
        """Add the op, its operands' types and the user's line to an error raised by NumPy."""
        shown = [_brief(v) for v in values] + [f"{k}={_brief(v)}" for k, v in kw_values.items()]
        error.add_note(f"yota: in {fn_name(fn)}({', '.join(shown)})  {origin.place}".rstrip())
        self.failure = Failure(fn, tuple(values), origin, error)

    def guard(self, box: Traced, expected: Any, how: str) -> None:
        """Note that Python read the value of `box`."""
        self.tape.guards.append(Guard(box._var, expected, how, self.origin()))

    def escape(self, box: Traced, through: str, cure: str) -> TraceError:
        """Return, and remember, the error of a value that would leave the trace."""
        place = self.origin().place
        self.escaped = TraceError(
            f"{place + ': ' if place else ''}a traced {spec_of(box._value)} leaves NumPy's sight "
            f"through {through}; {cure}"
        )
        return self.escaped


def _same_bytes(a: Any, b: Any) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "O":
        return False
    if a.dtype.kind in "fc":
        same = (a == b) & (np.signbit(a.real) == np.signbit(b.real)) | ((a != a) & (b != b))
        return bool(np.all(same))
    return bool(np.array_equal(a, b))


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return spec_of(value).text(short=True)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_brief, value))}]"
    return repr(value)


def name_of(value: Any, base: Any) -> str:
    """Return the variable that holds this very object in the user's innermost frame, else ''."""
    from yota.frames import innermost

    frame = innermost(base)
    if frame is None:
        return ""
    for names in (frame.f_locals, frame.f_globals):
        for name, held in names.items():
            if held is value and name.isidentifier():
                return str(name)
    return ""


class _Lower:
    """Split operands into what the tape holds and the values to run on."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.boxes: list[Traced] = []

    def tree(self, x: Any) -> tuple[Any, Any]:
        kind = type(x)
        if kind is Traced:
            return self.box(x)
        if kind is float or kind is int or kind is str or x is None:
            return x, x
        if kind is tuple or kind is list:
            pairs = [self.tree(t) for t in x]
            return kind([p[0] for p in pairs]), kind([p[1] for p in pairs])
        if kind is dict:
            found = {k: self.tree(t) for k, t in x.items()}
            return {k: p[0] for k, p in found.items()}, {k: p[1] for k, p in found.items()}
        if kind is slice:
            pairs = [self.tree(t) for t in (x.start, x.stop, x.step)]
            return slice(*(p[0] for p in pairs)), slice(*(p[1] for p in pairs))
        if isinstance(x, np.ndarray):
            return self.array(x)
        return x, x

    def box(self, x: Traced) -> tuple[Any, Any]:
        if x._trace is not self.trace:
            raise TraceError(
                f"a traced {spec_of(x._value)} is used after its function returned, or in another "
                "thread: return it from the function instead of storing it"
            )
        x.sync()
        self.boxes.append(x)
        return x._var, x._value

    def array(self, x: Any) -> tuple[Any, Any]:
        if type(x) is not np.ndarray:
            raise TraceError(
                f"a {type(x).__name__} meets a traced value ({self.trace.origin().place}); subclasses of "
                "arrays are not followed: use np.asarray(...) on it first"
            )
        made = self.trace.constant(x)
        return made._var, made._value


def record(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Record a call on the trace under way."""
    trace = current()
    if trace is None:
        raise TraceError(
            f"{fn_name(fn)} meets a traced value after its function returned: "
            "return it from the function instead of storing it"
        )
    return trace.record(fn, args, kwargs)


# What the answer does not depend on the values for: run on them, nothing is recorded.
STATIC = {
    np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj, np.isrealobj, np.can_cast,
    np.may_share_memory, np.shares_memory, np.common_type, np.min_scalar_type,
    np.array_repr, np.array_str, np.array2string,
}  # fmt: skip

WRITERS = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}


class Traced:
    """A value under its number on the tape; behaves as the value does."""

    __slots__ = ("_cell", "_parent", "_seen", "_trace", "_value", "_var")

    def __init__(self, trace: Trace, var: Var, value: Any) -> None:
        self._trace, self._var, self._value = trace, var, value
        self._cell = Cell() if isinstance(value, np.ndarray) else None
        self._seen = 0
        self._parent: Any = None

    # -- views and writes ---------------------------------------------------------------------

    def follow(self, fn: Any, args: Any, kwargs: Any, boxes: list[Traced]) -> Traced:
        """Share the memory of the operand that this value is a view of, if it is one."""
        value = self._value
        if self._cell is None or fn is identity or not boxes:
            return self
        for box in boxes:
            if box._cell is not None and (value is box._value or _is_view(value, box._value)):
                self._cell, self._seen = box._cell, box._cell.version
                if args and args[0] is box:
                    self._parent = (box, fn, args[1:], kwargs)
                break
        return self

    def sync(self) -> None:
        """Bring a view up to date with its array; raise TraceError where that cannot be done."""
        if self._cell is None or self._seen == self._cell.version:
            return
        if self._parent is None:
            raise TraceError(
                f"{self._trace.origin().place}: this array shares memory with one that was written at "
                f"{self._cell.written_at}; its own contents are no longer known. Take the view again after "
                "the write, or write into a copy"
            )
        parent, fn, args, kwargs = self._parent
        parent.sync()
        new = self._trace.record(fn, (parent, *args), kwargs)
        self._var, self._value, self._seen = new._var, new._value, self._cell.version

    def write(self, new: Traced) -> None:
        """Let this array, and every array it is a view of, hold what `new` holds."""
        if self._cell is None:
            raise TypeError(f"a {type(self._value).__name__} cannot be written in place")
        self.sync()
        self._cell.version += 1
        self._cell.written_at = self._trace.origin().place
        box, held = self, new
        while True:
            box._var, box._value, box._seen = held._var, held._value, self._cell.version
            if box._parent is None:
                return
            parent, fn, args, kwargs = box._parent
            back = _UNVIEW.get(fn)
            if back is None or parent._seen != self._cell.version - 1:
                return
            held = back(parent, held, args, kwargs)
            box = parent

    # -- NumPy's protocols ---------------------------------------------------------------------

    @property
    def __class__(self) -> type:  # type: ignore[override]  # isinstance takes plain NumPy's branch
        return type(self._value)

    def __yota_record__(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return record(fn, *args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "at" or any(o is not None and type(o) is not Traced for o in out or ()):
            target = inputs[0] if method == "at" else next(o for o in out if type(o) is not Traced)
            raise self._trace.escape(
                self,
                f"a write into a plain array ({ufunc.__name__} into {_brief(target)})",
                "write `B = B + t` instead of `B += t`, or make the array inside the function with "
                "np.zeros_like(t) or yota.numpy",
            )
        if method != "__call__":
            default = _fold if method in ("reduce", "accumulate") and ufunc.nin == 2 else _no_method
            result = _UFUNC_METHODS.get((ufunc, method), default)(ufunc, method, inputs, kwargs)
        else:
            where = kwargs.pop("where", True)
            result = record(ufunc, *inputs, **kwargs)
            if where is not True:
                result = _where_out(ufunc, where, result, out)
        return _into(out, result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in STATIC:
            return _run_plain(func, args, kwargs)
        if func in WRITERS:
            return _write_function(self, func, args, kwargs)
        out = kwargs.get("out")
        if out is not None and type(out) is not Traced:
            raise self._trace.escape(
                self, f"out= of {func.__name__}", "leave out= away and use what the function returns"
            )
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        args, kwargs = _positional(func, args, kwargs)
        return _into(None if out is None else (out,), record(func, *args, **kwargs))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.dtype.kind in "biu":
            self.sync()
            self._trace.guard(self, np.array(self._value), "value")
            return np.array(self._value, dtype=dtype)
        raise self._trace.escape(
            self,
            "np.array, np.asarray or a store into a plain array",
            "use np.stack or yota.array for lists of traced values, np.where or np.concatenate to build "
            "arrays, or `import yota.numpy as np`",
        )

    # -- leaving the trace ---------------------------------------------------------------------

    def _leave(self, through: str, convert: Callable[[Any], Any]) -> Any:
        if self.dtype.kind in "biu":
            self.sync()
            self._trace.guard(self, self._value, "value")
            return convert(self._value)
        raise self._trace.escape(
            self,
            f"{through}, or a store into a plain array",
            "use NumPy's function (np.exp for math.exp); to fill an array use np.stack or yota.array of the "
            "values, or make it with np.zeros_like(t) or `import yota.numpy as np`",
        )

    def __float__(self) -> float:
        return float(self._leave("float() or a function of math", float))

    def __complex__(self) -> complex:
        return complex(self._leave("complex() or a function of cmath", complex))

    def __bool__(self) -> bool:
        self.sync()
        answer = bool(self._value)
        self._trace.guard(self, answer, "bool")
        return answer

    def __int__(self) -> int:
        self.sync()
        answer = int(self._value)
        self._trace.guard(self, answer, "int")
        return answer

    def __index__(self) -> int:
        self.sync()
        answer = operator.index(self._value)
        self._trace.guard(self, answer, "int")
        return answer

    def __hash__(self) -> int:
        answer = hash(self._value)
        self._trace.guard(self, self._value, "value")
        return answer

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self._value)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __repr__(self) -> str:
        self.sync()
        return repr(self._value)

    def __str__(self) -> str:
        self.sync()
        return str(self._value)

    def __format__(self, form: str) -> str:
        self.sync()
        return format(self._value, form)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self._trace.escape(self, "pickle", "return the value from the function instead")

    def __copy__(self) -> Any:
        return np.copy(self) if self._cell is not None else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    # -- items and attributes ------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return record(getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._cell is None:
            raise TypeError(f"'{type(self._value).__name__}' object does not support item assignment")
        self.write(record(setitem, self, index, value))

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return functools.partial(_METHODS[name], self)
        if not name.startswith("__") and hasattr(self._value, name):
            raise self._trace.escape(
                self, f".{name}", f"there is no traced form of .{name}: use a NumPy function"
            )
        raise AttributeError(f"{type(self._value).__name__!r} object has no attribute {name!r}")

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self._value)

    @property
    def ndim(self) -> int:
        return np.ndim(self._value)

    @property
    def size(self) -> int:
        return int(np.size(self._value))

    @property
    def dtype(self) -> Any:
        value = self._value
        return value.dtype if isinstance(value, np.ndarray | np.generic) else np.dtype(type(value))

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> Any:
        return self._value.strides

    @property
    def flags(self) -> Any:
        return self._value.flags

    @property
    def T(self) -> Any:  # noqa: N802  # numpy's own name
        return np.transpose(self)

    @property
    def mT(self) -> Any:  # noqa: N802  # numpy's own name
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return np.real(self) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        return np.imag(self)


def _is_view(value: Any, of: Any) -> bool:
    return value.base is not None and np.may_share_memory(value, of)


def _into(out: Any, result: Any) -> Any:
    """Write a result into `out=` where it was given, as NumPy does."""
    if out is None:
        return result
    results = result if isinstance(result, tuple) else (result,)
    for target, value in zip(out, results, strict=True):
        if target is not None:
            _store(target, value)
    return out if isinstance(result, tuple) else out[0]


def _store(target: Traced, value: Any) -> None:
    # numpy itself decides whether the store is allowed, on a throw-away copy
    np.copyto(np.array(target._value), value._value if type(value) is Traced else value, casting="same_kind")
    if np.shape(value) != target.shape:
        value = np.broadcast_to(value, target.shape)
    if value.dtype != target.dtype:
        value = cast(value, target.dtype)
    target.write(value)


def _where_out(ufunc: Any, where: Any, result: Any, out: Any) -> Any:
    if out is None or out[0] is None:
        raise TraceError(
            f"{ufunc.__name__}(where=...) without out= leaves elements undefined: use np.where(mask, result, 0.0)"
        )
    return np.where(where, result, out[0])


def _run_plain(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*_plain(args), **_plain(kwargs))


def _plain(tree: Any) -> Any:
    if type(tree) is Traced:
        tree.sync()
        return tree._value
    if type(tree) in (tuple, list):
        return type(tree)(_plain(t) for t in tree)
    return {k: _plain(t) for k, t in tree.items()} if type(tree) is dict else tree


def _write_function(box: Traced, func: Any, args: Any, kwargs: Any) -> None:
    if func is np.copyto and args and type(args[0]) is Traced:
        where = kwargs.get("where", True)
        value = args[1] if where is True else np.where(where, args[1], args[0])
        return _store(args[0], value if type(value) is Traced else np.broadcast_to(value, args[0].shape))
    raise box._trace.escape(
        box, f"np.{func.__name__}", "use `x[index] = value` on a traced array, or np.where for a new one"
    )


@functools.cache
def _parameters(func: Any) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        return ()


def _positional(func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Move traced arrays that were passed by keyword to their positions: rules look there."""
    boxed = [k for k, v in kwargs.items() if find_box((v,)) is not None]
    if not boxed:
        return args, kwargs
    params = _parameters(func)
    names = [p.name for p in params]
    if not all(k in names for k in boxed):
        return args, kwargs
    last = max(names.index(k) for k in boxed)
    missing = params[len(args) : last + 1]
    empty = (inspect.Parameter.empty, np._NoValue)
    if any(p.name not in kwargs and p.default in empty for p in missing):
        return args, kwargs
    moved = tuple(kwargs[p.name] if p.name in kwargs else p.default for p in missing)
    rest = {k: v for k, v in kwargs.items() if k not in {p.name for p in missing}}
    return (*args, *moved), rest


def _no_method(ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    box = find_box((inputs, tuple(kwargs.values())))
    raise TraceError(
        f"{box._trace.origin().place}: np.{ufunc.__name__}.{method} of a traced {_brief(box._value)} is not "
        "followed: use the function of NumPy that does the same, or a yota.primitive with its own rule"
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
    """Apply a binary ufunc along one axis, element after element, as its reduce and accumulate do."""
    x, *more = inputs
    given = dict(zip(("axis", "dtype"), more, strict=False)) | kwargs
    axis = given.pop("axis", 0)
    if axis is None and np.ndim(x) == 1:
        axis = 0
    if not isinstance(axis, int) or any(v is not None for v in given.values()) or not np.shape(x)[axis]:
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
for _fn in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.hypot,
            np.arctan2, np.logaddexp, np.equal, np.less, np.greater):  # fmt: skip
    _UFUNC_METHODS[_fn, "outer"] = _outer


# -- operators ---------------------------------------------------------------------------------

_NUMBERS = (int, float, complex, np.ndarray, np.generic)


def _is_python(x: Any) -> bool:
    value = x._value if type(x) is Traced else x
    return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def _operands_ok(other: Any) -> bool:
    return type(other) is Traced or isinstance(other, _NUMBERS) or type(other) in (list, tuple)


def apply_binary(ufunc: Any, python: Any, a: Any, b: Any) -> Any:
    """Record `a op b`: as Python's operator where both are Python scalars, else as NumPy's ufunc."""
    if _is_python(a) and _is_python(b):
        return record(python, a, b)
    if python is operator.pow:
        return _power(a, b)
    return record(ufunc, a, b)


_FAST_POWERS = {2: np.square, 1: np.positive, 0.5: np.sqrt, -1: np.reciprocal}


def _power(a: Any, b: Any) -> Any:
    """Record `a ** b` as an array runs it: numpy takes a shorter way for a few exponents."""
    if np.ndim(a) == 0 and np.ndim(b) == 0 and not any(_is_array(x) for x in (a, b)):
        return record(operator.pow, a, b)
    fast = _FAST_POWERS.get(b) if type(b) in (int, float) else None
    if fast is not None and _is_array(a) and (a.dtype.kind in "fc" or b == 2):
        return record(fast, a)
    return record(np.power, a, b)


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def _binary(name: str, ufunc: Any, python: Any) -> None:
    def forward(self: Traced, other: Any) -> Any:
        return apply_binary(ufunc, python, self, other) if _operands_ok(other) else NotImplemented

    def reflected(self: Traced, other: Any) -> Any:
        return apply_binary(ufunc, python, other, self) if _operands_ok(other) else NotImplemented

    def in_place(self: Traced, other: Any) -> Any:
        if not _operands_ok(other):
            return NotImplemented
        result = apply_binary(ufunc, python, self, other)
        if self._cell is None:
            return result
        if result.shape != self.shape:
            raise ValueError(f"non-broadcastable output operand with shape {self.shape}")
        _store(self, result)
        return self

    setattr(Traced, f"__{name}__", forward)
    setattr(Traced, f"__r{name}__", reflected)
    setattr(Traced, f"__i{name}__", in_place)


for _name, _ufunc, _python in (
    ("add", np.add, operator.add),
    ("sub", np.subtract, operator.sub),
    ("mul", np.multiply, operator.mul),
    ("truediv", np.divide, operator.truediv),
    ("floordiv", np.floor_divide, operator.floordiv),
    ("mod", np.remainder, operator.mod),
    ("pow", np.power, operator.pow),
    ("matmul", np.matmul, operator.matmul),
    ("and", np.bitwise_and, operator.and_),
    ("or", np.bitwise_or, operator.or_),
    ("xor", np.bitwise_xor, operator.xor),
    ("lshift", np.left_shift, operator.lshift),
    ("rshift", np.right_shift, operator.rshift),
):
    _binary(_name, _ufunc, _python)


def _comparison(name: str, ufunc: Any) -> None:
    python = getattr(operator, name)

    def compare(self: Traced, other: Any) -> Any:
        return apply_binary(ufunc, python, self, other) if _operands_ok(other) else NotImplemented

    setattr(Traced, f"__{name}__", compare)


for _name, _ufunc in (
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
):
    _comparison(_name, _ufunc)


def _unary(name: str, ufunc: Any, python: Any) -> None:
    def apply(self: Traced) -> Any:
        return record(python if _is_python(self) else ufunc, self)

    setattr(Traced, f"__{name}__", apply)


for _name, _ufunc, _python in (
    ("neg", np.negative, operator.neg),
    ("pos", np.positive, operator.pos),
    ("abs", np.absolute, operator.abs),
    ("invert", np.invert, operator.invert),
):
    _unary(_name, _ufunc, _python)


def _rounding(name: str, python: Callable[..., Any], ufunc: Callable[..., Any]) -> None:
    def apply(self: Traced, *args: Any) -> Any:
        return record(python if self._cell is None else ufunc, self, *args)

    setattr(Traced, f"__{name}__", apply)


_rounding("round", builtins.round, np.round)
_rounding("floor", math.floor, np.floor)
_rounding("ceil", math.ceil, np.ceil)
_rounding("trunc", math.trunc, np.trunc)


def _divmod(self: Traced, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Traced, other: Any) -> Any:
    return other // self, other % self


Traced.__divmod__ = _divmod  # type: ignore[attr-defined]  # set like the other operators
Traced.__rdivmod__ = _rdivmod  # type: ignore[attr-defined]


# -- array methods ------------------------------------------------------------------------------


def _shape_args(args: tuple[Any, ...]) -> Any:
    return args[0] if len(args) == 1 else args


def _reshape(x: Traced, *shape: Any, **kwargs: Any) -> Any:
    return np.reshape(x, _shape_args(shape), **kwargs)


def _transpose(x: Traced, *axes: Any) -> Any:
    return np.transpose(x, _shape_args(axes)) if axes else np.transpose(x)


def _flatten(x: Traced, order: Any = "C") -> Any:
    return np.copy(np.ravel(x, order))


def _astype(x: Traced, dtype: Any, **kwargs: Any) -> Any:
    return record(cast, x, np.dtype(dtype))


def _item(x: Traced, *index: Any) -> Any:
    return record(item, x[_shape_args(index)] if index else x)


def _fill(x: Traced, value: Any) -> None:
    x[...] = value


def _sort_in_place(x: Traced, axis: int = -1, **kwargs: Any) -> None:
    _store(x, np.sort(x, axis=axis, **kwargs))


def _tolist(x: Traced) -> Any:
    return [_tolist(row) for row in x] if x.ndim else record(item, x)


def _conj(x: Traced) -> Any:
    return np.conjugate(x)


_METHODS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in (
        "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "copy",
        "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ravel",
        "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
    )
}  # fmt: skip
_METHODS |= {
    "astype": _astype,
    "conj": _conj,
    "conjugate": _conj,
    "fill": _fill,
    "flatten": _flatten,
    "item": _item,
    "ptp": np.ptp,
    "reshape": _reshape,
    "sort": _sort_in_place,
    "tolist": _tolist,
    "transpose": _transpose,
    "compress": lambda x, condition, axis=None: np.compress(condition, x, axis=axis),
}


# -- what a write through a view does to the array behind it --------------------------------------


def _unview_item(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    written: Traced = parent._trace.record(setitem, (Traced(parent._trace, parent._var, parent._value), args[0], new), {})
    return written


def _unview_shape(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    shaped: Traced = parent._trace.record(np.reshape, (new, parent.shape), {})
    return shaped


def _unview_transpose(parent: Traced, new: Traced, args: Any, kwargs: Any) -> Traced:
    axes = args[0] if args else kwargs.get("axes")
    back = None if axes is None else tuple(int(k) for k in np.argsort([a % new.ndim for a in axes]))
    turned: Traced = parent._trace.record(np.transpose, (new, back), {})
    return turned


_UNVIEW: dict[Any, Callable[..., Traced]] = {
    getitem: _unview_item,
    np.ravel: _unview_shape,
    np.reshape: _unview_shape,
    np.squeeze: _unview_shape,
    np.expand_dims: _unview_shape,
    np.transpose: _unview_transpose,
}


def array(x: Any, dtype: Any = None) -> Any:
    """Return what `np.array` returns, also for nested lists that hold traced values."""
    if find_box((x,)) is None:
        return np.array(x, dtype=dtype)
    if type(x) is Traced:
        made = np.copy(x) if x._cell is not None else np.reshape(x, ())
    else:
        made = np.stack([array(v) if type(v) in (list, tuple) else v for v in x])
    return made if dtype is None else record(cast, made, np.dtype(dtype))


def stop_gradient(x: Any) -> Any:
    """Return `x` as a constant of the gradient: no cotangent flows through it."""
    return record(halt, x) if type(x) is Traced else x

