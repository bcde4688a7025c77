"""Functions that are traced at each call: their reverse pass is compiled once, and never stale."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

import yota
from yota import cache

X = np.array([0.5, -1.5, 2.0])
CALLS = 8
STATE = {"rng": np.random.default_rng(0), "scale": 1.0, "n": 2}


@pytest.fixture(autouse=True)
def _empty():
    yota.reset()
    yield
    yota.reset()


def draw(*shape):
    """Return a number or array that no analysis can tell in advance."""
    return STATE["rng"].normal(size=shape or None)


def reverses_of(f):
    """Return the reverse passes that are kept for a function, compiled."""
    slots = [s for s in cache.SLOTS.values() if s.code is f.__code__]
    return [r for s in slots for r in s.reverses.known if r.enter is not None]


def check(f, *args, turn=None, exact=True, compiled=True, **options):
    """Compare some calls, each after `turn(k)`, with a tape recorded without any cache."""
    for k in range(CALLS):
        if turn is not None:
            turn(k)
        STATE["rng"] = np.random.default_rng(k)
        value, g = yota.grad(f, *args, exact=exact, **options)
        STATE["rng"] = np.random.default_rng(k)
        seed = options.get("seed")
        given = {"seed": seed} if isinstance(seed, np.ndarray) else {}
        wanted, slopes = yota.gradtape(f, *args, seed=seed).play(*args, **given)
        np.testing.assert_array_equal(value, wanted)
        for ours, theirs in zip(g, slopes, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert type(ours) is type(theirs)
        assert g.program.why_retraced
        np.testing.assert_array_equal(g.tape.play(*args, **given)[0], wanted)
        np.testing.assert_array_equal(g.tape.play(*args, **given)[1][0], slopes[0])
    assert bool(reverses_of(f)) == compiled


def test_a_drawn_array_is_an_input_of_the_reverse_pass():
    check(lambda x: np.sum(np.sin(x * draw(3)) ** 2), X)


def test_a_drawn_number_becomes_an_input():
    check(lambda x: np.sum(np.exp(x * draw())), X)
    check(lambda x: x * draw() + draw() * x**2, 0.7)


def test_a_number_in_where_becomes_an_input():
    check(lambda x: np.sum(np.where(x > 0, x * x, float(draw())) * x), X)


def test_other_state_may_change_besides():
    def turn(k):
        STATE["scale"] = 1.0 + k // 2

    check(lambda x: np.sum(x * x * STATE["scale"] + draw(3) * x), X, turn=turn)


def test_other_ops_are_recorded_anew():
    def turn(k):
        STATE["n"] = 1 + k // 3

    def loops(x):
        for _ in range(STATE["n"]):
            x = np.sin(x) * draw(3)
        return np.sum(x)

    def powers(x):
        return np.sum(x ** STATE["n"] + draw(3))

    def branches(x):
        return np.sum(x * draw(3)) if STATE["n"] % 2 else np.sum(np.cos(x) * draw(3))

    def indexes(x):
        return x[STATE["n"] % 3] * draw() + np.sum(x)

    for f in (loops, powers, branches, indexes):
        check(f, X, turn=turn)


def test_a_number_of_another_type_is_another_op():
    kinds = [float, np.float64, np.float32, float]

    def turn(k):
        STATE["kind"] = kinds[k // 2]

    x = X.astype(np.float32)
    check(lambda x: np.sum(x * STATE["kind"](draw())), x, turn=turn, compiled=False)


def test_signed_zeros_and_integers_are_told_apart():
    values = iter([0.0, -0.0, 0, 1, 1.0, True, -0.0, 0.0])

    def turn(k):
        STATE["zero"] = next(values)

    def f(x):
        return np.sum(np.arctan2(STATE["zero"] * x * x, -1.0) + x * draw(3))

    check(f, X, turn=turn)


def test_shapes_and_dtypes_of_draws_may_vary():
    def turn(k):
        STATE["n"] = (1, 3)[k // 4]

    check(lambda x: np.sum(x * draw(STATE["n"])), X, turn=turn)


def test_what_the_reverse_pass_branches_on_is_checked():
    def f(x):
        order = np.argsort(x * draw(3))
        return np.sum(x[order] * np.array([1.0, 2.0, 4.0]) * draw(3))

    check(f, X, compiled=True)


def test_masks_of_dead_elements_move_with_the_draws():
    check(lambda x: np.sum(np.where(x > draw(3), np.sqrt(np.abs(x)), 0.0 * x)), X * 0.0 + 0.3)


def test_structures_aux_seeds_and_numbers_of_arguments():
    @dataclass
    class Point:
        a: float
        b: np.ndarray

    def f(p, n, q):
        y = p.a * p.b * draw(3) * q["w"][0] ** n
        return np.sum(y), {"y": y, "n": n}

    def g(p, n, q):
        return f(p, n, q)[0]

    for k in range(CALLS):
        args = Point(2.0 + k, X), 2, {"w": [X + k]}
        STATE["rng"] = np.random.default_rng(k)
        value, slopes = yota.grad(f, *args, has_aux=True, argnums=(0, 2))
        STATE["rng"] = np.random.default_rng(k)
        wanted, theirs = yota.gradtape(g, *args).play(*args)
        assert value == wanted
        assert slopes.aux["n"] == 2
        assert slopes.aux["y"].sum() == pytest.approx(value)
        np.testing.assert_allclose(slopes[0].b, theirs[0].b, rtol=1e-13)
        assert slopes[0].a == pytest.approx(theirs[0].a)
        np.testing.assert_allclose(slopes[2]["w"][0], theirs[2]["w"][0], rtol=1e-13)
        assert slopes[1] is None
    assert reverses_of(f)
    check(lambda x: x * draw(3) ** 2, X, seed="ones")
    check(lambda x: x * draw(3) ** 2, X, seed=np.array([1.0, 2.0, 3.0]), compiled=False)


def test_a_function_runs_once_a_call():
    runs = []

    def f(x):
        runs.append(1)
        return np.sum(x * x) * len(runs)

    for k in range(1, CALLS):
        value, g = yota.grad(f, X)
        assert len(runs) == k
        assert (value, g[0].tolist()) == (np.sum(X * X) * k, (2 * X * k).tolist())
    # the factor is an int, which rules may read: never an input
    assert not reverses_of(f)


def test_a_rule_of_the_users_runs_at_each_call():
    slope = [1.0]

    @yota.primitive
    def odd(x):
        return x * 1.0

    yota.defvjp(odd, lambda dy, y, x: dy * slope[0])

    def f(x):
        return np.sum(odd(x) * draw(3) ** 0)

    for k in range(CALLS):
        slope[0] = float(k)
        assert yota.grad(f, X)[1][0].tolist() == [float(k)] * 3
    assert not reverses_of(f)


def test_a_new_rule_holds_from_the_next_call_on():
    def f(x):
        return np.sum(np.heaviside(x, 0.5) * draw(3) ** 0 + x)

    for _ in range(CALLS):
        assert yota.grad(f, X)[1][0].tolist() == [1.0] * 3
    assert reverses_of(f)
    before = yota.cache_info().misses
    yota.defvjp(np.heaviside, lambda dy, y, x, h: dy * 2.0, lambda dy, y, x, h: dy)
    try:
        for _ in range(CALLS):
            assert yota.grad(f, X)[1][0].tolist() == [3.0] * 3
        assert not reverses_of(f)
    finally:
        yota.nondiff(np.heaviside)
    assert before


def test_an_error_of_the_reverse_pass_is_raised_with_the_users_line():
    def f(x):
        return np.sum(np.sqrt(x) * draw(3))

    for _ in range(CALLS):
        yota.grad(f, np.abs(X))
    assert reverses_of(f)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
        yota.grad(f, np.zeros(3))
    assert any("test_retraced.py" in note for note in caught.value.__notes__)


def test_observers_get_tapes_with_a_reverse_pass():
    def f(x):
        return np.sum(x * draw(3))

    for _ in range(CALLS):
        yota.grad(f, X)
    heard = []
    with yota.observe(heard.append):
        yota.grad(f, X)
    assert [type(e).__name__ for e in heard] == ["Called"]
    assert heard[0].program.tape.reverse_start is not None


def test_results_belong_to_the_caller():
    kept = []

    def f(x):
        return np.sum(np.tanh(x * draw(3)))

    for k in range(CALLS):
        STATE["rng"] = np.random.default_rng(k)
        g = yota.grad(f, X)[1]
        kept.append((g[0], g[0].copy()))
    assert all(np.array_equal(a, b) for a, b in kept)


def test_threads_may_meet():
    wrong = []

    def f(x, start):
        return np.sum(np.tanh(x * np.random.default_rng(start).normal(size=3)))

    def work(k):
        for n in range(40):
            seed = 100 * k + n
            value, g = yota.grad(f, X, seed)
            noise = np.random.default_rng(seed).normal(size=3)
            slope = noise * (1 - np.tanh(X * noise) ** 2)
            if not np.allclose(g[0], slope, rtol=1e-12) or value != np.sum(np.tanh(X * noise)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_memory_does_not_grow():
    def f(x):
        return np.sum(np.tanh(x * draw(1000)) * draw())

    def many(count):
        for _ in range(count):
            yota.grad(f, x)
        gc.collect()

    x = np.ones(1000)
    many(100)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    many(200)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # a hundredth of what the draws of these calls take
    assert grown < 160_000
