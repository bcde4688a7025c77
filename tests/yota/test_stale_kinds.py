"""Kinds may change: enumerations, protocols, registered classes, patterns."""

# ruff: noqa: B024, RUF012 - what users write, on purpose

from __future__ import annotations

import abc
import enum
import numbers
import typing

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


def abc_register(patch):
    class Base(abc.ABC):
        pass

    class C:
        pass

    c = C()

    def f(x):
        return x * 2.0 if isinstance(c, Base) else x * 3.0

    yield linear(f)
    Base.register(C)
    yield linear(f)


def abc_register_library(patch):
    class C:
        pass

    c = C()

    def f(x):
        return x * 2.0 if isinstance(c, numbers.Real) else x * 3.0

    yield linear(f)
    numbers.Real.register(C)
    yield linear(f)


def subclasshook(patch):
    class Base(abc.ABC):
        @classmethod
        def __subclasshook__(cls, other):
            return SCALE > 2.5

    def f(x):
        class C:
            pass

        return x * 2.0 if isinstance(C(), Base) else x * 3.0

    yield from states(patch, f, 2.0, 3.0)


@typing.runtime_checkable
class HasRate(typing.Protocol):
    rate: float


def protocol(patch):
    class C:
        pass

    c = C()

    def f(x):
        return x * 2.0 if isinstance(c, HasRate) else x * 3.0

    yield linear(f)
    c.rate = 1.0
    yield linear(f)
    del c.rate
    yield linear(f)


@typing.runtime_checkable
class HasM(typing.Protocol):
    def mm(self): ...


def protocol_method(patch):
    class C:
        pass

    c = C()

    def f(x):
        return x * 2.0 if isinstance(c, HasM) else x * 3.0

    yield linear(f)
    C.mm = lambda self: 1
    yield linear(f)


def enum_attribute(patch):
    class E(enum.Enum):
        A = 1
        B = 2

    E.A.weight = 2.0

    def f(x):
        return x * E.A.weight

    for k in (2.0, 3.0):
        E.A.weight = k
        yield linear(f)


def enum_init_list(patch):
    class E(enum.Enum):
        A = [2.0]

    m = E.A

    def f(x):
        return x * m.value[0]

    for k in (2.0, 3.0):
        m.value[0] = k
        yield linear(f)


def enum_by_value(patch):
    class E(enum.Enum):
        A = "a"

        def __init__(self, v):
            self.w = [2.0]

    def f(x):
        return x * E("a").w[0]

    for k in (2.0, 3.0):
        E.A.w[0] = k
        yield linear(f)


def enum_missing(patch):
    class E(enum.Enum):
        A = 1

        @classmethod
        def _missing_(cls, v):
            return cls.A if SCALE > 2.5 else None

    def f(x):
        try:
            return x * E(7).value
        except ValueError:
            return x * 9.0

    yield from states(patch, f, 2.0, 3.0)


def intenum_flag(patch):
    class E(enum.IntFlag):
        A = 1
        B = 2

        def m(self):
            return SCALE

    def f(x):
        return x * (E.A | E.B).m() * int(E.A | E.B)

    yield from states(patch, f, 2.0, 3.0)


def enum_iter(patch):
    class E(enum.Enum):
        A = 1
        B = 2

    E.A.w = [1.0]
    E.B.w = [2.0]

    def f(x):
        return x * sum(m.w[0] for m in E)

    yield linear(f)
    E.B.w[0] = 5.0
    yield linear(f)


def enum_from_member(patch):
    class E(enum.Enum):
        A = 1
        B = 2

    E.A.w = [1.0]
    E.B.w = [2.0]
    a = E.A

    def f(x):
        return x * a.__class__(2).w[0]

    yield linear(f)
    E.B.w[0] = 5.0
    yield linear(f)

    def g(x):
        return x * type(a)["B"].w[0]

    yield linear(g)
    E.B.w[0] = 6.0
    yield linear(g)


def match_class(patch):
    class P:
        pass

    p = P()
    p.kind = 1

    def f(x):
        match p:
            case P(kind=1):
                return x * 2.0
            case P(kind=2):
                return x * 3.0
        return x

    for k in (1, 2, 3):
        p.kind = k
        yield linear(f)


def match_positional(patch):
    class P:
        __match_args__ = ("u", "v")

    p = P()
    p.u, p.v = 1, 2

    def f(x):
        match p:
            case P(1, 2):
                return x * 2.0
            case P(2, 1):
                return x * 3.0
        return x

    yield linear(f)
    p.u, p.v = 2, 1
    yield linear(f)
    P.__match_args__ = ("v", "u")
    yield linear(f)


SCENARIOS = [
    abc_register, abc_register_library, subclasshook, protocol, protocol_method, enum_attribute,
    enum_init_list, enum_by_value, enum_missing, intenum_flag, enum_iter, enum_from_member,
    match_class, match_positional,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_kind_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
