"""The box: a value under its number on the tape, which behaves as the value does."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.errors import TraceError
from yota.rules.functional import getitem, setitem
from yota.tape import Var, fn_name, spec_of
from yota.tracing import views

if TYPE_CHECKING:
    from yota.tracing.recorder import Trace

# the trace under way in this thread or task, None outside
CURRENT: ContextVar[Any] = ContextVar("yota_trace", default=None)

# array methods by name; filled by yota.tracing.methods
METHODS: dict[str, Callable[..., Any]] = {}


def record(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Record a call on the trace under way."""
    trace = CURRENT.get()
    if trace is None:
        raise TraceError(
            f"{fn_name(fn)} meets a traced value after its function returned: "
            "return it from the function instead of storing it"
        )
    return trace.record(fn, args, kwargs)


def brief(value: Any) -> str:
    """Return a value as an error message shows it: an array as its type."""
    if isinstance(value, np.ndarray | np.generic):
        return spec_of(value).text(short=True)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(brief, value))}]"
    return repr(value)


class Traced:
    """A value under its number on the tape; behaves as the value does."""

    __slots__ = ("_cell", "_parent", "_seen", "_trace", "_value", "_var")

    def __init__(self, trace: Trace, var: Var, value: Any) -> None:
        self._trace, self._var, self._value = trace, var, value
        self._cell = views.Cell() if isinstance(value, np.ndarray) else None
        self._seen = 0
        self._parent: Any = None

    # operators and the answers to NumPy's protocols are set by yota.tracing.operators and .dispatch

    @property  # type: ignore[misc]  # a read-only __class__: isinstance takes plain NumPy's branch
    def __class__(self) -> type:
        return type(self._value)

    def __yota_record__(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return record(fn, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.dtype.kind in "biu":
            views.sync(self)
            self._trace.guard(self, np.array(self._value), "value")
            return np.array(self._value, dtype=dtype)
        raise self._trace.escape(
            self,
            "np.array, np.asarray or a store into a plain array",
            "use np.stack or yota.array for lists of traced values, np.where or np.concatenate "
            "to build arrays, or `import yota.numpy as np`",
        )

    def _leave(self, through: str, convert: Callable[[Any], Any]) -> Any:
        if self.dtype.kind in "biu":
            views.sync(self)
            self._trace.guard(self, self._value, "value")
            return convert(self._value)
        raise self._trace.escape(
            self,
            f"{through}, or a store into a plain array",
            "use NumPy's function (np.exp for math.exp); to fill an array use np.stack or "
            "yota.array of the values, or make it with np.zeros_like(t) or "
            "`import yota.numpy as np`",
        )

    def __float__(self) -> float:
        return float(self._leave("float() or a function of math", float))

    def __complex__(self) -> complex:
        return complex(self._leave("complex() or a function of cmath", complex))

    def __bool__(self) -> bool:
        views.sync(self)
        answer = bool(self._value)
        self._trace.guard(self, answer, "bool")
        return answer

    def __int__(self) -> int:
        views.sync(self)
        answer = int(self._value)
        self._trace.guard(self, answer, "int")
        return answer

    def __index__(self) -> int:
        views.sync(self)
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
        views.sync(self)
        return repr(self._value)

    def __str__(self) -> str:
        views.sync(self)
        return str(self._value)

    def __format__(self, form: str) -> str:
        views.sync(self)
        return format(self._value, form)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self._trace.escape(self, "pickle", "return the value from the function instead")

    def __copy__(self) -> Any:
        return np.copy(self) if self._cell is not None else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __getitem__(self, index: Any) -> Any:
        return record(getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._cell is None:
            raise TypeError(
                f"'{type(self._value).__name__}' object does not support item assignment"
            )
        views.write(self, record(setitem, self, index, value))

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return functools.partial(METHODS[name], self)
        if not name.startswith("__") and hasattr(self._value, name):
            raise self._trace.escape(
                self, f".{name}", f"there is no traced form of .{name}: use a NumPy function"
            )
        raise AttributeError(f"{type(self._value).__name__!r} object has no attribute {name!r}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The value's shape."""
        return np.shape(self._value)

    @property
    def ndim(self) -> int:
        """The value's number of axes."""
        return np.ndim(self._value)

    @property
    def size(self) -> int:
        """The value's number of elements."""
        return int(np.size(self._value))

    @property
    def dtype(self) -> Any:
        """The value's dtype."""
        value = self._value
        return value.dtype if isinstance(value, np.ndarray | np.generic) else np.dtype(type(value))

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> Any:
        """The value's strides."""
        return self._value.strides

    @property
    def flags(self) -> Any:
        """The value's memory layout."""
        return self._value.flags

    @property
    def T(self) -> Any:  # noqa: N802  # numpy's own name
        """The transpose."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:  # noqa: N802  # numpy's own name
        """The transpose of each matrix."""
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        """The real part."""
        return np.real(self) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return np.imag(self)
