"""Classes may change: attributes, slots, bases, methods, what makes objects of them."""

# ruff: noqa: N806, RUF012 - what users write, on purpose

from __future__ import annotations

import types
import typing

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0


def new_class(patch):
    C = types.new_class("C", (), {}, lambda ns: ns.update(rate=2.0))
    c = C()

    def f(x):
        return x * c.rate

    yield linear(f)
    C.rate = 3.0
    yield linear(f)


def mro_change(patch):
    class A:
        pass

    class A2:
        pass

    class Extra:
        rate = 7.0

    class B(A):
        pass

    class Mid(A2, Extra):
        pass

    c = B()

    def f(x):
        try:
            return x * c.rate
        except AttributeError:
            return x

    yield linear(f)
    B.__bases__ = (Mid,)
    yield linear(f)


def isinstance_bases_change(patch):
    class A:
        def m(self):
            return 1

    class A2:
        m = A.m

    class B(A):
        pass

    c = B()

    def f(x):
        return x * 2.0 if isinstance(c, A) else x * 3.0

    yield linear(f)
    B.__bases__ = (A2,)
    yield linear(f)


def class_assign(patch):
    class A:
        rate = 2.0

    class B:
        rate = 3.0

    c = A()

    def f(x):
        return x * c.rate

    yield linear(f)
    c.__class__ = B
    yield linear(f)


def isinstance_rebound(patch):
    global KIND

    class A:
        pass

    class B:
        pass

    c = A()
    KIND = A

    def f(x):
        return x * 2.0 if isinstance(c, KIND) else x * 3.0

    yield linear(f)
    KIND = B
    yield linear(f)


def class_getitem(patch):
    class C:
        def __class_getitem__(cls, k):
            return SCALE * k

    def f(x):
        return x * C[2]

    yield from states(patch, f, 2.0, 3.0)


def init_subclass(patch):
    class Base:
        def __init_subclass__(cls, **k):
            cls.rate = SCALE

    def f(x):
        class D(Base):
            pass

        return x * D.rate

    yield from states(patch, f, 2.0, 3.0)


def set_name(patch):
    class Desc:
        def __set_name__(self, owner, name):
            self.v = SCALE

    def f(x):
        class D:
            d = Desc()

        return x * D.__dict__["d"].v

    yield from states(patch, f, 2.0, 3.0)


def class_create_self(patch):
    class C:
        def __init__(self):
            self.v = SCALE

        def again(self):
            return self.__class__().v

        def again2(self):
            return type(self)().v

        @classmethod
        def make(cls):
            return cls().v

    c = C()
    yield from states(patch, lambda x: x * c.again(), 2.0, 3.0)
    yield from states(patch, lambda x: x * c.again2(), 2.0, 3.0)
    yield from states(patch, lambda x: x * c.make(), 2.0, 3.0)


def base_method(patch):
    class A:
        def m(self):
            return 2.0

    class B(A):
        def m(self):
            return super().m() * 1.0

    b = B()

    def f(x):
        return x * b.m()

    yield linear(f)
    A.m = lambda self: 3.0
    yield linear(f)


def base_constructor(patch):
    class A:
        def __init__(self):
            self.v = SCALE

    class B(A):
        def __init__(self):
            super().__init__()

    def f(x):
        return x * B().v

    yield from states(patch, f, 2.0, 3.0)


T = typing.TypeVar("T")


class G(typing.Generic[T]):
    rate = 2.0

    def m(self):
        return self.rate


def generic(patch):
    g = G[int]()

    def f(x):
        return x * g.m()

    for k in (2.0, 3.0):
        G.rate = k
        yield linear(f)


def static_method_replaced(patch):
    class C:
        m = staticmethod(lambda x: x * 2.0)

    def f(x):
        return C.m(x)

    yield linear(f)
    C.m = staticmethod(lambda x: x * 3.0)
    yield linear(f)
    C.m = lambda x: x * 4.0
    yield linear(f)


def property_replaced(patch):
    class C:
        p = property(lambda self: 2.0)

    c = C()

    def f(x):
        return x * c.p

    yield linear(f)
    C.p = property(lambda self: 3.0)
    yield linear(f)
    C.p = 4.0
    yield linear(f)


def class_level_cache(patch):
    class C:
        cache = {}

        def get(self, k):
            if k not in self.cache:
                self.cache[k] = SCALE
            return self.cache[k]

    c = C()

    def f(x):
        return x * c.get("a")

    yield from states(patch, f, 2.0, 3.0)
    C.cache.clear()
    yield linear(f)


def class_named_numpy(patch):
    C = type("C", (), {"__module__": "numpy", "rate": 2.0, "m": lambda self: SCALE})
    c = C()

    def f(x):
        return x * c.m()

    yield from states(patch, f, 2.0, 3.0)


SCENARIOS = [
    new_class, mro_change, isinstance_bases_change, class_assign, isinstance_rebound,
    class_getitem, init_subclass, set_name, class_create_self, base_method, base_constructor,
    generic, static_method_replaced, property_replaced, class_level_cache, class_named_numpy,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_class_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
