"""Never stale: objects with slots, dataclasses, named tuples and objects that ask others."""

# ruff: noqa: N806, RUF012 - what users write, on purpose

from __future__ import annotations

import copy
import dataclasses
import functools
import types
import typing

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0


def slots(patch):
    class S:
        __slots__ = ("rate",)

    s = S()

    def f(x):
        return x * s.rate

    for k in (2.0, 3.0):
        s.rate = k
        yield linear(f)


def slots_private(patch):
    class S:
        __slots__ = ("__dict__", "__rate")

        def __init__(self, r):
            self.__rate = r

        def set(self, r):
            self.__rate = r

        def get(self):
            return self.__rate

    s = S(2.0)

    def f(x):
        return x * s.get()

    for k in (2.0, 3.0):
        s.set(k)
        yield linear(f)


def slots_shadow(patch):
    class A:
        v = 2.0

    class B(A):
        __slots__ = ("v",)

    b = B()

    def f(x):
        try:
            return x * b.v
        except AttributeError:
            return x

    yield linear(f)
    b.v = 5.0
    yield linear(f)
    del b.v
    yield linear(f)


def slot_empty_hasattr(patch):
    class B:
        __slots__ = ("v",)

    b = B()

    def f(x):
        return x * 2.0 if hasattr(b, "v") else x * 3.0

    yield linear(f)
    b.v = 5.0
    yield linear(f)


def make_dataclass(patch):
    C = dataclasses.make_dataclass("C", [("a", float, 1.0)], namespace={"m": lambda self: SCALE})
    c = C()

    def f(x):
        return x * c.m()

    yield from states(patch, f, 2.0, 3.0)


class NT(typing.NamedTuple):
    w: list

    def m(self):
        return self.w[0] * SCALE


def namedtuple(patch):
    n = NT([1.0])

    def f(x):
        return x * n.m()

    yield from states(patch, f, 2.0, 3.0)
    n.w[0] = 5.0
    yield linear(f)
    NT.m = lambda self: 11.0
    yield linear(f)


def cached_property_deleted(patch):
    class C:
        @functools.cached_property
        def p(self):
            return SCALE

    c = C()

    def f(x):
        return x * c.p

    yield linear(f)
    yield from states(patch, f, 3.0)
    del c.p
    yield linear(f)


def instance_callable_attr(patch):
    class C:
        pass

    c = C()
    c.fn = lambda v: v * SCALE

    def f(x):
        return c.fn(x)

    yield from states(patch, f, 2.0, 3.0)


def exception_attr(patch):
    class E(Exception):
        rate = 2.0

    def f(x):
        try:
            raise E
        except E as e:
            return x * e.rate

    yield linear(f)
    E.rate = 3.0
    yield linear(f)


def post_init(patch):
    @dataclasses.dataclass
    class C:
        a: float = 1.0

        def __post_init__(self):
            self.b = SCALE

    def f(x):
        return x * C().b

    yield from states(patch, f, 2.0, 3.0)


def dataclass_replace_post_init(patch):
    @dataclasses.dataclass
    class C:
        a: float = 1.0

        def __post_init__(self):
            self.b = SCALE

    c = C()

    def f(x):
        return x * dataclasses.replace(c, a=2.0).b

    yield from states(patch, f, 2.0, 3.0)


def copy_hook(patch):
    class C:
        def __copy__(self):
            return SCALE

        def __deepcopy__(self, memo):
            return SCALE

    c = C()
    yield from states(patch, lambda x: x * copy.copy(c), 2.0, 3.0)
    from copy import deepcopy

    yield from states(patch, lambda x: x * deepcopy(c), 2.0, 3.0)


def getstate_hook(patch):
    class C:
        def __getstate__(self):
            return {"v": SCALE}

    c = C()

    def f(x):
        return x * copy.copy(c).v

    yield from states(patch, f, 2.0, 3.0)


def delegating_by_name_table(patch):
    class A:
        pass

    a = A()
    a.alpha = 2.0
    a.beta = 3.0

    class Lazy:
        names = {"x": "alpha"}

        def __getattr__(self, n):
            return vars(a)[self.names[n]]

    m = Lazy()

    def f(x):
        return x * m.x

    yield linear(f)
    a.alpha = 5.0
    yield linear(f)
    Lazy.names["x"] = "beta"
    yield linear(f)


def getattr_helper_object(patch):
    class Lazy:
        def __init__(self):
            self.__dict__["inner"] = types.SimpleNamespace(rate=2.0)

        def __getattr__(self, n):
            return getattr(self.inner, n)

    m = Lazy()

    def f(x):
        return x * m.rate

    yield linear(f)
    m.inner.rate = 3.0
    yield linear(f)


SCENARIOS = [
    slots, slots_private, slots_shadow, slot_empty_hasattr, make_dataclass, namedtuple,
    cached_property_deleted, instance_callable_attr, exception_attr, post_init,
    dataclass_replace_post_init, copy_hook, getstate_hook, delegating_by_name_table,
    getattr_helper_object,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_class_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
