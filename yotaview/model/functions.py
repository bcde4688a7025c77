"""What an expression may compute with, each measured before it is done."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_SIZE = 1 << 24
MAX_WORK = 1 << 30
MAX_BITS = 4_096
MAX_SVD = 1 << 18
NUMBERS = "biufc"
MOST_ARGS = dict.fromkeys(
    ("angle", "imag", "isneginf", "isposinf", "nan_to_num", "real", "sinc"), 1
)
Fn = Callable[..., Any]


class Refusal(ValueError):
    """A step is not done; the text says why."""


def taken(value: Any) -> Any:
    """Return a recorded value as plain numbers: nothing of the user's comes along."""
    if isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS:
        plain = np.asarray(value).view()
        plain.flags.writeable = False  # what was recorded stays as it is, whatever is written
        return plain
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return value
    if type(value) in (bool, int, float, complex):
        return value
    if isinstance(value, tuple | list):
        return tuple(map(taken, value))
    raise Refusal("its value is no number and no array of numbers")


def checked(value: Any) -> Any:
    """Return a value that an expression may go on with; raises Refusal for an endless integer."""
    if type(value) is int and value.bit_length() > MAX_BITS:
        raise Refusal(f"an integer of {value.bit_length():,} bits")
    return value


def _refuse_more(size: int) -> None:
    if size > MAX_SIZE:
        raise Refusal(f"would make {size:,} elements: {MAX_SIZE:,} are computed")


def _sized(fn: Fn) -> Fn:
    """Return an elementwise function that is not run where broadcasting makes too much."""

    most = fn.nin if isinstance(fn, np.ufunc) else MOST_ARGS.get(getattr(fn, "__name__", ""), 3)

    def run(*args: Any) -> Any:
        _no_tuples(args)
        if len(args) > most:  # the next one is where a ufunc writes to
            raise Refusal(f"takes {most} operand{'' if most == 1 else 's'}")
        shapes = [np.shape(a) for a in args]
        size = math.prod(np.broadcast_shapes(*shapes))
        if size > max(map(math.prod, shapes)):  # no more than there is costs no more than that
            _refuse_more(size)
        return fn(*args)

    return run


def _no_tuples(args: tuple[Any, ...]) -> None:
    if any(isinstance(a, tuple) for a in args):
        raise Refusal("a tuple is no operand: take one of its items")


def _whole(fn: Fn) -> Fn:
    """Return an operation in which Python integers stay bounded."""

    def run(a: Any, b: Any) -> Any:
        if type(a) is int and type(b) is int:
            bits = {operator.mul: a.bit_length() + b.bit_length()}
            if fn is operator.pow:
                bits[fn] = a.bit_length() * max(b, 0)
            if bits.get(fn, 0) > MAX_BITS:
                raise Refusal(f"an integer of {bits[fn]:,} bits")
        return fn(a, b)

    return _sized(run)


def _matmul(a: Any, b: Any) -> Any:
    _no_tuples((a, b))
    if not (np.ndim(a) and np.ndim(b)):
        raise Refusal("@ needs two arrays")
    columns = np.shape(b)[-1] if np.ndim(b) > 1 else 1
    rows = np.shape(a)[-2] if np.ndim(a) > 1 else 1
    stacks = math.prod(np.broadcast_shapes(np.shape(a)[:-2], np.shape(b)[:-2]))
    _refuse_more(stacks * rows * columns)
    if stacks * rows * columns * np.shape(a)[-1] > MAX_WORK:
        raise Refusal("a product of matrices that takes too long")
    return np.matmul(a, b)


def _reduction(fn: Fn) -> Fn:
    """Return a function of one array whose result is no larger, with its axis."""

    def run(x: Any, axis: Any = None, **kwargs: Any) -> Any:
        return fn(x, **({} if axis is None else {"axis": axis}), **kwargs)

    return run


def _norm(x: Any, ord: Any = None, axis: Any = None, **kwargs: Any) -> Any:  # NumPy's name
    if ord is None and axis is None:
        return np.linalg.norm(np.ravel(x), **kwargs)
    if np.size(x) > MAX_SVD and np.ndim(x) > 1 and ord in (2, -2):
        raise Refusal(f"singular values of {np.size(x):,} elements take too long")
    return np.linalg.norm(x, ord, axis, **kwargs)


def _quantile(fn: Fn) -> Fn:
    def run(x: Any, q: Any, axis: Any = None) -> Any:
        if np.ndim(q):
            raise Refusal("one quantile at a time")
        return fn(x, q, axis=axis)

    return run


def _getitem(x: Any, index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    if isinstance(x, tuple):
        return x[index]
    many = [np.size(p) for p in parts if isinstance(p, np.ndarray) and p.dtype.kind != "b"]
    if many:
        _refuse_more(max(many) * np.size(x) // max(np.shape(x)[0] if np.ndim(x) else 1, 1))
    return np.asarray(x)[index]


def _picked(name: str) -> Fn:
    """Return Python's max or min of several numbers, NumPy's of one array."""
    whole: Fn = getattr(np, name)
    pair = _sized(np.maximum if name == "max" else np.minimum)

    def run(x: Any, *others: Any, axis: Any = None, **kwargs: Any) -> Any:
        for other in others:
            x = pair(x, other)
        return x if others else whole(x, axis=axis, **kwargs)

    return run


ELEMENTWISE = (
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "cbrt", "ceil", "conj", "conjugate", "copysign", "cos", "cosh", "deg2rad",
    "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide",
    "greater", "greater_equal", "heaviside", "hypot", "isfinite", "isinf", "isnan", "less",
    "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "negative", "not_equal", "positive", "rad2deg", "radians", "reciprocal", "remainder",
    "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt", "square", "subtract", "tan",
    "tanh", "true_divide", "trunc", "angle", "clip", "imag", "isneginf", "isposinf",
    "nan_to_num", "real", "sinc", "where",
)  # fmt: skip
REDUCING = (
    "all", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "mean", "median",
    "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmedian", "nanmin", "nanstd", "nansum",
    "nanvar", "prod", "ptp", "sort", "std", "sum", "var",
)  # fmt: skip
PLAIN = (
    "diff", "ndim", "ravel", "shape", "size", "squeeze", "trace", "transpose", "unique",
)  # fmt: skip

BINARY: dict[type[ast.operator], Fn] = {
    ast.Add: _whole(operator.add), ast.Sub: _whole(operator.sub), ast.Mult: _whole(operator.mul),
    ast.Div: _whole(operator.truediv), ast.FloorDiv: _whole(operator.floordiv),
    ast.Mod: _whole(operator.mod), ast.Pow: _whole(operator.pow), ast.MatMult: _matmul,
    ast.BitAnd: _whole(operator.and_), ast.BitOr: _whole(operator.or_),
    ast.BitXor: _whole(operator.xor),
}  # fmt: skip
UNARY: dict[type[ast.unaryop], Fn] = {
    ast.USub: _sized(operator.neg), ast.UAdd: _sized(operator.pos),
    ast.Invert: _sized(operator.invert), ast.Not: lambda x: not np.any(np.asarray(x)),
}  # fmt: skip


def _compared(fn: Fn, *, ties: bool = False) -> Fn:
    numbers = _sized(fn)

    def run(a: Any, b: Any) -> Any:
        both = isinstance(a, tuple) and isinstance(b, tuple)  # shapes
        return fn(a, b) if both and ties else numbers(a, b)

    return run


COMPARE: dict[type[ast.cmpop], Fn] = {
    ast.Eq: _compared(operator.eq, ties=True), ast.NotEq: _compared(operator.ne, ties=True),
    ast.Lt: _compared(operator.lt), ast.LtE: _compared(operator.le),
    ast.Gt: _compared(operator.gt), ast.GtE: _compared(operator.ge),
}  # fmt: skip


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    return _sized(lambda x, y: np.isclose(x, y, rtol, atol))(a, b)


def _alone(fn: Fn) -> Fn:
    """Return a function of one operand only."""
    return lambda x: fn(x)


FUNCTIONS: dict[str, Fn] = {
    **{name: _sized(getattr(np, name)) for name in ELEMENTWISE},
    **{name: _reduction(getattr(np, name)) for name in REDUCING},
    **{name: _alone(getattr(np, name)) for name in PLAIN},
    **{name: _alone(fn) for name, fn in (("len", len), ("float", float), ("int", int))},
    "absmax": lambda x: np.max(np.abs(x)),
    "allclose": lambda *args, **kwargs: bool(np.all(_isclose(*args, **kwargs))),
    "amax": _picked("max"),
    "amin": _picked("min"),
    "array_equal": lambda a, b: np.array_equal(a, b),
    "bool": lambda x: bool(np.all(x)),
    "getitem": _getitem,
    "isclose": _isclose,
    "linalg.norm": _norm,
    "matmul": _matmul,
    "max": _picked("max"),
    "min": _picked("min"),
    "norm": _norm,
    "percentile": _quantile(np.percentile),
    "power": BINARY[ast.Pow],
    "quantile": _quantile(np.quantile),
    "round": lambda x, decimals=0: np.round(x, decimals),
}
METHODS = frozenset((
    "all", "any", "argmax", "argmin", "conj", "cumprod", "cumsum", "max", "mean", "min",
    "prod", "ptp", "ravel", "round", "squeeze", "std", "sum", "trace", "transpose", "var",
))  # fmt: skip
ATTRIBUTES: dict[str, Fn] = {
    "T": np.transpose, "imag": np.imag, "ndim": np.ndim, "real": np.real, "shape": np.shape,
    "size": np.size,
}  # fmt: skip
KEYWORDS = frozenset(("axis", "keepdims", "ord", "ddof", "decimals", "rtol", "atol", "q"))
CONSTANTS: dict[str, Any] = {
    "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None,
}  # fmt: skip
BARE = ("inf", "nan")  # the others may be names of the user's
