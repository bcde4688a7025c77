"""Calls that reach every rule: (name, function, arguments, options, differentiated positions)."""

# ruff: noqa: PLR0915, C901, SIM905, E501  (tables of calls, not logic)

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from yota.rules import functional as fun
from yota.rules.linalg import cofactors, second_cofactors
from yota.rules.quantiles import places
from yota.rules.registry import VJP
from yota.rules.statistics import counts, counts_in_cells


class Sample(NamedTuple):
    """One call; arguments stand as the tracer hands them to a rule: traced ones by position."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: tuple[int | str, ...]

    def operand(self, at: int | str) -> Any:
        return self.kwargs[at] if isinstance(at, str) else self.args[at]

    def with_operand(self, at: int | str, value: Any) -> Sample:
        if isinstance(at, str):
            return self._replace(kwargs={**self.kwargs, at: value})
        return self._replace(args=(*self.args[:at], value, *self.args[at + 1 :]))

    def run(self) -> Any:
        return self.fn(*self.args, **self.kwargs)


def real(*shape: int, seed: int = 0) -> Any:
    """Return numbers between -2 and 2, no two closer than 1e-3."""
    rng = np.random.default_rng(seed + 7919 * sum(shape) + len(shape))
    n = int(np.prod(shape))
    x = np.linspace(-1.9, 1.93, max(n, 2))[:n]
    x = x + rng.uniform(-0.3, 0.3, n) / max(n, 2)
    return rng.permutation(x).reshape(shape) if shape else np.asarray(rng.uniform(0.3, 1.5))


def positive(*shape: int, seed: int = 0) -> Any:
    return np.abs(real(*shape, seed=seed)) + 0.3


def inside(*shape: int, seed: int = 0) -> Any:
    """Return numbers between -0.9 and 0.9."""
    return real(*shape, seed=seed) * 0.45


def cplx(*shape: int, seed: int = 0) -> Any:
    return real(*shape, seed=seed) + 1j * real(*shape, seed=seed + 100)


def single(*shape: int, seed: int = 0) -> Any:
    return real(*shape, seed=seed).astype(np.float32)


def spd(n: int, *lead: int, seed: int = 0) -> Any:
    a = real(*lead, n, n, seed=seed)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


def hermitian(n: int, seed: int = 0) -> Any:
    a = cplx(n, n, seed=seed)
    return a @ a.conj().T + np.diag(np.arange(n)) + n * np.eye(n)


def regular(n: int, *lead: int, seed: int = 0) -> Any:
    return real(*lead, n, n, seed=seed) + 3 * np.eye(n)


def holes(*shape: int, seed: int = 0) -> Any:
    """Return numbers of which some are NaN, no row wholly."""
    x = real(*shape, seed=seed)
    x.flat[1] = np.nan
    x.flat[-2] = np.nan
    return x


def case(
    name: str, fn: Any, *args: Any, at: tuple[int | str, ...] | None = None, **kw: Any
) -> Sample:
    """Make a sample; without `at`, all arrays of floating type and lists of them are varied."""
    label = getattr(fn, "__name__", str(fn))
    if at is None:
        at = tuple(k for k, a in enumerate(args) if _varies(a))
    return Sample(f"{label}-{name}" if name else label, fn, args, kw, at)


def _varies(a: Any) -> bool:
    if type(a) in (list, tuple):
        return bool(a) and all(_varies(b) for b in a)
    return isinstance(a, (np.ndarray, np.inexact)) and a.dtype.kind in "fc"


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
    yield case("floats", divmod, 1.25, 0.7, at=(0, 1))


AXES: tuple[Any, ...] = (None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2))


def reductions() -> Iterator[Sample]:
    x = real(2, 3, 2)
    for name in ("sum", "mean", "prod", "max", "min", "amax", "amin", "var", "std", "ptp"):
        fn = getattr(np, name)
        for axis in AXES:
            for keepdims in (False, True):
                yield case(f"{axis}-{keepdims}", fn, x, axis=axis, keepdims=keepdims)
        yield case("positional", fn, x, 1)
        yield case("scalar", fn, np.asarray(1.5))
        yield case("single", fn, x.astype(np.float32), axis=-1)
    mask = real(2, 3, 2, seed=3) > -1.2
    for name in ("sum", "mean", "prod", "var", "std"):
        yield case("where", getattr(np, name), x, axis=1, where=mask)
        yield case("where-row", getattr(np, name), x, where=mask[0, 0], keepdims=True)
        yield case("complex", getattr(np, name), cplx(2, 3), axis=0)
    for name in ("var", "std"):
        yield case("ddof", getattr(np, name), x, axis=(0, 1), ddof=1)
        yield case("correction", getattr(np, name), x, axis=1, correction=1)
        yield case("mean", getattr(np, name), x, axis=1, mean=real(2, 1, 2, seed=4))
        yield case("mean-where", getattr(np, name), x, where=mask, mean=np.full((1, 1, 1), 0.3))
        yield case(
            "mean", getattr(np, "nan" + name), holes(3, 4), axis=1, mean=np.full((3, 1), 0.3)
        )
    yield from initials()
    yield case("where", np.min, x, axis=1, initial=5.0, where=mask)
    yield case("empty", np.prod, np.zeros((0, 2)), axis=0)
    for n in range(1, 8):
        yield case(f"length-{n}", np.prod, real(2, n) + 0.05, axis=-1)
    for name in ("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanvar", "nanstd"):
        for axis in (None, 0, (0, -1)):
            yield case(f"{axis}", getattr(np, name), holes(3, 4, 2), axis=axis)
        yield case("keepdims", getattr(np, name), holes(3, 4), axis=1, keepdims=True)
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        make = holes if name.startswith("nan") else real
        yield case("flat", getattr(np, name), make(2, 3))
        yield case("axis", getattr(np, name), make(2, 5), axis=-1)
        yield case("first", getattr(np, name), make(5, 2), 0)
    yield case("zeros", np.cumprod, np.array([1.0, 0.0, 2.0, 3.0, 0.0, 5.0]))
    if hasattr(np, "cumulative_sum"):
        for fn in (np.cumulative_sum, np.cumulative_prod):
            yield case("", fn, real(4))
            yield case("initial", fn, real(4, 2), axis=0, include_initial=True)
    yield from averages()


def initials() -> Iterator[Sample]:
    x = real(2, 3, 2)
    for name in (
        "sum",
        "prod",
        "max",
        "min",
        "amax",
        "amin",
        "nansum",
        "nanprod",
        "nanmax",
        "nanmin",
    ):
        fn, data = getattr(np, name), holes(2, 3, 2) if name.startswith("nan") else x
        for start in (np.float64(0.1), np.float64(-3.0)):
            yield case(f"initial-{start}", fn, data, axis=1, initial=start, at=(0, "initial"))
            yield case(f"initial-all-{start}", fn, data, initial=start, at=(0, "initial"))
            before = (
                (None, None, None, False) if name.endswith(("sum", "prod")) else (None, None, False)
            )
            yield case(f"initial-positional-{start}", fn, data, *before, start)
    mask = x > -1.2
    yield case("initial-where", np.sum, x, axis=1, initial=real(), where=mask, at=(0, "initial"))
    yield case("initial-where", np.max, x, axis=1, initial=real(), where=mask, at=(0, "initial"))
    for name in ("var", "std", "nanvar", "nanstd"):
        data = holes(3, 4) if name.startswith("nan") else real(3, 4)
        mean = np.nanmean(data, axis=1, keepdims=True) + 0.1
        yield case("traced-mean", getattr(np, name), data, axis=1, mean=mean, at=(0, "mean"))


def ufunc_methods() -> Iterator[Sample]:
    x, at = real(4, 3), np.array([0, 2, 1, 1])
    mask = x > -1.5
    for fn in (np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin):
        name, reduce = fn.__name__, fn.reduce
        yield case(name, reduce, x)
        yield case(f"{name}-axes", reduce, x, axis=None if fn is np.hypot else (0, 1))
        yield case(f"{name}-keepdims", reduce, x, axis=1, keepdims=True)
        if fn is not np.hypot:
            yield case(f"{name}-where", reduce, x, axis=1, where=mask, initial=-0.1)
    for fn in (np.maximum, np.minimum, np.fmax, np.fmin):
        yield case(fn.__name__, fn.accumulate, x)
        yield case(f"{fn.__name__}-axis", fn.accumulate, x, 1)
    for fn in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin):
        yield case(fn.__name__, fn.reduceat, x, at)
        yield case(f"{fn.__name__}-axis", fn.reduceat, x, [1, 2], axis=1)
        yield case(f"{fn.__name__}-vector", fn.reduceat, real(6), [4, 0, 3])


def averages() -> Iterator[Sample]:
    x = real(2, 3, 2)
    yield case("plain", np.average, x)
    yield case("axis", np.average, x, 1)
    yield case("weights", np.average, x, None, positive(2, 3, 2))
    yield case("weights-axis", np.average, x, 1, positive(3))
    yield case("weights-axes", np.average, x, (2, 1), positive(2, 3))
    yield case("weights-keepdims", np.average, x, 1, positive(3), keepdims=True)
    yield case("returned", np.average, x, 1, positive(3), True)
    for axis in (None, 0, (0, -1)):
        yield case(f"{axis}", np.median, real(3, 2, 5), axis=axis)
    yield case("even", np.median, real(4, 3), axis=0, keepdims=True)
    yield case("", np.nanmedian, holes(3, 4, 2), axis=(0, 2))
    yield case("flat", np.nanmedian, holes(3, 4), keepdims=True)
    yield from quantiles()


METHODS = ("linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf weibull hazen "
           "closest_observation interpolated_inverted_cdf median_unbiased normal_unbiased").split()  # fmt: skip


def quantiles() -> Iterator[Sample]:
    x, q = real(3, 5), np.array([[0.317, 0.623, 0.881], [0.013, 0.979, 0.489]])
    yield case("", places, np.array([[3], [4]]), q, "hazen", 1, np.float64)
    for fn, scale in ((np.quantile, 1), (np.percentile, 100)):
        for method in METHODS:
            yield case(method, fn, x, q[0] * scale, 1, None, False, method)
        yield case("number", fn, x, 0.3 * scale, axis=1)
        yield case("first", fn, x, 0.3 * scale, (1, 0), keepdims=True)
        yield case("last", fn, x, 1.0 * scale)
        yield case("list", fn, x, [0.25 * scale, 0.5 * scale])
        yield case("matrix", fn, real(2, 3, 4), q * scale, axis=(0, 2), keepdims=True)
        yield case("single", fn, single(3, 5), 0.3 * scale, axis=1)
    for fn, scale in ((np.nanquantile, 1), (np.nanpercentile, 100)):
        for method in ("linear", "hazen", "higher"):
            yield case(method, fn, holes(3, 4), q * scale, axis=1, method=method)
        yield case("axes", fn, holes(3, 4, 2), 0.4 * scale, axis=(0, 2), keepdims=True)
        yield case("flat", fn, holes(3, 4), 0.4 * scale)
    w, how = positive(5), {"method": "inverted_cdf"}
    yield case("weights", np.quantile, x, 0.3, axis=1, weights=w, **how)
    yield case("weights-flat", np.quantile, x, q[0], weights=np.tile(w, (3, 1)), **how)
    yield case("weights", np.nanquantile, holes(5), 0.3, weights=w, **how)


def norms() -> Iterator[Sample]:
    for make, kind in ((real, "real"), (cplx, "complex")):
        for order in (None, 1, 2, 3, 1.5, 0.5, np.inf, -np.inf, -1):
            yield case(f"{kind}-{order}", np.linalg.norm, make(5), order)
            yield case(f"{kind}-{order}-axis", np.linalg.norm, make(2, 3), ord=order, axis=-1)
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            yield case(f"{kind}-{order}-matrix", np.linalg.norm, make(3, 4), order)
            for axes in ((0, 2), (-1, 1)):
                yield case(
                    f"{kind}-{order}-{axes}", np.linalg.norm, make(3, 2, 4), ord=order, axis=axes,
                    keepdims=axes == (0, 2),
                )  # fmt: skip
    yield case("flat", np.linalg.norm, real(2, 3, 2))
    yield case("count", np.linalg.norm, real(3), 0)
    yield case("axis", np.linalg.vector_norm, real(2, 3), axis=1, keepdims=True)
    yield case("all", np.linalg.vector_norm, real(2, 3), ord=3)
    yield case("", np.linalg.matrix_norm, real(2, 3, 4))
    yield case("nuc", np.linalg.matrix_norm, real(2, 3, 4), ord="nuc", keepdims=True)


def products() -> Iterator[Sample]:
    pairs = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((4, 2, 3), (3, 2)),
             ((4, 2, 3), (4, 3, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 3), (4, 3, 2)), ((3,), (4, 3, 2)),
             ((4, 2, 3), (3,))]  # fmt: skip
    for a, b in pairs:
        yield case(f"{a}{b}", np.matmul, real(*a), real(*b, seed=1))
        yield case(f"{a}{b}", np.dot, real(*a), real(*b, seed=1))
    yield case("complex", np.matmul, cplx(2, 3), cplx(3, 2))
    yield case("", np.linalg.matmul, real(2, 3), real(3, 2))
    for a, b in (((), ()), ((), (2, 3)), ((2, 3), ()), ((2, 3), (4, 3)), ((2, 5, 3), (3,))):
        yield case(f"{a}{b}", np.inner, real(*a), real(*b, seed=1))
    for a, b in (((), ()), ((), (2, 3)), ((2, 3), ()), ((2, 3, 4), (5, 4, 2))):
        yield case(f"{a}{b}", np.dot, real(*a), real(*b, seed=1))
    for make in (real, cplx):
        yield case(make.__name__, np.vdot, make(2, 3), make(3, 2, seed=1))
        yield case(make.__name__, np.vecdot, make(2, 3), make(3, seed=1))
        yield case(make.__name__, np.outer, make(2, 2), make(3, seed=1))
        yield case(make.__name__, np.kron, make(2, 3), make(2, seed=1))
        if hasattr(np, "matvec"):
            yield case(make.__name__, np.matvec, make(4, 2, 3), make(3, seed=1))
            yield case(make.__name__, np.vecmat, make(2), make(4, 2, 3, seed=1))
    yield case("axis", np.linalg.vecdot, real(3, 2), real(3, 2, seed=1), axis=0)
    yield case("axis", np.vecdot, cplx(3, 3), cplx(3, seed=1), axis=0)
    yield case("keepdims", np.vecdot, real(3, 2, 4), real(3, 2, 1, seed=1), axis=-2, keepdims=True)
    yield case("", np.linalg.outer, real(2), real(3))
    yield case("3d", np.kron, real(2, 1, 2), real(3, 2, seed=1))
    a, b = real(2, 3, 4), real(4, 3, 5, seed=1)
    for axes in (1, ([1], [1]), ([2, 1], [0, 1]), ([1, 2], [1, 0]), (2, 0), ((-1,), (0,))):
        yield case(f"{axes}", np.tensordot, a, b, axes)
    yield case("default", np.tensordot, a, real(3, 4, 5))
    yield case("outer", np.tensordot, real(2), real(3), 0)
    yield case("", np.linalg.tensordot, a, b, axes=1)
    yield case("", np.cross, real(4, 3), real(3, seed=1))
    yield case("axes", np.cross, real(3, 4), real(4, 3, seed=1), axisa=0, axisc=0)
    yield case("axis", np.cross, real(3, 4), real(3, 4, seed=1), axis=0)
    yield case("", np.linalg.cross, real(4, 3), real(4, 3, seed=1))
    yield case("rows", np.cross, real(2, 1, 3), real(4, 3, seed=1))
    yield from einsums()


def einsums() -> Iterator[Sample]:
    a, b, c = real(2, 3), real(3, 4, seed=1), real(4, seed=2)
    for terms in ("ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->", "ij,jk->i", "ij , jk -> k"):
        yield case(terms, np.einsum, terms, a, b)
    for terms in ("ij->ji", "ij->", "ij->j", "ij"):
        yield case(terms, np.einsum, terms, a)
    square = real(3, 3)
    for terms in ("ii", "ii->i", "ij->ji", "ii->"):
        yield case(f"square-{terms}", np.einsum, terms, square)
    yield case("iij->j", np.einsum, "iij->j", real(2, 2, 3))
    yield case("iji->ij", np.einsum, "iji->ij", real(2, 3, 2))
    yield case("iij,j", np.einsum, "iij,j->i", real(2, 2, 3), real(3))
    yield case("three", np.einsum, "ij,jk,k->i", a, b, c)
    yield case("optimize", np.einsum, "ij,jk,k->i", a, b, c, optimize=True)
    yield case("path", np.einsum, "ij,jk,k->i", a, b, c, optimize="greedy")
    yield case("ellipsis", np.einsum, "...ij,...jk->...ik", real(2, 2, 3), real(2, 3, 2))
    yield case("ellipsis-implicit", np.einsum, "...i,...i", real(2, 3), real(2, 3))
    yield case("ellipsis-broadcast", np.einsum, "...ij,...jk->...ik", real(2, 2, 3), real(3, 2))
    yield case("ellipsis-one", np.einsum, "...ij,jk->...ik", real(1, 2, 3), real(3, 2))
    yield case("ellipsis-1", np.einsum, "...i,...i->...", real(1, 3), real(2, 3))
    yield case("ellipsis-sum", np.einsum, "i...->...", real(2, 3))
    yield case("ellipsis-moved", np.einsum, "i...,j->...ij", real(2, 3, 2), real(2))
    yield case("scalar", np.einsum, ",ij->ij", real(), a)
    yield case("outer", np.einsum, "i,j", real(2), real(3))
    yield case("summed-away", np.einsum, "ij,k->k", a, real(2))
    yield case("one", np.einsum, "ij,ij->i", real(2, 1), real(2, 3))
    yield case("lists", np.einsum, a, [0, 1], b, [1, 2], [0, 2], at=(0, 2))
    yield case("lists-implicit", np.einsum, a, [0, 1], b, [1, 2], at=(0, 2))
    yield case("lists-ellipsis", np.einsum, a, [Ellipsis, 1], b, [1, 2], [Ellipsis, 2], at=(0, 2))
    for many in (False, True):
        yield case(
            f"late-labels-{many}", np.einsum, a, [0, 26], b, [26, 51], optimize=many, at=(0, 2)
        )
        yield case(f"order-{many}", np.einsum, real(2, 3), [26, 0], optimize=many, at=(0,))
    yield case("complex", np.einsum, "ij,jk->ik", cplx(2, 3), cplx(3, 2))


def shapes() -> Iterator[Sample]:
    x = real(2, 3, 4)
    yield case("", np.reshape, x, (4, -1))
    yield case("F", np.reshape, x, (4, 6), order="F")
    yield case("", np.ravel, x)
    yield case("F", np.ravel, x, "F")
    for order in ("A", "K"):
        for name, data in (("rows", x), ("columns", np.asfortranarray(x))):
            yield case(f"{name}-{order}", np.ravel, data, order)
            yield case(f"{name}-A", np.reshape, data, (4, 6), order="A")
    yield case("", np.transpose, x)
    yield case("axes", np.transpose, x, (2, 0, 1))
    yield case("negative", np.transpose, x, (-1, 0, -2))
    yield case("", np.moveaxis, x, 0, -1)
    yield case("two", np.moveaxis, x, (0, 1), (2, 0))
    for axis, start in ((2, 0), (0, 3), (1, 2), (-1, 1)):
        yield case(f"{axis}{start}", np.rollaxis, x, axis, start)
    yield case("", np.swapaxes, x, 0, -1)
    yield case("", np.squeeze, real(1, 3, 1))
    yield case("axis", np.squeeze, real(1, 3, 1), axis=0)
    yield case("", np.expand_dims, x, (0, -1))
    yield case("", np.broadcast_to, real(3, 1), (2, 3, 4))
    yield case("", np.copy, x)
    yield case("", np.astype, x, np.float64)
    for fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        yield case("scalar", fn, real())
        yield case("two", fn, real(3), real(2, 2))
    yield case("", np.flip, x)
    yield case("axes", np.flip, x, (0, -1))
    yield case("", np.fliplr, x)
    yield case("", np.flipud, x)
    yield case("", np.roll, x, 5)
    yield case("axis", np.roll, x, -1, axis=1)
    yield case("axes", np.roll, x, (1, 2), (0, -1))
    for k in (1, 2, -1):
        yield case(f"{k}", np.rot90, x, k, (0, 2))
    yield from repeats()
    yield from joins()
    yield from diagonals()
    yield case("", np.matrix_transpose, x)
    yield case("linalg", np.linalg.matrix_transpose, x)


def repeats() -> Iterator[Sample]:
    yield case("", np.repeat, real(2, 3), 2)
    yield case("axis", np.repeat, real(2, 3), 3, axis=-1)
    yield case("each", np.repeat, real(2, 3), [2, 0, 1], axis=1)
    yield case("each-flat", np.repeat, real(3), np.array([2, 0, 1]))
    for reps in (2, (2, 1), (2, 1, 3), (1, 2, 1, 2)):
        yield case(f"{reps}", np.tile, real(2, 3), reps)
    yield case("", np.meshgrid, real(2), real(3), real(4))
    yield case("ij", np.meshgrid, real(2), real(3), indexing="ij")
    yield case("sparse", np.meshgrid, real(2), real(3), sparse=True)
    yield case("one", np.meshgrid, real(2))
    yield case("", np.broadcast_arrays, real(2, 1), real(3))
    yield case("", np.ix_, real(2), real(3))
    yield case("", np.full_like, np.zeros((2, 3)), real())
    yield case("row", np.full_like, np.zeros((2, 3)), real(3))


def padded() -> Iterator[Sample]:
    x, wide = real(3, 4), ((2, 1), (5, 4))
    yield case("1", np.pad, real(2, 3), 1)
    yield case("pair", np.pad, real(3), (1, 2), mode="constant")
    yield case("dict", np.pad, real(2, 3), {-1: (1, 2)})
    for mode in ("edge", "reflect", "symmetric", "wrap"):
        yield case(mode, np.pad, x, wide, mode)
    for mode in ("reflect", "symmetric"):
        yield case(f"{mode}-odd", np.pad, x, wide, mode, reflect_type="odd")
        yield case(f"{mode}-one", np.pad, real(1, 2), 3, mode, reflect_type="odd")
    for mode in ("maximum", "minimum", "mean", "median"):
        yield case(mode, np.pad, x, wide, mode)
        yield case(f"{mode}-length", np.pad, x, wide, mode, stat_length=2)
        yield case(f"{mode}-lengths", np.pad, x, wide, mode, stat_length=((1, 3), (4, 2)))
        yield case(f"{mode}-3", np.pad, real(2, 3, 2), (1, 2), mode)
    for mode, name in (("constant", "constant_values"), ("linear_ramp", "end_values")):
        yield case(mode, np.pad, x, wide, mode)
        for value in (real(), real(2), real(2, 1), real(2, 2)):
            shape = np.shape(value)
            yield case(f"{mode}-{shape}", np.pad, x, wide, mode, **{name: value}, at=(0, name))
        yield case(f"{mode}-3", np.pad, real(2, 3, 2), 2, mode, **{name: real(1)}, at=(0, name))


def joins() -> Iterator[Sample]:
    a, b = real(2, 3), real(2, 3, seed=1)
    for axis in (0, 1, -1, None):
        yield case(f"{axis}", np.concatenate, [a, b], axis=axis)
        yield case(f"{axis}", np.append, a, b, axis)
    yield case("unequal", np.concatenate, (real(1, 3), a, real(4, 3)))
    yield case("array", np.concatenate, real(2, 3, 4), 1)
    for axis in (0, 1, -1):
        yield case(f"{axis}", np.stack, [a, b], axis=axis)
    yield case("array", np.stack, real(2, 3), axis=1)
    for fn in (np.vstack, np.hstack, np.dstack, np.column_stack):
        yield case("vectors", fn, [real(3), real(3, seed=1)])
        yield case("matrices", fn, (a, b))
    yield case("mixed", np.vstack, [real(3), a])
    yield case("mixed", np.column_stack, [real(2), a])
    yield case("scalars", np.hstack, [real(), real(3)])
    x = real(4, 6, 2)
    for fn in (np.split, np.array_split):
        yield case("2", fn, x, 2)
        yield case("at", fn, x, [1, 4], axis=1)
    yield case("uneven", np.array_split, x, 4, axis=1)
    yield case("", np.hsplit, x, 3)
    yield case("vector", np.hsplit, real(4), 2)
    yield case("", np.vsplit, x, 2)
    yield case("", np.dsplit, x, 2)
    if hasattr(np, "unstack"):
        yield case("", np.unstack, x, axis=1)


def diagonals() -> Iterator[Sample]:
    for k in (0, 1, -2):
        yield case(f"vector{k}", np.diag, real(3), k)
        yield case(f"matrix{k}", np.diag, real(3, 4), k)
        yield case(f"{k}", np.diagflat, real(2, 2), k)
        yield case(f"{k}", np.trace, real(3, 4), k)
        yield case(f"{k}", np.tril, real(2, 3, 4), k)
        yield case(f"{k}", np.triu, real(3, 4), k)
        yield case(f"{k}", np.diagonal, real(3, 2, 4), k, 0, -1)
    yield case("axes", np.trace, real(3, 2, 4), 1, 2, 0)
    yield case("", np.linalg.diagonal, real(2, 3, 4), offset=1)
    yield case("", np.linalg.trace, real(2, 3, 4), offset=-1)


INDICES: dict[str, tuple[Any, Any]] = {
    "int": (4, 2), "negative": ((3, 4), -1), "slice": ((5,), slice(1, 4)),
    "step": ((3, 5), (slice(None), slice(None, None, 2))), "backwards": ((5,), slice(None, None, -1)),
    "backwards-2": ((6, 2), slice(4, None, -2)), "ellipsis": ((2, 3, 4), (Ellipsis, 1)),
    "newaxis": ((3, 4), (None, slice(None), None, 2)), "array": ((5,), np.array([3, 0, 4])),
    "repeated": ((5,), np.array([1, 1, -4, 2])), "matrix-index": ((5, 2), np.array([[0, 1], [1, 4]])),
    "list": ((5,), [1, 1, 3]), "pairs": ((3, 4), (np.array([0, 2, 0]), np.array([1, 1, 1]))),
    "open": ((3, 4), np.ix_([0, 2], [1, 1, 3])), "bool": ((4,), np.array([True, False, True, True])),
    "bool-matrix": ((2, 3), np.array([[True, False, True], [False, True, True]])),
    "bool-rows": ((3, 2), np.array([True, False, True])), "bool-list": ((3,), [True, False, True]),
    "mixed": ((3, 4, 2), (np.array([0, 2]), slice(1, 3))), "apart": ((3, 4, 2), (np.array([0, 2, 2]), slice(1, 3), 1)),
    "with-ellipsis": ((3, 4, 2), (Ellipsis, np.array([0, 0, 1]))),
    "bool-and-int": ((3, 4), (np.array([True, False, True]), np.array([1, 1]))), "empty": ((3,), slice(0, 0)),
    "zero-d": ((), ()), "tuple": ((5,), ((0, 0, 1),)), "range": ((5,), (range(-3, 3),)),
    "nested-lists": ((5, 2), [[0, 1], [-4, 1]]), "numpy-ints": ((5,), [np.int64(1), -4]),
    "aliases": ((5,), np.array([0, -5])), "true": ((2, 3), True), "0-d-int": ((5,), np.array(2)),
    "F-index": ((5,), np.asfortranarray([[0, 1], [1, 2]])),
}  # fmt: skip


def indexing() -> Iterator[Sample]:
    for name, (shape, index) in INDICES.items():
        shape = shape if type(shape) is tuple else (shape,)
        x = real(*shape)
        part = x[index]
        yield case(name, fun.getitem, x, index, at=(0,))
        yield case(name, fun.setitem, x, index, real(*np.shape(part), seed=1), at=(0, 2))
        yield case(f"{name}-scalar", fun.setitem, x, index, real(), at=(0, 2))
        yield case(name, fun.scatter, real(*np.shape(part)), index, shape, at=(0,))
        yield case(name, fun.add_at, x, index, real(*np.shape(part), seed=1), at=(0, 2))
        yield case(f"{name}-scalar", fun.add_at, x, index, real(), at=(0, 2))
    z = real(3, 4) + 1j * real(3, 4, seed=1)
    for put in (fun.with_real, fun.with_imag):
        yield case("", put, z, real(3, 4, seed=2), at=(0, 1))
        yield case("row", put, z, real(4, seed=2), at=(0, 1))
    yield case("row", fun.setitem, real(3, 4), slice(0, 2), real(4), at=(0, 2))
    yield case("lead", fun.setitem, real(3, 4), 1, real(1, 4), at=(0, 2))
    yield case("repeated-row", fun.setitem, real(3, 2), np.array([0, 0, 1]), real(2), at=(0, 2))
    yield case("", fun.place, real(2, 4), slice(1, 3), (3, 4), at=(0,))
    yield case("", fun.identity, real(2, 3))
    if fun.item in VJP:
        yield case("", fun.item, real(1, 1))
    yield case("", fun.cast, real(2, 3), np.float64)
    yield case("complex", fun.cast, cplx(2, 3), np.float64)
    yield case("to-complex", fun.cast, real(2, 3), np.complex128)
    yield case("flat", np.take, real(3, 4), np.array([[0, 5], [5, 11]]))
    yield case("axis", np.take, real(3, 4), [1, 1, -1], axis=1)
    yield case("int", np.take, real(3, 4), 2, axis=-1)
    yield case("wrap", np.take, real(5), np.array([7, -3, 1]), mode="wrap")
    yield case("clip", np.take, real(5), np.array([7, -3, 1]), mode="clip")
    x = real(3, 4)
    yield case("last", np.take_along_axis, x, np.argsort(x, axis=-1), axis=-1)
    yield case("first", np.take_along_axis, x, np.array([[0, 0, 2, 1], [0, 1, 1, 1]]), axis=0)
    yield case("flat", np.take_along_axis, x, np.array([3, 3, 0]), axis=None)
    yield case("", np.compress, np.array([True, False, True]), x, axis=0)
    yield case("flat", np.compress, np.array([True, False, True]), x)
    yield case("", np.extract, x > 0, x)
    yield case("", np.delete, x, 1, axis=1)
    yield case("flat", np.delete, x, [1, 3, -1])
    yield case("", np.insert, x, 1, 5.0, axis=1)
    yield case("several", np.insert, real(4), [1, 3], [5.0, 6.0])
    yield case("same", np.insert, real(4), 2, [5.0, 6.0])
    yield case("slice", np.insert, real(2, 4), slice(0, 3, 2), 5.0, axis=1)
    yield case("mask", np.insert, real(4), np.array([True, False, True, False]), [5.0, 6.0])
    yield case("negative", np.insert, real(4), [-1], [5.0, 6.0, 7.0])
    for axis in (None, 0, 1):
        yield case(f"number-{axis}", np.insert, x, 1, real(), axis)
        several = real(3) if axis is None else real(3, 1)
        yield case(f"several-{axis}", np.insert, x, [1, 2, 1], several, axis)
    yield case("row", np.insert, x, 1, real(4), 0)
    yield case("column", np.insert, x, -1, real(3), 1)
    yield case("block", np.insert, x, 1, real(3, 2).T, 1)
    yield case("slice", np.insert, x, slice(0, 3, 2), real(2, 4), 0)
    yield case("", np.bincount, np.array([0, 1, 1, 3]), real(4), minlength=6)


def selections() -> Iterator[Sample]:
    x = real(3, 4)
    for axis in (-1, 0, None):
        yield case(f"{axis}", np.sort, x, axis=axis)
        yield case(f"{axis}", np.partition, x, 2, axis)
    yield case("", np.sort_complex, cplx(3))
    conditions = [x > 1, x > 0]
    yield case("", np.select, conditions, [x, real(4)], np.asarray(0.5))
    yield case("array", np.select, conditions, real(2, 3, 4), at=(1,))
    yield case("default", np.select, conditions, [x, real(3, 1)], real(4, seed=2), at=(1, 2))
    yield case("", np.choose, np.array([0, 1, 1]), [real(3), real(3, seed=1)])
    for mode in ("wrap", "clip"):
        yield case(mode, np.choose, np.array([-1, 3, 0]), [real(3), real(3, seed=1)], mode=mode)
    yield case("array", np.choose, np.array([0, 1, 1]), real(2, 3), at=(1,))
    for mode in ("full", "same", "valid"):
        for n, m in ((5, 3), (3, 5), (4, 4), (6, 2), (2, 5)):
            yield case(f"{mode}{n}{m}", np.convolve, real(n), real(m, seed=1), mode)
            yield case(f"{mode}{n}{m}", np.correlate, real(n), real(m, seed=1), mode)
    yield case("complex", np.correlate, cplx(5), cplx(3, seed=1), "full")
    yield case("complex", np.convolve, cplx(5), cplx(3, seed=1))


def others() -> Iterator[Sample]:
    yield case("rows", np.block, [real(2), real(3)], at=(0,))
    yield case("", np.resize, real(2, 3), (4, 2))
    yield case("none", np.trim_zeros, real(3))
    yield case("window", sliding_window_view, real(5), 3)
    yield case("windows", sliding_window_view, real(3, 5), (2, 2))
    yield case("axis", sliding_window_view, real(3, 5), 2, axis=1)
    yield case("twice", sliding_window_view, real(6), (2, 3), (0, 0))
    yield case("", np.nextafter, real(3), 9.0)
    for rhs in (real(4), real(4, 2)):
        yield case(f"{rhs.ndim}", np.linalg.lstsq, real(4, 3), rhs, None)
        yield case(f"wide{rhs.ndim}", np.linalg.lstsq, real(4, 5), rhs, None)
    yield case("", np.linalg.tensorinv, regular(6).reshape(2, 3, 6), ind=2)
    yield case("", np.linalg.tensorsolve, regular(6).reshape(2, 3, 6), real(2, 3))
    yield case("axis", np.linalg.tensorsolve, regular(6).reshape(6, 2, 3), real(2, 3), (0,))
    yield case("axes", np.linalg.tensorsolve, regular(6).reshape(2, 6, 3), real(3, 2), (0, 1))


def linear_algebra() -> Iterator[Sample]:
    for kind, a in (("real", regular(3)), ("batch", regular(3, 2)), ("complex", cplx(3, 3))):
        for fn in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv):
            yield case(kind, fn, a)
        for n in (0, 1, 3, -2):
            yield case(f"{kind}{n}", np.linalg.matrix_power, a, n)
    yield case("one", np.linalg.det, real(1, 1))
    a = regular(3)
    yield case("vector", np.linalg.solve, a, real(3))
    yield case("matrix", np.linalg.solve, a, real(3, 2))
    yield case("batch", np.linalg.solve, regular(3, 2), real(2, 3, 2))
    yield case("broadcast", np.linalg.solve, regular(3, 2), real(3, 2))
    yield case("broadcast-matrix", np.linalg.solve, a, real(2, 3, 2))
    yield case("vector-batch", np.linalg.solve, regular(3, 2), real(3))
    yield case("complex", np.linalg.solve, cplx(3, 3), cplx(3))
    for upper in (False, True):
        for kind, s in (("real", spd(3)), ("batch", spd(3, 2)), ("complex", hermitian(3))):
            yield case(f"{kind}-{upper}", np.linalg.cholesky, s, upper=upper)
    for uplo in ("L", "U"):
        yield case(uplo, np.linalg.eigh, spd(3), UPLO=uplo)
        yield case(uplo, np.linalg.eigvalsh, spd(3), UPLO=uplo)
    yield case("batch", np.linalg.eigh, spd(3, 2))
    yield case("complex", np.linalg.eigvalsh, hermitian(3))
    yield case("", np.linalg.eigvals, real(3, 3) * 0.1 + np.diag([1.0, 4.0, 9.0]))
    yield case("", np.linalg.eig, real(3, 3) * 0.1 + np.diag([1.0, 4.0, 9.0]))
    turning = np.array([[0.3, -1.2, 0.1], [0.9, 0.2, 0.4], [0.0, 0.3, 2.0]])
    yield case("turning", np.linalg.eigvals, turning)
    yield case("turning", np.linalg.eig, turning)
    yield case("complex", np.linalg.eig, cplx(3, 3) + np.diag([1.0, 4.0, 9.0]))
    yield case("batch", np.linalg.eig, np.stack([turning, turning.T + 0.1]))
    for m, n in ((3, 3), (4, 3), (2, 4)):
        for p in (None, 2, -2):
            yield case(f"{p}-{m}{n}", np.linalg.cond, real(2, m, n), p)
    for p in (1, -1, np.inf, -np.inf, "fro", "nuc"):
        yield case(f"{p}", np.linalg.cond, regular(3, 2), p)
    for m, n in ((3, 3), (4, 3), (2, 4)):
        x = real(m, n)
        yield case(f"{m}{n}", np.linalg.svd, x, full_matrices=False)
        yield case(f"values{m}{n}", np.linalg.svd, x, compute_uv=False)
        yield case(f"{m}{n}", np.linalg.svdvals, cplx(m, n))
        yield case(f"{m}{n}", np.linalg.pinv, x)
        yield case(f"rtol{m}{n}", np.linalg.pinv, x, rtol=None)
        yield case(f"{m}{n}", np.linalg.qr, x)
        yield case(f"r{m}{n}", np.linalg.qr, x, "r")
        yield case(f"complex{m}{n}", np.linalg.pinv, cplx(m, n))
    yield case("", np.linalg.multi_dot, [real(2, 3), real(3, 4), real(4, 2)])
    yield case("vectors", np.linalg.multi_dot, [real(3), real(3, 4), real(4)])
    for kind, a in (("real", regular(3)), ("batch", real(2, 4, 4)), ("complex", cplx(3, 3))):
        yield case(kind, cofactors, a)
        yield case(kind, second_cofactors, a, real(*a.shape, seed=5) + 0 * a)


def fourier() -> Iterator[Sample]:
    f = np.fft
    for norm in (None, "ortho", "forward"):
        for n in (None, 3, 6, 7):
            for fn in (f.fft, f.ifft, f.rfft, f.ihfft):
                yield case(f"{n}{norm}", fn, real(2, 5), n, norm=norm)
            for fn in (f.fft, f.ifft, f.irfft, f.hfft):
                yield case(f"complex{n}{norm}", fn, cplx(2, 4), n, norm=norm)
    for fn in (f.fft, f.ifft, f.irfft, f.hfft):
        yield case("axis", fn, cplx(4, 2), axis=0)
    for fn in (f.fft2, f.ifft2, f.fftn, f.ifftn, f.irfft2, f.irfftn):
        yield case("", fn, cplx(2, 3, 4))
        yield case("s", fn, cplx(2, 3, 4), s=(4, 2), axes=(0, 1))
        yield case("ortho", fn, cplx(2, 3, 4), axes=(0, 2), norm="ortho")
    for fn in (f.rfft2, f.rfftn):
        yield case("", fn, real(2, 3, 4))
        yield case("s", fn, real(2, 3, 4), s=(4, 5), axes=(0, 1), norm="forward")
    for fn in (f.fftshift, f.ifftshift):
        yield case("", fn, real(3, 4))
        yield case("axes", fn, real(3, 4), axes=0)


def unique(samples: Iterator[Sample]) -> Iterator[Sample]:
    """Number samples of one name."""
    seen: dict[str, int] = {}
    for s in samples:
        k = seen[s.name] = seen.get(s.name, 0) + 1
        yield s if k == 1 else s._replace(name=f"{s.name}-{k}")


def supported(samples: Iterator[Sample]) -> Iterator[Sample]:
    """Leave out what this NumPy has no such option for; the newest must have them all."""
    is_newest = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
    yield from (s for s in samples if is_newest or runs(s))


def runs(s: Sample) -> bool:
    """Tell whether the plain call of a sample is possible."""
    try:
        s.fn(*s.args, **s.kwargs)
    except (TypeError, FutureWarning):
        return False
    return True


def spaced() -> Iterator[Sample]:
    yield case("", np.linspace, real(), real(seed=1), 5)
    yield case("arrays", np.linspace, real(2), real(seed=1), 4, endpoint=False, axis=1)
    yield case("step", np.linspace, real(), real(seed=1), 4, retstep=True)
    yield case("one", np.linspace, real(), real(seed=1), 1)
    for fn, make in ((np.geomspace, positive), (np.logspace, real)):
        yield case("", fn, make(), make(seed=1) + 1, 5)
        yield case("arrays", fn, make(3), make(2, 1, seed=1) + 1, 4, endpoint=False, axis=-1)
        yield case("complex", fn, cplx(2), cplx(2, seed=1), 4)
    yield case("negative", np.geomspace, -positive(), -positive(seed=1) - 1, 5)
    yield case("base", np.logspace, real(), real(seed=1), 4, True, positive())
    yield case("bases", np.logspace, real(3), real(seed=1), 4, False, positive(3), None, 1)
    yield from differences()
    yield from interpolations()


def differences() -> Iterator[Sample]:
    for n in (0, 1, 2):
        yield case(f"{n}", np.diff, real(3, 5), n)
        yield case(f"{n}-axis", np.diff, real(5, 3), n, axis=0)
    yield case("prepend", np.diff, real(3, 5), prepend=0.5, append=np.ones((3, 2)))
    yield case("ends", np.diff, real(3, 5), 2, -1, real(3, 2), real())
    yield case(
        "named", np.diff, real(5), prepend=real(), append=real(2), at=(0, "prepend", "append")
    )
    yield case("", np.ediff1d, real(2, 3))
    yield case("ends", np.ediff1d, real(5), real(2), real())
    yield case("end", np.ediff1d, real(5), real(2, 2))
    yield case("single", np.ediff1d, single(5))
    trapezoid = np.trapezoid
    x = np.sort(real(5))
    yield case("", trapezoid, real(3, 5))
    yield case("dx", trapezoid, real(5, 3), None, 0.5, 0, at=(0, 2))
    yield case("dx-array", trapezoid, real(3, 5), None, positive(4))
    yield case("x", trapezoid, real(3, 5), x)
    yield case("x-axis", trapezoid, real(5, 3), x, axis=0)
    yield case("x-matrix", trapezoid, real(5, 3), np.sort(real(5, 3, seed=2), axis=0), 1.0, 0)
    yield case("x-row", trapezoid, real(3, 5), np.sort(real(1, 5, seed=2)))
    yield case("", np.gradient, real(6), 0.5)
    yield case("short", np.gradient, real(2, 3), axis=0)
    yield case("axes", np.gradient, real(3, 4), 0.5, 2.0, at=(0, 1, 2))
    yield case("step", np.gradient, real(3, 4), real(), at=(0, 1))
    for order in (1, 2):
        yield case(f"uneven-{order}", np.gradient, real(5), x, edge_order=order)
        yield case(
            f"even-{order}", np.gradient, real(5, 4), np.arange(4.0), axis=1, edge_order=order
        )
        yield case(f"short-{order}", np.gradient, real(3), x[:3], edge_order=order)
        yield case(f"both-{order}", np.gradient, real(5, 3), x, x[:3], edge_order=order)
        yield case(
            f"some-{order}", np.gradient, real(5, 3, 2), 0.3, x, axis=(1, 0), edge_order=order,
            at=(0, 1, 2),
        )  # fmt: skip
        yield case(f"complex-{order}", np.gradient, cplx(4), x[:4], edge_order=order)


def interpolations() -> Iterator[Sample]:
    xp = np.array([-2.0, -0.5, 0.4, 2.0])
    outside = np.array([-3.0, 0.1, 5.0])
    yield case("", np.interp, real(6), xp, real(4))
    yield case("number", np.interp, real(), xp, real(4))
    yield case("matrix", np.interp, real(2, 3), xp, real(4))
    yield case("outside", np.interp, outside, xp, real(4))
    yield case("ends", np.interp, outside, xp, real(4), -1.0, 7.0, at=(0, 1, 2, 3, 4))
    yield case("left", np.interp, outside, xp, real(4), real())
    yield case("complex", np.interp, outside, xp, cplx(4))
    yield case("one", np.interp, outside, xp[:1], real(1), at=(0, 2))
    yield case("period", np.interp, 4 * real(6), real(4), real(4, seed=1), period=1.7)
    yield case("period-ends", np.interp, real(3), xp, real(4), 1.0, 2.0, 5.0, at=(0, 1, 2, 3, 4))


def statistics() -> Iterator[Sample]:
    for ddof in (None, 0, 2):
        yield case(f"{ddof}", np.cov, real(3, 5), ddof=ddof)
    yield case("bias", np.cov, real(3, 5), bias=True)
    yield case("columns", np.cov, real(3, 5), rowvar=False)
    yield case("vector", np.cov, real(5))
    yield case("row", np.cov, real(1, 5))
    yield case("complex", np.cov, cplx(2, 4))
    whole = np.array([1, 3, 2, 1, 4])
    for fn in (np.cov, np.corrcoef):
        yield case("two", fn, real(2, 5), real(5))
        yield case("two-vectors", fn, real(5), real(5, seed=1))
        yield case("two-columns", fn, real(5, 2), real(5, 3), False)
    for ddof in (0, 1):
        yield case(f"fweights-{ddof}", np.cov, real(2, 5), None, True, False, ddof, whole)
        yield case(
            f"aweights-{ddof}", np.cov, real(2, 5), None, True, False, ddof, None, positive(5)
        )
        yield case(
            f"weights-{ddof}", np.cov, cplx(2, 5), real(5), True, False, ddof, whole, positive(5)
        )
    yield case("", np.corrcoef, real(3, 5))
    yield case("columns", np.corrcoef, real(5, 3), rowvar=False)
    yield case("vector", np.corrcoef, real(5))
    yield case("complex", np.corrcoef, cplx(3, 5))
    x = real(2, 4)
    yield case("", counts, x, 3, None, positive(2, 4))
    yield case("range", counts, x, 3, (-1.2, 1.3), positive(2, 4))
    yield case("edges", counts, x, np.array([-1.0, 0.2, 0.5]), None, positive(2, 4))
    edges = [np.array([-1.0, 0.2, 0.5]), np.array([-2.0, 0.3, 1.9])]
    yield case("", counts_in_cells, [real(6), real(6, seed=1)], edges, positive(6), at=(2,))
    yield case("", np.histogram_bin_edges, x)
    yield case("auto", np.histogram_bin_edges, x, "sturges")
    yield case("edges", np.histogram_bin_edges, x, np.array([-1.0, 0.2, 0.5]))
    yield case("range", np.histogram_bin_edges, x, 4, (np.float64(-1.2), np.float64(1.3)))


def sets() -> Iterator[Sample]:
    x = real(2, 3)
    yield case("", np.unique, real(5))
    yield case("counts", np.unique, x, return_counts=True)
    for fn in (np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse):
        yield case("", fn, x)
    for fn in (np.union1d, np.setxor1d, np.setdiff1d):
        yield case("", fn, x, real(5, seed=1))


def polynomials() -> Iterator[Sample]:
    yield case("", np.polyval, real(4), real(3))
    yield case("scalar", np.polyval, real(4), real())
    yield case("rows", np.polyval, real(4, 2), real(3, 2))
    yield case("complex", np.polyval, cplx(3), cplx(2))
    for fn in (np.polyadd, np.polysub, np.polymul):
        yield case("", fn, real(3), real(5))
        yield case("long", fn, real(4), real(2))
        yield case("number", fn, real(3), real())
        yield case("complex", fn, cplx(2), cplx(3))
    yield case("", np.polydiv, real(5), real(3, seed=1))
    yield case("", np.polydiv, np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0]))
    yield case("low", np.polydiv, real(2), real(3), at=(0,))
    yield case("number", np.polydiv, real(3), real())
    yield case("complex", np.polydiv, cplx(4), cplx(2))
    for m in (0, 1, 2, 3):
        yield case(f"{m}", np.polyder, real(3), m)
        yield case(f"{m}", np.polyint, real(3), m)
    yield case("constant", np.polyint, real(3), 1, real())
    yield case("one-constant", np.polyint, real(3), 3, real(1))
    yield case("constants", np.polyint, real(3), 2, real(2))
    yield case("spare-constants", np.polyint, real(3), 2, real(3))
    yield case("", np.poly, real(4))
    yield case("complex", np.poly, cplx(3))
    yield case("matrix", np.poly, regular(3))
    yield case("complex-matrix", np.poly, cplx(2, 2))
    yield case("", np.roots, np.array([3.2, 2.0, 1.0]))
    yield case("real", np.roots, np.poly(np.array([-1.0, 0.5, 2.0])))
    yield case("complex", np.roots, cplx(3))
    yield case("", np.vander, real(3))
    yield case("wide", np.vander, real(3), 5)
    yield case("increasing", np.vander, real(3), 4, True)
    yield case("complex", np.vander, cplx(3))
    yield case("", np.polyfit, real(6), real(6, seed=1), 2)
    yield case("weights", np.polyfit, real(6), real(6, seed=1), 3, None, False, positive(6))
    yield case("two", np.polyfit, real(5), real(5, 2, seed=1), 1)
    yield case("far", np.polyfit, 1e3 * positive(6), real(6), 4, at=(1,))


FAMILIES = (polynomials, ufunc_methods, sets, spaced, padded, statistics, elementwise, reductions, norms, products, shapes, indexing, selections,
            linear_algebra, fourier, others)  # fmt: skip
SAMPLES: list[Sample] = list(unique(supported(s for family in FAMILIES for s in family())))
