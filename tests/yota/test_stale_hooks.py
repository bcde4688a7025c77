"""What Python calls by itself for attributes, classes and containers runs once a call."""

# ruff: noqa: RUF012 - what users write, on purpose

from __future__ import annotations

import functools
import weakref

import pytest

from tests.yota.slopes import assert_played_alike


def property_setter():
    log = []

    class C:
        @property
        def v(self):
            return 1.0

        @v.setter
        def v(self, value):
            log.append(value)

        @v.deleter
        def v(self):
            log.append("del")

    c = C()

    def f(x):
        c.v = 1.0
        return x * 2.0

    return f, lambda: log


def property_deleter():
    log = []

    class C:
        @property
        def v(self):
            return 1.0

        @v.deleter
        def v(self):
            log.append("del")

    c = C()

    def f(x):
        del c.v
        return x * 2.0

    return f, lambda: log


def destructor():
    log = []

    class T:
        def __del__(self):
            log.append(1)

    def f(x):
        T()
        return x * 2.0

    return f, lambda: len(log)


def setattr_hook():
    log = []

    class T:
        def __setattr__(self, n, v):
            log.append(n)

    t = T()

    def f(x):
        t.a = 1
        return x * 2.0

    return f, lambda: log


def descriptor_set():
    log = []

    class D:
        def __set__(self, o, v):
            log.append(v)

    class T:
        d = D()

    t = T()

    def f(x):
        t.d = 1
        return x * 2.0

    return f, lambda: log


def class_counter():
    class C:
        n = 0

        def __init__(self):
            C.n += 1

    def f(x):
        C()
        return x * 2.0

    return f, lambda: C.n


def class_registry():
    class C:
        made = weakref.WeakSet()
        keep = []

        def __init__(self):
            C.made.add(self)

    def f(x):
        c = C()
        C.keep.append(c)
        return x * 2.0

    return f, lambda: len(C.made)


def init_subclass():
    log = []

    class Base:
        def __init_subclass__(cls):
            log.append(cls.__name__)

    def f(x):
        class D(Base):
            pass

        return x

    return f, lambda: log


def cached_property():
    calls = []

    class C:
        @functools.cached_property
        def p(self):
            calls.append(1)
            return 2.0

    c = C()

    def f(x):
        return x * c.p

    return f, lambda: calls, lambda k: c.__dict__.pop("p", None) if k % 3 == 0 else None


def getattr_hook():
    class C:
        def __getattr__(self, n):
            if n.startswith("_"):
                raise AttributeError(n)
            log.append(n)
            return 2.0

    log = []
    c = C()

    def f(x):
        return x * c.rate

    return f, lambda: log


def getattribute_hook():
    log = []

    class C:
        rate = 2.0

        def __getattribute__(self, n):
            log.append(n)
            return object.__getattribute__(self, n)

    c = C()

    def f(x):
        return x * c.rate

    return f, lambda: log


def dict_subclass_iter():
    log = []

    class D(dict):
        def __iter__(self):
            log.append(1)
            return dict.__iter__(self)

        def items(self):
            log.append(2)
            return dict.items(self)

    d = D(a=1.0)

    def f(x):
        return x * d["a"]

    return f, lambda: log


def list_subclass_iter():
    log = []

    class D(list):
        def __iter__(self):
            log.append(1)
            return list.__iter__(self)

    d = D([1.0])

    def f(x):
        return x * d[0]

    return f, lambda: log


def dict_property():
    log = []

    class D:
        @property
        def __dict__(self):
            log.append(1)
            return {}

        rate = 2.0

    d = D()

    def f(x):
        return x * d.rate

    return f, lambda: log


def class_property_lies():
    log = []

    class D:
        @property
        def __class__(self):
            log.append(1)
            return int

        rate = 2.0

    d = D()

    def f(x):
        return x * d.rate

    return f, lambda: log


SCENARIOS = [
    property_setter, property_deleter, destructor, setattr_hook, descriptor_set, class_counter,
    class_registry, init_subclass, cached_property, getattr_hook, getattribute_hook,
    dict_subclass_iter, list_subclass_iter, dict_property, class_property_lies,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_a_function_sets_off_happens_once_a_call(scenario):
    assert_played_alike(scenario)
