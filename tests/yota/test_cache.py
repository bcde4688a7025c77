"""The cache: what it finds again, what it holds, and for how long."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import yota
from yota import cache

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _empty():
    yota.reset()
    yield
    yota.reset()


def hits_of(f, *args, calls=4, **kwargs):
    """Return how many of some equal calls were answered by a program."""
    before = yota.cache_info().hits
    for _ in range(calls):
        yota.grad(f, *args, **kwargs)
    return yota.cache_info().hits - before


def square(x):
    return np.sum(x * x)


def test_equal_calls_are_traced_once():
    assert hits_of(square, X) == 3
    assert hits_of(square, X + 1.0) == 4
    assert hits_of(square, np.ones((2, 2))) == 3
    assert hits_of(square, 2.0) == 3
    info = yota.cache_info()
    assert (info.misses, info.programs, info.retraced) == (3, 3, 0)


def test_a_hit_does_not_run_the_function():
    runs = []

    def f(x):
        return np.sum(np.sin(x))

    class Spy:
        def __call__(self, *a):
            runs.append(1)
            return f(*a)

    compiled = yota.compile(Spy())
    for _ in range(3):
        yota.grad(compiled, X)
    assert len(runs) == 1


def test_ways_of_calling_have_programs_of_their_own():
    def f(x, y, *, k=1.0):
        return np.sum(x * y) * k, x

    for _ in range(3):
        value, g = yota.grad(f, X, X, argnums=1, has_aux=True, k=2.0)
        assert (value, g[0], g.aux.tolist()) == (28.0, None, X.tolist())
        assert g[1].tolist() == (2 * X).tolist()
        value, g = yota.grad(lambda x: x * 2.0, X, seed=[1, 2, 3])
        assert g[0].tolist() == [2.0, 4.0, 6.0]
        assert yota.grad(lambda x: x * 2.0, X, seed="ones")[1][0].tolist() == [2.0, 2.0, 2.0]
        assert yota.grad(f, 2.0, 3.0, has_aux=True, exact=True)[1][:] == (3.0, 2.0)
    with pytest.raises(ValueError, match="argnums"):
        yota.grad(square, X, argnums=3)
    with pytest.raises(ValueError, match="seed has shape"):
        yota.grad(lambda x: x * 2.0, X, seed=[1.0, 2.0])


def test_two_branches_in_turn_are_traced_twice():
    def f(x):
        return np.sum(x) if x[0] > 0 else np.sum(x * x)

    before = yota.cache_info().misses
    for k in range(20):
        yota.grad(f, X * (-1.0) ** k)
    assert yota.cache_info().misses - before == 2


def test_value_and_grad_answers_each_of_several_programs_and_none_that_was_dropped():
    vg = yota.value_and_grad(square)
    small, large = X, np.arange(5.0)
    for x in (small, large, small, large, large, small, small):
        value, gradient = vg(x)
        assert (value, gradient.tolist()) == (np.sum(x * x), (2 * x).tolist())
    assert (yota.cache_info().misses, yota.cache_info().hits) == (2, 5)
    yota.reset()
    for _ in range(3):
        assert vg(small)[1].tolist() == (2 * small).tolist()
    assert (yota.cache_info().misses, yota.cache_info().hits) == (1, 2)


def test_fresh_functions_of_one_code_share_a_program():
    def made(k):
        return lambda x: np.sum(x * k)

    assert [hits_of(made(2.0), X, calls=1) for _ in range(3)] == [0, 1, 1]
    assert [float(yota.grad(made(k), X)[1][0][0]) for k in (2.0, 3.0, 2.0)] == [2.0, 3.0, 2.0]


def test_why_a_call_is_traced_each_time_is_said():
    rng = np.random.default_rng(0)

    def draws(x):
        return np.sum(x * rng.normal())

    program = yota.grad(draws, X)[1].program
    assert "test_cache.py:" in program.why_retraced
    assert "rng is a Generator" in program.why_retraced
    assert yota.grad(square, X)[1].program.why_retraced == ""
    assert yota.cache_info().retraced == 1


def test_a_compiled_function_is_taken_as_pure():
    scale = [2.0]
    f = yota.compile(lambda x: np.sum(x) * scale[0] if x[0] > 0 else np.sum(x * x))
    assert f(X) == 12.0
    assert hits_of(f, X) == 3
    scale[0] = 5.0
    assert yota.grad(f, X)[1][0].tolist() == [2.0] * 3
    assert yota.grad(f, -X)[1][0].tolist() == (-2 * X).tolist()
    yota.reset()
    assert yota.grad(f, X)[1][0].tolist() == [5.0] * 3
    assert yota.compile(f) is f
    with pytest.raises(TypeError, match="function"):
        yota.compile(3)


def test_reset_forgets_and_counts_anew():
    vg = yota.value_and_grad(square)
    for _ in range(3):
        vg(X)
    yota.reset()
    assert yota.cache_info() == (0, 0, 0, 0, 0)
    for _ in range(3):
        vg(X)
    assert yota.cache_info().hits == 2


def test_an_error_of_the_program_is_the_functions_own():
    def f(x):
        return 1.0 / x

    yota.grad(f, 2.0)
    yota.grad(f, 2.0)
    with pytest.raises(ZeroDivisionError) as caught:
        yota.grad(f, 0.0)
    assert any("test_cache.py" in n for n in caught.value.__notes__)


def test_results_are_the_callers_own():
    data = X.copy()

    def f(x):
        return np.sum(x * data), x

    for _ in range(3):
        mine = X.copy()
        _, g = yota.grad(f, mine, has_aux=True)
        g[0][:] = 99.0
        g.aux[:] = 98.0
        assert mine.tolist() == data.tolist() == X.tolist()
        mine[:] = 97.0
        assert g.aux.tolist() == [98.0] * 3
    assert yota.grad(f, X, has_aux=True)[1][0].tolist() == X.tolist()


def test_a_result_can_be_copied_and_sent_to_another_process():
    for _ in range(3):
        _, g = yota.grad(square, X)
    for other in (copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert other[0].tolist() == g[0].tolist()
        assert str(other.tape) == str(g.tape)
        assert other.program.run()(X)[0] == square(X)


# ---- what it holds


def whether_alive_later():
    big, argument = np.ones(1000), np.ones(1000)

    def f(x):
        return np.sum(x * big)

    for _ in range(3):
        _, g = yota.grad(f, argument)
    return [weakref.ref(v) for v in (big, argument, f, g[0])]


def test_neither_functions_nor_arguments_nor_captured_arrays_are_kept_alive():
    alive = whether_alive_later()
    gc.collect()
    assert [r() for r in alive] == [None] * 4


def test_fresh_lambdas_leave_memory_flat():
    def traced(count):
        for k in range(count):
            yota.grad(lambda x, k=float(k): np.sum(x * k), X)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first = traced(200)
        assert traced(400) < first + 200_000
    finally:
        tracemalloc.stop()
    assert yota.cache_info().programs <= cache.MAX_PER_SLOT + 1


def fresh_classes(count):
    for _ in range(count):

        class Layer:
            w = np.ones(500)

            def __init__(self):
                self.v = np.ones(500)

            def __call__(self, x):
                return np.sum(x) * self.v[0] * self.w[0]

        differentiate_through(Layer())
    return weakref.ref(Layer)


def differentiate_through(layer):
    yota.grad(lambda x: layer(x), X)


def code_objects(count):
    for k in range(count):
        space = {"np": np, "K": float(k), "big": np.ones(2000)}
        exec("def f(x):\n    return np.sum(x) * K * big[0]", space)
        yota.grad(space["f"], X)


def differentiate_with(captured, x):
    yota.grad(lambda x: np.sum(x * captured[0]), x)


def captured_arrays(count):
    for k in range(count):
        differentiate_with(np.full(20_000, float(k)), X)


def traced_each_time(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        yota.grad(lambda x: np.sum(x) * rng.normal(), X)


@pytest.mark.parametrize("calls", [fresh_classes, code_objects, captured_arrays, traced_each_time])
def test_whatever_is_made_anew_leaves_memory_flat(calls, monkeypatch):
    monkeypatch.setattr(cache, "MAX_PROGRAMS", 20)
    monkeypatch.setattr(cache, "MAX_PER_SLOT", 4)
    calls(60)
    tracemalloc.start()
    try:
        calls(60)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        last = calls(120)
        gc.collect()
        # frames and facts of some code objects are remembered, no arrays and no classes
        assert tracemalloc.get_traced_memory()[0] < before + 500_000
    finally:
        tracemalloc.stop()
    assert last is None or last() is None


def test_the_number_of_programs_and_their_bytes_are_bounded(monkeypatch):
    monkeypatch.setattr(cache, "MAX_PROGRAMS", 10)
    for n in range(1, 40):
        yota.grad(eval(f"lambda x: np.sum(x * {n}.0)", {"np": np}), X)  # a code object each
    assert yota.cache_info().programs == 10
    monkeypatch.setattr(cache, "MAX_BYTES", 100_000)
    for n in range(1, 20):
        data = np.full(2000, float(n))
        differentiate_with(data, data)
    assert yota.cache_info().nbytes <= 100_000


def test_the_least_recently_used_goes_first(monkeypatch):
    monkeypatch.setattr(cache, "MAX_PER_SLOT", 3)

    def f(x, n):
        return np.sum(x) * n

    for n in (1, 2, 3):
        yota.grad(f, X, n)
    for n in (1, 3):
        assert hits_of(f, X, n, calls=2) == 2
    yota.grad(f, X, 4)
    assert [hits_of(f, X, n, calls=1) for n in (1, 3, 4, 2)] == [1, 1, 1, 0]


# ---- threads, re-entrancy, interruptions


def test_threads_never_share_buffers():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            x = rng.standard_normal(50)
            found = yota.grad(lambda x: np.sum(np.tanh(x) * x), x)[1][0]
            if not np.allclose(found, x / np.cosh(x) ** 2 + np.tanh(x), rtol=1e-12):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_grad_inside_an_observer_and_inside_a_rule():
    seen = []

    def callback(event):
        if not seen:
            seen.append("once")
            seen.append(yota.grad(square, X)[1][0].tolist())

    with yota.observe(callback):
        yota.grad(square, X)
    assert seen == ["once", (2 * X).tolist()]
    outer = yota.primitive(lambda x: x * x)
    yota.defvjp(outer, lambda dy, y, x: dy * yota.grad(lambda t: t * t, 3.0)[1][0])
    for _ in range(3):
        assert yota.grad(lambda x: outer(x), 3.0)[1][0] == 6.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, ValueError])
def test_an_interruption_leaves_nothing_behind(error):
    stop = [True]

    def f(x):
        y = np.sum(x * x)
        if stop[0]:
            raise error
        return y

    with pytest.raises(error):
        yota.grad(f, X)
    stop[0] = False
    for _ in range(3):
        assert yota.grad(f, X)[1][0].tolist() == (2 * X).tolist()
    stop[0] = True
    with pytest.raises(error):
        yota.grad(f, X)


def test_observers_hear_of_hits_with_the_inputs_of_the_call():
    calls = []
    with yota.observe(lambda e: calls.append(e)):
        for k in range(3):
            yota.grad(square, X + k)
    called = [e for e in calls if type(e).__name__ == "Called"]
    assert [e.call.inputs[0].tolist() for e in called] == [(X + k).tolist() for k in range(3)]
    assert [e.call.gradients[0].tolist() for e in called] == [
        (2 * X + 2 * k).tolist() for k in range(3)
    ]
    assert len({id(e.program) for e in called}) == 1
    assert all("test_cache.py" in e.call.site[0].file for e in called)


def test_reset_lets_go_of_every_slot_of_a_compiled_function():
    f = yota.compile(lambda x: np.sum(x * x))
    yota.grad(f, X)
    yota.grad(f, X, exact=True)
    slots = list(f.slots.values())
    assert len(slots) == 2
    yota.reset()
    assert not any(slot.is_held or slot.programs for slot in slots)


def test_reset_of_functions_that_were_compiled_and_never_called():
    yota.reset()
    held = yota.compile(lambda x: np.sum(x))
    yota.reset()
    assert not held.slots
