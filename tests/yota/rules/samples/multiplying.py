"""Products of vectors, matrices and arrays."""

# ruff: noqa: PLR0915  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, real


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
