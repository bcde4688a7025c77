"""What arguments bring along may change: fixed values, classes, functions."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types

import numpy as np
import pytest

from tests.yota.slopes import linear

SCALE = 2.0
W = np.array([1.0, 2.0])


def static_list(patch):
    cfg = [1, 2]

    def f(x, c):
        return x * c[0]

    yield linear(f, cfg)
    cfg[0] = 5
    yield linear(f, cfg)
    yield linear(f, [1, 2])
    yield linear(f, [True, 2])


def static_dict(patch):
    cfg = {"mode": "a"}

    def f(x, c):
        return x * (2.0 if c["mode"] == "a" else 3.0)

    yield linear(f, cfg)
    cfg["mode"] = "b"
    yield linear(f, cfg)


def static_set(patch):
    cfg = {1, 2}

    def f(x, c):
        return x * len(c)

    yield linear(f, cfg)
    cfg.add(7)
    yield linear(f, cfg)


def static_nested(patch):
    cfg = {"w": 1.0, "opts": [1, 2]}

    def f(x, c):
        return x * c["opts"][0] * 1.0

    yield linear(f, cfg)
    cfg["opts"][0] = 5
    yield linear(f, cfg)


def static_object(patch):
    class C:
        pass

    c = C()
    c.n = 2

    def f(x, c):
        return x * c.n

    yield linear(f, c)
    c.n = 3
    yield linear(f, c)
    C.n = 7
    del c.n
    yield linear(f, c)


def static_twice(patch):
    a, b = [1], [1]

    def f(x, p, q):
        return x * 2.0 if p is q else x * 3.0

    yield linear(f, a, b)
    yield linear(f, a, a)
    yield linear(f, a, b)


def static_vs_captured(patch):
    a, b = [1], [1]

    def f(x, p):
        return x * 2.0 if p is a else x * 3.0

    yield linear(f, b)
    yield linear(f, a)
    yield linear(f, b)


def static_types(patch):
    def f(x, n):
        return x * (
            2.0
            if n is True
            else 3.0
            if isinstance(n, np.integer)
            else 4.0
            if isinstance(n, int)
            else 5.0
        )

    for n in (True, 1, np.int64(1), np.int32(1), "1", None, 1):
        yield linear(f, n)


def static_strsub(patch):
    class S(str):
        pass

    def f(x, s):
        return x * (2.0 if type(s) is str else 3.0)

    for n in ("a", S("a"), "a"):
        yield linear(f, n)


def enum_argument(patch):
    class E(enum.Enum):
        A = 1
        B = 2

    def f(x, e):
        return x * (2.0 if e is E.A else 3.0)

    for e in (E.A, E.B, E.A):
        yield linear(f, e)


def class_argument(patch):
    class A:
        rate = 2.0

    class B:
        rate = 3.0

    def f(x, c):
        return x * c.rate

    for c in (A, B, A):
        yield linear(f, c)
    A.rate = 9.0
    yield linear(f, A)


def function_argument_attr(patch):
    def g(x):
        return x

    g.k = 2.0

    def f(x, h):
        return h(x) * h.k

    yield linear(f, g)
    g.k = 3.0
    yield linear(f, g)


def range_argument(patch):
    def f(x, r):
        return x * (sum(r) + r.start)

    yield linear(f, range(0))
    yield linear(f, range(5, 5))


def dtype_argument(patch):
    def f(x, d):
        return x * d.itemsize

    for d in ("f8", "f4"):
        yield linear(f, np.dtype(d))


def slice_argument(patch):
    def f(x, s):
        return x * np.sum(W[s])

    for s in (slice(0, 1), slice(0, 2)):
        yield linear(f, s)


def arg_class_property(patch):
    class P:
        def __init__(self, w):
            self.w = w

        @property
        def r(self):
            return SCALE

    def f(x, p):
        return x * p.r + 0 * p.w

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield linear(f, P(1.0))


def arg_slots(patch):
    class P:
        __slots__ = ("n", "w")

    p = P()
    p.w = 1.0
    p.n = 2

    def f(x, p):
        return x * p.n * p.w

    yield linear(f, p)
    p.n = 3
    yield linear(f, p)


def arg_dataclass_list(patch):
    @dataclasses.dataclass
    class P:
        w: float = 1.0
        sizes: list = dataclasses.field(default_factory=lambda: [2])

    p = P()

    def f(x, p):
        return x * p.sizes[0] * p.w

    yield linear(f, p)
    p.sizes[0] = 3
    yield linear(f, p)


def arg_callable_field(patch):
    class P:
        pass

    p = P()
    p.w = 1.0
    p.act = lambda v: v * SCALE

    def f(x, p):
        return p.act(x) * p.w

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield linear(f, p)


def arg_method_replaced(patch):
    class P:
        def __init__(self):
            self.w = 1.0

        def m(self):
            return 2.0

    p = P()

    def f(x, p):
        return x * p.m() * p.w

    yield linear(f, p)
    P.m = lambda self: 3.0
    yield linear(f, p)


def arg_bases(patch):
    class A:
        def m(self):
            return 2.0

    class A2:
        def m(self):
            return 3.0

    class P(A):
        def __init__(self):
            self.w = 1.0

    def f(x, p):
        return x * p.m() * p.w

    yield linear(f, P())
    P.__bases__ = (A2,)
    yield linear(f, P())


def arg_dict_of_functions(patch):
    d = {"act": lambda v: v * SCALE, "w": 1.0}

    def f(x, d):
        return d["act"](x) * d["w"]

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield linear(f, d)
    d["act"] = lambda v: v * 7.0
    yield linear(f, d)


def arg_nested_config(patch):
    @dataclasses.dataclass
    class Cfg:
        n: int = 2

    @dataclasses.dataclass
    class Model:
        w: float = 1.0
        cfg: Cfg = dataclasses.field(default_factory=Cfg)

    m = Model()

    def f(x, m):
        return x * m.cfg.n * m.w

    yield linear(f, m)
    m.cfg.n = 3
    yield linear(f, m)
    Cfg.n = 9
    del m.cfg.n
    yield linear(f, m)


def arg_slots_static(patch):
    class M:
        __slots__ = ("opts", "w")

    m = M()
    m.w = 1.0
    m.opts = [2]

    def f(x, m):
        return x * m.opts[0] * m.w

    yield linear(f, m)
    m.opts[0] = 3
    yield linear(f, m)


def arg_namedtuple(patch):
    NT = collections.namedtuple("NT", "w opts")
    n = NT(1.0, [2])

    def f(x, n):
        return x * n.opts[0] * n.w

    yield linear(f, n)
    n.opts[0] = 3
    yield linear(f, n)


def arg_default_factory(patch):
    d = collections.defaultdict(lambda: SCALE, w=1.0)

    def f(x, d):
        return x * d["zz"] * d["w"]

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield linear(f, collections.defaultdict(d.default_factory, w=1.0))


def arg_deque(patch):
    d = collections.deque([1.0, "a"], maxlen=3)

    def f(x, d):
        return x * d[0] * len(d[1]) * d.maxlen

    yield linear(f, d)
    d[1] = "aa"
    yield linear(f, d)
    yield linear(f, collections.deque([1.0, "a"], maxlen=5))


def arg_listsub(patch):
    class L(list):
        rate = 2.0

    items = L([1.0])
    items.tag = [3]

    def f(x, items):
        return x * items[0] * items.tag[0] * items.rate

    yield linear(f, items)
    items.tag[0] = 4
    yield linear(f, items)
    L.rate = 5.0
    yield linear(f, items)


def arg_simplenamespace(patch):
    n = types.SimpleNamespace(w=1.0, opts=[2])

    def f(x, n):
        return x * n.opts[0] * n.w

    yield linear(f, n)
    n.opts[0] = 3
    yield linear(f, n)


def arg_enum_in_object(patch):
    class E(enum.Enum):
        A = 1
        B = 2

    E.A.k = [2.0]
    E.B.k = [3.0]

    class P:
        pass

    p = P()
    p.w = 1.0
    p.e = E.A

    def f(x, p):
        return x * p.e.k[0] * p.w

    yield linear(f, p)
    p.e = E.B
    yield linear(f, p)
    E.B.k[0] = 7.0
    yield linear(f, p)


def prop_on_arg_with_setter(patch):
    class P:
        def __init__(self):
            self._w = 1.0

        @property
        def w(self):
            return self._w * SCALE

    def f(x, p):
        return x * p.w

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield linear(f, P())


def captured_then_argument(patch):
    w = np.array([2.0])

    def f(x, v):
        return x * w[0] * v[0]

    yield linear(f, w)
    w[0] = 3.0
    yield linear(f, w)


SCENARIOS = [
    static_list, static_dict, static_set, static_nested, static_object,
    static_twice, static_vs_captured, static_types, static_strsub, enum_argument,
    class_argument, function_argument_attr, range_argument, dtype_argument, slice_argument,
    arg_class_property, arg_slots, arg_dataclass_list, arg_callable_field, arg_method_replaced,
    arg_bases, arg_dict_of_functions, arg_nested_config, arg_slots_static, arg_namedtuple,
    arg_default_factory, arg_deque, arg_listsub, arg_simplenamespace, arg_enum_in_object,
    prop_on_arg_with_setter, captured_then_argument,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_an_argument_brings_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
