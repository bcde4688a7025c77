"""Never stale: objects, closures, defaults and the code itself may change between calls."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest

from tests.yota import objects
from tests.yota.objects import Config, Mutable
from tests.yota.slopes import slope

X = np.array([1.0, 2.0, 3.0])
CONFIG = Config(3.0)


@dataclasses.dataclass(frozen=True)
class Frozen:
    factor: float = 2.0


class Attributes:
    def __init__(self):
        self.held = {"factor": 2.0}

    def __getattr__(self, name):
        if name == "held":
            raise AttributeError(name)
        return self.held[name]


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
        patch.setattr(objects, "SCALE", k)
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


READS = [
    class_attribute, class_attribute_hidden_by_the_instance, instance_attribute,
    property_of_an_instance, method_replaced, staticmethod_reads_a_global,
    attribute_that_appears, attribute_by_a_computed_name, attribute_by_getattr_of_the_class,
    frozen_dataclass_replaced, mutable_dataclass, nonlocal_cell, loop_variables_of_closures,
    default_argument, default_array_written, attribute_of_a_module, function_attribute,
    builtin_hidden_by_a_global, code_replaced, exec_made_functions, identity_of_two_objects,
]  # fmt: skip


@pytest.mark.parametrize("scenario", READS, ids=lambda s: s.__name__)
def test_what_a_function_reads_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
