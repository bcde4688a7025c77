"""Threads, tasks, re-entrancy and interruptions: each call answers as if it were alone."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import yota

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yota.reset()
    yield
    sys.setswitchinterval(interval)


def in_threads(work, count=8):
    """Return what `work(k)` gives in several threads that begin together."""
    together = threading.Barrier(count)

    def begin(k):
        together.wait()
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_eight_threads_share_the_programs_of_one_function():
    state = {"w": np.array([1.0, 2.0, 3.0])}

    def f(x):
        return np.sum(np.tanh(x) * state["w"]) if x[0] > 0 else np.sum(x * state["w"])

    def work(k):
        x = X * (k + 1.0) * (-1.0) ** k
        expected = state["w"] / np.cosh(x) ** 2 if k % 2 == 0 else state["w"]
        results = (yota.grad(f, x)[1][0] for _ in range(1000))
        return sum(not np.allclose(g, expected, rtol=1e-12) for g in results)

    assert sum(in_threads(work)) == 0
    assert yota.cache_info().misses <= 2 * 8
    assert yota.cache_info().hits >= 8000 - 2 * 8


def test_a_call_answers_for_one_state_while_another_thread_changes_it():
    state = {"a": (1.0, X.copy())}
    stop = threading.Event()

    def f(x):
        k, w = state["a"]
        return np.sum(x * w) * k

    def change():
        n = 0
        while not stop.is_set():
            n += 1
            state["a"] = (float(n % 3 + 1), X * float(n % 3 + 1))
            state[f"k{n % 5}"] = n
            state.pop(f"k{(n + 2) % 5}", None)

    def work(_):
        found = (yota.grad(f, X)[1][0] for _ in range(150))
        return [g for g in found if not any(np.allclose(g, n * n * X) for n in (1, 2, 3))]

    changer = threading.Thread(target=change)
    changer.start()
    try:
        assert in_threads(work, 3) == [[]] * 3
    finally:
        stop.set()
        changer.join()


def test_a_trace_is_not_seen_in_another_thread():
    inside, go_on = threading.Event(), threading.Event()

    def f(x):
        y = np.sum(x * x)
        inside.set()
        assert go_on.wait(10)
        return y

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(yota.grad, f, X)
        assert inside.wait(10)
        assert type(np.sum(X)) is np.float64
        value, g = yota.grad(lambda x: np.sum(x) * 2.0, X)
        assert type(value) is np.float64
        assert g[0].tolist() == [2.0] * 3
        assert len(list(g.tape)) < 8
        go_on.set()
        assert other.result()[1][0].tolist() == (2 * X).tolist()


def test_threads_that_begin_inside_a_function_have_no_trace():
    found = []

    def f(x):
        with ThreadPoolExecutor(1) as pool:
            found.append(pool.submit(yota.grad, lambda y: y * 3.0, 2.0).result()[0])
        return np.sum(x * x)

    for _ in range(3):
        assert yota.grad(f, X)[1][0].tolist() == (2 * X).tolist()
    assert [type(v) for v in found] == [float] * 3


def test_tasks_take_turns():
    async def work(k):
        found = []
        for _ in range(20):
            found.append(yota.grad(lambda x: np.sum(x * k), X)[1][0][0])
            await asyncio.sleep(0)
        return found == [float(k)] * 20

    async def all_of_them():
        return await asyncio.gather(*(work(k) for k in range(10)))

    assert all(asyncio.run(all_of_them()))


def test_reset_while_others_call():
    stop = threading.Event()

    def resets():
        while not stop.is_set():
            yota.reset()

    def work(k):
        vg = yota.value_and_grad(lambda x: np.sum(x * x) * k)
        return all(vg(X)[1].tolist() == (2 * X * k).tolist() for _ in range(100))

    resetter = threading.Thread(target=resets)
    resetter.start()
    try:
        assert all(in_threads(work, 3))
    finally:
        stop.set()
        resetter.join()


# ---- re-entrancy


def test_grad_inside_grad_inside_a_rule_inside_an_observer():
    cube = yota.primitive(lambda x: x**3)
    yota.defvjp(cube, lambda dy, y, x: dy * yota.grad(lambda t: t**3, x)[1][0])

    def f(x):
        return yota.grad(lambda y: cube(y) * 2.0, x)[1][0]

    def looks(event):
        if not seen:
            seen.append(None)
            seen[0] = yota.grad(f, 2.0)[0]

    seen = []
    with yota.observe(looks):
        for _ in range(3):
            assert yota.grad(f, 2.0)[0] == 24.0
            assert yota.grad(f, 2.0)[1][0] == 24.0
    assert seen == [24.0]


def test_grad_in_a_destructor_does_not_disturb_the_trace_around_it():
    class Falls:
        def __del__(self):
            log.append(float(yota.grad(lambda y: y * y, 3.0)[1][0] * 1.0 == 6.0))

    log = []

    def f(x):
        Falls()
        return np.sum(x * x)

    for _ in range(4):
        assert yota.grad(f, X)[1][0].tolist() == (2 * X).tolist()
    assert log == [1.0] * 4


def test_a_function_that_calls_itself_through_grad():
    def f(x, depth=3):
        return x * x if depth == 0 else yota.grad(lambda y: f(y, depth - 1) * y, x)[1][0]

    # x -> 3 x^2 -> 9 x^2 -> 27 x^2
    for _ in range(3):
        assert yota.grad(f, 2.0)[1][0] == 27.0 * 2.0 * 2.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, SystemExit, RecursionError])
def test_an_interruption_anywhere_in_a_call_leaves_nothing_behind(error):
    state = {"stop": -1, "w": 2.0}

    def step(k, y):
        if state["stop"] == k:
            raise error
        return y * state["w"]

    def f(x):
        y = np.sum(x)
        for k in range(3):
            y = step(k, y)
        return y

    for stop in (0, 1, 2, -1, 1, -1):
        state["stop"], state["w"] = stop, state["w"] + 1.0
        with contextlib.nullcontext() if stop < 0 else pytest.raises(error):
            assert yota.grad(f, X)[1][0].tolist() == [state["w"] ** 3] * 3


def test_a_generator_that_is_closed_inside_a_trace():
    closed = []

    def parts(x):
        try:
            yield np.sum(x * x)
            yield np.sum(x)
        finally:
            closed.append(1)

    def f(x):
        for part in parts(x):
            return part
        return x

    for _ in range(3):
        assert yota.grad(f, X)[1][0].tolist() == (2 * X).tolist()
    assert closed == [1, 1, 1]


def test_globals_that_another_thread_adds_to_do_not_end_a_trace():
    space = {"np": np, "w": X.copy(), **{f"name{k}": k for k in range(2000)}}
    exec("def f(x):\n    return np.sum(x * w[:])\n", space)
    stop = threading.Event()

    def grow():
        k = 0
        while not stop.is_set():
            space[f"new{k % 5000}"] = k
            k += 1
            if k % 5000 == 0:
                for j in range(5000):
                    del space[f"new{j}"]

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(60):
            assert np.array_equal(yota.gradtape(space["f"], X).play(X)[1][0], X)
    finally:
        stop.set()
        thread.join()
