"""What names stand for may change: globals, builtins, cells, the library's own functions."""

# ruff: noqa: B009, B023 - what users write, on purpose

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import os
import sys
import types

import numpy as np
import pytest

import yota
from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


@contextlib.contextmanager
def scaled():
    yield SCALE


def contextmanager(patch):
    def f(x):
        with scaled() as s:
            return x * s

    yield from states(patch, f, 2.0, 3.0)


@functools.singledispatch
def disp(v):
    return SCALE


@disp.register
def _(v: int):
    return SCALE * 10


def singledispatch(patch):
    def f(x):
        return x * disp(1)

    yield from states(patch, f, 2.0, 3.0)

    def g(x):
        return x * disp("a")

    yield from states(patch, g, 2.0, 3.0)


def frompyfunc(patch):
    u = np.frompyfunc(lambda a: a * SCALE, 1, 1)

    def f(x):
        return x * float(u(2.0))

    yield from states(patch, f, 2.0, 3.0)


def vectorize(patch):
    u = np.vectorize(lambda a: a * SCALE)

    def f(x):
        return x * float(u(2.0))

    yield from states(patch, f, 2.0, 3.0)


def alias_getattr(patch):
    ga = getattr

    class C:
        rate = 2.0

    c = C()

    def f(x):
        return x * ga(c, "ra" + "te"[0:2])

    for k in (2.0, 3.0):
        c.rate = k
        yield linear(f)


def custom_builtins(patch):
    space = {"__builtins__": {"max": lambda a, b: SCALE}}
    exec("def f(x):\n    return x * max(1.0, 2.0)", space)
    for value in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", value)
        yield linear(space["f"])


def builtin_patched(patch):
    orig = builtins.divmod

    def f(x):
        return x * np.sum(divmod(1.0, 2.0))

    yield linear(f)
    builtins.divmod = lambda a, b: 9.0
    try:
        yield linear(f)
    finally:
        builtins.divmod = orig
    yield linear(f)


def numpy_patched(patch):
    orig = np.exp

    def f(x):
        return x * float(np.exp(1.0))

    yield linear(f)
    np.exp = np.sin
    try:
        yield linear(f)
    finally:
        np.exp = orig
    yield linear(f)


def math_patched(patch):
    orig = math.sqrt

    def f(x):
        return x * math.sqrt(4.0)

    yield linear(f)
    math.sqrt = lambda v: 9.0
    try:
        yield linear(f)
    finally:
        math.sqrt = orig
    yield linear(f)


def setting_on_numpy(patch):
    np.my_rate = 2.0

    def f(x):
        return x * np.my_rate

    for k in (2.0, 3.0):
        np.my_rate = k
        yield linear(f)
    del np.my_rate


def value_and_grad_captured(patch):
    def h(y):
        return y * SCALE

    g = yota.value_and_grad(h)

    def f(x):
        return x * g(1.0)[1]

    yield from states(patch, f, 2.0, 3.0)


def hvp_captured(patch):
    def h(y):
        return y * y * SCALE

    g = yota.hvp(h)

    def f(x):
        return x * g(1.0, 1.0)

    yield from states(patch, f, 2.0, 3.0)


def jacobian_captured(patch):
    def h(y):
        return y * SCALE

    g = yota.jacobian(h)

    def f(x):
        return x * g(1.0)

    yield from states(patch, f, 2.0, 3.0)


def hessian_captured(patch):
    def h(y):
        return y * y * SCALE

    g = yota.hessian(h)

    def f(x):
        return x * g(1.0)

    yield from states(patch, f, 2.0, 3.0)


def pullback_captured(patch):
    boxed = []

    def f(x):
        return x * float(boxed[0](1.0)[0])

    for k in (2.0, 3.0):
        boxed[:] = [yota.vjp(lambda y: y * k, 1.0)[1]]
        yield linear(f)


def simplegrad_captured(patch):
    boxed = []

    def f(x):
        return x * float(boxed[0](1.0)[1])

    for k in (2.0, 3.0):
        boxed[:] = [yota.simplegrad(lambda y: y * k, 1.0)]
        yield linear(f)


def inner_grad(patch):
    def h(y):
        return y * y * SCALE

    def f(x):
        return yota.grad(h, x)[1][0] * 0.5

    yield from states(patch, f, 2.0, 3.0)


def starimport(patch):
    m = types.ModuleType("starmod")
    m.rate_star = 2.0
    sys.modules["starmod"] = m
    space = {}
    exec("from starmod import *\ndef f(x):\n    return x * rate_star", space)
    yield linear(space["f"])
    space["rate_star"] = 3.0
    yield linear(space["f"])


def np_attribute_missing(patch):
    def f(x):
        try:
            return x * np.not_there_yet
        except AttributeError:
            return x

    yield linear(f)
    np.not_there_yet = 4.0
    yield linear(f)
    del np.not_there_yet


def getattr_np(patch):
    def f(x):
        return x * getattr(np, NAME)(4.0)

    global NAME
    NAME = "sqrt"
    yield linear(f)
    NAME = "cbrt"
    yield linear(f)
    old = np.cbrt
    np.cbrt = lambda v: 77.0
    try:
        yield linear(f)
    finally:
        np.cbrt = old


def getattr_np_by_a_constant(patch):
    def f(x):
        return x * float(getattr(np, "cbrt")(8.0))

    yield linear(f)
    old = np.cbrt
    np.cbrt = lambda v: 77.0
    try:
        yield linear(f)
    finally:
        np.cbrt = old


def object_of_a_module(patch):
    class C:
        pass

    m = types.ModuleType("holder")
    m.c = C()
    m.c.rate = 2.0

    def f(x):
        return x * m.c.rate

    yield linear(f)
    m.c.rate = 3.0
    yield linear(f)


def np_linalg_patched(patch):
    def f(x):
        return x * float(np.linalg.norm(W))

    yield linear(f)
    old = np.linalg.norm
    np.linalg.norm = lambda v: 55.0
    try:
        yield linear(f)
    finally:
        np.linalg.norm = old


def np_pi(patch):
    def f(x):
        return x * np.pi

    yield linear(f)
    old = np.pi
    np.pi = 3.0
    try:
        yield linear(f)
    finally:
        np.pi = old


def fake_stdlib_name(patch):
    space = {"__name__": "statistics", "RATE": 2.0}
    exec("def h(x): return x * RATE", space)
    h = space["h"]

    def f(x):
        return h(x)

    yield linear(f)
    space["RATE"] = 3.0
    yield linear(f)


def class_body(patch):
    def f(x):
        class C:
            v = SCALE

        return x * C.v

    yield from states(patch, f, 2.0, 3.0)


def class_body_cell(patch):
    k = 2.0

    def f(x):
        class C:
            v = k

        return x * C.v

    yield linear(f)
    k = 3.0
    yield linear(f)


def nested_cell_chain(patch):
    k = 2.0

    def f(x):
        def g():
            def h():
                return k

            return h()

        return x * g()

    yield linear(f)
    k = 3.0
    yield linear(f)


def evaluated(patch):
    def f(x):
        return x * eval("SCALE")

    yield from states(patch, f, 2.0, 3.0)


def exec_alias(patch):
    e = eval

    def f(x):
        return x * e("SCALE", globals_)

    globals_ = globals()
    yield from states(patch, f, 2.0, 3.0)


def environ_get(patch):
    def f(x):
        return x * float(os.environ.get("YQ", "1"))

    os.environ.pop("YQ", None)
    yield linear(f)
    os.environ["YQ"] = "4"
    yield linear(f)
    del os.environ["YQ"]
    yield linear(f)


SCENARIOS = [
    contextmanager, singledispatch, frompyfunc, vectorize, alias_getattr, custom_builtins,
    builtin_patched, numpy_patched, math_patched, setting_on_numpy, value_and_grad_captured,
    hvp_captured, jacobian_captured, hessian_captured, pullback_captured, simplegrad_captured,
    inner_grad, starimport, np_attribute_missing, getattr_np, getattr_np_by_a_constant,
    object_of_a_module, np_linalg_patched, np_pi, fake_stdlib_name, class_body, class_body_cell,
    nested_cell_chain, evaluated, exec_alias, environ_get,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_a_name_stands_for_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
