"""Methods may change that Python, or a class of its library, calls unasked."""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import string

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


def super_slot(patch):
    class A:
        def __len__(self):
            return int(SCALE)

    class B(A):
        def n(self):
            return super().__len__()

    b = B()

    def f(x):
        return x * b.n()

    yield from states(patch, f, 2.0, 3.0)


def formatter_subclass(patch):
    class F(string.Formatter):
        def get_value(self, key, a, k):
            return "a" * int(SCALE)

    o = F()

    def f(x):
        return x * len(o.vformat("{0}", (), {}))

    yield from states(patch, f, 2.0, 3.0)


def mapping_subclass(patch):
    class M(collections.abc.Mapping):
        def __getitem__(self, k):
            return SCALE

        def __iter__(self):
            return iter(["a"])

        def __len__(self):
            return 1

    m = M()

    def f(x):
        return x * sum(m.values())

    yield from states(patch, f, 2.0, 3.0)


class UD(collections.UserDict):
    def __missing__(self, k):
        return SCALE


def userdict_sub(patch):
    d = UD(a=2.0)

    def f(x):
        return x * d["b"]

    yield from states(patch, f, 2.0, 3.0)


def userdict_copy_init(patch):
    class D(collections.UserDict):
        def __init__(self, *a, **k):
            self.extra = SCALE
            super().__init__(*a, **k)

    d = D(a=1.0)

    def f(x):
        return x * d.copy().extra + 0 * d["a"]

    yield from states(patch, f, 2.0, 3.0)


class CC(collections.Counter):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.extra = SCALE


def counter_add(patch):
    c = CC(a=1)

    def f(x):
        return x * sum((c + c).values()) if type(c + c) is not CC else x * (c + c).extra

    yield from states(patch, f, 2.0, 3.0)


def mutable_sequence_hook(patch):
    class S(collections.abc.MutableSequence):
        def __init__(self):
            self.v = []

        def __getitem__(self, i):
            return self.v[i]

        def __setitem__(self, i, v):
            self.v[i] = v

        def __delitem__(self, i):
            del self.v[i]

        def __len__(self):
            return len(self.v)

        def insert(self, i, v):
            self.v.insert(i, v * SCALE)

    s = S()

    def f(x):
        s.append(1.0)
        return x * s.pop()

    yield from states(patch, f, 2.0, 3.0)


def set_hook(patch):
    class S(collections.abc.Set):
        def __init__(self, v):
            self.v = list(v)

        def __contains__(self, k):
            return k in self.v

        def __iter__(self):
            return iter(self.v)

        def __len__(self):
            return len(self.v)

        @classmethod
        def _from_iterable(cls, it):
            return [SCALE]

    a, b = S([1]), S([2])

    def f(x):
        return x * (a | b)[0]

    yield from states(patch, f, 2.0, 3.0)


def dict_missing(patch):
    class D(dict):
        def __missing__(self, k):
            return SCALE

    d = D()

    def f(x):
        return x * d["b"]

    yield from states(patch, f, 2.0, 3.0)


@functools.total_ordering
class TO:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return self.v == o.v

    def __lt__(self, o):
        return self.v * SCALE < o.v


def total_ordering(patch):
    a, b = TO(2.0), TO(5.0)

    def f(x):
        return x * 2.0 if a >= b else x * 3.0

    yield from states(patch, f, 2.0, 3.0)


def partialmethod(patch):
    class C:
        def m(self, k):
            return k * SCALE

        p = functools.partialmethod(m, 2.0)

    c = C()

    def f(x):
        return x * c.p()

    yield from states(patch, f, 2.0, 3.0)


def singledispatchmethod(patch):
    class C:
        @functools.singledispatchmethod
        def m(self, k):
            return SCALE

    c = C()

    def f(x):
        return x * c.m(1)

    yield from states(patch, f, 2.0, 3.0)


def hook_of_a_context(patch):
    class C(contextlib.ContextDecorator):
        def _recreate_cm(self):
            self.k = SCALE
            return self

        def __enter__(self):
            return self

        def __exit__(self, *e):
            return False

    c = C()

    def f(x):
        return c(lambda v: v * c.k)(x)

    yield from states(patch, f, 2.0, 3.0)


def userlist_makes_its_own(patch):
    class L(collections.UserList):
        def __init__(self, v):
            super().__init__(v)
            self.extra = SCALE

    some = L([1.0])

    def f(x):
        return x * (some + [1.0]).extra  # noqa: RUF005

    yield from states(patch, f, 2.0, 3.0)


def attrgetter_property(patch):
    class C:
        size = property(operator.attrgetter("hidden"))

    c = C()
    c.hidden = 2.0

    def f(x):
        return x * c.size

    for k in (2.0, 3.0):
        c.hidden = k
        yield linear(f)


def eq_global(patch):
    class C:
        def __eq__(self, o):
            return SCALE > 2.5

        __hash__ = None

    a, b = C(), C()

    def f(x):
        return x * 2.0 if a == b else x * 3.0

    yield from states(patch, f, 2.0, 3.0)


def contains(patch):
    class C:
        def __contains__(self, k):
            return SCALE > 2.5

    c = C()

    def f(x):
        return x * 2.0 if 1 in c else x * 3.0

    yield from states(patch, f, 2.0, 3.0)


def iter_protocol(patch):
    class C:
        def __iter__(self):
            return iter([SCALE])

    c = C()

    def f(x):
        return x * sum(c)

    yield from states(patch, f, 2.0, 3.0)


def truth(patch):
    class C:
        def __bool__(self):
            return SCALE > 2.5

    c = C()

    def f(x):
        return x * 2.0 if c else x * 3.0

    yield from states(patch, f, 2.0, 3.0)


def array_protocol(patch):
    class C:
        def __array__(self, dtype=None, copy=None):
            return np.array([SCALE])

    c = C()

    def f(x):
        return x * float(np.asarray(c)[0])

    yield from states(patch, f, 2.0, 3.0)


def hash_method(patch):
    class C:
        def __hash__(self):
            return int(SCALE)

    c = C()

    def f(x):
        return x * hash(c)

    yield from states(patch, f, 2.0, 3.0)


SCENARIOS = [
    super_slot, formatter_subclass, mapping_subclass, userdict_sub, userdict_copy_init,
    counter_add, mutable_sequence_hook, set_hook, dict_missing, total_ordering, partialmethod,
    singledispatchmethod, hook_of_a_context, userlist_makes_its_own, attrgetter_property,
    eq_global, contains, iter_protocol, truth, array_protocol, hash_method,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_method_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
