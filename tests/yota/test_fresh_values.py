"""Never stale: numbers, arrays and containers that a function reads may change between calls."""

from __future__ import annotations

import os

import numpy as np
import pytest

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


def environment(patch):
    def f(x):
        return x * float(os.environ["YOTA_TEST_FACTOR"])

    for k in ("2.0", "3.0"):
        patch.setenv("YOTA_TEST_FACTOR", k)
        yield slope(f, 1.0), float(k)


READS = [
    global_number, global_text, global_number_of_another_type, signed_zero, global_function,
    global_array_rebound, array_written_in_place, array_through_a_temporary,
    array_in_a_condition, array_as_an_index, array_that_is_folded, array_in_a_loop,
    big_array_written_in_place, nan_in_a_captured_array, array_of_another_dtype_or_shape,
    dict_entry, dict_order_and_keys, list_entry, nested_containers, environment,
]  # fmt: skip


@pytest.mark.parametrize("scenario", READS, ids=lambda s: s.__name__)
def test_what_a_function_reads_may_change(scenario, monkeypatch):
    for got, expected in scenario(monkeypatch):
        np.testing.assert_array_equal(got, expected)
