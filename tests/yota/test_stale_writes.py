"""What a function writes outside is written at each call."""

# ruff: noqa: B006 - what users write, on purpose

from __future__ import annotations

import collections
import functools
import types
import warnings

import numpy as np
import pytest

import yota
from tests.yota.slopes import played

# each scenario makes a function, what to look at after each call, and what happens before


def fresh_object():
    s = {"a": None}
    seen = []

    def f(x):
        s["a"] = [1.0]
        return x * s["a"][0]

    def obs():
        new = all(s["a"] is not o for o in seen)
        seen.append(s["a"])
        return new

    return f, obs


def fresh_array():
    s = {"a": None}
    seen = []

    def f(x):
        s["a"] = np.zeros(2)
        return x * 2.0

    def obs():
        new = all(s["a"] is not o for o in seen)
        seen.append(s["a"])
        return new

    return f, obs


def fresh_attr():
    class C:
        pass

    c = C()
    c.last = None
    seen = []

    def f(x):
        c.last = np.zeros(2)
        return x * 2.0

    def obs():
        new = all(c.last is not o for o in seen)
        seen.append(c.last)
        return new

    return f, obs


def default_list():
    def f(x, log=[]):
        log.append(1)
        return x * len(log)

    return f, lambda: f.__defaults__


def deque_rotate():
    d = collections.deque([1.0, 2.0])

    def f(x):
        d.rotate(1)
        return x * d[0]

    return f, lambda: d


def counter():
    d = collections.Counter()

    def f(x):
        d["a"] += 1
        return x * d["a"]

    return f, lambda: d


def defaultdict():
    d = collections.defaultdict(list)

    def f(x):
        d["a"].append(1)
        return x * len(d["a"])

    return f, lambda: d


def fill_array():
    w = np.zeros(3)

    def f(x):
        w.fill(2.0)
        return x * w[0]

    return f, lambda: w, lambda k: w.fill(k)


def np_copyto():
    w = np.zeros(3)

    def f(x):
        np.copyto(w, 2.0)
        return x * w[0]

    return f, lambda: w, lambda k: w.fill(k)


def out():
    w = np.zeros(3)

    def f(x):
        np.add(w, 1.0, out=w)
        return x * w[0]

    return f, lambda: w


def update():
    w = {"a": np.zeros(3)}

    def f(x):
        yota.update(w, {"a": np.ones(3)})
        return x * w["a"][0]

    return f, lambda: w


def store_value():
    s = {}

    def f(x):
        y = x * 2.0
        s["last"] = y
        return y

    return f, lambda: s


def store_value_attr():
    class C:
        pass

    c = C()
    c.last = 0.0

    def f(x):
        c.last = x * 3.0
        return x

    return f, lambda: c.last


def append_value():
    s = []

    def f(x):
        y = x * 2.0
        s.append(y)
        return y

    return f, lambda: s


def dict_attr():
    class C:
        pass

    c = C()
    c.n = 0

    def f(x):
        c.__dict__["n"] += 1
        return x * c.n

    return f, lambda: c.n


def globals_write():
    space = {}
    exec("N = 0\ndef f(x):\n    globals()['N'] += 1\n    return x * N\n", space)
    return space["f"], lambda: space["N"]


def type_attr():
    class C:
        n = 0

    c = C()

    def f(x):
        type(c).n += 1
        return x * c.n

    return f, lambda: C.n


def method_alias():
    log = []
    push = log.append

    def f(x):
        push(1)
        return x * len(log)

    return f, lambda: log


def map_append():
    log = []

    def f(x):
        list(map(log.append, [1]))
        return x

    return f, lambda: log


def sorting():
    log = [3, 1, 2]

    def f(x):
        log.sort()
        return x * log[0]

    return f, lambda: log, lambda k: log.reverse()


def swap():
    log = [1.0, 2.0]

    def f(x):
        log[0], log[1] = log[1], log[0]
        return x * log[0]

    return f, lambda: log


def same_content_swap():
    a, b = [1.0], [1.0]
    log = [a, b]

    def f(x):
        log.reverse()
        return x * log[0][0]

    return f, lambda: log[0] is a


def attribute_swap():
    class C:
        pass

    c = C()
    c.a = np.zeros(2)
    c.b = np.zeros(2)
    first = c.a

    def f(x):
        c.a, c.b = c.b, c.a
        return x * 2.0

    return f, lambda: c.a is first


def cell_del():
    n = 1

    def f(x):
        nonlocal n
        n = n + 1
        return x * n

    return f, lambda: n


def byte_array():
    b = bytearray(b"ab")

    def f(x):
        b[0] = (b[0] + 1) % 255
        return x * b[0]

    return f, lambda: b


def new_function():
    s = types.SimpleNamespace(h=None)
    seen = []

    def f(x):
        s.h = lambda v: v
        return x * 2.0

    def obs():
        new = all(s.h is not o for o in seen)
        seen.append(s.h)
        return new

    return f, obs


def new_function_in_dict():
    s = {"h": None}
    seen = []

    def f(x):
        def h(v):
            return v

        s["h"] = h
        return h(x)

    def obs():
        new = all(s["h"] is not o for o in seen)
        seen.append(s["h"])
        return new

    return f, obs


def new_class():
    s = {"h": None}
    seen = []

    def f(x):
        class C:
            pass

        s["h"] = C
        return x

    def obs():
        new = all(s["h"] is not o for o in seen)
        seen.append(s["h"])
        return new

    return f, obs


def new_partial():
    s = {"h": None}
    seen = []

    def f(x):
        s["h"] = functools.partial(max, 1.0)
        return x

    def obs():
        new = all(s["h"] is not o for o in seen)
        seen.append(s["h"])
        return new

    return f, obs


SCENARIOS = [
    fresh_object, fresh_array, fresh_attr, default_list, deque_rotate, counter, defaultdict,
    fill_array, np_copyto, out, update, store_value, store_value_attr, append_value, dict_attr,
    globals_write, type_attr, method_alias, map_append, sorting, swap, same_content_swap,
    attribute_swap, cell_del, byte_array, new_function, new_function_in_dict, new_class,
    new_partial,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_what_a_function_writes_is_written_at_each_call(scenario):
    with np.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plainly = played(scenario, lambda f: float(f(1.0)))
        assert played(scenario, lambda f: float(yota.grad(f, 1.0)[0])) == plainly
