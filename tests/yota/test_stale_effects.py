"""What a function sets off outside happens once a call, whatever Python calls for it."""

# ruff: noqa: B028, F841 - what users write, on purpose

from __future__ import annotations

import contextlib
import contextvars
import functools
import itertools
import threading
import warnings

import numpy as np
import pytest

import yota
from tests.yota.slopes import assert_played_alike


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


SCENARIOS = [
    singledispatch, contextmanager, contextdecorator, exitstack, threadlocal, contextvar,
    warns, counter_decorator, iterator_attr, raises_sometimes, nested_grad_counter,
    primitive_state, nondiff_state, nondiff_plain, primitive_plain, coroutine,
    generator_closure, generator_send, np_warning, seterr_raise, seterr_later, frompyfunc,
    lru_cache,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_a_function_sets_off_happens_once_a_call(scenario):
    assert_played_alike(scenario)
