"""Python's operators on boxes: Python's own on Python scalars, NumPy's ufuncs on the rest."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.tracing import views
from yota.tracing.box import BOXES, Traced, record
from yota.tracing.foreign import overrides

_PLAIN = BOXES | {int, float, bool, complex, np.ndarray, np.float64}
_NUMBERS = (int, float, complex, np.ndarray, np.generic)


def _is_python(x: Any) -> bool:
    value = x._value if isinstance(x, Traced) else x
    return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def _operands_ok(self: Traced, other: Any, reflected: str) -> bool:
    """Tell whether NumPy or Python answers, and not `other` by its own `reflected` operator."""
    kind = type(other)
    if isinstance(other, _NUMBERS):
        return kind in _PLAIN or not reflected or not overrides(kind, reflected)
    # Python repeats and joins sequences; only NumPy's values turn them into arrays
    if not isinstance(self, np.ndarray | np.generic):
        return False
    return kind in (list, tuple) or (hasattr(kind, "__array__") and not hasattr(kind, reflected))


def _repeats(self: Traced, name: str, other: Any) -> bool:
    return name == "mul" and type(other) in (list, tuple) and not isinstance(self, np.ndarray)


def apply_binary(ufunc: Any, python: Any, a: Any, b: Any) -> Any:
    """Record `a op b`: Python's operator where both are Python scalars, else NumPy's ufunc."""
    if _is_python(a) and _is_python(b):
        return record(python, a, b)
    if python is operator.pow:
        return _power(a, b)
    if python is operator.mul and _is_complex_scalar(a, b):
        return record(python, a, b)
    return record(ufunc, a, b)


def _is_complex_scalar(*operands: Any) -> bool:
    """Tell whether a result is a complex scalar: NumPy rounds its products as Python does."""
    return all(isinstance(x, np.generic | int | float | complex) for x in operands) and any(
        isinstance(x, np.complexfloating | complex) for x in operands
    )


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
    def answer(self: Traced, other: Any, left: Any, right: Any) -> Any:
        if _repeats(self, name, other):
            return other * operator.index(self)
        # Python asked the left operand first: who is on the right has no better answer
        asked = f"__r{name}__" if left is self else ""
        if not _operands_ok(self, other, asked):
            return NotImplemented
        return apply_binary(ufunc, python, left, right)

    def forward(self: Traced, other: Any) -> Any:
        return answer(self, other, self, other)

    def reflected(self: Traced, other: Any) -> Any:
        return answer(self, other, other, self)

    def in_place(self: Traced, other: Any) -> Any:
        if _repeats(self, name, other) or not _operands_ok(self, other, f"__r{name}__"):
            return NotImplemented
        result = apply_binary(ufunc, python, self, other)
        if self._cell is None:
            return result
        if result.shape != self.shape:
            raise ValueError(f"non-broadcastable output operand with shape {self.shape}")
        views.store(self, result)
        return self

    setattr(Traced, f"__{name}__", forward)
    setattr(Traced, f"__r{name}__", reflected)
    setattr(Traced, f"__i{name}__", in_place)


_BINARY: tuple[tuple[str, Any, Any], ...] = (
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
)
for _name, _ufunc, _python in _BINARY:
    _binary(_name, _ufunc, _python)


def _comparison(name: str, mirrored: str, ufunc: Any) -> None:
    python = getattr(operator, name)

    def compare(self: Traced, other: Any) -> Any:
        if not _operands_ok(self, other, f"__{mirrored}__"):
            return NotImplemented
        return apply_binary(ufunc, python, self, other)

    setattr(Traced, f"__{name}__", compare)


_COMPARISONS: tuple[tuple[str, str, Any], ...] = (
    ("lt", "gt", np.less),
    ("le", "ge", np.less_equal),
    ("gt", "lt", np.greater),
    ("ge", "le", np.greater_equal),
    ("eq", "eq", np.equal),
    ("ne", "ne", np.not_equal),
)
for _name, _mirrored, _ufunc in _COMPARISONS:
    _comparison(_name, _mirrored, _ufunc)


def _unary(name: str, ufunc: Any, python: Any) -> None:
    def apply(self: Traced) -> Any:
        size = python is operator.abs and _is_complex_scalar(self)
        return record(python if size or _is_python(self) else ufunc, self)

    setattr(Traced, f"__{name}__", apply)


_UNARY: tuple[tuple[str, Any, Any], ...] = (
    ("neg", np.negative, operator.neg),
    ("pos", np.positive, operator.pos),
    ("abs", np.absolute, operator.abs),
    ("invert", np.invert, operator.invert),
)
for _name, _ufunc, _python in _UNARY:
    _unary(_name, _ufunc, _python)


def _rounding(name: str, python: Callable[..., Any], ufunc: Callable[..., Any]) -> None:
    def apply(self: Traced, *args: Any) -> Any:
        return record(python if self._cell is None else ufunc, self, *args)

    setattr(Traced, f"__{name}__", apply)


_ROUNDINGS: tuple[tuple[str, Any, Any], ...] = (
    ("round", builtins.round, np.round),
    ("floor", math.floor, np.floor),
    ("ceil", math.ceil, np.ceil),
    ("trunc", math.trunc, np.trunc),
)
for _name, _python, _ufunc in _ROUNDINGS:
    _rounding(_name, _python, _ufunc)


def _divmod(self: Traced, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Traced, other: Any) -> Any:
    return other // self, other % self


for _name, _method in (("divmod", _divmod), ("rdivmod", _rdivmod)):
    setattr(Traced, f"__{_name}__", _method)
