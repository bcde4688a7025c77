"""Calls that move, repeat, join, cut and index."""

# ruff: noqa: PLR0915, E501  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, real
from yota.rules import functional as fun
from yota.rules.registry import VJP


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
    yield case("number", np.transpose, real(3), 0)
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
