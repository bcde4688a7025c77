"""Calls that sort, choose, count and compare."""

# ruff: noqa: PLR0915  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.yota.rules.samples.makers import Sample, case, cplx, positive, real, regular
from yota.rules.statistics import counts, counts_in_cells


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


def sets() -> Iterator[Sample]:
    x = real(2, 3)
    yield case("", np.unique, real(5))
    yield case("counts", np.unique, x, return_counts=True)
    for fn in (np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse):
        yield case("", fn, x)
    for fn in (np.union1d, np.setxor1d, np.setdiff1d):
        yield case("", fn, x, real(5, seed=1))


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
