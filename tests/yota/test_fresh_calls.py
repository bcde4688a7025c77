"""Never stale: branches, arguments, decorators and other callables differ from call to call."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import yota
from tests.yota.objects import Config, Mutable
from tests.yota.slopes import slope

X = np.array([1.0, 2.0, 3.0])
SCALE = 2.0


def helper(x):
    return x * SCALE


# ---- what differs by the arguments


def branch_on_a_value(patch):
    def f(x):
        return x * 2.0 if x > 0 else x * 3.0

    for x in (1.0, -1.0, 2.0, -2.0):
        yield slope(f, x), 2.0 if x > 0 else 3.0


def trips_that_depend_on_data(patch):
    def f(x):
        y = x
        while y < 100.0:
            y = y * 3.0
        return y

    for x in (1.0, 20.0, 200.0, 1.0):
        trips = 0
        while x * 3.0**trips < 100.0:
            trips += 1
        yield slope(f, x), 3.0**trips


def early_return(patch):
    def f(x):
        for k in range(5):
            if x[k % 3] > 2.5:
                return x[0] * (k + 1)
        return np.sum(x)

    yield slope(f, X)[0], 3.0
    yield slope(f, X - 2.0)[0], 1.0
    yield slope(f, X + 2.0)[0], 1.0


def caught_error(patch):
    def f(x):
        try:
            return 1.0 / x
        except ZeroDivisionError:
            return x * 7.0

    for x, expected in ((2.0, -0.25), (0.0, 7.0), (2.0, -0.25)):
        yield slope(f, x), expected


def dispatch_on_type_and_shape(patch):
    def f(x):
        if isinstance(x, float):
            return x * 2.0
        return np.sum(x) * 3.0 if x.ndim == 1 and x.dtype == np.float64 else np.sum(x) * 5.0

    yield slope(f, 1.0), 2.0
    yield slope(f, np.ones(2)), np.full(2, 3.0)
    yield slope(f, np.ones((2, 1))), np.full((2, 1), 5.0)
    yield slope(f, np.ones(2, "f4")), np.full(2, 5.0)
    yield slope(f, 1.0), 2.0


def static_argument(patch):
    def f(x, n, name="a"):
        return x * n if name == "a" else x

    for n in (2, 3, 2):
        yield slope(f, 1.0, n), float(n)
    yield slope(f, 1.0, 2, name="b"), 1.0


def attribute_of_an_argument(patch):
    def f(c):
        return c.size * c.size if c.kind == "square" else c.size

    for kind, expected in (("square", 6.0), ("linear", 1.0), ("square", 6.0)):
        config = Config(3.0)
        config.kind = kind
        yield [yota.grad(f, config)[1][0].size for _ in range(3)], expected


def function_as_an_argument(patch):
    def f(x, g):
        return g(x)

    for k in (2.0, 3.0):
        yield slope(f, 1.0, lambda x, k=k: x * k), k
    patch.setitem(globals(), "SCALE", 4.0)
    yield slope(f, 1.0, helper), 4.0
    patch.setitem(globals(), "SCALE", 5.0)
    yield slope(f, 1.0, helper), 5.0


def method_of_an_argument(patch):
    for k in (2.0, 5.0):
        patch.setattr(Config, "rate", k)
        yield slope(lambda x, c: c(x), 1.0, Config(3.0)), 3 * k


# ---- decorators and other callables


def decorated(patch):
    def twice(fn):
        @functools.wraps(fn)
        def wrapped(*args):
            return fn(*args) * SCALE

        return wrapped

    f, g = twice(lambda x: x * 3.0), twice(lambda x: x * 5.0)
    yield slope(f, 1.0), 6.0
    yield slope(g, 1.0), 10.0
    patch.setitem(globals(), "SCALE", 4.0)
    yield slope(f, 1.0), 12.0
    yield slope(g, 1.0), 20.0


def wraps_a_function_of_numpys(patch):
    @functools.wraps(np.exp)
    def f(x):
        return x * SCALE

    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield slope(lambda x: f(x), 1.0), k


def partials(patch):
    def f(k, x):
        return x * k

    for k in (2.0, 3.0):
        yield slope(functools.partial(f, k), 1.0), k
    config = {"k": 2.0}
    bound = functools.partial(lambda c, x: x * c["k"], config)
    for k in (2.0, 3.0):
        config["k"] = k
        yield slope(bound, 1.0), k


def cached_helpers(patch):
    @functools.lru_cache
    def matrix(n):
        return np.full(3, float(n))

    def f(x):
        return np.sum(x * matrix(2))

    yield slope(f, X), np.full(3, 2.0)
    matrix(2)[0] = 9.0
    yield slope(f, X), np.array([9.0, 2.0, 2.0])


def c_callables(patch):
    yield slope(np.sum, X), np.ones(3)
    yield slope(np.tanh, 0.0), 1.0


def callable_objects(patch):
    config = Config(3.0)
    for k in (3.0, 4.0):
        config.size = k
        yield slope(config, 1.0), 2 * k


def bound_methods(patch):
    first, second = Mutable(2.0), Mutable(3.0)
    for model in (first, second, first):
        yield slope(model.apply, 1.0), model.factor


def own_primitive_and_rule(patch):
    f = yota.primitive(lambda x: x * SCALE)
    yota.defvjp(f, lambda dy, y, x: dy * SCALE)
    for k in (2.0, 3.0):
        patch.setitem(globals(), "SCALE", k)
        yield slope(lambda x: f(x), 1.0), k
    yota.defvjp(f, lambda dy, y, x: dy * 100.0)
    yield slope(lambda x: f(x), 1.0), 100.0


READS = [
    branch_on_a_value, trips_that_depend_on_data, early_return, caught_error,
    dispatch_on_type_and_shape, static_argument, attribute_of_an_argument,
    function_as_an_argument, method_of_an_argument, decorated, wraps_a_function_of_numpys,
    partials, cached_helpers, c_callables, callable_objects, bound_methods,
    own_primitive_and_rule,
]  # fmt: skip


@pytest.mark.parametrize("scenario", READS, ids=lambda s: s.__name__)
def test_what_a_function_reads_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
