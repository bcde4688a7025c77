"""Memory layouts, which decide where a write goes, and byte orders, which results keep."""

from __future__ import annotations

import numpy as np
import pytest

import yota
from yota.errors import GuardError

VALUES = np.arange(1.0, 13.0).reshape(3, 4)


def strided():
    x = np.zeros((6, 8))[::2, ::2]
    x[...] = VALUES
    return x


def read_only():
    x = VALUES.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {"C": VALUES.copy, "F": lambda: np.asfortranarray(VALUES), "strided": strided}


def flat(x):
    y = x.ravel()
    y *= 2
    return np.sum(x)


def by_columns(x):
    y = x.ravel("F")
    y[0] = x[1, 1]
    return np.sum(x * x)


def reshaped(x):
    y = x.reshape(-1, 2)
    x *= 2
    return np.sum(y)


def of_a_result(x):
    y = x * 3.0
    z = y.reshape(-1)
    z *= x[0, 0]
    return np.sum(y)


def by_flags(x):
    return np.sum(x * x) if x.flags.c_contiguous else np.sum(x)


def by_strides(x):
    return np.sum(x * x) if x.strides[0] == 32 else np.sum(x)


def by_shared_memory(x):
    return np.sum(x * x) if np.shares_memory(x, x.reshape(-1)) else np.sum(x)


def copied_if_need_be(x):
    y = x.astype(float, order="C", copy=False)
    y *= 2
    return np.sum(x) + np.sum(y * y)


def copied_in_order(x):
    y = x.astype(float, order="F", copy=False)
    x *= 2
    return np.sum(y)


FUNCTIONS = [
    flat, by_columns, reshaped, of_a_result, by_flags, by_strides, by_shared_memory,
    copied_if_need_be, copied_in_order,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_a_cached_program_does_not_answer_for_another_layout(f, first):
    yota.reset()
    yota.grad(f, LAYOUTS[first]())
    for make in LAYOUTS.values():
        wanted, plain = yota.grad(f, make()), f(make())
        yota.reset()
        anew = yota.grad(f, make())
        assert wanted[0] == plain == anew[0]
        np.testing.assert_array_equal(wanted[1][0], anew[1][0])


def write_first(x):
    x[0] = 1.0
    return np.sum(x * x)


def write_through_a_view(x):
    y = x[1:].T
    y *= 2.0
    return np.sum(x)


@pytest.mark.parametrize("f", [write_first, write_through_a_view])
def test_a_cached_program_does_not_write_into_a_read_only_argument(f):
    yota.grad(f, VALUES)
    with pytest.raises(ValueError, match="read-only"):
        yota.grad(f, read_only())


def test_a_program_of_a_read_only_argument_does_not_answer_for_another_one():
    def f(x):
        try:
            x[0] = 1.0
        except ValueError:
            return np.sum(x)
        return np.sum(x * x)

    for make in (read_only, VALUES.copy, read_only):
        assert yota.grad(f, make())[0] == f(make())


def test_a_function_that_writes_into_none_stays_cached_in_any_layout():
    def f(x):
        return np.sum(np.reshape(x, (-1, 2)) ** 2)

    yota.reset()
    for make in (*LAYOUTS.values(), read_only):
        yota.grad(f, make())
    assert yota.cache_info().programs == 1


def recorded(way):
    if way == "simple":
        return yota.simplegrad(flat, strided()), ValueError
    tape = yota.gradtape(flat, strided())
    return (tape.compile() if way == "compile" else tape.play), GuardError


@pytest.mark.parametrize("way", ["compile", "play", "simple"])
def test_what_is_recorded_refuses_another_layout_where_it_decides(way):
    fast, error = recorded(way)
    assert fast(strided())[0] == flat(strided())
    for other in (VALUES.copy(), np.asfortranarray(VALUES)):
        with pytest.raises(error, match="lies in memory otherwise"):
            fast(other)


def test_a_jacobian_is_not_replayed_for_another_layout():
    jacobian = yota.jacobian(flat)
    for make in (VALUES.copy, lambda: np.asfortranarray(VALUES), VALUES.copy):
        assert jacobian(make())[0, 0] == flat(make()) / flat(np.asfortranarray(VALUES))


def test_a_new_shape_in_place_is_refused_with_the_cure():
    def f(x):
        x.shape = (12,)
        return np.sum(x)

    with pytest.raises(yota.TraceError, match=r"test_layouts.py:\d+: .*np.reshape"):
        yota.grad(f, VALUES)


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8", ">c8", ">c16"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_jacobians_hessians_and_products_keep_the_byte_order(dtype, shape):
    x = np.full(shape, 1.5, dtype)
    for _ in range(2):
        found = yota.jacobian(lambda x: x * x)(x)
        assert (found.dtype, found.shape) == (x.dtype, shape + shape)
        if x.dtype.kind == "f":
            assert yota.hessian(lambda x: np.sum(x**3))(x).dtype == x.dtype
            assert yota.hvp(lambda x: np.sum(x**3))(x, np.ones_like(x)).dtype == x.dtype
