from __future__ import annotations

import operator
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import yota
from tests.bits import bits
from tests.yota.rules.samples import SAMPLES
from tests.yota.tapes import Hand, long_tape
from tests.zoo import SMOOTH
from yota.passes import PASSES, PIPELINE, optimise, optimised
from yota.passes.algebra import simplify
from yota.passes.cse import merge_common
from yota.passes.dce import drop_dead
from yota.passes.fold import fold_constants
from yota.rules.functional import cast, getitem, identity
from yota.tape import Call, Constant, Tape

X = np.array([[0.5, -0.0, np.nan], [-np.inf, 2.0, 1e-310]])


def foo(x):
    return np.exp(x)


def left(tape: Tape) -> list[str]:
    return [op.name for _, op in tape if isinstance(op, Call)]


# The introductory example


@pytest.mark.parametrize("passes", [("cse",), ("cse", "dce"), PIPELINE])
def test_passes_of_the_introductory_example(passes, golden):
    tape = yota.gradtape(foo, 0.5)
    golden(f"passes_{'_'.join(passes)}.txt", str(optimised(tape, passes)))


def test_where_answers_for_every_number_of_the_introductory_example():
    tape = optimised(yota.gradtape(foo, 0.5), exact=True)
    told = [(tape.where(n).kind, tape.where(n).why) for n in range(1, 6)]
    assert told == [
        ("itself", ""),
        ("itself", ""),
        ("dropped", "not needed by any result"),
        ("merged", "same function and operands as %2"),
        ("merged", "multiply(%2, %3) changes no bit"),
    ]
    tape.play(0.5)
    assert tape.value(4) == tape.value(5) == tape.value(2) == np.exp(0.5)


# Every pass and the pipeline on all functions


def sample(s):
    def f(*given):
        here = s
        for position, x in zip(s.argnums, given, strict=True):
            here = here.with_operand(position, x)
        y = here.run()
        return sum(
            np.sum(np.real(v) * np.real(v)) for v in (y if isinstance(y, tuple | list) else [y])
        )

    return (s.name, f, tuple(map(s.operand, s.argnums)))


CASES = [*SMOOTH, *map(sample, (s for s in SAMPLES[::7] if s.argnums))]


@pytest.mark.parametrize(("name", "f", "args"), CASES)
def test_passes_keep_every_bit_and_every_number(name, f, args):
    tape = yota.gradtape(f, *args)
    want = bits(tape.play(*args))
    for steps in (*((p,) for p in PASSES), PIPELINE):
        for stage in optimise(tape, steps, exact=True):
            new = stage.tape
            assert bits(new.play(*args)) == want, stage.name
            assert new.inputs == tape.inputs
            for var in tape.ops:
                survivor = new.survivor(var)
                if survivor is None:
                    assert new.where(var).kind == "dropped"
                else:
                    assert bits([new.values[survivor]]) == bits([tape.values[var]]), (
                        stage.name,
                        var,
                    )


@pytest.mark.parametrize(("name", "f", "args"), CASES)
def test_passes_find_nothing_the_second_time(name, f, args):
    tape = yota.gradtape(f, *args)
    for steps in (*((p,) for p in PASSES), PIPELINE):
        once = optimised(tape, steps, exact=True)
        again = optimise(once, steps, exact=True)
        assert [s.rewrites for s in again] == [()] * len(steps)
        assert again[-1].tape.ops == once.ops


def test_passes_leave_the_tape_that_they_are_given():
    tape = yota.gradtape(foo, 0.5)
    before, ops = str(tape), dict(tape.ops)
    optimise(tape)
    assert str(tape) == before
    assert tape.ops == ops
    assert tape.fates == {}


def test_each_rewrite_says_what_why_and_into_what():
    stages = {s.name: s for s in optimise(yota.gradtape(foo, 0.5))}
    merged = stages["cse"].rewrites[0]
    assert (merged.kind, str(merged.var), str(merged.into)) == ("merged", "%4", "%2")
    assert merged.before.fn is np.exp
    assert merged.after is stages["cse"].tape[2]
    assert [(r.kind, str(r.var)) for r in stages["dce"].rewrites] == [("dropped", "%3")]


def test_optimise_refuses_an_unknown_pass_and_names_the_known():
    with pytest.raises(ValueError, match="cse, fold, algebra, dce"):
        optimise(yota.gradtape(foo, 0.5), ("cse", "magic"))


def test_optimise_takes_functions_and_checks_what_they_return():
    tape = yota.gradtape(foo, 0.5)

    def no_change(tape):
        return tape

    def broken(tape):
        return tape.shell()

    assert [s.name for s in optimise(tape, ("cse", no_change))] == ["cse", "no_change"]
    with pytest.raises(yota.TapeError):
        optimise(tape, (broken,))


def test_passes_take_a_hundred_thousand_ops():
    tape = long_tape(100_000)
    began = time.process_time()
    stages = optimise(tape)
    assert time.process_time() - began < 20
    assert len(stages[-1].tape) == pytest.approx(100_000 * 5 / 6, abs=2)


# Merging


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, True), (1.0, True), (0.0, -0.0), (0j, complex(0.0, -0.0)),
     (2.0, np.float32(2.0)), (np.float64(0.0), np.float64(-0.0)),
     ((1,), [1]), (0, 0.0), (np.int64(1), np.int32(1))],
)  # fmt: skip
def test_cse_keeps_literals_apart_that_only_compare_equal(a, b):
    hand = Hand(x=np.array([1.0, 2.0], np.float32))
    for literal in (a, b):
        hand.call(np.multiply, hand["x"], literal)
    assert left(merge_common(hand.done(*list(hand.tape.ops)[1:]))) == ["multiply"] * 2


def test_cse_merges_equal_literals_nan_and_keywords_in_any_order():
    hand = Hand(x=X)
    x = hand["x"]
    vars_ = [hand.call(np.add, x, float("nan")) for _ in range(2)]
    vars_ += [
        hand.call(np.sum, x, axis=0, keepdims=True),
        hand.call(np.sum, x, keepdims=True, axis=0),
    ]
    vars_ += [hand.call(getitem, x, (slice(None, 1), None)) for _ in range(2)]
    assert left(merge_common(hand.done(*vars_))) == ["add", "sum", "getitem"]


def test_cse_merges_constants_with_the_same_bits_and_layout_only():
    hand = Hand(x=X)
    ordered = [[1.0, 2.0], [3.0, 4.0]]
    arrays = [
        *(np.eye(2), np.eye(2), np.asfortranarray(ordered), np.array(ordered), np.array([0.0])),
        *(np.array([-0.0]), np.array([np.nan]), np.array([np.nan]), np.eye(2, dtype=int)),
    ]
    new = merge_common(hand.done(*[hand.constant(a) for a in arrays]))
    assert [v.id for v, op in new if isinstance(op, Constant)] == [2, 4, 5, 6, 7, 8, 10]


def test_cse_and_dce_leave_impure_calls_alone():
    drawn = iter(range(100))

    @yota.primitive
    def draw(x):
        return x + next(drawn)

    draw.__yota_impure__ = True
    hand = Hand(x=1.0)
    hand.call(draw, hand["x"])
    hand.call(draw, hand["x"])
    hand.call(np.random.default_rng(0).normal, hand["x"])
    last = hand.call(np.exp, hand["x"])
    assert left(optimised(hand.done(last))) == ["draw", "draw", "normal", "exp"]


def test_cse_merges_pure_primitives_and_follows_merged_operands():
    @yota.primitive
    def twice(x):
        return x * 2.0

    hand = Hand(x=1.0)
    a, b = (hand.call(np.sin, hand.call(twice, hand["x"])) for _ in range(2))
    assert left(merge_common(hand.done(a, b))) == ["twice", "sin"]


# Folding


def test_fold_computes_constants_through_chains_and_dce_drops_the_operands():
    hand = Hand(x=X)
    c = hand.constant(np.arange(3.0))
    d = hand.call(np.multiply, hand.call(np.add, c, 1.0), 2.0)
    new = optimised(hand.done(hand.call(np.add, hand["x"], d)))
    assert left(new) == ["add"]
    assert [op.value.tolist() for _, op in new if isinstance(op, Constant)] == [[2.0, 4.0, 6.0]]
    assert new.where(d).kind == "changed"
    assert new.where(d).why == "computed once: all operands are constant"


@pytest.mark.parametrize(
    ("fn", "value"),
    [
        (np.log, -1.0),
        (np.log, 0.0),
        (np.exp, 1000.0),
        (np.exp, -1000.0),
        (np.sqrt, np.array([-1.0])),
    ],
)
def test_fold_leaves_what_warns(fn, value):
    hand = Hand(x=1.0)
    with np.errstate(all="ignore"):
        found = hand.call(fn, hand.constant(value))
    assert left(fold_constants(hand.done(found))) == [fn.__name__]


def test_fold_leaves_what_raises():
    hand = Hand(x=1.0)
    spec = hand.tape[1].spec
    bad = hand.tape.push(Call(spec=spec, fn=operator.truediv, args=(hand.constant(1.0), 0.0)))
    assert left(fold_constants(hand.done(bad))) == ["truediv"]


def test_fold_leaves_big_results_and_users_functions():
    ran = []

    @yota.primitive
    def noisy(x):
        ran.append(x)
        return x

    hand = Hand(x=1.0)
    found = [
        hand.call(np.broadcast_to, hand.constant(np.ones(1)), (1000, 1000)),
        hand.call(noisy, hand.constant(1.0)),
    ]
    assert left(fold_constants(hand.done(*found))) == ["broadcast_to", "noisy"]
    assert len(ran) == 1


# Algebra

SAME = [
    (np.multiply, 1.0), (np.multiply, 1), (np.divide, 1.0), (np.subtract, 0.0), (np.subtract, 0),
    (np.add, -0.0), (np.positive,), (np.reshape, (2, 3)), (np.broadcast_to, (2, 3)), (np.copy,),
    (np.conjugate,), (np.real,), (identity,), (cast, np.dtype(float)),
    (getitem, (slice(None), Ellipsis)),
]  # fmt: skip


@pytest.mark.parametrize("call", SAME)
def test_algebra_merges_what_keeps_every_bit(call):
    hand = Hand(x=X)
    y = hand.call(call[0], hand["x"], *call[1:])
    new = simplify(hand.done(y))
    assert left(new) == []
    assert "changes no bit" in new.where(y).why
    assert bits(new.play(X)) == bits(hand.tape.play(X))


OTHER = [
    (np.add, 0.0), (np.add, 0), (np.subtract, -0.0), (np.multiply, np.ones((1, 2, 3))),
    (np.multiply, -1.0), (np.sum, ()), (np.abs,), (np.transpose,), (np.reshape, (3, 2)),
    (getitem, slice(None, None, -1)), (np.copy, "F"), (cast, np.dtype("f4")),
]  # fmt: skip


@pytest.mark.parametrize("call", OTHER)
def test_algebra_leaves_what_changes_a_bit_a_type_or_the_layout(call):
    hand = Hand(x=X)
    y = hand.call(call[0], hand["x"], *call[1:])
    assert left(simplify(hand.done(y))) == [call[0].__name__]


@pytest.mark.parametrize(
    ("x", "fn", "literal"),
    [(2, operator.mul, 1.0), (0.5, np.multiply, 1.0), (np.array(0.5), np.multiply, 1.0),
     (np.ones(2, "f4"), np.multiply, np.float64(1.0)), (np.array([1 - 0j]), np.multiply, 1.0),
     (np.ones(2, bool), np.multiply, 1), (X[:, ::2], np.multiply, 1.0), (True, operator.add, 0),
     (X.T[::2], np.copy, "K")],
)  # fmt: skip
def test_algebra_leaves_what_changes_dtype_kind_or_strides(x, fn, literal):
    hand = Hand(x=x)
    y = hand.call(fn, hand["x"], literal)
    assert len(left(simplify(hand.done(y)))) == 1


def test_algebra_takes_ones_from_either_side_and_from_constants():
    hand = Hand(x=X)
    y = hand.call(np.multiply, 1.0, hand["x"])
    z = hand.call(np.multiply, hand.constant(np.ones((1, 3))), y)
    w = hand.call(np.multiply, z, hand.constant(np.float64(1.0)))
    assert left(simplify(hand.done(w))) == []


def test_algebra_undoes_pairs_and_merges_what_becomes_equal():
    hand = Hand(x=X)
    x = hand["x"]
    back = hand.call(np.transpose, hand.call(np.transpose, x, (1, 0)), (1, 0))
    plain = hand.call(np.negative, hand.call(np.negative, back))
    a, b = hand.call(np.exp, x), hand.call(np.exp, plain)
    new = simplify(hand.done(a, b))
    assert left(new).count("exp") == 1
    assert new.where(back).why == f"transposed back: %2 is {'transpose(%1, (1, 0))'}"
    assert new.survivor(b) == a


def test_algebra_undoes_python_and_integer_arithmetic():
    hand = Hand(x=0.5, n=np.arange(3))
    y = hand.call(operator.pow, hand.call(operator.neg, hand.call(operator.neg, hand["x"])), 1)
    m = hand.call(np.sum, hand.call(np.add, hand.call(np.power, hand["n"], 1), 0), axis=())
    assert left(drop_dead(simplify(hand.done(y, m)))) == []


@given(hnp.arrays(np.float64, 3, elements=st.floats(width=64)), st.sampled_from(SAME[:7]))
def test_algebra_keeps_bits_of_any_float(x, call):
    with np.errstate(all="ignore"):
        hand = Hand(x=x)
        tape = hand.done(hand.call(call[0], hand["x"], *call[1:]))
        assert bits(optimised(tape).play(x)) == bits(tape.play(x))


# Dead code


def test_dce_keeps_results_gradients_guards_and_inputs():
    hand = Hand(x=0.5, unused=1.0)
    test = hand.call(np.greater, hand.call(np.sin, hand["x"]), 0.0)
    hand.guard(test)
    hand.call(np.cos, hand.call(np.tan, hand["x"]))
    tape = drop_dead(hand.done(hand.call(np.exp, hand["x"])))
    assert left(tape) == ["sin", "greater", "exp"]
    assert len(tape.inputs) == 2
    with pytest.raises(yota.GuardError):
        tape.play(-0.5, 1.0)


def test_guards_follow_merged_values():
    hand = Hand(x=0.5)
    hand.call(np.greater, hand["x"], 0.0)
    test = hand.call(np.greater, hand["x"], 0.0)
    hand.guard(test)
    tape = optimised(hand.done(hand["x"]))
    assert [g.var.id for g in tape.guards] == [2]
    with pytest.raises(yota.GuardError):
        tape.play(-0.5)


def test_where_follows_a_merged_op_that_is_dropped_later():
    hand = Hand(x=0.5)
    a, b = hand.call(np.sin, hand["x"]), hand.call(np.sin, hand["x"])
    tape = optimised(hand.done(hand.call(np.cos, hand["x"])))
    assert tape.where(b).kind == "dropped"
    assert tape.where(b).why == f"same function and operands as {a}; not needed by any result"
    assert tape.survivor(b) is None
