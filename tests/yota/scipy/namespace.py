"""Calls that reach every rule of `yota.scipy`'s own functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.yota.rules.samples import (
    Sample,
    case,
    cplx,
    hermitian,
    positive,
    real,
    regular,
    spd,
)
from tests.yota.scipy.samples import chance, supported
from yota.scipy import linalg, signal, special, stats
from yota.scipy.linalg.factors import factor_matrix


def systems() -> Iterator[Sample]:
    a, c = regular(3), cplx(3, 3)
    for kind, m, b in (("vector", a, real(3)), ("matrix", a, real(3, 2)), ("complex", c, cplx(3))):
        yield case(kind, linalg.solve, m, b)
        for lower in (False, True):
            yield case(f"{kind}-{lower}", linalg.solve_triangular, m, b, lower=lower)
            yield case(
                f"{kind}-unit{lower}", linalg.solve_triangular, m, b, trans=1, lower=lower,
                unit_diagonal=True,
            )  # fmt: skip
        yield case(f"{kind}-T", linalg.solve_triangular, m, b, "T", at=(0, 1))
        yield case(f"{kind}-C", linalg.solve_triangular, m, b, trans=2)
    yield case("transposed", linalg.solve, a, real(3), transposed=True)
    for lower in (False, True):
        yield case(f"pos{lower}", linalg.solve, spd(3), real(3), lower=lower, assume_a="pos")
        yield case(f"sym{lower}", linalg.solve, spd(3), real(3, 2), lower=lower, assume_a="sym")
        yield case(f"her{lower}", linalg.solve, hermitian(3), cplx(3), lower=lower, assume_a="her")
        yield case(f"csym{lower}", linalg.solve, c, cplx(3), lower=lower, assume_a="sym")
    for kind, m in (("real", a), ("complex", c)):
        yield case(kind, linalg.inv, m)
        yield case(kind, linalg.det, m)
    for m, n in ((3, 3), (4, 4)):
        yield case(f"{m}{n}", linalg.solve_sylvester, regular(m), regular(n, seed=1), real(m, n))
    yield case("complex", linalg.solve_sylvester, c, cplx(2, 2, seed=1) + 3 * np.eye(2), cplx(3, 2))
    for low, up in ((1, 1), (2, 0), (0, 1), (1, 2)):
        bands = real(low + up + 1, 5) + 4 * (np.arange(low + up + 1) == up)[:, None]
        yield case(f"{low}{up}", linalg.solve_banded, (low, up), bands, real(5), at=(1, 2))
        yield case(f"{low}{up}", linalg.solve_banded, (low, up), bands, real(5, 2), at=(1, 2))
    yield case("complex", linalg.solve_banded, (1, 1), cplx(3, 5) + 3, cplx(5), at=(1, 2))


def factors() -> Iterator[Sample]:
    for lower in (False, True):
        for kind, s in (("real", spd(3)), ("complex", hermitian(3))):
            yield case(f"{kind}{lower}", linalg.cholesky, s, lower=lower)
            yield case(f"{kind}{lower}", factor_matrix, s, lower)
            yield case(f"{kind}{lower}", by_cholesky(lower), s, s[0])
            yield case(f"{kind}{lower}-matrix", by_cholesky(lower), s, s[:, :2])
            yield case(f"{kind}{lower}", linalg.eigvalsh, s, lower=lower)
        yield case(f"{lower}", by_spectrum(lower), spd(3))
        yield case(f"values{lower}", linalg.eigh, spd(3), lower=lower, eigvals_only=True)
    for kind, a in (("real", real(3, 3)), ("complex", cplx(3, 3))):
        yield case(kind, linalg.lu_factor, a)
        for trans in (0, 1, 2):
            yield case(f"{kind}{trans}", by_lu(trans), a, a[0])
            yield case(f"{kind}{trans}-matrix", by_lu(trans), a, a[:, :2])
        yield case(kind, linalg.svdvals, a)
        yield case(kind, linalg.pinv, a[:, :2])
        for order in (None, 1, 2, np.inf):
            yield case(f"{kind}{order}", linalg.norm, a, order)
    yield case("axis", linalg.norm, real(2, 3), axis=1, keepdims=True)
    for shape in ((3, 3), (4, 3), (2, 4)):
        yield case(f"{shape}", linalg.svd, real(*shape), full_matrices=False)
        yield case(f"values{shape}", linalg.svd, real(*shape), compute_uv=False)


def by_spectrum(lower: bool) -> Any:
    def by_spectrum(a: Any) -> Any:
        w, v = linalg.eigh(a, lower=lower)
        return w, v * v  # LAPACK chooses the signs of the vectors anew for each matrix

    return by_spectrum


def by_cholesky(lower: bool) -> Any:
    def by_cholesky(a: Any, b: Any) -> Any:
        return linalg.cho_solve(linalg.cho_factor(a, lower), b)

    return by_cholesky


def by_lu(trans: int) -> Any:
    def by_lu(a: Any, b: Any) -> Any:
        return linalg.lu_solve(linalg.lu_factor(a), b, trans)

    return by_lu


def matrices() -> Iterator[Sample]:
    for kind, a in (("real", spd(3)), ("complex", hermitian(3) + 0.3 * cplx(3, 3))):
        yield case(kind, linalg.expm, a * 0.3)
        yield case(kind, linalg.logm, a)
        yield case(kind, linalg.sqrtm, a)
    yield case("big", linalg.expm, real(3, 3) * 3)
    yield case("nilpotent", linalg.expm, np.triu(real(3, 3), 1))
    yield case("batch", linalg.expm, real(2, 3, 3))
    yield case("turning", linalg.logm, np.array([[0.1, -1.2], [0.9, 0.2]]))
    yield case("turning", linalg.sqrtm, np.array([[0.1, -1.2], [0.9, 0.2]]))
    yield case("negative", linalg.sqrtm, np.diag([-1.0, 2.0]) + 0.1 * real(2, 2))
    yield case("", linalg.block_diag, real(2, 3), real(2), real(), at=(0, 1, 2))
    yield case("", linalg.toeplitz, real(3), real(4))
    yield case("square", linalg.toeplitz, real(3))
    yield case("complex", linalg.toeplitz, cplx(3))
    yield case("", linalg.hankel, real(3), real(4))
    yield case("square", linalg.hankel, real(3))
    yield case("", linalg.circulant, real(4))


def functions() -> Iterator[Sample]:
    x, w = real(2, 3), positive(2, 3)
    for axis in (None, 0, -1, (0, 1)):
        yield case(f"{axis}", special.logsumexp, x, axis)
        yield case(f"{axis}", special.softmax, x, axis=axis)
        yield case(f"{axis}", special.log_softmax, x, axis=axis)
        yield case(f"{axis}-b", special.logsumexp, x, axis, w, at=(0, 2))
    yield case("keepdims", special.logsumexp, x, axis=1, keepdims=True)
    yield case("row", special.logsumexp, x, 1, w[0], at=(0, 2))
    yield case("column", special.logsumexp, x[0], 1, w[:, :1], at=(0, 2))
    yield case("scalar", special.logsumexp, real())
    signs = w * np.array([1.0, -3.0, 0.5])
    for axis in (None, 1):
        yield case(f"sign{axis}", special.logsumexp, x, axis, signs, False, True, at=(0, 2))
    yield case("complex", special.logsumexp, cplx(2, 3), 1)
    yield case("complex-b", special.logsumexp, cplx(2, 3), 1, cplx(2, 3, seed=1), at=(0, 2))
    yield case("complex-sign", special.logsumexp, cplx(2, 3), axis=1, return_sign=True)
    yield case("ties", special.logsumexp, np.full(4, 3.0))
    yield case("far", special.logsumexp, np.array([1000.0, 999.0, -1000.0]))
    for n in (0, 1, 3):
        yield case(f"{n}", special.polygamma, n, w, at=(1,))
    yield case("orders", special.polygamma, np.array([[0], [2]]), w[0], at=(1,))
    yield case("", special.multigammaln, w + 2, 3)
    yield case("scalar", special.multigammaln, 3.3, 2, at=(0,))
    for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
        yield case("", getattr(special, name), 2, w, at=(1,))
        yield case("negative", getattr(special, name), 1, -w, at=(1,))
        yield case("complex", getattr(special, name), 1, cplx(3), at=(1,))


def convolutions() -> Iterator[Sample]:
    shapes = [((5,), (3,)), ((3,), (5,)), ((4,), (4,)), ((6,), (2,)), ((4, 5), (2, 3)),
              ((3, 4, 3), (2, 2, 1))]  # fmt: skip
    for n, m in shapes:
        for mode in ("full", "same", "valid"):
            yield case(f"{n}{m}{mode}", signal.convolve, real(*n), real(*m, seed=1), mode)
            yield case(
                f"{n}{m}{mode}fft", signal.convolve, real(*n), real(*m, seed=1), mode, method="fft"
            )
    for mode in ("full", "same"):
        yield case(f"mixed{mode}", signal.convolve, real(2, 5), real(4, 3), mode=mode)
    yield case("complex", signal.convolve, cplx(5), cplx(3), "same")
    yield case("scalars", signal.convolve, real(), real(seed=1))


SHAPES: dict[str, tuple[Any, ...]] = {
    "norm": (), "uniform": (), "expon": (), "laplace": (), "logistic": (), "lognorm": (0.7,),
    "t": (3.3,), "chi2": (2.5,), "gamma": (1.7,), "beta": (1.3, 2.2),
}  # fmt: skip
METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")


def continuous() -> Iterator[Sample]:
    for name, shapes in SHAPES.items():
        dist, n = getattr(stats, name), len(shapes)
        for method in METHODS:
            fn = getattr(dist, method)
            known = method in ("pdf", "logpdf") or name == "lognorm"
            places = (0, *(range(1, n + 1) if known else ()), n + 1, n + 2)
            x = chance(2, 3) if method in ("ppf", "isf") else chance(2, 3) * 1.1 - 0.1
            scale = np.array([1.1, 1.2, 1.3])
            yield case("", fn, x, *map(np.asarray, shapes), np.array(-0.1), scale, at=places)
            yield case("standard", fn, chance(3), *shapes, at=(0,))
            wide = np.array([1.0, 1.1, 1.3])
            yield case("wide", fn, x, *(s * wide for s in shapes), -0.1 * wide, scale, at=places)
        yield case("broadcast", dist.logpdf, 0.4, *shapes, real(3) * 0.1, positive(2, 1) + 1)
    for method in ("pdf", "logpdf"):
        fn = getattr(stats.t, method)
        for df in (0.5, 39.0, 41.0, 300.0):
            yield case(f"df{df}", fn, real(3), np.array(df), at=(0, 1))
    single = chance(3).astype(np.float32)
    yield case("single", stats.norm.logpdf, single, single * 0.1, single + 1)


def discrete() -> Iterator[Sample]:
    k = np.array([0, 1, 3])
    for method in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"):
        yield case("", getattr(stats.poisson, method), k, positive(2, 3), at=(1,))
        yield case("loc", getattr(stats.poisson, method), k + 2, positive(3), 2, at=(1,))
        yield case("", getattr(stats.binom, method), k, 5, chance(2, 3), at=(2,))
        fn = getattr(stats.bernoulli, method)
        yield case("", fn, np.array([0, 0 if method == "logsf" else 1]), chance(2), at=(1,))


def multivariate() -> Iterator[Sample]:
    for method in ("pdf", "logpdf"):
        fn = getattr(stats.multivariate_normal, method)
        yield case(f"{method}-one", fn, real(3), real(3, seed=1), spd(3))
        yield case(f"{method}-many", fn, real(2, 4, 3), real(3, seed=1), spd(3))
        yield case(f"{method}-squeezed", fn, real(1, 3), real(3, seed=1), spd(3))
        yield case(f"{method}-diagonal", fn, real(3), real(3, seed=1), positive(3))
        yield case(f"{method}-round", fn, real(4, 3), real(3, seed=1), positive())
        yield case(f"{method}-line", fn, real(4), real(), positive())
        yield case(f"{method}-mean", fn, real(3), None, spd(3), at=(0, 2))
        yield case(f"{method}-standard", fn, real(4))
        fn = getattr(stats.dirichlet, method)
        yield case("", fn, np.array([0.2, 0.3]), positive(3))
        yield case("many", fn, np.array([[0.2, 0.3, 0.5], [0.3, 0.1, 0.2]]), positive(3))
    yield case("", stats.multivariate_normal.entropy, None, spd(3), at=(1,))
    yield case("line", stats.multivariate_normal.entropy, None, np.array(2.0), at=(1,))


FAMILIES = (
    systems, factors, matrices, functions, convolutions, continuous, discrete, multivariate
)  # fmt: skip
SAMPLES: list[Sample] = supported(s for family in FAMILIES for s in family())
