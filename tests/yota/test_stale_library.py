"""What the library's own code reads of users' objects may change: by names of its own."""

# ruff: noqa: B007 - what users write, on purpose

from __future__ import annotations

import collections
import contextlib
import enum
import fractions
import numbers
import types

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


class UD6(collections.UserDict):
    pass


def userdict_subclass_data(patch):
    d = UD6(a=2.0)

    def f(x):
        return x * d["a"]

    yield linear(f)
    d["a"] = 3.0
    yield linear(f)


class UL(collections.UserList):
    pass


def userlist_subclass_data(patch):
    d = UL([2.0])

    def f(x):
        return x * d[0]

    yield linear(f)
    d[0] = 3.0
    yield linear(f)


class P(np.poly1d):
    pass


def poly_subclass(patch):
    p = P([1.0, 2.0])

    def f(x):
        return x * p(2.0)

    yield linear(f)
    p.coeffs[0] = 5.0
    yield linear(f)


def poly_cls_attr(patch):
    class P2(np.polynomial.Polynomial):
        domain = np.array([-1.0, 1.0])

    p = P2([1.0, 2.0])

    def f(x):
        return x * p(2.0)

    yield linear(f)
    p.coef[0] = 7.0
    yield linear(f)


class NS(types.SimpleNamespace):
    pass


def namespace_subclass(patch):
    n = NS(a=2.0)

    def f(x):
        return x * (2.0 if n == NS(a=2.0) else 3.0)

    yield linear(f)
    n.a = 3.0
    yield linear(f)


def namespace_eq(patch):
    n = types.SimpleNamespace(a=2.0)

    def f(x):
        return x * (2.0 if n == types.SimpleNamespace(a=2.0) else 3.0)

    yield linear(f)
    n.a = 3.0
    yield linear(f)


class CM(collections.ChainMap):
    pass


def chainmap_subclass(patch):
    d = CM({"a": 2.0})

    def f(x):
        return x * d["a"]

    yield linear(f)
    d["a"] = 3.0
    yield linear(f)


class V(np.vectorize):
    pass


def vectorize_subclass(patch):
    v = V(lambda a: a * SCALE)

    def f(x):
        return x * float(v(1.0))

    yield from states(patch, f, 2.0, 3.0)


class Fr(fractions.Fraction):
    pass


def fraction_subclass(patch):
    global Q

    def f(x):
        return x * float(Q)

    for Q in (Fr(1, 2), Fr(1, 4)):
        yield linear(f)


def flag_value(patch):
    class E(enum.IntFlag):
        A = 1
        B = 2

    def f(x):
        return x * (E.A | E.B)

    yield linear(f)


def enum_value_text(patch):
    class E(enum.Enum):
        A = 1

    def f(x):
        return x * len(f"{E.A!r}")

    yield linear(f)
    E.A._value_ = 12345
    yield linear(f)

    def g(x):
        return x * len(E.A.name)

    yield linear(g)
    E.A._name_ = "LONGER"
    yield linear(g)


def duck_sum(patch):
    class C:
        def sum(self, axis=None, out=None):
            return SCALE

    c = C()

    def f(x):
        return x * np.sum(c)

    yield from states(patch, f, 2.0, 3.0)


def duck_amax(patch):
    class C:
        def max(self, axis=None, out=None):
            return SCALE

    c = C()

    def f(x):
        return x * np.amax(c)

    yield from states(patch, f, 2.0, 3.0)


def duck_closing(patch):
    class C:
        def close(self):
            C.v = SCALE

        v = 1.0

    c = C()

    def f(x):
        with contextlib.closing(c):
            pass
        return x * c.v

    yield from states(patch, f, 2.0, 3.0)


def duck_instance_attr(patch):
    class C:
        pass

    c = C()
    c.mean = lambda axis=None, dtype=None, out=None: SCALE

    def f(x):
        return x * np.mean(c)

    yield from states(patch, f, 2.0, 3.0)


def linear_operator(patch):
    sl = pytest.importorskip("scipy.sparse.linalg")

    class A:
        shape = (2, 2)
        dtype = np.dtype(float)

        def matvec(self, v):
            return v * SCALE

    a = A()

    def f(x):
        return x * float(sl.cg(a, np.ones(2))[0][0])

    yield from states(patch, f, 2.0, 4.0)


def dict_of_an_object(patch):
    class C:
        def keys(self):
            return ["a"]

        def __getitem__(self, k):
            return SCALE

    class D:
        def keys(self):
            return ["a"] * int(SCALE)

        def __getitem__(self, k):
            return 1.0

    c = C()

    def f(x):
        return x * {**c}["a"] * dict(c)["a"]

    yield from states(patch, f, 2.0, 3.0)

    class E:
        def keys(self):
            return [str(SCALE)]

        def __getitem__(self, k):
            return float(k)

    e = E()

    def g(x):
        return x * sum({**e}.values())

    yield from states(patch, g, 2.0, 3.0)


def solve_ivp_event(patch):
    solve_ivp = pytest.importorskip("scipy.integrate").solve_ivp

    def event(t, y):
        return y[0] - 2.0

    def rhs(t, y):
        return y

    def f(x):
        return x * float(solve_ivp(rhs, (0.0, 2.0), [1.0], events=event).t[-1])

    yield linear(f)
    event.terminal = True
    yield linear(f)
    event.terminal = False
    yield linear(f)


def number_like(patch):
    class N:
        numerator = 1

        @property
        def denominator(self):
            return int(SCALE)

    numbers.Rational.register(N)
    n = N()

    def f(x):
        return x * float(fractions.Fraction(n))

    yield from states(patch, f, 2.0, 4.0)


SCENARIOS = [
    userdict_subclass_data, userlist_subclass_data, poly_subclass, poly_cls_attr,
    namespace_subclass, namespace_eq, chainmap_subclass, vectorize_subclass, fraction_subclass,
    flag_value, enum_value_text, duck_sum, duck_amax, duck_closing, duck_instance_attr,
    linear_operator, dict_of_an_object, solve_ivp_event, number_like,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_the_library_reads_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
