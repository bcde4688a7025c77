"""What is drawn, written or done outside: once a call, as plain Python does it."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np

import yota
from tests.yota.objects import Mutable


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
