"""The function behind a cache: it answers as a replay does, or says that it does not fit."""

from __future__ import annotations

import collections
import dataclasses
import functools
import types

import numpy as np
import pytest
from hypothesis import assume, given, settings

import yota
from tests.bits import bits
from tests.programs import programs
from tests.yota.slopes import at_once
from tests.yota.tapes import long_tape
from tests.zoo import SMOOTH, Layer, Model, Pair
from yota import codegen
from yota.codegen import layout
from yota.program import MISS, Program, entry_of

X = np.array([[0.5, 1.0, -2.0], [3.0, -1.5, 0.25]])


def entry(f, *args, exact=True, **kwargs):
    return entry_of(yota.gradtape(f, *args, **kwargs), exact)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_entry_gives_the_bits_of_play(name, f, args):
    tape = yota.gradtape(f, *args)
    run, want = entry_of(tape, exact=True), bits(tape.play(*args))
    for _ in range(3):
        assert bits(run(*args)) == want


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_pieces_answer_as_the_whole(name, f, args, monkeypatch):
    monkeypatch.setattr(layout, "PIECE", 3)
    tape = yota.gradtape(f, *args)
    run = entry_of(tape, exact=True)
    assert bits(run(*args)) == bits(tape.play(*args))
    assert run() is MISS
    assert run(*args, None) is MISS


@given(programs)
@settings(max_examples=60)
def test_entry_of_a_random_program_gives_the_bits_of_play(program):
    tape = yota.gradtape(program, *program.args)
    run, want = entry_of(tape, exact=True), bits(tape.play(*program.args))
    # a few functions of SciPy's round otherwise from call to call
    assume(all(bits(tape.play(*program.args)) == want for _ in range(3)))
    assert bits(run(*program.args)) == want
    assert bits(run(*program.args)) == want


def test_entry_belongs_to_a_program_or_a_tape():
    tape = yota.gradtape(lambda x: np.sum(x * x), X)
    made = Program(tape)
    assert entry_of(made) is entry_of(made)
    assert bits(entry_of(made, exact=True)(X)) == bits(tape.play(X))
    strict = Program(tape, exact=True)
    assert entry_of(strict) is entry_of(strict, exact=True)


# ---- what does not fit


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((X,), {}),
        ((X, 1.0, 2.0), {}),
        ((X, 1.0), {"other": 1}),
        ((), {"x": X, "s": 1.0}),
        ((X.astype("f4"), 1.0), {}),
        ((X.astype(">f8"), 1.0), {}),
        ((X[:1], 1.0), {}),
        ((X[0], 1.0), {}),
        ((X, 1), {}),
        ((X, True), {}),
        ((X, np.float64(1.0)), {}),
        (([X], 1.0), {}),
        ((X, None), {}),
        ((np.asfortranarray(X), 1.0), {}),
        ((X[:, ::-1], 1.0), {}),
        ((np.ma.array(X), 1.0), {}),
        ((X.view(np.matrix), 1.0), {}),
    ],
)
def test_other_arguments_miss(args, kwargs):
    run = entry(lambda x, s: np.sum(x) * s, X, 1.0)
    assert run(*args, **kwargs) is MISS
    assert run(X, 1.0)[0] == np.sum(X)


def test_an_equal_dtype_of_another_object_fits():
    run = entry(lambda x: np.sum(x), X)
    other = X.view(np.dtype("f8", metadata={"unit": "m"}))
    assert run(other)[0] == np.sum(X)


@dataclasses.dataclass
class Settings:
    w: object
    n: int
    name: str = "a"


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Lazy:
    def __init__(self, w):
        self.w = w

    @functools.cached_property
    def twice(self):
        return self.w * 2.0


class Kept(dict):
    pass


A, B = np.array([1.0, 2.0]), np.array([3.0, 4.0])
STRUCTURES = [
    ({"a": A, "b": 1.0}, [{"b": 1.0, "a": A}, {"a": A}, {"a": A, "b": 1.0, "c": 2}, [A, 1.0]]),
    ([A, 1.0], [(A, 1.0), [A], [A, 1.0, 2.0], [1.0, A]]),
    ((A, "t", 3, None, True), [(A, "u", 3, None, True), (A, "t", 3.0, None, True),
                               (A, "t", 3, 0, True), (A, "t", 3, None, 1),
                               (A, "t", True, None, True)]),
    (Pair(A, 1.0), [(A, 1.0), Pair(A, 1)]),
    (Settings(A, 2), [Settings(A, 3), Settings(A, True), Settings(A, 2, "b"), Layer(A, 2)]),
    (Slotted(A, 1.0), [Slotted(A, 1), Slotted(B[:1], 1.0), Pair(A, 1.0)]),
    (Model(Layer(A, B), 2.0), [Model(Layer(A, A), 2.0), Model(Layer(A, B, "x"), 2.0)]),
    (types.SimpleNamespace(a=A), [types.SimpleNamespace(b=A), types.SimpleNamespace(a=A, b=1)]),
    (collections.deque([A], maxlen=3), [collections.deque([A], maxlen=4), [A]]),
    (collections.OrderedDict(a=A), [{"a": A}, collections.OrderedDict(b=A)]),
    (Kept(a=A), [{"a": A}, Kept(b=A)]),
    ({1: A}, [{True: A}, {1.0: A}, {2: A}]),
    ([A, A], [[A, B], [A]]),
    ([A, B], [[A, A]]),
    ([[1.0], [2.0]], [(lambda p: [p, p])([1.0])]),
    ([A, [1, 2, "x"]], [[A, [1, 2, "y"]], [A, [1.0, 2, "x"]], [A, [True, 2, "x"]],
                        [A, (1, 2, "x")]]),
    ([A, np.int64(3)], [[A, 3], [A, np.int64(4)], [A, np.int32(3)]]),
    ([A, np.sin], [[A, np.cos]]),
    ([A, {"k": 1}], [[A, {"k": 2}], [A, {"k": True}], [A, {"j": 1}]]),
]  # fmt: skip


def total(tree):
    leaves, _ = yota.structs.flatten(tree, leaf=lambda x: hasattr(x, "_var"))
    return sum(np.sum(v * v) for v in leaves)


@pytest.mark.parametrize(("known", "others"), STRUCTURES)
def test_structures_and_fixed_values_are_told_apart(known, others):
    tape = yota.gradtape(total, known)
    run = entry_of(tape, exact=True)
    assert bits(run(known)) == bits(tape.play(known))
    assert type(run(known)[1][0]) is type(known)
    for other in others:
        assert run(other) is MISS, other


def test_seven_arrays_of_one_shape_are_told_apart():
    arrays = [A + k for k in range(8)]
    run = entry(total, arrays)
    assert run([*arrays[:7], arrays[2]]) is MISS
    assert run(arrays)[0] == sum(np.sum(a * a) for a in arrays)


def test_a_cached_property_changes_nothing():
    lazy = Lazy(A)
    run = entry(lambda m: np.sum(m.w), lazy)
    _ = lazy.twice
    assert run(lazy)[0] == 3.0


def test_keywords_are_inputs_and_keys():
    run = entry(lambda x, n=1, *, scale: np.sum(x * scale) * n, X, n=2, scale=X)
    assert run(X, n=2, scale=X + 1)[0] == np.sum(X * (X + 1)) * 2
    for kwargs in ({"n": 3, "scale": X}, {"scale": X}, {"n": 2}, {"n": 2, "scale": 1.0}):
        assert run(X, **kwargs) is MISS


def test_a_seed_is_brought_into_the_outputs_type():
    tape = yota.gradtape(lambda x: x * 2.0, X, seed=X)
    run = entry_of(tape, exact=True)
    assert bits(run(X, seed=X + 1)) == bits(tape.play(X, seed=X + 1))
    assert run(X, seed=[[1, 2, 3], [4, 5, 6]])[1][0].tolist() == [[2, 4, 6], [8, 10, 12]]
    for seed in (None, "ones", X[0], 1.0):
        assert run(X, seed=seed) is MISS
    assert entry(lambda x: x * 2.0, 3.0, seed=2.0)(1.0, seed=3)[1] == (6.0,)


def test_ints_run_as_floats_only_without_floats():
    run = entry(lambda x, n: x * np.sum(n), 3, np.array([1, 2]))
    value, (dx, dn) = run(4, np.array([3, 4]))
    assert (value, dx, dn.tolist()) == (28.0, 7.0, [4.0, 4.0])
    assert type(dx) is float
    for args in ((4.0, np.array([3, 4])), (4, np.array([3.0, 4.0])), (True, np.array([3, 4]))):
        assert run(*args) is MISS


# ---- branches


def test_another_branch_misses_and_gives_its_buffers_back():
    def f(x, n):
        y = np.sin(x) * 2.0
        total = np.sum(y)
        if total > 0 and int(x[0] * 2) == 3:
            return total * len(n) + np.sum(y[y > 1.0])
        return -total

    args = (np.array([1.5, 2.0]), "ab")
    run = entry(f, *args)
    want = bits(run(*args))
    misses = [(np.array([-3.5, 2.0]), "ab"), (np.array([2.5, 2.0]), "ab"), (args[0], "abc"),
              (np.array([1.5, 0.1]), "ab"), (np.array([np.nan, 0.1]), "ab")]  # fmt: skip
    for other in misses:
        assert run(*other) is MISS
    assert bits(run(*args)) == want


# ---- freshness


def test_nothing_that_is_returned_is_shared():
    shared = np.ones(3)

    def f(p):
        return np.sum(p["a"] * shared) + np.sum(p["b"])

    p = {"a": np.ones(3), "b": np.ones(3)}
    run = entry(f, p)
    first, second = run(p), run(p)
    kept = bits(first)
    arrays = [*first[1][0].values(), *second[1][0].values(), *p.values(), shared]
    for k, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[k + 1 :])
    second[1][0]["a"][...] = 9.0
    run(p)
    assert bits(first) == kept
    assert first[1][0] is not second[1][0]


def test_arguments_are_only_read():
    p = {"a": X.copy(), "b": np.array([1.0, 2.0, 3.0])}
    for v in p.values():
        v.flags.writeable = False
    run = entry(lambda p: np.sum(np.tanh(p["a"] * p["b"]) + p["a"]), p)
    assert run(p) is not MISS
    assert p["a"].tolist() == X.tolist()


def test_threads_and_nested_calls_have_their_own_buffers():
    def f(x):
        y = np.sin(x)
        for _ in range(20):
            y = np.tanh(y * x) + y
        return np.sum(y * y)

    x = np.random.default_rng(0).standard_normal((50, 400))
    run = entry(f, x)
    inputs = [x * k for k in range(1, 4)]
    wanted = [bits(run(a)) for a in inputs]
    found = at_once(inputs, lambda a: bits(run(a)), 10)
    assert found == [[w] * 10 for w in wanted]


def test_the_users_own_error_passes_through():
    @yota.primitive
    def fragile(x):
        if x[0, 0] > 10:
            raise RuntimeError("broken")
        return x * 1.5

    yota.defvjp(fragile, lambda dy, y, x: dy * 1.5)
    run = entry(lambda x: np.sum(fragile(np.sin(x) * 12.0)), X)
    want = bits(run(X))
    with pytest.raises(RuntimeError, match="broken"):
        run(X * np.pi)
    assert bits(run(X)) == want


def test_long_tapes_have_an_entry_too():
    tape = long_tape(5_000)
    x = np.array([0.5, 0.25, 2.0])
    run = entry_of(tape, exact=True)
    assert bits(run(x)) == bits(tape.play(x))
    assert run(1.0) is MISS


def test_the_lines_of_an_entry_name_every_op():
    tape = Program(yota.gradtape(lambda p: np.sum(np.tanh(p["a"]) * p["b"]), {"a": X, "b": 2.0}))
    source = codegen.generate_entry(tape.optimised)
    lines = source.text.splitlines()
    for var, line in source.line_of.items():
        assert f"# {tape.optimised.survivor(var)}" in lines[line - 1]
    assert set(tape.optimised.ops) <= set(source.line_of)


def test_two_layouts_that_are_no_row_are_told_apart_where_bits_matter():
    whole = np.random.default_rng(0).standard_normal((6, 8, 10))
    first = whole[::2, :, ::2]
    other = np.moveaxis(np.ascontiguousarray(np.moveaxis(whole, 2, 0)), 0, 2)[::2, :, ::2]
    assert other.shape == first.shape
    assert other.strides != first.strides

    def f(x):
        return np.sum(np.exp(x) * x)

    for exact in (True, False):
        enter = entry_of(yota.gradtape(f, first), exact=exact)
        assert enter(first) is not MISS
        assert (enter(other) is MISS) == exact
    yota.reset()
    for x in (first, other, first, other):
        value, g = yota.grad(f, x, exact=True)
        wanted, slopes = yota.gradtape(f, x).play(x)
        assert value == wanted
        np.testing.assert_array_equal(g[0], slopes[0])
    assert yota.cache_info().hits == 2


def test_the_peak_of_a_program_is_what_lives_at_a_time():
    def f(x):
        for _ in range(5):
            x = np.tanh(np.sin(x))
        return np.sum(x)

    program = yota.grad(f, np.ones(100))[1].program
    plan = program.plan()
    assert 0 < program.peak_nbytes <= plan.nbytes < plan.unshared_nbytes
