"""Elementwise calls on big arrays are computed some rows at a time, without another bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits
from tests.fuzz.build import build
from tests.fuzz.failure import Refused
from tests.fuzz.verify import examine
from tests.yota.forms import SPECIAL, forms_of, forward
from yota import blocks, buffers
from yota.passes import optimised
from yota.program import entry_of

rng = np.random.default_rng(7)
# three turns, the last of them short
N = 70_001
X, Y = rng.uniform(0.5, 1.5, N), rng.uniform(0.5, 1.5, N)
M, ROW, COLUMN = rng.uniform(0.5, 1.5, (9_001, 8)), rng.uniform(0.5, 1.5, 8), X[:9_001, None]


def blocks_of(tape: Any) -> list[blocks.Block]:
    return blocks.find_blocks(optimised(tape, exact=True))


def assert_blocked(f: Callable[..., Any], *args: Any, count: int = 1) -> None:
    """Compare the code in blocks with a replay of the tape, forward and reverse, to the bit."""
    for tape in (forward(f, *args), yota.gradtape(lambda *a: np.sum(np.real(f(*a))), *args)):
        assert len(blocks_of(tape)) >= count
        assert bits(entry_of(tape, exact=True)(*args)) == bits(tape.play(*args))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, y: np.sqrt(x * y + 0.5 * x) / (1.0 + y), (X, Y)),
        (lambda x: np.tanh(x) * np.exp(-x) + np.log1p(x), (np.tile(X, 2).astype(np.float32),)),
        (lambda m, r: (m - r) * np.exp(-r) + (m * m) / r, (M, ROW)),
        (lambda m, c: (m - c) * np.exp(m) + np.sqrt(m) / c, (M, COLUMN)),
        (lambda m, c: (m + c[:, 0] @ c[:, 0]) * np.exp(m) + np.sqrt(m) / m, (M, COLUMN)),
        (lambda z: z * z + np.exp(z) * (z - 1j) / z, (X + 1j * Y,)),
        (lambda x: np.maximum(x, 1.0) * np.minimum(x, 0.9) - np.abs(x - 1) ** 2, (X,)),
    ],
    ids=["vectors", "float32", "row", "column", "number", "complex", "kinks"],
)
def test_blocks_change_no_bit(f, args):
    assert_blocked(f, *args)


def test_results_inside_a_block_are_the_callers_own():
    def f(x, y):
        a = x * y
        b = np.exp(a) + x
        return {"a": a, "b": b, "c": np.sqrt(b) * y}

    assert_blocked(lambda x, y: f(x, y)["c"], X, Y)
    entry = entry_of(forward(f, X, Y), exact=True)
    first, second = entry(X, Y), entry(Y, X)
    for name, value in f(X, Y).items():
        np.testing.assert_array_equal(first[name], value)
        assert not np.shares_memory(first[name], second[name])
    for name, value in f(Y, X).items():
        np.testing.assert_array_equal(second[name], value)


def test_what_reads_a_block_runs_behind_it():
    f = lambda x, y: np.sum(x * y) + np.sum(np.exp(x) - y) + np.max(np.sqrt(x) * y)
    tape = forward(f, X, Y)
    (block,) = blocks_of(tape)
    assert len(block.vars) == 5
    assert "blocks" in forms_of(tape, exact=True)
    assert bits(entry_of(tape, exact=True)(X, Y)) == bits(tape.play(X, Y))


def test_what_depends_on_a_sum_of_a_block_stands_in_the_next():
    f = lambda x: np.exp(x * x - np.sum(x * 2.0 + x * x - np.sqrt(x))) * x + np.tanh(x) / x
    assert_blocked(f, X)


def test_values_that_only_the_block_reads_take_a_blocks_memory():
    tape = optimised(
        forward(lambda x: np.sum(np.exp(-x * x) + np.sqrt(x) / (1 + x)), X), exact=True
    )
    plan = buffers.plan(tape)
    (block,) = plan.blocks
    small = [b for b in plan.buffers if b.shape == (block.rows,)]
    assert len(block.local) == len(block.vars) - 1
    assert small
    assert sum(b.shape == (N,) for b in plan.buffers) == 1
    assert plan.nbytes < 0.4 * plan.unshared_nbytes


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.exp(x) * x + np.sqrt(x) - 1.0,
        lambda x: np.cumsum(x) * x + np.sqrt(np.cumsum(x)) / x - x,
    ],
)
def test_small_arrays_stand_in_no_block(f):
    assert not blocks_of(forward(f, X[:60_000]))


def test_arguments_in_other_layouts_have_their_own_answer():
    f = lambda m: np.sum((m * m - np.exp(-m)) * np.sqrt(m) / (1 + m))
    g = yota.value_and_grad(f)
    for m in (M, np.asfortranarray(M), np.repeat(M, 2, axis=1)[:, ::2], M[::-1], M):
        for _ in range(3):
            value, slope = g(m)
            want, (exact,) = yota.gradtape(f, m).play(m)
            np.testing.assert_allclose(value, want, rtol=1e-12)
            np.testing.assert_allclose(slope, exact, rtol=1e-12)


def test_a_branch_on_a_value_of_a_block_is_followed():
    def f(x):
        y = np.exp(x) * x - np.sqrt(x) + 1.0
        return np.sum(y * y) if y[3] > 2.0 else np.sum(y)

    for scale in (1.0, 3.0, 1.0, 3.0, 0.1):
        x = X * scale
        np.testing.assert_allclose(yota.grad(f, x)[0], f(x), rtol=1e-12)


FUNCTIONS = [
    np.exp, np.log, np.sin, np.cos, np.tan, np.tanh, np.sinh, np.cosh, np.arctan, np.arcsin,
    np.arcsinh, np.sqrt, np.cbrt, np.log1p, np.expm1, np.log2, np.log10, np.exp2, np.absolute,
    np.floor, np.rint, np.sign, np.reciprocal, np.square, np.add, np.subtract, np.multiply,
    np.divide, np.maximum, np.minimum, np.power, np.arctan2, np.hypot, np.logaddexp, np.fmod,
    np.remainder, np.floor_divide, np.copysign,
]  # fmt: skip
UNARY = [np.exp, np.sqrt, np.negative, np.square, np.tanh]
BINARY = [np.add, np.multiply, np.subtract, np.maximum, np.divide]
programs = st.lists(
    st.tuples(st.sampled_from("ubrs"), st.integers(0, 4), st.integers(0, 9), st.integers(0, 9)),
    min_size=8,
    max_size=24,
)


@given(programs)
@settings(max_examples=40)
def test_random_programs_keep_every_bit(steps):
    """Unary and binary calls, reductions between them, and views that are read at each turn."""

    def f(x, y):
        pool, total = [x, y], 0.0
        for kind, which, a, b in steps:
            p, q = pool[a % len(pool)], pool[b % len(pool)]
            if kind == "u":
                pool.append(UNARY[which](np.abs(p) + 0.1) * 0.1)
            elif kind == "b":
                pool.append(BINARY[which](p, np.abs(q) + 0.5))
            elif kind == "r":
                total = total + np.sum(p) * 1e-6
            else:
                pool.append(np.roll(p, which))
        return total + np.sum(pool[-1]) + np.sum(pool[len(pool) // 2] * y)

    with np.errstate(all="ignore"):
        tape = yota.gradtape(f, X, Y)
        assert bits(entry_of(tape, exact=True)(X, Y)) == bits(tape.play(X, Y))
        once = optimised(tape)
        again = optimised(once, "fuse")
        assert not [r for r in again.rewrites if r.why.startswith("blocks")]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_every_function_gives_the_same_bits_some_rows_at_a_time(fn, dtype):
    x, y = (np.tile(v, 2).astype(dtype) - dtype(1.0) for v in (X, Y))
    x[::999] = np.resize(SPECIAL, x[::999].shape)
    more = (y,) * (fn.nin - 1)
    with np.errstate(all="ignore"):
        tape = forward(lambda x: fn(fn(x * 3.0, *more) + 0.5, *more) * x + y, x)
        assert blocks_of(tape)
        assert bits(entry_of(tape, exact=True)(x)) == bits(tape.play(x))


def heard(run: Callable[..., Any], *args: Any, **modes: Any) -> list[str]:
    """Return what each warning says."""
    with np.errstate(**modes), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run(*args)
    return sorted(str(w.message) for w in found)


def test_warnings_are_numpys_one_a_call():
    def f(x):
        return np.sqrt(np.exp(x) * np.exp(x + 1.0)) / (x - 800.0) + np.log(x)

    x = np.where(np.arange(N) % 1000 == 999, 800.0, X)
    x[5] = -1.0
    with np.errstate(all="ignore"):
        tape = forward(f, x)
    run = entry_of(tape)
    want = heard(tape.play, x, all="warn")
    assert len(set(want)) >= 2
    for _ in range(2):
        assert heard(run, x, all="warn") == want
    assert heard(run, x, all="ignore") == []
    for modes in ({"all": "warn"}, {"all": "ignore"}):
        with np.errstate(**modes), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bits(run(x)) == bits(tape.play(x))
    before, told = np.geterr(), []
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        tape.compile()(x)
    with np.errstate(all="call", call=lambda kind, flag: told.append(kind)):
        run(x)
    assert len(told) >= len(want)
    assert np.geterr() == before


def test_arrays_in_front_of_a_block_stand_as_long_as_it_may_be_computed_again():
    def f(x, y):
        a, b = np.cumsum(x), np.cumsum(y)
        c = (b - np.exp(-b)) * np.log(60.0 - b)
        return np.cumsum(c * a)

    with np.errstate(all="ignore"):
        tape = forward(f, X, Y)
    assert blocks_of(tape)
    run = entry_of(tape, exact=True)
    for _ in range(2):
        with np.errstate(all="warn"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bits(run(X, Y)) == bits(tape.play(X, Y))


@given(st.integers(0, 2**32 - 1).map(build))
@settings(max_examples=25)
def test_random_programs_hold_two_rows_at_a_time(program):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_AT_A_TIME": 16, "_BIG": 8, "FEWEST": 2}.items():
            patch.setattr(blocks, name, value)
        try:
            examine(program)
        except Refused:
            assume(False)
