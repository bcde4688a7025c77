"""Calls that reduce, scan and rank."""

# ruff: noqa: PLR0915, C901, SIM905, E501  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, holes, positive, real, single
from yota.rules.quantiles import places

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
