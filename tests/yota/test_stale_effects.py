"""What a function sets off outside happens once a call, whatever Python calls for it."""

# ruff: noqa: B028, F841, RUF012 - what users write, on purpose

from __future__ import annotations

import contextlib
import contextvars
import functools
import itertools
import threading
import warnings
import weakref

import numpy as np
import pytest

import yota
from tests.yota.slopes import played

# each scenario makes a function, what to look at after each call, and what happens before


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


def singledispatch():
    log = []

    @functools.singledispatch
    def d(v):
        log.append(v)

    def f(x):
        d(1)
        return x

    return f, lambda: log


def contextmanager():
    log = []

    @contextlib.contextmanager
    def cm():
        log.append("in")
        yield
        log.append("out")

    def f(x):
        with cm():
            return x * 2.0

    return f, lambda: log


def contextdecorator():
    log = []

    @contextlib.contextmanager
    def cm():
        log.append("in")
        yield
        log.append("out")

    @cm()
    def f(x):
        return x * 2.0

    return f, lambda: log


def exitstack():
    log = []

    def f(x):
        with contextlib.ExitStack() as s:
            s.callback(log.append, 1)
            return x * 2.0

    return f, lambda: log


def threadlocal():
    t = threading.local()
    t.n = 0

    def f(x):
        t.n += 1
        return x * t.n

    return f, lambda: t.n


def contextvar():
    v = contextvars.ContextVar("v", default=1.0)

    def f(x):
        return x * v.get()

    return f, lambda: None, lambda k: v.set(float(k))


def warns():
    seen = []

    def f(x):
        warnings.warn("hi")
        return x

    return f, lambda: None


def counter_decorator():
    calls = []

    def deco(fn):
        @functools.wraps(fn)
        def w(*a):
            calls.append(1)
            return fn(*a)

        return w

    @deco
    def f(x):
        return x * 2.0

    return f, lambda: len(calls)


def iterator_attr():
    class C:
        pass

    c = C()
    c.it = itertools.count(1)

    def f(x):
        return x * next(c.it)

    return f, lambda: None


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


def raises_sometimes():
    n = [0]

    def f(x):
        n[0] += 1
        if n[0] % 2:
            raise ValueError("x")
        return x

    return f, lambda: n


def nested_grad_counter():
    n = [0]

    def h(y):
        n[0] += 1
        return y * y

    def f(x):
        return yota.grad(h, x)[1][0]

    return f, lambda: n


def primitive_state():
    n = [0]

    @yota.primitive
    def p(v):
        n[0] += 1
        return v * n[0]

    yota.defvjp(p, lambda dy, y, v: dy * n[0])

    def f(x):
        return p(x)

    return f, lambda: n


def nondiff_state():
    n = [0]

    @yota.nondiff
    def p(v):
        n[0] += 1
        return float(n[0])

    def f(x):
        return x * p(x)

    return f, lambda: n


def nondiff_plain():
    n = [0]

    @yota.nondiff
    def p():
        n[0] += 1
        return float(n[0])

    def f(x):
        return x * p()

    return f, lambda: n


def primitive_plain():
    n = [0.0]

    @yota.primitive
    def p(v):
        return v * n[0]

    yota.defvjp(p, lambda dy, y, v: dy)

    def f(x):
        return x * p(3.0)

    return f, lambda: n, lambda k: n.__setitem__(0, float(k))


def coroutine():
    log = []

    async def co():
        log.append(1)
        return 2.0

    def f(x):
        c = co()
        try:
            c.send(None)
        except StopIteration as s:
            return x * s.value

    return f, lambda: log


def generator_closure():
    def gen():
        k = 0
        while True:
            k += 1
            yield k

    g = gen()

    def f(x):
        return x * next(g)

    return f, lambda: None


def generator_send():
    def gen():
        k = 0
        while True:
            k += 1
            yield k

    class C:
        pass

    c = C()
    c.g = gen()

    def f(x):
        return x * c.g.send(None)

    return f, lambda: None


def np_warning():
    w = np.zeros(1)
    got = []

    def f(x):
        with warnings.catch_warnings(record=True) as ws:
            warnings.simplefilter("always")
            k = 1.0 / w
        got.append(len(ws))
        return x

    return f, lambda: got


def seterr_raise():
    w = np.zeros(1)

    def f(x):
        return x * (2.0 if np.isinf(1.0 / w[0]) else 1.0)

    return f, lambda: None, lambda k: np.seterr(all="raise" if k % 2 else "ignore")


def seterr_later():
    w = np.zeros(1)

    def f(x):
        return x * (2.0 if np.isinf(1.0 / w[0]) else 1.0)

    return f, lambda: None, lambda k: np.seterr(all="warn" if k < 3 else "raise")


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


def frompyfunc():
    log = []
    u = np.frompyfunc(lambda a: log.append(a) or 1.0, 1, 1)

    def f(x):
        u(2.0)
        return x

    return f, lambda: log


def lru_cache():
    calls = []

    @functools.lru_cache
    def h(k):
        calls.append(k)
        return k

    def f(x):
        return x * h(2)

    return f, lambda: calls, lambda k: h.cache_clear()


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
    property_setter, property_deleter, destructor, setattr_hook, descriptor_set, singledispatch,
    contextmanager, contextdecorator, exitstack, threadlocal, contextvar, warns,
    counter_decorator, iterator_attr, class_counter, class_registry, raises_sometimes,
    nested_grad_counter, primitive_state, nondiff_state, nondiff_plain, primitive_plain,
    coroutine, generator_closure, generator_send, np_warning, seterr_raise, seterr_later,
    init_subclass, frompyfunc, lru_cache, cached_property, getattr_hook, getattribute_hook,
    dict_subclass_iter, list_subclass_iter, dict_property, class_property_lies,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_a_function_sets_off_happens_once_a_call(scenario):
    with np.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plainly = played(scenario, lambda f: float(f(1.0)))
        assert played(scenario, lambda f: float(yota.grad(f, 1.0)[0])) == plainly
