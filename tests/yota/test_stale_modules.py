"""Modules may change: attributes, submodules, what an import gives."""

# ruff: noqa: N806 - what users write, on purpose

from __future__ import annotations

import builtins
import math
import sys
import types

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


def module_getattr(patch):
    m = types.ModuleType("m_ga")
    m.table = {"rate": 2.0}
    exec("def __getattr__(name):\n    return table[name]", m.__dict__)

    def f(x):
        return x * m.rate

    yield linear(f)
    m.table["rate"] = 3.0
    yield linear(f)


def module_class(patch):
    class M(types.ModuleType):
        @property
        def rate(self):
            return SCALE

    m = M("m_cls")

    def f(x):
        return x * m.rate

    yield from states(patch, f, 2.0, 3.0)


def np_in_container(patch):
    lib = {"np": np}

    class H:
        pass

    h = H()
    h.np = np

    def f(x):
        return x * lib["np"].geterr()["divide"].__len__()

    np.seterr(divide="ignore")
    yield linear(f)
    np.seterr(divide="warn")
    yield linear(f)

    def g(x):
        return x * len(h.np.geterr()["divide"])

    np.seterr(divide="ignore")
    yield linear(g)
    np.seterr(divide="warn")
    yield linear(g)


def np_alias_random(patch):
    def f(x):
        xp = np
        return x * (1.0 + 0 * xp.random.rand())

    yield linear(f)


def relative_import(patch):
    pkg = types.ModuleType("relpkg")
    pkg.__path__ = []
    sys.modules["relpkg"] = pkg
    m = types.ModuleType("relpkg.math")
    m.rate = 2.0
    sys.modules["relpkg.math"] = m
    pkg.math = m
    space = {"__name__": "relpkg.user", "__package__": "relpkg", "__builtins__": builtins}
    exec("def f(x):\n    from .math import rate\n    return x * rate\n", space)
    f = space["f"]
    for k in (2.0, 3.0):
        m.rate = k
        yield linear(f)


def import_inside(patch):
    m = types.ModuleType("inner_mod")
    m.rate = 2.0
    sys.modules["inner_mod"] = m

    def f(x):
        import inner_mod

        return x * inner_mod.rate

    for k in (2.0, 3.0):
        m.rate = k
        yield linear(f)


def import_pure_inside_replaced(patch):
    def f(x):
        import statistics

        return x * statistics.mean([1.0, 3.0])

    yield linear(f)
    old = sys.modules["statistics"]
    fake = types.ModuleType("statistics")
    fake.mean = lambda v: 9.0
    sys.modules["statistics"] = fake
    try:
        yield linear(f)
    finally:
        sys.modules["statistics"] = old


def try_import_error(patch):
    def f(x):
        try:
            import no_such_module_zz as m

            return x * m.rate
        except ImportError:
            return x

    yield linear(f)
    m = types.ModuleType("no_such_module_zz")
    m.rate = 5.0
    sys.modules["no_such_module_zz"] = m
    yield linear(f)


def nested_module_chain(patch):
    a = types.ModuleType("na")
    b = types.ModuleType("na.b")
    a.b = b
    b.cfg = types.SimpleNamespace(rate=2.0)

    def f(x):
        return x * a.b.cfg.rate

    yield linear(f)
    b.cfg.rate = 3.0
    yield linear(f)
    b.cfg = types.SimpleNamespace(rate=4.0)
    yield linear(f)
    b2 = types.ModuleType("na.b2")
    b2.cfg = types.SimpleNamespace(rate=5.0)
    a.b = b2
    yield linear(f)


def module_passed_on(patch):
    a = types.ModuleType("mp")
    a.rate = 2.0

    def h(m):
        return m.rate

    def f(x):
        return x * h(a)

    yield linear(f)
    a.rate = 3.0
    yield linear(f)


def module_in_list(patch):
    a = types.ModuleType("mp")
    a.rate = 2.0
    L = [a]

    def f(x):
        return x * L[0].rate

    yield linear(f)
    a.rate = 3.0
    yield linear(f)


def module_loop(patch):
    def f(x):
        t = x
        for m in (np, math):
            t = t * m.sqrt(4.0)
        return t

    yield linear(f)
    old = math.sqrt
    math.sqrt = lambda v: 5.0
    try:
        yield linear(f)
    finally:
        math.sqrt = old


def conditional_module(patch):
    other = types.ModuleType("om")
    other.exp = lambda v: 9.0

    def f(x):
        return x * float((np if SCALE < 2.5 else other).exp(1.0))

    yield from states(patch, f, 2.0, 3.0)
    other.exp = lambda v: 8.0
    yield linear(f)


def shadowing_module(patch):
    m = types.ModuleType("fractions")
    m.__file__ = "/home/user/fractions.py"
    exec("RATE = 2.0\ndef h(x): return x * RATE", m.__dict__)
    old = sys.modules["fractions"]
    sys.modules["fractions"] = m
    try:

        def f(x):
            return m.h(x)

        yield linear(f)
        m.RATE = 3.0
        yield linear(f)
    finally:
        sys.modules["fractions"] = old


def module_reload(patch):
    m = types.ModuleType("rl")
    exec("def h(x): return x * 2.0", m.__dict__)

    def f(x):
        return m.h(x)

    yield linear(f)
    exec("def h(x): return x * 3.0", m.__dict__)
    yield linear(f)


def sys_modules(patch):
    m = types.ModuleType("smod")
    m.rate = 2.0
    sys.modules["smod"] = m

    def f(x):
        return x * sys.modules["smod"].rate

    for k in (2.0, 3.0):
        m.rate = k
        yield linear(f)


SCENARIOS = [
    module_getattr, module_class, np_in_container, np_alias_random, relative_import,
    import_inside, import_pure_inside_replaced, try_import_error, nested_module_chain,
    module_passed_on, module_in_list, module_loop, conditional_module, shadowing_module,
    module_reload, sys_modules,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_module_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
