"""Never stale: whatever a function reads may change between calls, and the answer follows it."""

from __future__ import annotations

import dataclasses
import functools
import os
import random
import time
import types
from pathlib import Path

import numpy as np
import pytest

import yota
from tests.yota.slopes import slope

X = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
TABLE = {"a": 2.0, "w": np.array([1.0, 2.0, 3.0])}
ITEMS = [2.0, 3.0]
MODE = "double"


def helper(x):
    return x * SCALE


def scaled(x):
    return helper(x)


class Config:
    rate = 2.0

    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        return x * self.size * self.rate

    @property
    def twice(self):
        return self.size * 2

    @staticmethod
    def times(x):
        return x * SCALE

    @classmethod
    def rated(cls, x):
        return x * cls.rate


CONFIG = Config(3.0)


@dataclasses.dataclass(frozen=True)
class Frozen:
    factor: float = 2.0


@dataclasses.dataclass
class Mutable:
    factor: float = 2.0
    parts: list = dataclasses.field(default_factory=lambda: [1.0])

    def apply(self, x):
        return x * self.factor * self.parts[0]


class Attributes:
    def __init__(self):
        self.held = {"factor": 2.0}

    def __getattr__(self, name):
        if name == "held":
            raise AttributeError(name)
        return self.held[name]


# ---- what is read from outside


def global_number(patch):
    for value in (2.0, 3.0, 2.0):
        patch.setitem(globals(), "SCALE", value)
        yield slope(scaled, 1.0), value


def global_text(patch):
    def f(x):
        return x * 2 if MODE == "double" else x * 5

    for mode, expected in (("double", 2.0), ("five", 5.0), ("double", 2.0)):
        patch.setitem(globals(), "MODE", mode)
        yield slope(f, 1.0), expected


def global_number_of_another_type(patch):
    def f(x):
        return x / SCALE if isinstance(SCALE, float) else x * 7.0

    for value, expected in ((2.0, 0.5), (2, 7.0), (np.float64(2.0), 0.5), (True, 7.0)):
        patch.setitem(globals(), "SCALE", value)
        yield slope(f, 1.0), expected


def signed_zero(patch):
    def f(x):
        return x * np.copysign(1.0, SCALE)

    for value in (0.0, -0.0, 0.0):
        patch.setitem(globals(), "SCALE", value)
        yield slope(f, 1.0), np.copysign(1.0, value)


def global_function(patch):
    for value in (helper, np.sin, lambda x: x * 7.0):
        patch.setitem(globals(), "helper", value)
        yield (
            slope(scaled, 0.0 if value is np.sin else 1.0),
            {"sin": 1.0}.get(value.__name__, 7.0 if value.__name__ == "<lambda>" else 2.0),
        )


def global_array_rebound(patch):
    def f(x):
        return np.sum(x * WEIGHTS)

    for k in (1.0, 2.0, 1.0):
        patch.setitem(globals(), "WEIGHTS", k * X)
        yield slope(f, X), k * X


def array_written_in_place(patch):
    w = X.copy()

    def f(x):
        return np.sum(x * w)

    for k in range(3):
        w[0] = k
        yield slope(f, X), w.copy()


def array_through_a_temporary(patch):
    w = X.copy()

    def f(x):
        doubled = w * 2.0
        return np.sum(x * doubled)

    for k in range(3):
        w[1] = k
        yield slope(f, X), w * 2


def array_in_a_condition(patch):
    w = X.copy()

    def f(x):
        return np.sum(x) if w[0] > 0 else np.sum(x * x)

    for k in (1.0, -1.0, 1.0):
        w[0] = k
        yield slope(f, X), np.ones(3) if k > 0 else 2 * X


def array_as_an_index(patch):
    index = np.array([0, 1])

    def f(x):
        return np.sum(x[index])

    for k in (1, 2, 0):
        index[1] = k
        expected = np.zeros(3)
        np.add.at(expected, index, 1.0)
        yield slope(f, X), expected


def array_that_is_folded(patch):
    w = np.array(2.0)

    def f(x):
        return x * (w * 3.0 + 1.0)

    for k in (2.0, 4.0, 2.0):
        w[...] = k
        yield slope(f, 1.0), k * 3 + 1


def array_in_a_loop(patch):
    w = X.copy()

    def f(x):
        total = 0.0
        for k in w:
            total = total + x * k
        return total

    for k in (1.0, 5.0, 1.0):
        w[2] = k
        yield slope(f, 1.0), w.sum()


def big_array_written_in_place(patch):
    w = np.ones(100_000)

    def f(x):
        return np.sum(x * w)

    for k in range(3):
        w[-1] = k
        yield slope(f, np.ones(100_000))[-1], float(k)


def nan_in_a_captured_array(patch):
    w = np.array([1.0, np.nan])

    def f(x):
        return np.nansum(w) * x

    for k in (1.0, 2.0):
        w[0] = k
        yield slope(f, 1.0), k


def array_of_another_dtype_or_shape(patch):
    def f(x):
        return np.sum(x * WEIGHTS)

    for w in (X, X.astype("f4"), X[None], X.astype(int)):
        patch.setitem(globals(), "WEIGHTS", w)
        yield slope(f, X), w.reshape(-1).astype(float)


def dict_entry(patch):
    def f(x):
        return x * TABLE["a"]

    for k in (2.0, 5.0):
        patch.setitem(TABLE, "a", k)
        yield slope(f, 1.0), k


def dict_order_and_keys(patch):
    table = {"a": 2.0}

    def f(x):
        return sum(x * v for v in table.values()) if "z" not in table else x * 100.0

    yield slope(f, 1.0), 2.0
    table["b"] = 3.0
    yield slope(f, 1.0), 5.0
    table["z"] = 0.0
    yield slope(f, 1.0), 100.0
    del table["z"], table["b"]
    yield slope(f, 1.0), 2.0


def list_entry(patch):
    def f(x):
        return x * ITEMS[0] * len(ITEMS)

    for k in (5.0, 2.0):
        ITEMS[0] = k
        yield slope(f, 1.0), k * 2
    ITEMS.append(0.0)
    yield slope(f, 1.0), 6.0
    ITEMS.pop()


def nested_containers(patch):
    state = {"layers": [{"w": np.ones(3)}, {"w": np.ones(3)}]}

    def f(x):
        return sum(np.sum(x * layer["w"]) for layer in state["layers"])

    for k in range(3):
        state["layers"][1]["w"][0] = k
        yield slope(f, X), np.array([1.0 + k, 2.0, 2.0])


def class_attribute(patch):
    for k in (2.0, 5.0, 2.0):
        patch.setattr(Config, "rate", k)
        yield slope(lambda x: Config.rated(x), 1.0), k


def class_attribute_hidden_by_the_instance(patch):
    config = Config(1.0)

    def f(x):
        return x * config.rate

    yield slope(f, 1.0), 2.0
    config.rate = 9.0
    yield slope(f, 1.0), 9.0
    del config.rate
    yield slope(f, 1.0), 2.0


def instance_attribute(patch):
    for k in (3.0, 5.0, 3.0):
        patch.setattr(CONFIG, "size", k)
        yield slope(lambda x: x * CONFIG.size, 1.0), k


def property_of_an_instance(patch):
    for k in (3.0, 5.0):
        patch.setattr(CONFIG, "size", k)
        yield slope(lambda x: x * CONFIG.twice, 1.0), 2 * k


def method_replaced(patch):
    def f(x):
        return CONFIG(x)

    yield slope(f, 1.0), 6.0
    patch.setattr(Config, "__call__", lambda self, x: x * 11.0)
    yield slope(f, 1.0), 11.0


def staticmethod_reads_a_global(patch):
    for k in (2.0, 4.0):
        patch.setitem(globals(), "SCALE", k)
        yield slope(lambda x: CONFIG.times(x), 1.0), k


def attribute_that_appears(patch):
    config = Config(1.0)

    def f(x):
        return x * getattr(config, "extra", 1.0)

    def g(x):
        try:
            return x * config.extra
        except AttributeError:
            return x

    yield slope(f, 1.0), 1.0
    yield slope(g, 1.0), 1.0
    config.extra = 4.0
    yield slope(f, 1.0), 4.0
    yield slope(g, 1.0), 4.0


def attribute_by_a_computed_name(patch):
    config = Config(1.0)
    config.width, config.which = 8.0, "si" + "ze"

    def f(x):
        return x * getattr(config, config.which)

    yield slope(f, 1.0), 1.0
    config.size = 3.0
    yield slope(f, 1.0), 3.0
    config.which = "width"
    yield slope(f, 1.0), 8.0


def attribute_by_getattr_of_the_class(patch):
    config = Attributes()

    def f(x):
        return x * config.factor

    for k in (2.0, 6.0):
        config.held["factor"] = k
        yield slope(f, 1.0), k


def frozen_dataclass_replaced(patch):
    box = [Frozen()]

    def f(x):
        return x * box[0].factor

    for k in (2.0, 6.0):
        box[0] = Frozen(k)
        yield slope(f, 1.0), k


def mutable_dataclass(patch):
    model = Mutable()
    for k in (2.0, 6.0):
        model.factor = k
        yield slope(model.apply, 1.0), k
        model.parts[0] = 3.0
        yield slope(model.apply, 1.0), 3 * k
        model.parts[0] = 1.0


def nonlocal_cell(patch):
    rate = 2.0

    def f(x):
        return x * rate

    def change():
        nonlocal rate
        rate += 1.0

    for _ in range(3):
        yield slope(f, 1.0), rate
        change()


def loop_variables_of_closures(patch):
    functions = [lambda x: x * k for k in (1.0, 2.0, 3.0)]  # noqa: B023 - one cell, on purpose
    for f in functions:
        yield slope(f, 1.0), 3.0
    bound = [lambda x, k=k: x * k for k in (1.0, 2.0, 3.0)]
    for k, f in enumerate(bound):
        yield slope(f, 1.0), 1.0 + k


def default_argument(patch):
    def f(x, k=2.0, *, j=1.0):
        return x * k * j

    yield slope(f, 1.0), 2.0
    f.__defaults__ = (5.0,)
    yield slope(f, 1.0), 5.0
    f.__kwdefaults__ = {"j": 3.0}
    yield slope(f, 1.0), 15.0


def default_array_written(patch):
    def f(x, w=np.ones(3)):  # noqa: B008 - on purpose
        return np.sum(x * w)

    for k in range(3):
        f.__defaults__[0][0] = k
        yield slope(f, X)[0], float(k)


def environment(patch):
    def f(x):
        return x * float(os.environ["YOTA_TEST_FACTOR"])

    for k in ("2.0", "3.0"):
        patch.setenv("YOTA_TEST_FACTOR", k)
        yield slope(f, 1.0), float(k)


def attribute_of_a_module(patch):
    settings = types.ModuleType("settings")
    settings.rate = 2.0

    def f(x):
        return x * settings.rate

    for k in (2.0, 7.0):
        settings.rate = k
        yield slope(f, 1.0), k


def function_attribute(patch):
    def f(x):
        return x * f.factor

    for k in (2.0, 7.0):
        f.factor = k
        yield slope(f, 1.0), k


def builtin_hidden_by_a_global(patch):
    space = {"np": np}
    exec("def f(x):\n    return x * max(1.0, 2.0)\n", space)
    yield slope(space["f"], 1.0), 2.0
    space["max"] = lambda a, b: 30.0
    yield slope(space["f"], 1.0), 30.0


def code_replaced(patch):
    def f(x):
        return x * 2.0

    yield slope(f, 1.0), 2.0
    f.__code__ = (lambda x: x * 3.0).__code__
    yield slope(f, 1.0), 3.0


def exec_made_functions(patch):
    for k in (2.0, 3.0):
        space = {"K": k}
        exec("def f(x):\n    return x * K\n", space)
        yield slope(space["f"], 1.0), k


def identity_of_two_objects(patch):
    pair = [Mutable(), Mutable()]

    def f(x):
        return x * 2.0 if pair[0] is pair[1] else x * 3.0

    yield slope(f, 1.0), 3.0
    pair[1] = pair[0]
    yield slope(f, 1.0), 2.0


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
    global_number, global_text, global_number_of_another_type, signed_zero, global_function,
    global_array_rebound, array_written_in_place, array_through_a_temporary, array_in_a_condition,
    array_as_an_index, array_that_is_folded, array_in_a_loop, big_array_written_in_place,
    nan_in_a_captured_array, array_of_another_dtype_or_shape, dict_entry, dict_order_and_keys,
    list_entry, nested_containers, class_attribute, class_attribute_hidden_by_the_instance,
    instance_attribute, property_of_an_instance, method_replaced, staticmethod_reads_a_global,
    attribute_that_appears, attribute_by_a_computed_name, attribute_by_getattr_of_the_class,
    frozen_dataclass_replaced, mutable_dataclass, nonlocal_cell, loop_variables_of_closures,
    default_argument, default_array_written, environment, attribute_of_a_module,
    function_attribute, builtin_hidden_by_a_global, code_replaced, exec_made_functions,
    identity_of_two_objects, branch_on_a_value, trips_that_depend_on_data, early_return,
    caught_error, dispatch_on_type_and_shape, static_argument, attribute_of_an_argument,
    function_as_an_argument, method_of_an_argument, decorated, wraps_a_function_of_numpys,
    partials, cached_helpers, c_callables, callable_objects, bound_methods,
    own_primitive_and_rule,
]  # fmt: skip


@pytest.mark.parametrize("scenario", READS, ids=lambda s: s.__name__)
def test_what_a_function_reads_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)


# ---- what is drawn, written or done outside: once a call, as plain Python does it


def counted(do, calls=4):
    """Call grad of a function a few times; return the values, for `do` makes one anew each time."""
    return [float(yota.grad(do, 1.0)[0]) for _ in range(calls)]


def test_draws_are_drawn_anew():
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    assert counted(lambda x: x * rng.normal()) == [float(twin.normal()) for _ in range(4)]
    np.random.seed(3)
    found = counted(lambda x: x * np.random.rand())
    np.random.seed(3)
    assert found == [float(np.random.rand()) for _ in range(4)]
    random.seed(3)
    found = counted(lambda x: x * random.random())
    random.seed(3)
    assert found == [random.random() for _ in range(4)]


def test_a_seeded_generator_made_inside_answers_alike():
    def f(x):
        return x * np.random.default_rng(3).normal()

    assert len(set(counted(f))) == 1


def test_time_and_files_are_read_anew(tmp_path):
    assert len(set(counted(lambda x: x * time.perf_counter()))) == 4
    path = tmp_path / "factor.txt"

    def f(x):
        return x * float(Path(path).read_text())

    for k in (2.0, 3.0):
        path.write_text(str(k))
        assert yota.grad(f, 1.0)[1][0] == k


class Counter:
    def __init__(self):
        self.count, self.log, self.last = 0, [], None

    def counts(self, x):
        self.count += 1
        return x * self.count

    def logs(self, x):
        self.log.append(self.count)
        return x * len(self.log)

    def remembers(self, x):
        self.last = len(self.log)
        return x


TALLY = {"n": 0}
TOTAL = 0


def test_stores_into_anything_outside_happen_at_each_call():
    counter = Counter()
    assert counted(counter.counts) == [1, 2, 3, 4]
    assert counted(counter.logs) == [1, 2, 3, 4]
    counter.log.append(0)
    counter.last = None
    counted(counter.remembers)
    assert counter.last == 5

    def item(x):
        TALLY["n"] += 1
        return x * TALLY["n"]

    def name(x):
        global TOTAL
        TOTAL += 1
        return x * TOTAL

    cell = 0

    def enclosing(x):
        nonlocal cell
        cell += 1
        return x * cell

    def attribute(x):
        attribute.count = getattr(attribute, "count", 0) + 1
        return x * attribute.count

    for f in (item, name, enclosing, attribute):
        assert counted(f) == [1, 2, 3, 4]


def test_a_store_that_changes_nothing_at_first_is_repeated_later():
    state = Mutable(2.0)

    def f(x):
        state.factor = 2.0
        return x * 3.0

    for _ in range(6):
        yota.grad(f, 1.0)
    state.factor = 9.0
    yota.grad(f, 1.0)
    assert state.factor == 2.0


def test_prints_and_iterators_advance(capsys):
    counted(lambda x: (print("traced"), x)[1])
    assert capsys.readouterr().out == "traced\n" * 4
    steps = iter([1.0, 2.0, 3.0, 4.0])
    assert counted(lambda x: x * next(steps)) == [1, 2, 3, 4]
    draws = (float(k) for k in range(4))
    assert counted(lambda x: x * next(draws)) == [0, 1, 2, 3]


def test_a_generator_argument_is_consumed_by_the_function():
    def f(x, steps):
        return x * sum(steps)

    for k in (2, 3):
        assert yota.grad(f, 1.0, iter([k, 1]))[1][0] == k + 1.0


def test_what_a_function_returns_beside_its_value_is_made_anew():
    def f(x):
        return x, {"parts": [x * 2, "text"], "kind": "square"}

    first, second = (yota.grad(f, 3.0, has_aux=True)[1].aux for _ in range(2))
    first["parts"].append("mine")
    assert second["parts"] == [6.0, "text"]
    assert yota.grad(f, 3.0, has_aux=True)[1].aux["parts"] == [6.0, "text"]
