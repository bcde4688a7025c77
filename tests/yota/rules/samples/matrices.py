"""Linear algebra and Fourier transforms."""

# ruff: noqa: PLR0915, C901  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, hermitian, real, regular, spd
from yota.rules.linalg import cofactors, second_cofactors


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
