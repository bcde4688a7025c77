"""Arrays and numbers may change: in type, to the last bit, in layout, in shared memory."""

# ruff: noqa: B007 - what users write, on purpose

from __future__ import annotations

import decimal
import fractions
import sys

import numpy as np
import pytest

from tests.yota.slopes import linear

SCALE = 2.0
W = np.array([1.0, 2.0])


def fraction(patch):
    box = [fractions.Fraction(1, 2)]

    def f(x):
        return x * float(box[0])

    for k in (2, 3):
        box[0] = fractions.Fraction(1, k)
        yield linear(f)


def void_scalar(patch):
    arr = np.zeros(2, dtype=[("a", "f8"), ("b", "f8")])
    rec = arr[0]

    def f(x):
        return x * rec["a"]

    for k in (2.0, 3.0):
        rec["a"] = k
        yield linear(f)
    arr["a"][0] = 7.0
    yield linear(f)


def dtype_names(patch):
    arr = np.zeros(2, dtype=[("a", "f8"), ("b", "f8")])
    arr["a"] = 2.0
    arr["b"] = 5.0

    def f(x):
        return x * arr["a"][0]

    yield linear(f)
    arr.dtype.names = ("b", "a")
    yield linear(f)


def range_empty(patch):
    global R
    R = range(0)

    def f(x):
        return x * (R.start + 1.0)

    yield linear(f)
    R = range(5, 5)
    yield linear(f)


def array_flags(patch):
    w = np.ones(3)

    def f(x):
        return x * 2.0 if w.flags.writeable else x * 3.0

    yield linear(f)
    w.flags.writeable = False
    yield linear(f)


def array_readonly_write(patch):
    w = np.ones(3)

    def f(x):
        try:
            w[0] = 1.0
        except ValueError:
            return x * 3.0
        return x * 2.0

    yield linear(f)
    w.flags.writeable = False
    yield linear(f)


def array_base(patch):
    w = np.arange(3.0)
    v = w[1:]

    def f(x):
        return x * v.base[0]

    del_w = w
    for k in (2.0, 3.0):
        del_w[0] = k
        yield linear(f)


def alias_arrays(patch):
    global BUF, VIEW
    BUF = np.zeros(2)
    BUF[0] = 1.0
    VIEW = BUF[:1]

    def f(x):
        BUF[0] = 5.0
        y = x * VIEW[0]
        BUF[0] = 1.0
        return y

    yield linear(f)
    VIEW = np.ones(1)
    yield linear(f)
    VIEW = np.array([1.0, 7.0])[:1]
    yield linear(f)
    VIEW = BUF[:1]
    yield linear(f)


def two_names(patch):
    global P1, P2
    P1 = P2 = np.ones(2)

    def f(x):
        P1[0] += 4.0
        y = x * P2[0]
        P1[0] -= 4.0
        return y

    yield linear(f)
    P2 = np.ones(2)
    yield linear(f)
    P2 = P1
    yield linear(f)


def positional_out(patch):
    global P1, P2
    P1 = np.ones(4)
    P2 = P1[:2]

    def f(x):
        np.multiply(P1, 4.0, P1)
        y = x * P2[0]
        np.divide(P1, 4.0, P1)
        return y

    yield linear(f)
    P2 = np.ones(6)[:2]
    yield linear(f)


def stringdtype(patch):
    w = np.array(["x" * 100], dtype=np.dtypes.StringDType())

    def f(x):
        return x * 2.0 if w[0][0] == "x" else x * 3.0

    yield linear(f)
    w[0] = "y" * 100
    yield linear(f)


def decimal_context(patch):
    def f(x):
        return x * float(decimal.Decimal(1) / 3)

    yield linear(f)
    decimal.getcontext().prec = 3
    yield linear(f)
    decimal.getcontext().prec = 28


def captured_slice(patch):
    global SL

    def f(x):
        return x * np.sum(W[SL])

    for SL in (slice(0, 1), slice(0, 2)):
        yield linear(f)


def zero_size(patch):
    global Z

    def f(x):
        return x * (Z.size + Z.ndim + (Z.shape[0] if Z.ndim else 0) + 1.0)

    for Z in (
        np.zeros(0),
        np.zeros((3, 0)),
        np.zeros((0, 3)),
        np.zeros(()),
        np.zeros((2, 0)),
        np.zeros((0, 4)),
    ):
        yield linear(f)


def shape_same_bytes(patch):
    global Z

    def f(x):
        return x * Z.shape[0]

    for Z in (
        np.zeros((2, 3)),
        np.zeros((3, 2)),
        np.zeros(6),
        np.zeros((1, 6)),
        np.zeros((2, 3, 1)),
        np.zeros((3, 2, 1)),
        np.zeros((2, 3), order="F"),
        np.zeros((2, 6))[:, ::2],
        np.zeros((2, 3), ">f8"),
    ):
        yield linear(f)


def dtype_same_bytes(patch):
    global Z

    def f(x):
        return x * float(Z[0] + 1)

    for Z in (np.ones(1), np.ones(1).view("i8"), np.ones(1).view("u8")):
        yield linear(f)


def numpy_scalar(patch):
    global Z

    def f(x):
        return x * (2.0 if type(Z) is float else 3.0)

    for Z in (1.0, np.float64(1.0), 1.0):
        yield linear(f)


def strided_views(patch):
    global V
    base = np.arange(12.0).reshape(3, 4)

    def f(x):
        return x * float(V.flags.c_contiguous) + x * V.strides[0] + x * V[0]

    for V in (base[:, 0], base[:, 0].copy(), base[::2, 0], base[0], base[0][::-1]):
        yield linear(f)


def other_strides(patch):
    global V

    def f(x):
        return x * V.strides[0]

    for V in (np.zeros((3, 4))[:, 0], np.zeros((3, 6))[:, 0]):
        yield linear(f)


def float_subclass(patch):
    class F(float):
        pass

    global Z
    Z = F(2.0)
    Z.k = 2.0

    def f(x):
        return x * Z.k

    yield linear(f)
    Z.k = 3.0
    yield linear(f)


def ufunc_method(patch):
    r = np.add.reduce

    def f(x):
        return x * r(W)

    yield linear(f)
    W[0] = 9.0
    yield linear(f)


def poly1d(patch):
    p = np.poly1d([1.0, 2.0])

    def f(x):
        return x * p(2.0)

    yield linear(f)
    p.coeffs[0] = 5.0
    yield linear(f)


def polynomial(patch):
    p = np.polynomial.Polynomial([1.0, 2.0])

    def f(x):
        return x * p(2.0)

    yield linear(f)
    p.coef[0] = 5.0
    yield linear(f)


def finfo(patch):
    global FI
    FI = np.finfo(np.float64)

    def f(x):
        return x * FI.bits

    yield linear(f)
    FI = np.finfo(np.float32)
    yield linear(f)


def float_info(patch):
    def f(x):
        return x * (1 + sys.float_info.epsilon)

    yield linear(f)


def bool_array_mask(patch):
    m = np.array([True, False])

    def f(x):
        return x * float(W[m].sum())

    yield linear(f)
    m[1] = True
    yield linear(f)


def str_array(patch):
    s = np.array(["a", "b"])

    def f(x):
        return x * (2.0 if s[0] == "a" else 3.0)

    yield linear(f)
    s[0] = "c"
    yield linear(f)


def datetime_array(patch):
    s = np.array(["2020-01-01"], dtype="M8[D]")

    def f(x):
        return x * float(s.astype(int)[0])

    yield linear(f)
    s[0] = "2021-01-01"
    yield linear(f)


def masked(patch):
    m = np.ma.array([1.0, 2.0], mask=[0, 1])

    def f(x):
        return x * float(m.sum())

    yield linear(f)
    m.mask = [0, 0]
    yield linear(f)


SCENARIOS = [
    fraction, void_scalar, dtype_names, range_empty, array_flags, array_readonly_write,
    array_base, alias_arrays, two_names, positional_out, stringdtype, decimal_context,
    captured_slice, zero_size, shape_same_bytes, dtype_same_bytes, numpy_scalar, strided_views,
    other_strides, float_subclass, ufunc_method, poly1d, polynomial, finfo, float_info,
    bool_array_mask, str_array, datetime_array, masked,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_an_array_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
