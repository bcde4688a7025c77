"""Write ops as the quickest call that gives the same bits, and say which of them are views."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from yota import floats
from yota.codegen.expressions import Expressions
from yota.codegen.names import Names
from yota.rules.functional import getitem
from yota.tape import Call, Constant, Spec, Tape, Var, vars_in

_REDUCTIONS = {
    np.sum: np.add, np.prod: np.multiply,
    np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum,
}  # fmt: skip
_OPERATORS: dict[Any, str] = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/",
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=",
    np.equal: "==", np.not_equal: "!=",
}  # fmt: skip
# NumPy is about to take their third argument by keyword alone.
_KEYWORD_OUT = {np.maximum, np.minimum}
_BIGGEST = 2**53


class Raw(str):
    """Text that stands for an operand as it is."""

    __slots__ = ()


class LeanExpressions(Expressions):
    """The text of calls in lean code: bound names, methods, `out` by position, 0-d constants."""

    def __init__(self, tape: Tape, names: Names, local: Mapping[Var, str]) -> None:
        super().__init__(tape, names, local)
        self.constants: dict[Any, str] = {}
        self.zero_ds: dict[str, str] = {}
        self.constant_prefix = names.prefix("k")
        self.boxed: dict[Var, str] = {}
        self.ufuncs: dict[int, str] = {}

    def call(self, op: Call, out: str = "") -> str:
        """Return a call as an expression, computed into the buffer `out` if one is given."""
        text = self.quick(op, out)
        return super().call(op, out) if text is None else text

    def quick(self, op: Call, out: str) -> str | None:
        """Return a quicker way to write a call, None where there is none."""
        if isinstance(op.fn, np.ufunc):
            return (None if op.spec.kind == "array" else self.scalar(op)) or self.ufunc(op, out)
        if op.spec.kind == "python":
            return self.float_call(op)
        if op.fn is floats.float64:
            return f"{self.name(np.float64)}({self.operand(op.args[0])})"
        if op.spec.kind == "tuple" or not self.is_array(op.args[:1]):
            return None
        try:
            if op.fn in _REDUCTIONS:
                return self.reduction(op, out)
            if op.fn is np.dot:
                return self.dot(op, out)
            return self.view(op)
        except TypeError:
            return None

    def is_array(self, operands: tuple[Any, ...]) -> bool:
        """Tell whether all of these are arrays that an op or argument gave."""
        return all(type(x) is Var and self.tape[x].spec.kind == "array" for x in operands) and bool(
            operands
        )

    def empty(self, shape: tuple[int, ...], dtype: Any, order: str = "C") -> str:
        """Return the text that allocates an array."""
        parts = [self.operand(shape)]
        if dtype != np.float64:
            parts.append(self.dtype(dtype))
        if order != "C":
            parts.append(f"order={order!r}")
        return f"{self.np}.empty({', '.join(parts)})"

    def literal(self, value: Any) -> str:
        """Return the text of a literal."""
        return str(value) if type(value) is Raw else super().literal(value)

    # elementwise

    def ufunc(self, op: Call, out: str) -> str | None:
        """Return an elementwise call, None where it has options."""
        fn: Any = op.fn
        if op.kwargs or fn.nout != 1 or len(op.args) != fn.nin:
            return None
        if op.fn is np.multiply and self.is_square(op):
            op = _squared(op)
        parts = [self.elementwise(op, k) for k in range(len(op.args))]
        if out:
            parts.append(f"out={out}" if op.fn in _KEYWORD_OUT else out)
        return f"{self.name(op.fn)}({', '.join(parts)})"

    def is_square(self, op: Call) -> bool:
        """Tell whether a product is one of a real array with itself."""
        x, y = op.args
        return x is y and op.spec.dtype.kind == "f" and self.is_array((x,))

    def elementwise(self, op: Call, at: int) -> str:
        """Return an operand of an elementwise call, a number as a 0-d array of the loop's type."""
        x = op.args[at]
        if type(x) is Var:
            return self.boxed.get(x) or self.local[x]
        dtype = self.loop_type(op, at)
        if dtype is None or not isinstance(x, int | float | np.generic) or x != x:
            return self.operand(x)
        return self.constant(x, dtype)

    def loop_type(self, op: Call, at: int) -> Any:
        """Return the type in which an elementwise call takes operand `at`, None if unknown."""
        if getattr(op.fn, "signature", None) is not None:
            return None
        return loop_type(op.fn, tuple(map(self.weak_type, op.args)), at)

    def weak_type(self, x: Any) -> Any:
        """Return an operand's dtype, the class of a Python number."""
        if type(x) is not Var:
            return (
                type(x)
                if isinstance(x, int | float | complex) and not isinstance(x, np.generic)
                else getattr(x, "dtype", None)
            )
        spec = self.tape[x].spec
        return _PYTHON.get(spec.dtype.kind) if spec.weak and spec.dtype else spec.dtype

    def constant(self, value: Any, dtype: Any) -> str:
        """Return the name of a 0-d array, the number itself where it is none of that type."""
        made = as_zero_d(value, dtype)
        if made is None:
            return self.operand(value)
        key = (made.tobytes(), dtype)
        if key not in self.constants:
            self.constants[key] = self.zero_d(made)
        return self.constants[key]

    def zero_d(self, made: Any) -> str:
        """Return the name of a new 0-d array."""
        name = self.names.unique(f"{self.constant_prefix}{len(self.zero_ds) + 1}")
        dtype = "" if made.dtype == np.float64 else f", {self.dtype(made.dtype)}"
        self.zero_ds[name] = f"{self.np}.array({self.literal(made.item())}{dtype})"
        return name

    def name(self, fn: Any) -> str:
        """Return the bare name of a function of NumPy's."""
        known = self.ufuncs.get(id(fn))
        if known is None:
            known = self.ufuncs[id(fn)] = self.names.bind(fn, fn.__name__)
        return known

    # numbers

    def scalar(self, op: Call) -> str | None:
        """Return an operator between NumPy's numbers: the same bits without a ufunc's ado."""
        if op.kwargs or not all(map(self.is_number, op.args)) or not self.has_strong(op):
            return None
        parts = [self.atom(x) for x in op.args]
        if len(parts) == 2 and (sign := _OPERATORS.get(op.fn)):
            return f"{parts[0]} {sign} {parts[1]}"
        if op.fn is np.negative:
            return f"-{parts[0]}"
        return None

    def is_number(self, x: Any) -> bool:
        """Tell whether an operand is a real number that Python's operators take as NumPy does."""
        if type(x) is Var:
            spec = self.tape[x].spec
            return spec.kind in ("scalar", "python") and spec.dtype in _REAL
        if type(x) is int:
            return -_BIGGEST <= x <= _BIGGEST
        return type(x) in (float, np.float64, np.float32)

    def has_strong(self, op: Call) -> bool:
        """Tell whether an operand is a number of NumPy's, so that the result is one."""
        strong = (
            self.tape[x].spec.kind == "scalar" if type(x) is Var else isinstance(x, np.generic)
            for x in op.args
        )
        return any(strong)

    def float_call(self, op: Call) -> str | None:
        """Return a call of Python's arithmetic on floats."""
        if op.fn in floats.SIGNS:
            x, y = map(self.atom, op.args)
            return f"{x} {floats.SIGNS[op.fn]} {y}"
        if op.fn is floats.negative:
            return f"-{self.atom(op.args[0])}"
        if op.fn is floats.plain:
            return f"{self.names.builtin(float)}({self.operand(op.args[0])})"
        if op.fn in floats.PYTHON.values():
            return f"{self.name(op.fn)}({', '.join(map(self.operand, op.args))})"
        return None

    # reductions and products

    def reduction(self, op: Call, out: str) -> str | None:
        """Return a reduction as the method of its ufunc."""
        known = dict(op.kwargs)
        if len(op.args) > 2 or not {"axis", "keepdims"}.issuperset(known):
            return None
        axis = op.args[1] if len(op.args) == 2 else known.get("axis")
        if any(True for _ in vars_in(axis)):
            return None
        if type(axis) is tuple and len(axis) == 1:
            axis = axis[0]
        parts = [self.local[op.args[0]], self.operand(axis)]
        keep = known.get("keepdims") is True
        if out or keep:
            parts += ["None", out or "None"]
        if keep:
            parts.append("True")
        ufunc = _REDUCTIONS[op.fn]
        return f"{self.name(ufunc)}.reduce({', '.join(parts)})"

    def dot(self, op: Call, out: str) -> str | None:
        """Return a product as the method of an array."""
        if len(op.args) != 2 or op.kwargs or not self.is_array(op.args):
            return None
        if any(not 1 <= len(self.tape[x].spec.shape) <= 2 for x in op.args):
            return None
        x, y = (self.local[x] for x in op.args)
        return f"{x}.dot({y}, {out})" if out else f"{x}.dot({y})"

    # views

    def view(self, op: Call) -> str | None:
        """Return a view as a method or index of the array."""
        if out_of_place(op) or op.spec.kind != "array":
            return None
        x, spec = self.local[op.args[0]], self.tape[op.args[0]].spec
        if op.fn is np.reshape and _plain_shape(op):
            return f"{x}.reshape({self.operand(op.spec.shape)})"
        if op.fn is np.ravel and len(op.args) == 1 and not op.kwargs:
            return f"{x}.ravel()"
        axes = moved_axes(op, len(spec.shape))
        if axes is not None:
            turned = axes == tuple(range(len(axes)))[::-1]
            return f"{x}.T" if turned else f"{x}.transpose({self.operand(axes)})"
        if op.fn is np.expand_dims:
            return f"{x}[{self.index(new_axes(op))}]"
        return None


def _squared(op: Call) -> Call:
    return Call(spec=op.spec, origin=op.origin, fn=np.square, args=op.args[:1])


_PYTHON = {"f": float, "c": complex, "i": int, "b": None}
_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_known_loops: dict[Any, Any] = {}


def loop_type(fn: Any, types: tuple[Any, ...], at: int) -> Any:
    """Return the dtype in which a ufunc's loop takes operand `at`, None where that is unclear."""
    key = (fn, types)
    if key not in _known_loops:
        try:
            # np.dtype(float) == None holds
            unknown = any(t is None for t in types)
            found = None if unknown else fn.resolve_dtypes((*types, *(None,) * fn.nout))
        except (TypeError, ValueError):
            found = None
        _known_loops[key] = found
    found = _known_loops[key]
    return None if found is None or found[at].kind not in "fc" else found[at]


def as_zero_d(value: Any, dtype: Any) -> Any:
    """Return a number as a 0-d array, None where that would warn, raise or change its value."""
    try:
        with np.errstate(all="raise"):
            made = np.array(value, dtype)
    except (ArithmeticError, ValueError, TypeError):
        return None
    if made.ndim or (isinstance(value, np.generic) and value.dtype != dtype):
        return None
    return None if math.isnan(made.real) else made


_MOVES = {np.transpose, np.swapaxes, np.moveaxis}
_STILL = {np.reshape, np.ravel, np.expand_dims, *_MOVES}


def out_of_place(op: Call) -> bool:
    """Tell whether a call is none of the functions that move no element."""
    return op.fn not in _STILL or any(True for _ in vars_in((op.args[1:], dict(op.kwargs))))


def _plain_shape(op: Call) -> bool:
    return len(op.args) == 2 and not op.kwargs


def moved_axes(op: Call, ndim: int) -> tuple[int, ...] | None:
    """Return which axis stands at each place of a transposed array, None for other calls."""
    if op.fn not in _MOVES:
        return None
    numbers = np.arange(ndim)
    example = np.empty((1,) * ndim)
    del example
    probe = np.empty(tuple(numbers + 2), np.int8)
    moved = op.fn(probe, *op.args[1:], **dict(op.kwargs))
    return tuple(n - 2 for n in moved.shape)


def new_axes(op: Call) -> tuple[Any, ...]:
    """Return the index that adds the axes of `expand_dims`."""
    given = op.args[1] if len(op.args) > 1 else dict(op.kwargs)["axis"]
    ndim = len(op.spec.shape)
    places = {a % ndim for a in (given if isinstance(given, tuple) else (given,))}
    index = tuple(None if k in places else slice(None) for k in range(ndim))
    if len(index) > 1 and index[0] is None and all(x == slice(None) for x in index[1:]):
        return (None,)
    if index[-1] is None and all(x == slice(None) for x in index[:-1]):
        return (..., None)
    return index


def is_view(op: Call, tape: Tape) -> bool:
    """Tell whether a call, on memory that stays, gives a view that stays too."""
    x = op.args[0] if op.args else None
    if type(x) is not Var or op.spec.kind != "array" or tape[x].spec.kind != "array":
        return False
    if any(True for _ in vars_in((op.args[1:], dict(op.kwargs)))):
        return False
    if op.fn in (getitem, operator.getitem):
        return _is_basic(op.args[1])
    if op.fn in (np.reshape, np.ravel):
        copies = op.fn is np.ravel and op.args[1:] not in ((), ("C",))
        return tape[x].spec.order == "C" and len(op.args) <= 2 and not op.kwargs and not copies
    return op.fn in (np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
                     np.broadcast_to)  # fmt: skip


def _is_basic(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    return all(x is None or x is Ellipsis or type(x) in (int, slice) for x in items)


def uniform(op: Any) -> Any:
    """Return the number that a constant array repeats, None for others."""
    if not isinstance(op, Constant) or op.spec.kind != "array" or not op.value.size:
        return None
    return op.value.flat[0] if not any(op.value.strides) else None


__all__ = ["LeanExpressions", "Spec", "is_view", "uniform"]
