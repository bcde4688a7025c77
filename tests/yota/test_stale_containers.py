"""Containers may change: in items, order, identity, in what their library keeps."""

# ruff: noqa: B006 - what users write, on purpose

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import types
import weakref

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


def set_order(patch):
    s = {0, 8}

    def f(x):
        t = 0.0
        for k in s:
            t = t * 2 + k + 1
        return x * t

    yield linear(f)
    s.clear()
    s.add(8)
    s.add(0)
    yield linear(f)


def order_of_keys(patch):
    d = {"a": 1.0, "b": 2.0}

    def f(x):
        return x * (2.0 if next(iter(d)) == "a" else 3.0)

    yield linear(f)
    d["a"] = d.pop("a")
    yield linear(f)
    e = {"a": 1.0, "b": 2.0}

    def g(x):
        return x * (2.0 if "b" in e else 3.0)

    yield linear(g)
    del e["b"]
    e["c"] = 2.0
    yield linear(g)


def set_objects(patch):
    class C:
        def __init__(self, w):
            self.w = w

    items = [C(1.0), C(2.0), C(3.0)]

    def f(x):
        t = 0.0
        for c in {*items}:
            t = t * 2 + c.w
        return x * t

    keep = []
    for _ in range(6):
        keep.append(list(items))
        keep.append(C(0.0))
        items[:] = [C(k) for k in (1.0, 2.0, 3.0)]
        yield linear(f)


def hash_identity(patch):
    class C:
        pass

    box = [C()]
    keep = []

    def f(x):
        return x * (hash(box[0]) % 10007)

    for _ in range(5):
        keep.append(box[0])
        box[0] = C()
        yield linear(f)


def dict_view_alias(patch):
    global D1, D2
    D1 = D2 = {"a": 1.0}

    def f(x):
        D1["a"] = 5.0
        y = x * D2["a"]
        D1["a"] = 1.0
        return y

    yield linear(f)
    D2 = {"a": 1.0}
    yield linear(f)
    D2 = D1
    yield linear(f)


def ordereddict_attr(patch):
    d = collections.OrderedDict(a=1.0)

    def f(x):
        return x * d.rate

    for k in (2.0, 3.0):
        d.rate = k
        yield linear(f)


def partial_attr(patch):
    g = functools.partial(max, 1.0)

    def f(x):
        return x * g.rate

    for k in (2.0, 3.0):
        g.rate = k
        yield linear(f)


def moved(patch):
    d = collections.OrderedDict(a=1.0, b=2.0)
    d.move_to_end("a")

    def f(x):
        return x * next(iter(d.values()))

    yield linear(f)
    d["b"] = 5.0
    yield linear(f)
    d.move_to_end("b")
    yield linear(f)


def userdict(patch):
    d = collections.UserDict(a=2.0)

    def f(x):
        return x * d["a"]

    for k in (2.0, 3.0):
        d["a"] = k
        yield linear(f)


def chainmap(patch):
    a, b = {"k": 2.0}, {}
    c = collections.ChainMap(b, a)

    def f(x):
        return x * c["k"]

    yield linear(f)
    a["k"] = 3.0
    yield linear(f)
    b["k"] = 4.0
    yield linear(f)


def counter(patch):
    c = collections.Counter(a=2)

    def f(x):
        return x * (c["a"] + c["zz"])

    yield linear(f)
    c["zz"] = 4
    yield linear(f)


def deque(patch):
    d = collections.deque([2.0, 3.0])

    def f(x):
        return x * d[0]

    yield linear(f)
    d.rotate(1)
    yield linear(f)


def defaultdict(patch):
    d = collections.defaultdict(lambda: SCALE, a=1.0)

    def f(x):
        return x * d["a"]

    yield from states(patch, f, 2.0, 3.0)
    d["a"] = 5.0
    yield linear(f)


def mappingproxy(patch):
    d = {"a": 2.0}
    p = types.MappingProxyType(d)

    def f(x):
        return x * p["a"]

    for k in (2.0, 3.0):
        d["a"] = k
        yield linear(f)


def simplenamespace(patch):
    n = types.SimpleNamespace(a=2.0)

    def f(x):
        return x * n.a

    for k in (2.0, 3.0):
        n.a = k
        yield linear(f)


def in_list(patch):
    class C:
        pass

    a, b = C(), C()
    items = [a]

    def f(x):
        return x * 2.0 if b in items else x * 3.0

    yield linear(f)
    items[0] = b
    yield linear(f)


def weak_reference(patch):
    class C:
        pass

    c = C()
    c.v = 2.0
    r = weakref.ref(c)

    def f(x):
        return x * (r().v if r() is not None else 9.0)

    yield linear(f)
    c.v = 3.0
    yield linear(f)
    del c
    yield linear(f)


def weak_values(patch):
    class C:
        pass

    c = C()
    c.v = 2.0
    d = weakref.WeakValueDictionary(a=c)

    def f(x):
        return x * (d["a"].v if "a" in d else 9.0)

    yield linear(f)
    c.v = 3.0
    yield linear(f)
    del c
    yield linear(f)


def bytes(patch):
    b = bytearray(b"\x02")

    def f(x):
        return x * b[0]

    yield linear(f)
    b[0] = 3
    yield linear(f)


def complex_key(patch):
    d = {(1, "a"): 2.0, None: 3.0, True: 1.0}

    def f(x):
        return x * d[(1, "a")] + x * d[None]

    yield linear(f)
    d[None] = 7.0
    yield linear(f)


def key_types(patch):
    d = {1: 2.0}

    def f(x):
        return x * (2.0 if type(next(iter(d.keys()))) is int else 3.0)

    yield linear(f)
    d.clear()
    d[True] = 2.0
    yield linear(f)


def bound_builtin(patch):
    w = [3.0]
    g = w.__getitem__

    def f(x):
        return x * g(0)

    yield linear(f)
    w[0] = 4.0
    yield linear(f)


def recursive_container(patch):
    items = [2.0]
    items.append(items)

    def f(x):
        return x * items[1][1][0]

    yield linear(f)
    items[0] = 3.0
    yield linear(f)


def deep_list(patch):
    items = [2.0]
    for _ in range(400):
        items = [items]
    inner = items
    while type(inner[0]) is list:
        inner = inner[0]

    def f(x):
        v = items
        while type(v) is list:
            v = v[0]
        return x * v

    yield linear(f)
    inner[0] = 3.0
    yield linear(f)


def many(patch):
    items = [float(k) for k in range(3000)]

    def f(x):
        return x * items[2999]

    yield linear(f)
    items[2999] = 3.0
    yield linear(f)


def sorted_key(patch):
    class C:
        def __init__(self, v):
            self.v = v

    items = [C(1.0), C(2.0)]
    key = operator.attrgetter("v")

    def f(x):
        return x * len(sorted(items, key=key)) * sorted(items, key=key)[0].v

    yield linear(f)
    items[0].v = 5.0
    yield linear(f)


def itemgetter(patch):
    g = operator.itemgetter("a")
    d = {"a": 2.0}

    def f(x):
        return x * g(d)

    for k in (2.0, 3.0):
        d["a"] = k
        yield linear(f)


def methodcaller(patch):
    class C:
        def m(self):
            return SCALE

    c = C()
    g = operator.methodcaller("m")

    def f(x):
        return x * g(c)

    yield from states(patch, f, 2.0, 3.0)


def suppress(patch):
    n = types.SimpleNamespace()

    def f(x):
        with contextlib.suppress(AttributeError):
            return x * n.a
        return x

    yield linear(f)
    n.a = 4.0
    yield linear(f)


def suppress_captured(patch):
    class E(Exception):
        pass

    sup = contextlib.suppress(ZeroDivisionError)

    def f(x):
        with sup:
            return x * (1 / SCALE)
        return x

    yield from states(patch, f, 2.0, 0.0)


def func_kwdefault_mutable(patch):
    def h(v, *, k=[2.0]):
        return v * k[0]

    def f(x):
        return h(x)

    yield linear(f)
    h.__kwdefaults__["k"][0] = 3.0
    yield linear(f)


def inner_defaults(patch):
    d = [2.0]

    def f(x):
        def g(v, k=d):
            return v * k[0]

        return g(x)

    yield linear(f)
    d[0] = 3.0
    yield linear(f)


def wraps_attr(patch):
    def h(v):
        return v

    h.k = 2.0

    def f(x):
        @functools.wraps(h)
        def g(v):
            return v

        return g(x) * g.k

    yield linear(f)
    h.k = 3.0
    yield linear(f)


SCENARIOS = [
    set_order, order_of_keys, set_objects, hash_identity, dict_view_alias, ordereddict_attr,
    partial_attr, moved, userdict, chainmap, counter, deque, defaultdict, mappingproxy,
    simplenamespace, in_list, weak_reference, weak_values, bytes, complex_key, key_types,
    bound_builtin, recursive_container, deep_list, many, sorted_key, itemgetter, methodcaller,
    suppress, suppress_captured, func_kwdefault_mutable, inner_defaults, wraps_attr,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_container_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
