"""The siblings of grad: value_and_grad, vjp, jacobian, hessian, hvp and the tapes."""

from __future__ import annotations

import numpy as np
import pytest

import yota

X = np.array([1.0, 2.0, 3.0])


def quadratic(x):
    return np.sum(x * x[::-1])


def test_value_and_grad_follows_its_argnums():
    f = lambda a, b: a * b
    assert yota.value_and_grad(f)(2.0, 3.0) == (6.0, 3.0)
    assert yota.value_and_grad(f, (1, 0))(2.0, 3.0) == (6.0, (2.0, 3.0))


def test_vjp_takes_any_structure():
    y, pullback = yota.vjp(lambda x, s: {"a": x * s, "b": (np.sum(x), 3)}, X, 2.0)
    assert y["b"] == (6.0, 3)
    gx, gs = pullback({"a": np.ones(3), "b": (10.0, None)})
    assert gx.tolist() == [12.0, 12.0, 12.0]
    assert gs == 6.0
    with pytest.raises(ValueError, match="structure"):
        pullback(np.ones(3))


def test_vjp_inside_a_trace_is_differentiable():
    def f(x):
        y, pullback = yota.vjp(lambda t: t**3, x)
        return y + pullback(2.0)[0]

    yota.check_grads(f, 1.5)


def test_jacobian_has_the_outputs_shape_then_the_leafs():
    f = lambda a, b: np.outer(a, b)
    ja, jb = yota.jacobian(f, (0, 1))(X, X[:2])
    assert ja.shape == (3, 2, 3)
    assert jb.shape == (3, 2, 2)
    assert yota.jacobian(lambda p: p["a"] * p["b"])({"a": X, "b": 2.0})["b"].tolist() == [1, 2, 3]
    assert yota.jacobian(lambda x: x * x)(3.0) == 6.0


def test_jacobians_of_structures_nest():
    j = yota.jacobian(lambda p: {"y": p["a"] * p["b"], "z": (np.sum(p["a"]), 3)})(
        {"a": X, "b": 2.0}
    )
    assert j["y"]["a"].tolist() == (2 * np.eye(3)).tolist()
    assert j["z"][0]["a"].tolist() == [1.0, 1.0, 1.0]
    assert j["z"][1] == 3
    blocks = yota.hessian(lambda p: np.sum(p["a"] ** 2 * p["b"]))({"a": X, "b": 2.0})
    assert blocks["a"]["b"].tolist() == [2.0, 4.0, 6.0]
    assert blocks["b"]["b"] == 0.0
    assert yota.jacobian(lambda x: x[:0])(X).shape == (0, 3)


def test_hessian_and_hvp_agree():
    f = lambda x: np.sum(x**3 * x[::-1])
    h = yota.hessian(f)(X)
    v = np.array([1.0, -1.0, 0.5])
    assert np.allclose(h, h.T)
    assert np.allclose(yota.hvp(f)(X, v), h @ v)
    with pytest.raises(ValueError, match="direction"):
        yota.hvp(f)(X, v[:2])


def test_hvp_of_another_direction_builds_no_new_program():
    product = yota.hvp(lambda a, b: np.sum(a * a * b), (0, 1))
    (pa, pb), misses = product(X, X, (X, X.copy())), yota.cache_info().misses
    np.testing.assert_allclose([pa, pb], [4 * X * X, 2 * X * X])
    np.testing.assert_allclose(product(X, X, (2 * X, X))[1], 4 * X * X)
    assert yota.cache_info().misses == misses


def test_hessian_of_two_arguments_is_in_blocks():
    (aa, ab), (ba, bb) = yota.hessian(lambda a, b: a * a * b, (0, 1))(2.0, 3.0)
    assert (aa, ab, ba, bb) == (6.0, 4.0, 4.0, 0.0)


def test_tapes_inside_a_trace_are_refused():
    with pytest.raises(yota.TraceError, match=r"yota\.grad"):
        yota.grad(lambda x: yota.gradtape(lambda y: y, x).play(1.0), 1.0)
    with pytest.raises(yota.TraceError, match="outer"):
        yota.grad(lambda x: yota.grad(lambda y: y * y, x)[1].tape, 1.0)


def test_jacobians_of_complex_outputs_are_complex_or_refused():
    x = np.array([0.3, 0.5])
    assert np.allclose(yota.jacobian(lambda x: np.exp(1j * x))(x), np.diag(1j * np.exp(1j * x)))
    assert yota.jacobian(lambda z: z * z)(0.3 + 1j) == pytest.approx(0.6 + 2j)
    with pytest.raises(TypeError, match="holomorphic"):
        yota.jacobian(np.conj)(np.array([0.3 + 1j]))
