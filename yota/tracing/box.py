"""The box: a value under its number on the tape, which behaves as the value does."""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.errors import TraceError
from yota.rules.functional import getitem, setitem
from yota.rules.namespace import ATTRIBUTES
from yota.tape import Var, fn_name, spec_of
from yota.tracing import views

if TYPE_CHECKING:
    from yota.tracing.recorder import Trace

# the trace under way in this thread or task, None outside
CURRENT: ContextVar[Any] = ContextVar("yota_trace", default=None)
# an item for each trace under way and each observer, in any thread: empty, a hit need not ask which
BUSY: list[None] = []

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
    try:
        return repr(value)
    except Exception:  # an operand's own repr must not hide the error that is being told
        return f"<{type(value).__name__}>"


class Traced:
    """A value under its number on the tape; behaves as the value does.

    `Traced(...)` makes a box of the class that fits: of a Python scalar this one, of a NumPy
    scalar `TracedScalar`, of an array `TracedArray`: a box has no face that its value lacks.
    """

    __slots__ = ("_cell", "_parent", "_seen", "_trace", "_value", "_var")

    def __new__(cls, trace: Trace, var: Var, value: Any) -> Traced:
        """Return an empty box of the class for `value`."""
        if isinstance(value, np.ndarray):
            return object.__new__(TracedArray)
        return object.__new__(TracedScalar if isinstance(value, np.generic) else Traced)

    def __init__(self, trace: Trace, var: Var, value: Any) -> None:
        self._trace, self._var, self._value = trace, var, value
        self._cell = views.Cell(var) if isinstance(value, np.ndarray) else None
        self._seen = 0
        self._parent: Any = None

    # operators and the answers to NumPy's protocols are set by yota.tracing.operators and .dispatch

    @property  # type: ignore[misc]  # a read-only __class__: isinstance takes plain NumPy's branch
    def __class__(self) -> type:
        return type(self._value)

    def __yota_record__(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return record(fn, *args, **kwargs)

    def __yota_is_unused__(self) -> bool:
        return self._var in self._trace.without_use

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if spec_of(self._value).dtype.kind in "biu":
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
        # np.arange(n) asks for the float of n / 1
        if spec_of(self._value).dtype.kind in "biu" or self._trace.is_of_integers(self):
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

    def __repr__(self) -> str:
        return repr(self._told())

    def __str__(self) -> str:
        return str(self._told())

    def __format__(self, form: str) -> str:
        return format(self._told(), form)

    def _told(self) -> Any:
        """Return the value for a text, which no guard repeats."""
        views.sync(self)
        self._trace.tell()
        return self._value

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self._trace.escape(self, "pickle", "return the value from the function instead")

    if TYPE_CHECKING:  # a number of Python's has none, which its box must not pretend

        def __getitem__(self, index: Any) -> Any: ...

    def __getattr__(self, name: str) -> Any:
        known = hasattr(self._value, name)
        if known and name in METHODS:
            return functools.partial(METHODS[name], self)
        if known and not name.startswith("__"):
            cure = ATTRIBUTES.get(name, "use a NumPy function")
            raise self._trace.escape(
                self, f".{name}", f"there is no traced form of .{name}: {cure}"
            )
        raise AttributeError(f"{type(self._value).__name__!r} object has no attribute {name!r}")

    @property
    def real(self) -> Any:
        """The real part."""
        return np.real(self) if np.iscomplexobj(self._value) else self

    @real.setter
    def real(self, value: Any) -> None:
        self._part("real")[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return np.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if not np.iscomplexobj(self._value):
            raise TypeError("array does not have imaginary part to set")
        self._part("imag")[...] = value

    def _part(self, name: str) -> Any:
        if self._cell is None:
            raise AttributeError("readonly attribute")
        return getattr(self, name)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()


class TracedScalar(Traced):
    """A traced NumPy scalar."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return record(getitem, self, index)

    # else iter() would go by __getitem__ and find an empty sequence: np.zeros(n) a shape of ()
    __iter__: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The value's shape."""
        return tuple(self._value.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        raise self._trace.escape(self, "a new .shape in place", "use x = np.reshape(x, shape)")

    @property
    def ndim(self) -> int:
        """The value's number of axes."""
        return int(self._value.ndim)

    @property
    def size(self) -> int:
        """The value's number of elements."""
        return int(self._value.size)

    @property
    def dtype(self) -> Any:
        """The value's dtype."""
        return self._value.dtype

    @property
    def device(self) -> str:
        """Where the value lies."""
        return str(self._value.device)

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
        self._trace.by_layout = True
        return self._value.strides

    @property
    def flags(self) -> Any:
        """The value's memory layout."""
        self._trace.by_layout = True
        self._trace.written.update(self._trace.tape.inputs)
        return self._value.flags

    @property
    def T(self) -> Any:  # noqa: N802  # numpy's own name
        """The transpose."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:  # noqa: N802  # numpy's own name
        """The transpose of each matrix."""
        return np.swapaxes(self, -1, -2)


class TracedArray(TracedScalar):
    """A traced array."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # arrays are not hashable

    @property
    def flat(self) -> Any:
        """The elements in C order, to read and to write."""
        if self.ndim == 1 or self._value.flags.c_contiguous:
            return np.reshape(self, -1)
        raise self._trace.escape(
            self,
            ".flat of an array that is not in C order",
            "use np.ravel(x) to read, x[index] = value to write",
        )

    @flat.setter
    def flat(self, values: Any) -> None:
        whole: Any = self
        np.put(whole, np.arange(self.size), values)

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        if self._value.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self._value)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, TracedArray) and value._cell is self._cell and not _is_statement(2):
            raise self._trace.escape(
                self,
                "a function that exchanges parts of it in place, such as shuffle",
                "index with a permutation: x[rng.permutation(len(x))]",
            )
        views.write(self, record(setitem, self, index, value))

    def __copy__(self) -> Any:
        return np.copy(self)


def _is_statement(depth: int) -> bool:
    """Tell whether the frame that many levels above stores an item by a statement of its own."""
    frame = sys._getframe(depth)
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("STORE_S")


BOXES = frozenset((Traced, TracedScalar, TracedArray))
