"""Texts, names and settings that code asks for may change."""

# ruff: noqa: UP030, UP031, UP032 - what users write, on purpose

from __future__ import annotations

import dataclasses
import enum

import numpy as np
import pytest

from tests.yota.slopes import linear, states

SCALE = 2.0
W = np.array([1.0, 2.0])


def str_format(patch):
    class C:
        rate = 2.0

    c = C()

    def f(x):
        return x * float("{0.rate}".format(c))

    for k in (2.0, 3.0):
        c.rate = k
        yield linear(f)


def percent_format(patch):
    class C:
        def __repr__(self):
            return str(self.__dict__["rate"])

    c = C()

    def f(x):
        return x * float("%r" % c)

    for k in (2.0, 3.0):
        c.rate = k
        yield linear(f)


def percent_captured(patch):
    class C:
        def __repr__(self):
            return "a" * int(SCALE)

    c = C()
    fmt = "%r"

    def f(x):
        return x * len(fmt % c)

    yield from states(patch, f, 2.0, 3.0)


def repr_global(patch):
    class C:
        def __repr__(self):
            return "a" * int(SCALE)

    c = C()

    def f(x):
        return x * len(f"{c!r}")

    yield from states(patch, f, 2.0, 3.0)


def str_global(patch):
    class C:
        def __str__(self):
            return "a" * int(SCALE)

    c = C()

    def f(x):
        return x * len(str(c))

    yield from states(patch, f, 2.0, 3.0)


def ascii_text(patch):
    class C:
        def __repr__(self):
            return "a" * int(SCALE)

    c = C()

    def f(x):
        return x * len(ascii(c))

    yield from states(patch, f, 2.0, 3.0)


def dataclass_repr(patch):
    @dataclasses.dataclass
    class C:
        a: object

    class R:
        def __repr__(self):
            return "a" * int(SCALE)

    c = C(R())

    def f(x):
        return x * len(repr(c))

    yield from states(patch, f, 2.0, 3.0)


def exception_str(patch):
    class E(Exception):
        def __str__(self):
            return "a" * int(SCALE)

    def f(x):
        try:
            raise E
        except E as e:
            return x * len(str(e))

    yield from states(patch, f, 2.0, 3.0)


def printoptions(patch):
    w = np.array([1 / 3])

    def f(x):
        return x * len(str(w))

    yield linear(f)
    np.set_printoptions(precision=3)
    yield linear(f)
    np.set_printoptions(precision=8)


def array2string(patch):
    w = np.array([1 / 3])

    def f(x):
        return x * len(np.array2string(w))

    yield linear(f)
    np.set_printoptions(precision=3)
    yield linear(f)
    np.set_printoptions(precision=8)


def stringify_dictkey(patch):
    d = {"2.0": 2.0, "3.0": 3.0}

    def f(x):
        return x * d[str(SCALE)]

    yield from states(patch, f, 2.0, 3.0)


def dc_alias(patch):
    @dataclasses.dataclass
    class C:
        aa: float = 2.0

    c = C()

    def f(x):
        return x * dataclasses.astuple(c)[0]

    for k in (2.0, 3.0):
        c.aa = k
        yield linear(f)


def dc_fields(patch):
    @dataclasses.dataclass
    class C:
        aa: float = 2.0
        bb: float = 3.0

    c = C()

    def f(x):
        return x * sum(c.__getattribute__(q.name) for q in dataclasses.fields(c))

    for k in (2.0, 3.0):
        c.aa = k
        yield linear(f)


def computed_class_attr(patch):
    class C:
        pass

    c = C()
    mode = "fast"

    def f(x):
        return x * getattr(c, "rate_" + mode, 1.0)

    yield linear(f)
    C.rate_fast = 2.0
    yield linear(f)
    c.rate_fast = 3.0
    yield linear(f)
    del c.rate_fast, C.rate_fast
    yield linear(f)


def computed_fn_attr(patch):
    def h():
        pass

    mode = "fast"

    def f(x):
        return x * getattr(h, "rate_" + mode, 1.0)

    yield linear(f)
    h.rate_fast = 2.0
    yield linear(f)


def function_attribute_that_appears(patch):
    def h():
        pass

    def f(x):
        try:
            return x * h.k
        except AttributeError:
            return x

    yield linear(f)
    h.k = 4.0
    yield linear(f)
    del h.k
    yield linear(f)


def inherit_computed(patch):
    class B:
        pass

    class C(B):
        pass

    c = C()
    mode = "fast"

    def f(x):
        return x * (2.0 if hasattr(c, "rate_" + mode) else 3.0)

    yield linear(f)
    B.rate_fast = 2.0
    yield linear(f)


def enum_computed(patch):

    class E(enum.Enum):
        A = 1
        B = 2

    n = "B"

    def f(x):
        return x * getattr(E, n).value

    yield linear(f)
    n = "A"
    yield linear(f)


def function_name(patch):
    def g(x):
        return x

    def f(x):
        return x * 2.0 if g.__name__ == "g" else x * 3.0

    yield linear(f)
    g.__name__ = "h"
    yield linear(f)


def function_doc(patch):
    def g(x):
        "a"

    def f(x):
        return x * len(g.__doc__)

    yield linear(f)
    g.__doc__ = "abc"
    yield linear(f)


def class_name(patch):
    class C:
        pass

    def f(x):
        return x * len(C.__name__)

    yield linear(f)
    C.__name__ = "Longer"
    yield linear(f)


def class_doc(patch):
    class C:
        "a"

    def f(x):
        return x * len(C.__doc__)

    yield linear(f)
    C.__doc__ = "Longer"
    yield linear(f)


def annotations(patch):
    class C:
        a: int

    def f(x):
        return x * len(C.__annotations__)

    yield linear(f)
    C.__annotations__["b"] = float
    yield linear(f)


def describe_args(patch):
    class P:
        pass

    def f(x, p):
        return x * len(type(p).__name__) + 0 * p.w

    p = P()
    p.w = 1.0
    yield linear(f, p)
    P.__name__ = "Longer"
    yield linear(f, p)


SCENARIOS = [
    str_format, percent_format, percent_captured, repr_global, str_global, ascii_text,
    dataclass_repr, exception_str, printoptions, array2string, stringify_dictkey, dc_alias,
    dc_fields, computed_class_attr, computed_fn_attr, function_attribute_that_appears,
    inherit_computed, enum_computed, function_name, function_doc, class_name, class_doc,
    annotations, describe_args,
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_text_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
