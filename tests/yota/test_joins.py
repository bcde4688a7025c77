"""Joined arrays: parts that are computed where they are to stand, within parts of others."""

from __future__ import annotations

import numpy as np
import pytest

import yota
from tests.bits import bits

FUNCTIONS = [np.sin, np.cos, np.tanh, np.exp, np.square, np.negative]


def recurrent(gates, steps):
    """Return a cell of several gates, unrolled: joins of parts stand within a join of rows."""

    def f(w, x):
        h, total = np.zeros(2), 0.0
        for k in range(steps):
            first, *others = np.split(w @ np.concatenate([h, x[k : k + 2]]), gates)
            h = np.tanh(first)
            for gate in others:
                h = np.sin(h * gate) + gate
            total = total + np.sum(h * h)
        return total

    return f


@pytest.mark.parametrize("gates", range(2, 7))
@pytest.mark.parametrize("steps", range(2, 8))
def test_a_recurrent_cell_has_the_gradient_of_its_tape(gates, steps):
    rng = np.random.default_rng(gates + 10 * steps)
    f, args = recurrent(gates, steps), (rng.normal(size=(2 * gates, 4)), rng.normal(size=steps + 2))
    wanted = yota.gradtape(f, *args).play(*args)[1]
    for _ in range(2):
        found = yota.grad(f, *args)[1]
        for want, got in zip(wanted, found, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def random_joins(rng):
    """Return a function that joins parts, whole joins and runs of them in random order."""
    steps = []
    count = 3
    for _ in range(int(rng.integers(4, 12))):
        kind = rng.integers(4)
        width = 1 if kind == 0 else int(rng.integers(2, 6))
        start = int(rng.integers(count))
        run = rng.integers(2) and kind
        chosen = [(start + k) % count if run else int(rng.integers(count)) for k in range(width)]
        steps.append((int(kind), tuple(dict.fromkeys(chosen)), int(rng.integers(6))))
        count += 1

    def f(x):
        values = [x[:4], np.sin(x[4:]), np.cos(x[:4])]
        for kind, chosen, function in steps:
            parts = [values[k] for k in chosen]
            if kind == 0:
                values.append(FUNCTIONS[function](parts[0] * 0.5))
            elif kind == 1:
                values.append(
                    np.concatenate([np.ravel(p) for p in parts])[: 4 + 4 * (function % 3)]
                )
            elif kind == 2:
                values.append(np.stack([np.ravel(p)[:4] for p in parts]))
            else:
                values.append(np.concatenate([FUNCTIONS[function](np.ravel(p)) for p in parts]))
        return sum(np.sum(np.sin(v)) for v in values)

    return f


@pytest.mark.parametrize("seed", range(60))
def test_random_joins_are_written_whole(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    f, x = random_joins(rng), rng.normal(size=8)
    tape = yota.gradtape(f, x)
    value, (wanted,) = tape.play(x)
    empty = np.empty
    run = tape.compile(exact=True)
    # what is read before it is written shows
    monkeypatch.setattr(np, "empty", lambda *a, **k: filled(empty(*a, **k)))
    found = run(x)
    assert bits(found) == bits((value, (wanted,)))


def filled(x):
    if x.dtype.kind in "fc":
        x.fill(np.nan)
    return x


def test_a_join_that_is_a_run_of_another_ones_parts_stands_within_a_third():
    def f(x):
        a, b, c, d = np.sin(x), np.cos(x), np.exp(x), np.tanh(x)
        whole, run = np.concatenate([a, b, c, d]), np.concatenate([a, b])
        rows = np.stack([run, x[0] * np.ones(4)])
        return np.sum(whole**3) + np.sum(np.cos(rows) * np.sin(rows)) + np.sum(run**2)

    x = np.array([0.3, -0.7])
    value, (wanted,) = yota.gradtape(f, x).play(x)
    for _ in range(2):
        found, g = yota.grad(f, x)
        np.testing.assert_allclose(found, value, rtol=1e-12)
        np.testing.assert_allclose(g[0], wanted, rtol=1e-12)
