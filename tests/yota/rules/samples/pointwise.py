"""Calls that work element by element."""

# ruff: noqa: PLR0915, SIM905  (tables of calls, not logic)

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.yota.rules.samples.makers import (
    Sample,
    case,
    cplx,
    holes,
    inside,
    positive,
    real,
    single,
)

UNARY: dict[str, Callable[..., Any]] = {
    "negative positive absolute fabs square exp exp2 expm1 sin cos tan arctan sinh cosh tanh "
    "arcsinh cbrt sinc deg2rad rad2deg degrees radians reciprocal sign nan_to_num real imag "
    "angle real_if_close conjugate unwrap i0": real,
    "log log2 log10 log1p sqrt": positive,
    "arcsin arccos arctanh": inside,
    "arccosh": lambda *shape: positive(*shape) + 1,
}
COMPLEX_UNARY = (
    "negative positive absolute square exp exp2 expm1 sin cos tan arctan sinh cosh tanh arcsinh "
    "arcsin arccos arctanh arccosh sinc reciprocal sign real imag angle real_if_close conjugate "
    "log log2 log10 log1p sqrt"
).split()
BINARY = (
    "add subtract multiply divide remainder fmod arctan2 hypot logaddexp logaddexp2 maximum "
    "minimum fmax fmin copysign"
).split()


def elementwise() -> Iterator[Sample]:
    for names, make in UNARY.items():
        for name in names.split():
            fn = getattr(np, name)
            yield case("matrix", fn, make(2, 3))
            if name != "unwrap":
                yield case("scalar", fn, make())
            if name != "sign":
                yield case("single", fn, make(2, 3).astype(np.float32))
    for name in COMPLEX_UNARY:
        yield case("complex", getattr(np, name), cplx(2, 3))
    for name in BINARY:
        fn = getattr(np, name)
        a, b = real(2, 3), positive(2, 3, seed=1) + 0.017
        yield case("same", fn, a, b)
        yield case("row", fn, a, b[:1])
        yield case("column", fn, a[:, :1], b)
        yield case("scalar", fn, a, b[0, 0])
        yield case("grid", fn, a[:, :1], b[0])
        yield case("number", fn, a, 1.25)
        yield case("single", fn, a.astype(np.float32), b.astype(np.float32))
    for name in ("add", "subtract", "multiply", "divide"):
        yield case("complex", getattr(np, name), cplx(2, 3), cplx(2, 3, seed=1))
        yield case("mixed", getattr(np, name), real(2, 3), cplx(3, seed=1))
    yield from powers()
    yield from python_operators()
    x = real(2, 3)
    yield case("options", np.multiply, x, real(2, 3, seed=1), dtype=np.float64)
    yield case("", np.ldexp, x, np.array([1, -2, 3]))
    yield case("", np.modf, x)
    yield case("", np.frexp, x)
    yield case("", np.divmod, x, positive(3))
    yield case("", np.heaviside, np.array([0.0, 1.0, -1.0]), real(3), at=(1,))
    yield case("tol", np.real_if_close, cplx(3) * (1 + 1e-13j), tol=1e4)
    yield case("deg", np.angle, cplx(3), deg=True)
    yield case("nan", np.nan_to_num, holes(2, 3))
    yield case("complex-nan", np.nan_to_num, holes(3) + 1j * holes(3)[::-1])
    yield case("complex-dtype", np.arcsin, positive(3) + 1, dtype=complex, at=(0,))
    for name in ("fmod", "remainder"):
        yield case("negative", getattr(np, name), real(2, 3), -positive(3, seed=1))
    yield case("both", np.clip, x, -1.0, 1.0)
    yield case("traced", np.clip, x, real(3) * 0.1 - 1, np.asarray(0.9))
    yield case("low", np.clip, x, -1.0, None)
    yield case("high", np.clip, x, None, real(2, 1) + 0.01)
    yield case("keywords", np.clip, x, min=-1.0, max=1.0)
    m = x > 0
    yield case("same", np.where, m, x, real(2, 3, seed=1))
    yield case("broadcast", np.where, m, real(3), real(2, 1, seed=1))
    yield case("number", np.where, m, x, 0.0)
    yield case("condition", np.where, m[0], x, real(2, 3, seed=2))
    yield case(
        "named", np.clip, x, min=real(3) * 0.1 - 1, max=np.asarray(0.9), at=(0, "min", "max")
    )
    yield case("large", np.i0, np.array([0.0, 1e-3, 5.0, -12.0, 40.0]))
    yield from automatic()
    yield case("near-0", np.sinc, np.array([1e-9, 0.05, 0.0999, 0.1001, -0.02]))


def automatic() -> Iterator[Sample]:
    """Make samples of np.emath, whose functions turn complex where they must."""
    e = np.emath
    for fn in (e.sqrt, e.log, e.log2, e.log10, e.arccos, e.arcsin, e.arctanh):
        yield case("inside", fn, positive(3) * 0.4)
        yield case("outside", fn, np.array([-1.7, 0.3, 2.1]))
        yield case("complex", fn, cplx(3))
        yield case("number", fn, real())
    for name, fn in (("emath-power", e.power), ("emath-logn", e.logn)):
        yield case(f"{name}-real", fn, positive(3) + 1.1, real(3))
        yield case(f"{name}-negative", fn, real(3), positive(3, seed=1) + 0.5)
        yield case(f"{name}-complex", fn, cplx(3), cplx(3, seed=1))


def powers() -> Iterator[Sample]:
    x = positive(2, 3)
    yield case("same", np.power, x, real(2, 3, seed=1))
    yield case("row", np.power, x, real(3, seed=1))
    yield case("integers", np.power, real(2, 3), np.array([1, 2, -3]))
    for p in (0, 1, 2, 3, -1, 0.0, 1.0, 2.0, 3.0):
        yield (
            case(f"by-{p!r}", np.power, real(2, 3), p)
            if type(p) is float or p >= 0
            else case(f"by-{p!r}", np.power, real(2, 3), float(p))
        )
    yield case("half", np.power, x, 0.5)
    yield case("of-number", np.power, 2.5, real(3))
    yield case("complex", np.power, cplx(3), cplx(3, seed=1))
    yield case("complex-square", np.power, cplx(3), 2)
    yield case("single", np.power, x.astype(np.float32), single(3))
    yield case("", np.float_power, x, real(3))
    yield case("of-0", np.power, np.zeros(3), np.array([1.0, 2.0, 3.0]), at=(0,))


def python_operators() -> Iterator[Sample]:
    for name in ("add", "sub", "mul", "truediv", "mod", "pow"):
        yield case("floats", getattr(operator, name), 1.25, 0.7, at=(0, 1))
    for name in ("neg", "pos", "abs"):
        yield case("float", getattr(operator, name), -1.25, at=(0,))
    yield case("square", operator.pow, -1.25, 2, at=(0,))
    yield case("root", operator.pow, -2.0, 0.5, at=(0,))
    yield case("root-exponent", operator.pow, -2.0 + 0.5j, 0.5, at=(0, 1))
