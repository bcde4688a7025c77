"""The siblings of grad follow what a function reads as grad itself does."""

from __future__ import annotations

import gc
import importlib
import warnings
import weakref

import numpy as np
import pytest

import yota
from tests.yota import slopes

MODULES = (
    "arguments", "arrays", "classes", "containers", "instances", "kinds", "library", "methods",
    "modules", "names", "texts",
)  # fmt: skip
EFFECTS = ("effects", "hooks", "writes")
X = np.array([1.0, 2.0, 3.0])


def by_jacobian(f, *args, **kwargs):
    return 0.0, yota.jacobian(f)(*args, **kwargs)


def by_vjp(f, *args, **kwargs):
    value, pullback = yota.vjp(f, *args, **kwargs)
    return value, pullback(np.float64(1.0))[0]


def by_value_and_grad(f, *args, **kwargs):
    return yota.value_and_grad(f)(*args, **kwargs)


def scenarios():
    """Yield the scenarios in which what is read changes."""
    for name in ("values", "objects", "calls"):
        yield from importlib.import_module(f"tests.yota.test_fresh_{name}").READS
    for name in MODULES:
        yield from importlib.import_module(f"tests.yota.test_stale_{name}").SCENARIOS


def run(scenario, patch, way):
    """Compare what a scenario gives with what it expects."""
    patch.setitem(slopes.WAY, "way", way)
    for got, expected in scenario(patch):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("scenario", [*scenarios()], ids=lambda s: s.__name__)
def test_a_jacobian_is_never_stale(scenario, monkeypatch):
    run(scenario, monkeypatch, by_jacobian)


@pytest.mark.parametrize("scenario", [*scenarios()], ids=lambda s: s.__name__)
def test_value_and_grad_is_never_stale(scenario, monkeypatch):
    run(scenario, monkeypatch, by_value_and_grad)


@pytest.mark.parametrize("scenario", [*scenarios()], ids=lambda s: s.__name__)
def test_a_pullback_is_never_stale(scenario, monkeypatch):
    run(scenario, monkeypatch, by_vjp)


def effects():
    """Yield the scenarios in which something happens besides."""
    for name in EFFECTS:
        yield from importlib.import_module(f"tests.yota.test_stale_{name}").SCENARIOS


@pytest.mark.parametrize("scenario", [*effects()], ids=lambda s: s.__name__)
@pytest.mark.parametrize("way", [by_jacobian, by_vjp, by_value_and_grad], ids=lambda w: w.__name__)
def test_what_a_function_sets_off_happens_once_a_call(scenario, way):
    with np.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plainly = slopes.played(scenario, lambda f: f(1.0) is None)
        assert slopes.played(scenario, lambda f: way(f, 1.0) is None) == plainly


# ---- Jacobians from the cache


def cubes(x, y=2.0):
    return x**3 * np.sum(x) * y


def test_later_jacobians_and_hessians_are_replayed():
    yota.reset()
    for ask in (yota.jacobian(cubes), yota.hessian(lambda x: np.sum(cubes(x)))):
        before = yota.cache_info()
        found = [ask(k * X) for k in (1.0, 2.0, 1.0, 2.0)]
        assert yota.cache_info().hits - before.hits == 3
        assert yota.cache_info().misses - before.misses == 1
        yota.reset()
        assert np.array_equal(found[1], ask(2.0 * X))
        assert np.array_equal(found[0], found[2])
        assert np.array_equal(found[1], found[3])


def test_what_a_replayed_jacobian_returns_is_the_callers():
    ask = yota.jacobian(lambda x: x * 2.0 + np.ones(3))
    x = X.copy()
    first, second, third = ask(x), ask(x), ask(x)
    second[...] = 7.0
    assert np.array_equal(first, 2.0 * np.eye(3))
    assert np.array_equal(third, first)
    assert np.array_equal(x, X)


def test_another_branch_type_structure_or_keyword_is_recorded_anew():
    def f(p, *, k=1.0):
        return {"y": p["a"] * k if p["a"][0] > 0 else p["a"] ** 2, "n": 3}

    ask = yota.jacobian(f)
    for _ in range(2):
        for sign in (1.0, -1.0):
            block = ask({"a": sign * X})["y"]["a"]
            assert np.array_equal(block, np.eye(3) if sign > 0 else np.diag(-2.0 * X))
        assert np.array_equal(ask({"a": X}, k=3.0)["y"]["a"], 3.0 * np.eye(3))
        assert ask({"a": X.astype(np.float32)})["y"]["a"].dtype == np.float32
        assert np.array_equal(ask({"a": X[:2]})["y"]["a"], np.eye(2))
        assert np.array_equal(yota.jacobian(lambda x: x * (1 + 1j))(X), (1 + 1j) * np.eye(3))
    with pytest.raises(TypeError, match="holomorphic"):
        yota.jacobian(np.conjugate)(X + 1j)


def test_several_arguments_and_numbers():
    ask = yota.jacobian(lambda x, y: x * y, (0, 1))
    for k in (1.0, 2.0, 3.0):
        dx, dy = ask(k, X)
        assert np.array_equal(dx, X)
        assert np.array_equal(dy, k * np.eye(3))
    slope = yota.jacobian(lambda x: x * x)
    assert [slope(k) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]


def test_observers_hear_of_every_jacobian():
    ask = yota.jacobian(cubes)
    ask(X)
    heard = []
    with yota.observe(heard.append):
        for _ in range(3):
            ask(X)
    assert [e.call.kind for e in heard] == ["vjp"] * 3


# ---- pullbacks from the cache


def test_later_pullbacks_are_of_replayed_calls():
    def f(p, n):
        return {"y": p["a"] ** n, "n": n, "s": np.sum(p["a"]) if p["a"][0] > 0 else 0.0 * p["a"][1]}

    yota.reset()
    for k in (1.0, 2.0, -1.0, 2.0, -1.0):
        value, pullback = yota.vjp(f, {"a": k * X}, 2)
        assert value["n"] == 2
        assert np.array_equal(value["y"], (k * X) ** 2)
        value["y"][...] = 7.0
        for _ in range(2):
            dx = pullback({"y": X, "n": None, "s": 1.0})[0]["a"]
            assert np.array_equal(dx, X * 2 * (k * X) + (1.0 if k > 0 else 0.0))
            dx[...] = 5.0
    assert (yota.cache_info().hits, yota.cache_info().misses) == (3, 2)
    with pytest.raises(ValueError, match="structure"):
        yota.vjp(f, {"a": X}, 2)[1]({"y": X})


def test_a_pullback_keeps_to_the_values_of_its_call():
    x, state = X.copy(), [2.0]

    def f(x):
        return np.sum(x * x) * state[0]

    yota.reset()
    yota.vjp(f, x)
    pullback = yota.vjp(f, x)[1]
    assert yota.cache_info().hits == 1
    x[...] = 9.0
    state[0] = 5.0
    assert np.array_equal(pullback(1.0)[0], 4.0 * X)
    assert np.array_equal(yota.vjp(f, x)[1](1.0)[0], np.full(3, 90.0))
    assert pullback(2.0)[0].tolist() == (8.0 * X).tolist()


def test_neither_arguments_nor_values_of_a_pullback_are_kept_alive():
    x, y = np.ones(1000), np.ones(1000)
    yota.reset()
    found = [yota.vjp(lambda x: np.tanh(x) * 2.0, a) for a in (x, y)]
    assert yota.cache_info().hits == 1
    alive = [weakref.ref(v) for v in (x, y, found[0][0], found[1][0])]
    del x, y, found
    gc.collect()
    assert [r() is None for r in alive] == [True] * 4
