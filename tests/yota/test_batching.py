"""Jacobians that run their rows together: equal to those that run them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import yota
from tests.programs import RandomProgram, programs
from tests.zoo import SMOOTH
from yota import batching, jacobians
from yota.structs import flatten, is_float

RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((2, 4, 4))
V = RNG.standard_normal(4)
SPD = A @ A.T + 4 * np.eye(4)


def assert_rows_agree(monkeypatch, f, *args):
    argnums = tuple(k for k, a in enumerate(args) if flatten(a, leaf=is_float)[0])
    together = flatten(yota.jacobian(f, argnums)(*args))[0]
    with monkeypatch.context() as patch:
        patch.setattr(jacobians, "pull_together", lambda *_: None)
        yota.reset()
        alone = flatten(yota.jacobian(f, argnums)(*args))[0]
    for a, b in zip(together, alone, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("f", "args"), [s[1:] for s in SMOOTH], ids=[s[0] for s in SMOOTH])
def test_rows_together_are_rows_one_by_one(f, args, monkeypatch):
    def gradients(*args):
        return list(map(np.real, flatten(yota.grad(f, *args)[1][:])[0]))

    assert_rows_agree(monkeypatch, gradients, *args)


@given(programs)
@settings(max_examples=25)
def test_hessians_of_random_programs_agree(program: RandomProgram):
    # the gradient of a real function of a complex argument is not holomorphic
    assume(not any(map(np.iscomplexobj, flatten(program.args)[0])))

    def gradients(*args):
        return yota.value_and_grad(program, tuple(range(len(args))))(*args)[1]

    with pytest.MonkeyPatch.context() as patch:
        try:
            assert_rows_agree(patch, gradients, *program.args)
        except yota.RuleError as error:  # some slopes have none of their own
            if "no derivative of" not in str(error):
                raise


def test_rows_whose_shapes_depend_on_the_cotangent_run_one_by_one(monkeypatch):
    def f(u, v):
        # the remainder within the rule loses its leading zeros
        return yota.grad(lambda u, v: np.sum(np.sin(np.polydiv(u, v)[1])), u, v)[1][0]

    assert_rows_agree(monkeypatch, f, np.array([0.4, -0.7, 1.2, 0.9]), np.array([2.5, 0.3, -0.4]))


IN_ONE_GO = {
    "matrix times vector": lambda a, v: np.tanh(a @ v),
    "vector times matrix": lambda a, v: np.tanh(v @ a),
    "matrix times matrix": lambda a, v: np.tanh(a @ a),
    "dot": lambda a, v: a.dot(v) * np.dot(v, v),
    "outer": lambda a, v: np.outer(np.sin(v), v),
    "einsum": lambda a, v: np.einsum("ij,jk,k->ik", a, np.sin(a), v),
    "solve": lambda a, v: np.linalg.solve(SPD, np.sin(v)),
    "solve, many": lambda a, v: np.linalg.solve(SPD, np.sin(a)),
    "indexing": lambda a, v: a[1:, ::-2] * v[[0, 2]] + v[0],
    "shapes": lambda a, v: np.swapaxes(np.expand_dims(a.T, 0).reshape(2, 2, 4), 0, 1) * v,
    "reductions": lambda a, v: np.mean(a * v, axis=0, keepdims=True) + np.sum(v * v),
    "selection": lambda a, v: np.where(a > 0, np.sin(a), v) + np.maximum(a, v),
    "scans": lambda a, v: np.cumsum(np.sin(a), axis=1) + np.flip(v, 0),
    "triangles": lambda a, v: np.tril(a) @ np.triu(a, 1) * v,
    "float32": lambda a, v: np.sin(a.astype("f4")) @ v.astype("f4"),
    "complex": lambda a, v: np.exp(1j * a) @ v,
    "python floats": lambda a, v: 2.0 * np.sum(v) ** 2 / (1.0 + v[0]),
}


@pytest.mark.parametrize("f", IN_ONE_GO.values(), ids=IN_ONE_GO)
def test_usual_functions_need_no_loop_over_rows(f, monkeypatch):
    assert_rows_agree(monkeypatch, f, A, V)
    monkeypatch.setattr(batching, "_looped", None)
    yota.jacobian(f, (0, 1))(A, V)


def test_a_batch_is_cut_where_it_would_take_too_much_memory(monkeypatch):
    whole = yota.jacobian(lambda a: np.tanh(a @ a))(A)
    monkeypatch.setattr(batching, "ROOM", 3_000)
    np.testing.assert_allclose(yota.jacobian(lambda a: np.tanh(a @ a))(A), whole, rtol=1e-12)


def test_a_rule_that_reads_a_cotangent_runs_row_by_row():
    step = yota.primitive(lambda x: x * 2.0)
    yota.defvjp(step, lambda dy, y, x: dy * 2.0 if dy[0] > 0 else dy * 3.0)
    assert yota.jacobian(lambda x: step(x))(V[:2]).tolist() == [[2.0, 0.0], [0.0, 3.0]]
