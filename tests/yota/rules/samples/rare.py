"""Calls in forms that are seldom met, each of which tells a rule from one a little off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, positive, real
from yota.rules import functional as fun


def rare() -> Iterator[Sample]:
    yield from pointwise()
    yield from placed()
    yield from multiplied()
    yield from joined()
    yield from reduced()
    yield from spaced()
    yield from decomposed()


def pointwise() -> Iterator[Sample]:
    yield case("negative", np.copysign, real(2, 3), -positive(3), at=(0,))
    # The bounds cross: the upper one wins.
    crossed = np.array([0.0, 2.0, 0.7])
    yield case("crossed", np.clip, crossed, 1.0, np.array([0.5, 0.6, 0.9]), at=(0, 2))
    yield case("crossed-low", np.clip, crossed, np.array([1.0, 1.1, 0.2]), 0.9, at=(0, 1))
    parts = np.array([complex(np.nan, 1.0), complex(2.0, np.inf), 1 + 1j])
    yield case("parts", np.nan_to_num, parts, nan=0.0, posinf=3.0)
    yield case("above", np.clip, real(3), max=np.array([0.1, 0.5, -0.2]), at=(0, "max"))
    yield case("below", np.clip, real(3), min=np.array([0.1, 0.5, -0.2]), at=(0, "min"))
    yield case("0", np.sinc, np.array([0.0, 1.0, -0.3]))


def placed() -> Iterator[Sample]:
    yield case("lead-row", fun.setitem, real(3, 4), slice(0, 2), real(1, 1, 4), at=(0, 2))
    for mode in ("wrap", "clip"):
        yield case(f"{mode}-axis", np.take, real(3, 4), np.array([5, -3, 1]), axis=1, mode=mode)


def joined() -> Iterator[Sample]:
    yield case("deep", np.hstack, [real(2, 3, 2), real(2, 1, 2, seed=1)])
    yield case("vectors", np.hstack, [real(2), real(3, seed=1)])
    yield case("vectors", np.column_stack, [real(3), real(3, 2, seed=1)])
    yield case("numbers", np.hstack, [real(), real(seed=1)])
    yield case("matrices", np.dstack, [real(2, 3), real(2, 3, seed=1)])
    yield case("tuple", np.roll, real(3, 4), (1, 1), axis=(0, 1))
    yield case("number", np.repeat, real(), np.array([3]))
    yield case("each", np.repeat, real(2, 2), np.array([1, 2, 0, 3]))
    wide = [real(3), real(2, 1, seed=1), real(2, 3, seed=2)]
    yield case("broadcast", np.choose, np.array([[0, 1, 2], [2, 1, 0]]), wide, at=(1,))
    yield case("wrapped", np.choose, np.array([[4, -1, 2], [2, 1, 0]]), wide, mode="wrap", at=(1,))
    x = real(4)
    conditions = [np.array(c, bool) for c in ([1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0])]
    choices = [real(4, seed=k) for k in range(3)]
    yield case("overlapping", np.select, conditions, choices, x, at=(1, 2))
    yield case("extra", np.extract, np.array([[True, False], [True, True]]), real(2, 2))
    for axis in (-1, None):
        yield case(f"axis{axis}", np.insert, real(2, 3), 1, real(2) if axis else real(), axis)


def reduced() -> Iterator[Sample]:
    for fn in (np.cumsum, np.cumprod):
        yield case("complex", fn, cplx(4))
        yield case("complex-axis", fn, cplx(2, 3), axis=1)
    yield case("lowest", np.linalg.norm, np.array([1.0, -0.5, 2.0]), -np.inf)
    yield case("one-row", np.cov, real(1, 4), rowvar=False, ddof=0)
    yield case("number", np.cumprod, real(), axis=0)
    if hasattr(np, "cumulative_sum"):
        yield case("initial-flat", np.cumulative_sum, real(3), include_initial=True)
        for axis in (-1, -2):
            yield case(
                f"initial{axis}", np.cumulative_sum, real(3, 2), axis=axis, include_initial=True
            )
            yield case(
                f"initial{axis}", np.cumulative_prod, real(3, 2), axis=axis, include_initial=True
            )
        yield case("initial-flat", np.cumulative_prod, real(3), include_initial=True)
    tied, seen = np.array([3.0, 1.0, 3.0]), np.array([True, True, False])
    yield case("tied-outside", np.max, tied, where=seen, initial=-9.0)
    for fn in (np.max, np.amax, np.nanmax, np.sum):
        before = (None, None, None, False) if fn is np.sum else (None, None, False)
        yield case("initial-wins", fn, real(2, 3), *before, np.array(9.0), at=(0, len(before) + 1))
    yield case("whole", np.prod, real(2, 3), axis=1, initial=3)
    yield case("across", np.hypot.reduce, real(2, 3), axis=1)
    for fn in (np.maximum, np.fmin):
        yield case("middle", fn.accumulate, real(2, 4, 3), axis=-2)
        yield case("last", fn.accumulate, real(3, 4), axis=-1)
    for q in (np.array([0.2, 0.7]), np.array([[0.3], [0.6]])):
        yield case(f"places{q.ndim}", np.quantile, real(3, 4), q, axis=1)
    yield case("variables-behind", np.cov, real(5, 2), real(5, 3), False)
    yield case("free", np.cov, real(2, 4), None, True, False, 2, None, positive(4))
    yield case("shifted", np.cov, real(2, 4) + 30.0, None, True, False, None, None, positive(4))
    yield case("counted", np.cov, real(9, 9), rowvar=False)


def spaced() -> Iterator[Sample]:
    yield case("columns", np.polyval, real(3, 2), real())
    yield case("column", np.polyval, real(3, 2), real(1))
    yield case("one", np.polyval, real(3), real(1, 1))
    yield case("number", np.polydiv, real(), positive(2))
    yield case("numbers", np.polydiv, real(), positive())
    yield case("number-below", np.polydiv, real(4), positive())
    yield case("left", np.polyfit, np.array([-1.0, -2.5, -0.5, 0.3]), real(4), 1)
    yield case("through-0", np.polyfit, np.array([0.0, 1.0, 2.5, -1.0]), real(4), 1)
    yield case("none", np.diff, real(3), 0, -1, real(1), at=(0, 3))
    yield case("one-point", np.interp, real(4), np.array([0.05]), real(1), at=(0, 2))
    for at, ends in ((3, (np.array(2.0), None)), (4, (None, np.array(2.0)))):
        points = np.array([0.1, 1.0, 2.0])
        yield case("period", np.interp, real(3), points, real(3), *ends, 2.5, at=(at,))
    yield case("points", np.gradient, real(3, 4), np.array([0.0, 0.4, 1.1]),
               np.array([0.0, 1.0, 1.5, 3.0]))  # fmt: skip
    yield case("points-axis", np.gradient, real(3, 4, 2), np.array([0.0, 1.0, 1.5, 3.0]), axis=1)
    yield case("step-all", np.gradient, real(3, 4), np.array(0.7), at=(0, 1))
    step = {"retstep": True, "axis": -1}
    open_step = {"endpoint": False, "retstep": True}
    yield case("step-open", np.linspace, real(2), real(2, seed=1), 1, **open_step)
    yield case("step-last", np.linspace, real(2), real(2, seed=1), 4, **step)
    bases = positive(2) + 1
    yield case("axis-last", np.logspace, real(2), real(2, seed=1), 4, True, bases, None, -1)
    yield case("base-alone", np.logspace, real(), real(seed=1), 4, True, bases, None, -1)
    yield case("ends", np.logspace, real(2, 2), real(2), 3, True, positive(2) + 1)
    yield case("points-broadcast", np.trapezoid, real(3), np.sort(real(2, 3)), at=(0, 1))
    yield case("ends-of-none", np.ediff1d, np.zeros(0), real(2), real(1), at=(1, 2))


def decomposed() -> Iterator[Sample]:
    yield case("tall-complex-stack", np.linalg.qr, cplx(2, 4, 3))
    yield case("wide-complex", np.linalg.qr, cplx(2, 4))
    for shape in ((2, 3, 3), (2, 4, 2), (2, 2, 4)):
        yield case(f"values{shape}", np.linalg.svd, real(*shape), compute_uv=False)
    yield case("negative-axes", np.fft.fftn, real(2, 3, 4), None, (-1, 0))
    yield case("sizes-negative", np.fft.irfftn, cplx(3, 4), (3, 5), (-1, -2))
    yield case(
        "many-sides",
        np.linalg.tensorsolve,
        real(2, 3, 6) + np.reshape(3 * np.eye(6), (2, 3, 6)),
        real(2, 3),
    )
    yield case("vector-broadcast", np.matmul, real(3), real(2, 3, 4))
    if hasattr(np, "matvec"):
        yield case("broadcast", np.matvec, real(3, 4), real(2, 4))
        yield case("broadcast", np.vecmat, real(2, 3), real(3, 4))
    yield case("convolved", np.convolve, real(), real(3))
    yield case("correlated", np.correlate, real(3), real(1))


def multiplied() -> Iterator[Sample]:
    yield case("unequal", np.kron, real(2), real(2, 3))
    yield case("unequal", np.kron, real(2, 3), real(2))
    yield case("matrices", np.outer, real(2, 2), real(3, 2))
    yield case("number", np.polymul, real(3), real())
    yield case("short", np.polydiv, np.array([2.0, 0.0, 0.5, 1.0]), np.array([1.0, 0.5]))
    yield case("complex", np.linalg.cond, cplx(3, 3))
    for order in ("fro", 1, -2):
        yield case(f"complex-{order}", np.linalg.cond, cplx(3, 3), order)
    turned = real(2, 3), [0, 1], real(3, 4), [1, 2], [2, 0]
    yield case("turned", np.einsum, *turned, at=(0, 2))
