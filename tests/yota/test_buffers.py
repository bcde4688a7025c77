from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES
from tests.yota.tapes import Hand, long_tape
from tests.zoo import SMOOTH
from yota import buffers
from yota.aliasing import WRITERS
from yota.passes import optimised
from yota.tape import Call, spec_of

X = np.ones((3, 4))


def slots(plan):
    return {v.id: k for v, k in plan.slot.items()}


def chain(count=4):
    """Return x -> sin -> ... -> sum."""
    hand = Hand(x=X)
    var = hand["x"]
    for _ in range(count):
        var = hand.call(np.sin, var)
    return hand.done(hand.call(np.sum, var))


def test_lean_computes_an_elementwise_chain_in_one_buffer():
    plan = buffers.plan(chain(), "lean")
    assert slots(plan) == {2: 0, 3: 0, 4: 0, 5: 0}
    assert [b.name for b in plan.buffers] == ["B0"]
    assert plan.nbytes == X.nbytes
    assert plan.unshared_nbytes == 4 * X.nbytes + 8


def test_bound_gives_each_op_its_own_buffer():
    assert slots(buffers.plan(chain(), "bound")) == {2: 0, 3: 1, 4: 2, 5: 3}


def test_plan_refuses_an_unknown_form():
    with pytest.raises(ValueError, match="bound and lean"):
        buffers.plan(chain(), "fat")


def test_a_product_is_not_computed_into_its_own_operand():
    hand = Hand(x=np.ones((3, 3)))
    a = hand.call(np.sin, hand["x"])
    b = hand.call(np.matmul, a, a)
    c = hand.call(np.matmul, b, b)
    tape = hand.done(hand.call(np.sum, c))
    plan = buffers.plan(tape)
    assert plan.slot[a] != plan.slot[b] != plan.slot[c]
    assert plan.slot[c] == plan.slot[a]


@pytest.mark.parametrize(
    ("view", "args"),
    [(np.transpose, ()), (np.reshape, ((4, 3),)), (np.swapaxes, (0, 1)),
     (np.broadcast_to, ((2, 3, 4),)), (np.diagonal, ()), (np.squeeze, ()), (np.expand_dims, (0,))],
)  # fmt: skip
def test_a_view_keeps_the_memory_behind_it_alive(view, args):
    hand = Hand(x=X)
    a = hand.call(np.sin, hand["x"])
    v = hand.call(view, a, *args)
    b = hand.call(np.cos, hand["x"])
    end = hand.call(np.add, hand.call(np.sum, v), hand.call(np.sum, b))
    plan = buffers.plan(hand.done(end))
    assert plan.slot[a] != plan.slot[b]
    assert plan.last_use[a] > b


def test_an_unknown_function_may_return_its_operand():
    @yota.primitive
    def same(x):
        return x

    hand = Hand(x=X)
    a = hand.call(np.sin, hand["x"])
    y = hand.call(same, a)
    b = hand.call(np.cos, hand["x"])
    plan = buffers.plan(hand.done(hand.call(np.vdot, y, b)))
    assert plan.slot[a] != plan.slot[b]


def test_lean_computes_what_is_handed_out_into_no_buffer():
    hand = Hand(x=X)
    a = hand.call(np.sin, hand["x"])
    b = hand.call(np.cos, a)
    tape = hand.done(b, hand.call(np.transpose, a))
    plan = buffers.plan(tape, "lean")
    assert slots(plan) == {2: 0}
    assert plan.last_use[a] == list(tape.ops)[-1]
    assert slots(buffers.plan(tape, "bound")) == {2: 0, 3: 1}


def test_a_dead_op_at_the_end_does_not_overwrite_a_result():
    hand = Hand(x=np.ones((3, 3)))
    a = hand.call(np.sin, hand["x"])
    view = hand.call(np.transpose, a)
    hand.call(np.cos, a)
    tape = hand.done(view)
    assert buffers.plan(tape).slot[a] != buffers.plan(tape).slot[list(tape.ops)[-1]]


@pytest.mark.parametrize(
    ("x", "fn"),
    [(X[:, ::2], np.sin), (np.ones((2, 3, 4)).transpose(1, 2, 0), np.sin),
     (np.float64(1.0), np.sin), (np.array(1.0), np.sin),
     (np.ones((0, 2)), np.sin), (np.ones(3, ">f8"), np.positive),
     (np.ones((2, 2), np.float16), np.mean), (np.eye(2), np.linalg.inv)],
)  # fmt: skip
def test_values_that_gain_nothing_or_lose_bits_get_no_buffer(x, fn):
    hand = Hand(x=x)
    y = hand.call(fn, hand["x"])
    spec = hand.tape[y].spec
    hand.done(hand.call(np.sum, y))
    expected = spec.kind == "array" and spec.order == "C" and spec.shape and 0 not in spec.shape
    if fn in (np.mean, np.linalg.inv) or not expected:
        assert buffers.plan(hand.tape).slot.get(y) is None


def test_a_buffer_has_the_layout_that_was_recorded():
    hand = Hand(x=np.asfortranarray(X))
    hand.done(hand.call(np.sum, hand.call(np.sin, hand["x"])))
    (buffer,) = buffers.plan(hand.tape).buffers
    assert buffer.order == "F"
    assert buffer.allocate().flags.f_contiguous


def test_occupants_and_holds_follow_the_ops():
    tape = chain(3)
    plan = buffers.plan(tape)
    ops = list(tape.ops)
    assert plan.occupants(0) == [(ops[1], ops[2]), (ops[2], ops[3]), (ops[3], ops[4])]
    assert [plan.holds(v) for v in ops] == [{}, {0: ops[1]}, {0: ops[2]}, {0: ops[3]}, {0: ops[3]}]


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_no_two_values_share_a_buffer_while_both_are_needed(name, f, args):
    tape = optimised(yota.gradtape(f, *args))
    plan = buffers.plan(tape, "lean")
    order = {v: k for k, v in enumerate(tape.ops)}
    for k, buffer in enumerate(plan.buffers):
        occupants = plan.occupants(k)
        for (_, end), (start, _) in pairwise(occupants):
            assert order[end] <= order[start]
            if order[end] == order[start]:
                assert buffers.is_elementwise(tape[start]) or tape[start].fn in WRITERS
        for var, _ in occupants:
            spec = tape[var].spec
            assert (spec.dtype, spec.nbytes) == (buffer.dtype, buffer.nbytes)
            assert var not in tape.outputs
    assert plan.nbytes <= plan.unshared_nbytes


@pytest.mark.parametrize("s", SAMPLES, ids=lambda s: s.name)
def test_functions_taken_as_fresh_share_no_memory_with_operands(s):
    result = s.fn(*s.args, **s.kwargs)
    op = Call(spec=spec_of(result), fn=s.fn, args=s.args, kwargs=tuple(s.kwargs.items()))
    shares = any(
        np.may_share_memory(r, a) for r in arrays(result) for a in arrays((s.args, s.kwargs))
    )
    assert not (shares and buffers.is_fresh(op))


def arrays(tree):
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, tuple | list):
        for t in tree:
            yield from arrays(t)
    elif isinstance(tree, dict):
        yield from arrays(list(tree.values()))


def test_plan_takes_long_tapes():
    tape = long_tape(20_000)
    plan = buffers.plan(tape)
    assert len(plan.buffers) == 1
    assert len(plan.slot) == sum(isinstance(op, Call) for _, op in tape) - 1
