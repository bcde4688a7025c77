"""Spaced points, differences, interpolation and polynomials."""

# ruff: noqa: PLR0915  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, positive, real, regular, single


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
