"""Loops of the user's: rolled up again in generated code, and computed in stacks and batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits
from yota import codegen
from yota.codegen import layout
from yota.program import MISS, Program, entry_of
from yota.rounds import Region, regions

rng = np.random.default_rng(11)
SIZE, ROUNDS = 4, 11
W, U = 0.4 * rng.standard_normal((SIZE, SIZE)), 0.4 * rng.standard_normal((SIZE, SIZE))
B, H, ROWS = (rng.standard_normal(s) for s in (SIZE, SIZE, (ROUNDS, SIZE)))
TABLES = rng.standard_normal((ROUNDS, 3, SIZE))
KNOWN = rng.standard_normal((ROUNDS, SIZE))


# Each takes the state, the row of this round, the parameters and the round's number.
STEPS = [
    lambda h, x, w, u, b, k: np.tanh(h),
    lambda h, x, w, u, b, k: h @ w + x @ u,
    lambda h, x, w, u, b, k: h @ w + b,
    lambda h, x, w, u, b, k: h * np.exp(-x * x) + x,
    lambda h, x, w, u, b, k: h + 0.1 * np.sin(x @ u),
    lambda h, x, w, u, b, k: 0.5 * h - x / (1.0 + b * b),
    lambda h, x, w, u, b, k: h * KNOWN[k] + KNOWN[k] @ u,
    lambda h, x, w, u, b, k: h + np.sum(x * h) * 0.01,
    lambda h, x, w, u, b, k: np.concatenate([h[..., :2] * b[:2], x[..., 2:]], axis=-1),
    lambda h, x, w, u, b, k: np.tanh(h) ** 3 - np.power(x, 2),
    lambda h, x, w, u, b, k: np.maximum(h, x * 0.1),
    lambda h, x, w, u, b, k: h / np.sqrt(1.0 + np.sum(h * h, axis=-1, keepdims=True)),
    lambda h, x, w, u, b, k: (1 / (1 + np.exp(-h[..., ::-1]))) * x,
]


def looped(steps, collect):
    def f(w, u, b, h, rows):
        kept, total = [], 0.0
        for k in range(ROUNDS):
            for step in steps:
                h = step(h, rows[k], w, u, b, k)
            if collect == "values":
                total = total + np.mean(h * h)
            elif collect == "states":
                kept.append(h)
        if collect == "states":
            return np.sum(np.sin(np.stack(kept))) + np.sum(h)
        return total + np.sum(np.tanh(h))

    return f


@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
       st.sampled_from(["none", "values", "states"]), st.booleans())  # fmt: skip
@settings(max_examples=120)
def test_any_loop_agrees_with_its_replay(steps, collect, is_table):
    f = looped(steps, collect)
    args = (W, U, B, np.stack([H] * 3), TABLES) if is_table else (W, U, B, H, ROWS)
    tape = yota.gradtape(f, *args)
    want = tape.play(*args)
    exact, quick = entry_of(tape, exact=True), entry_of(tape)
    for scale in (1.0, 0.5):
        given_ = tuple(a * scale for a in args)
        want = tape.play(*given_)
        assert bits(exact(*given_)) == bits(want)
        value, gradients = quick(*given_)
        assert np.allclose(value, want[0], rtol=1e-11, atol=1e-11)
        for a, b in zip(gradients, want[1], strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(b))))


def recurrent(w, u, h, rows):
    for x in rows:
        h = np.tanh(w @ h + u @ x)
    return np.sum(h * h)


def text(f, *args, **options):
    made = Program(yota.gradtape(f, *args), **options)
    return codegen.generate_entry(made.optimised, made.plan(), target=made.tape).text


def test_a_loop_is_one_loop_again():
    rows = rng.standard_normal((500, SIZE))
    code = text(recurrent, W, U, H, rows)
    assert code.count("\n    for ") == 2
    assert len(code.splitlines()) < 110
    assert " … %" in code


def test_the_length_of_the_code_does_not_depend_on_the_rounds():
    few, many = (text(recurrent, W, U, H, rng.standard_normal((n, SIZE))) for n in (50, 400))
    assert len(few.splitlines()) == len(many.splitlines())


def test_every_op_of_a_loop_has_its_line():
    made = Program(yota.gradtape(recurrent, W, U, H, ROWS))
    source = made.source()
    assert set(made.optimised.ops) <= set(source.line_of)
    lines = source.text.splitlines()
    loop = [k for k, text in enumerate(lines, 1) if " … " in text]
    assert loop
    assert all(len(source.ops_of[k]) > 5 for k in loop)


def test_memory_does_not_grow_after_the_first_call():
    made = Program(yota.gradtape(recurrent, W, U, H, ROWS))
    run = entry_of(made)
    run(W, U, H, ROWS)
    idle = run.__globals__["idle"]
    first = [id(x) for x in idle]
    for _ in range(5):
        run(W, U, H, ROWS)
    assert [id(x) for x in idle] == first
    assert made.plan().peak_nbytes <= made.plan().nbytes


def test_a_branch_in_a_loop_is_guarded_in_the_loop():
    def f(w, h, rows):
        for x in rows:
            h = np.tanh(w @ h + x)
            if np.sum(h) > 1e6:
                h = h * 0.5
        return np.sum(h)

    tape = yota.gradtape(f, W, H, ROWS)
    for exact in (True, False):
        run = entry_of(tape, exact)
        assert np.allclose(run(W, H, ROWS)[0], f(W, H, ROWS))
        assert run(W, H, np.full_like(ROWS, np.nan)) is not MISS

    def g(w, h, rows):
        for x in rows:
            h = w @ h + x
            if np.sum(h) > 1e6:
                h = h * 0.5
        return np.sum(h)

    run = entry_of(yota.gradtape(g, W, H, ROWS))
    assert run(W, H, ROWS * 1e8) is MISS
    assert np.allclose(run(W, H, ROWS)[0], g(W, H, ROWS))


@pytest.mark.parametrize("piece", [3, 10, 40])
def test_loops_stand_in_pieces_too(piece, monkeypatch):
    tape = yota.gradtape(looped(STEPS[:4], "states"), W, U, B, H, ROWS)
    want = entry_of(tape)(W, U, B, H, ROWS)
    monkeypatch.setattr(layout, "PIECE", piece)
    for exact in (True, False):
        run = entry_of(tape, exact)
        assert bits(run(W, U, B, H, ROWS)) == bits(tape.play(W, U, B, H, ROWS) if exact else want)
        assert run(W, U, B, H) is MISS


def test_regions_are_found_in_any_sequence():
    body = [5, 6, 5, 7]
    assert regions([1, 2, *body * 10, 3]) == [Region(2, 4, 10)]
    assert regions(list(range(100))) == []
    assert regions([1] * 10) == []
    inner = [1] * 9 + list(range(2, 60))
    assert regions(inner * 8) == [Region(0, 67, 8)]
    found = regions([*body * 8, 0, *[8, 9, 9] * 9])
    assert [(r.period, r.rounds) for r in found] == [(4, 8), (3, 9)]
