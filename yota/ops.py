"""The words of a tape: numbers, types, places in the user's code, and the three kinds of op."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, TypeVar

import numpy as np

T = TypeVar("T")


def quickly(cls: type[T]) -> type[T]:
    """Let a frozen dataclass with slots be made in half the time: thousands are, for each tape."""
    known, given, lines = {}, [], []
    for f in fields(cls):  # type: ignore[arg-type]  # what is decorated is a dataclass
        known[f"_{f.name}"], known[f"_{f.name}_default"] = getattr(cls, f.name).__set__, f.default
        star = ["*"] if f.kw_only and "*" not in given else []
        default = "" if f.default is MISSING else f"=_{f.name}_default"
        given += [*star, f"{f.name}{default}"]
        lines.append(f"    _{f.name}(self, {f.name})\n")
    exec(f"def __init__(self, {', '.join(given)}):\n{''.join(lines)}", known)
    cls.__init__ = known["__init__"]  # type: ignore[method-assign]
    return cls


@quickly
@dataclass(frozen=True, slots=True, order=True)
class Var:
    """The number of an op."""

    id: int

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"%{self.id}"


@quickly
@dataclass(frozen=True, slots=True)
class Spec:
    """The type of a value: `kind` is array, scalar (NumPy's), python, tuple or object.

    `order` is the memory layout of an array: C, F, or K for any other.
    """

    kind: str
    dtype: Any = None
    shape: tuple[int, ...] = ()
    order: str = "C"
    items: tuple[Spec, ...] = ()

    @property
    def weak(self) -> bool:
        """Tell whether the value is a Python scalar, which never widens an array's dtype."""
        return self.kind == "python"

    @property
    def nbytes(self) -> int:
        """Bytes that the value takes."""
        if self.kind == "tuple":
            return sum(s.nbytes for s in self.items)
        return 0 if self.dtype is None else math.prod(self.shape) * int(self.dtype.itemsize)

    def text(self, short: bool = False) -> str:
        """Return the spec as `float64[3,4]`, short as `f64[3,4]`."""
        if self.kind == "tuple":
            return f"({', '.join(s.text(short) for s in self.items)})"
        if self.dtype is None:
            return "object"
        name = _short(self.dtype) if short else str(self.dtype)
        return name + (f"[{','.join(map(str, self.shape))}]" if self.kind == "array" else "")

    def __str__(self) -> str:
        return self.text()


def _short(dtype: Any) -> str:
    if dtype.kind == "b":
        return "bool"
    return f"{dtype.kind}{8 * dtype.itemsize}" if dtype.kind in "fciu" else str(dtype)


def spec_of(value: Any) -> Spec:
    """Return the type of a plain value."""
    if isinstance(value, np.ndarray):
        return Spec("array", value.dtype, value.shape, _order(value))
    if isinstance(value, np.generic):
        return Spec("scalar", value.dtype)
    if isinstance(value, bool | int | float | complex):
        return Spec("python", np.dtype(type(value)))
    if isinstance(value, tuple | list):
        return Spec("tuple", items=tuple(spec_of(v) for v in value))
    return Spec("object")


def _order(value: Any) -> str:
    return "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "K"


def kind_text(value: Any) -> str:
    """Return kind and dtype of a value, as `array float64`."""
    spec = spec_of(value)
    return f"{spec.kind} {spec.dtype}"


@quickly
@dataclass(frozen=True, slots=True)
class Frame:
    """One place in the user's code; lines count from 1, columns from 0."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    qualname: str


Role = Literal["", "rule", "accumulate", "unbroadcast", "seed"]


@quickly
@dataclass(frozen=True, slots=True)
class Origin:
    """Where an op comes from: user frames, innermost first, and what a reverse op differentiates.

    `of` is the op whose rule runs, `wrt` the operand whose cotangent it contributes to.
    """

    frames: tuple[Frame, ...] = ()
    of: Var | None = None
    wrt: Var | None = None
    role: Role = ""
    note: str = ""

    @property
    def place(self) -> str:
        """The innermost user line as `file.py:4`, empty where there is none."""
        return f"{base_name(self.frames[0].file)}:{self.frames[0].line}" if self.frames else ""

    def comment(self) -> str:
        """Return what stands behind the op in a printed tape."""
        if self.note:
            return self.note
        if self.wrt is not None:
            return f"d{self.of}/d{self.wrt}" if self.of is not None else f"d/d{self.wrt}"
        return self.place


def base_name(path: str) -> str:
    """Return the last part of a path of either kind of system."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


@quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """What stands under a number: `Input`, `Constant` or `Call`."""

    spec: Spec
    origin: Origin = Origin()


@quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Input(Op):
    """A leaf of an argument, named by parameter and path; `strides` of one of layout K.

    With `pinned` the tape holds for arrays of the recorded layout alone, with `writeable` for those
    that may, or may not, be written into.
    """

    name: str
    strides: tuple[int, ...] | None = None
    pinned: bool = False
    writeable: bool | None = None


@quickly
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constant(Op):
    """A value that was captured; the array is a private copy."""

    value: Any
    name: str = ""


@quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Op):
    """A function applied to operands: vars, literals and containers of both."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The function's name as the tape prints it."""
        return fn_name(self.fn)

    @property
    def operands(self) -> list[Var]:
        """The vars that the call reads, in order, repeated as they stand."""
        found = []
        for x in self.args:
            if type(x) is Var:
                found.append(x)
            elif type(x) in _CONTAINERS:
                found += vars_in(x)
        if self.kwargs:
            for _, x in self.kwargs:
                found += vars_in(x)
        return found


_CONTAINERS = (tuple, list, dict, slice)


def fn_name(fn: Callable[..., Any]) -> str:
    """Return the name of a function as a tape prints it."""
    return str(getattr(fn, "__name__", None) or type(fn).__name__)


def vars_in(tree: Any) -> Iterator[Var]:
    """Yield the vars in an operand, from left to right."""
    kind = type(tree)
    if kind is Var:
        yield tree
    elif kind is tuple or kind is list:
        for t in tree:
            yield from vars_in(t)
    elif kind is dict:
        for t in tree.values():
            yield from vars_in(t)
    elif kind is slice:
        yield from vars_in((tree.start, tree.stop, tree.step))


def map_vars(tree: Any, fn: Callable[[Var], Any]) -> Any:
    """Return an operand with every var replaced by `fn(var)`."""
    kind = type(tree)
    if kind is Var:
        return fn(tree)
    if kind is tuple or kind is list:
        return kind([map_vars(t, fn) for t in tree])
    if kind is dict:
        return {k: map_vars(t, fn) for k, t in tree.items()}
    if kind is slice:
        return slice(map_vars(tree.start, fn), map_vars(tree.stop, fn), map_vars(tree.step, fn))
    return tree
