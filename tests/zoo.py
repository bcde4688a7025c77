"""Sample functions with inputs, which every property test runs through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

rng = np.random.default_rng(42)
X = rng.standard_normal((8, 3))
Y = (rng.random((8, 1)) < 0.5).astype(float)
SPD = (lambda a: a @ a.T + 3 * np.eye(4))(rng.standard_normal((4, 4)))
V = rng.standard_normal(5)
M = rng.standard_normal((3, 4))
IDX = np.array([0, 2, 2, 1])


@dataclass(frozen=True)
class Layer:
    w: Any
    b: Any
    name: str = "layer"


class Model:
    def __init__(self, first: Any, scale: float) -> None:
        self.first, self.scale = first, scale

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.first.w + self.first.b) * self.scale


class Pair(NamedTuple):
    a: Any
    b: Any


def exp(x: Any) -> Any:
    return np.exp(x)


def polynomial(x: Any) -> Any:
    return 3.0 * x**3 - x * x + 2.0 / x - 1


def scalar_mix(x: Any) -> Any:
    return np.sin(np.exp(x)) * x + x**3


def mlp(w1: Any, b1: Any, w2: Any) -> Any:
    h = np.tanh(X @ w1 + b1)
    p = 1 / (1 + np.exp(-(h @ w2)))
    return -np.mean(Y * np.log(p) + (1 - Y) * np.log(1 - p))


def gaussian_process(theta: Any) -> Any:
    scale, length = theta
    d = (V[:, None] - V[None, :]) / np.exp(length)
    k = np.exp(scale) * np.exp(-0.5 * d**2) + 0.5 * np.eye(5)
    low = np.linalg.cholesky(k)
    alpha = np.linalg.solve(low.T, np.linalg.solve(low, V))
    return 0.5 * V @ alpha + np.sum(np.log(np.diag(low)))


def recurrent(w: Any, u: Any) -> Any:
    h = np.zeros(3)
    for x in X:
        h = np.tanh(w @ h + u @ x)
    return np.mean((h - 0.3) ** 2)


def masked_sqrt(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(np.abs(x) + 0.1), x * 2) ** 2)


def branches(x: Any) -> Any:
    if np.sum(x) > 0:
        return np.sum(x * x)
    return np.sum(np.sin(x))


def in_place(x: Any) -> Any:
    y = x * 2.0
    y[0] = y[1] * y[2]
    y[1:3] += x[3]
    row = y[::2]
    row *= 3.0
    return np.sum(y * y)


def indexing(x: Any) -> Any:
    a = x[IDX] * np.arange(4.0)[:, None]
    b = x[::-1, 1:] + x[..., :3]
    return np.sum(np.exp(a * 0.1)) + np.sum(b * b) + np.sum(x[x > 0.2] ** 2)


def reductions(x: Any) -> Any:
    a = np.mean(x, axis=0) * np.max(x, axis=0)
    b = np.std(x, axis=1, keepdims=True) + np.var(x, axis=1, ddof=1, keepdims=True)
    return np.sum(a) + np.sum(b * x) + np.prod(x[0]) + np.linalg.norm(x)


def shapes(x: Any) -> Any:
    a = np.transpose(x).reshape(2, 6)
    b = np.concatenate([a, a[:1] * 2.0], axis=0)
    c = np.stack([b.ravel(), np.flip(b).ravel()], axis=1)
    return np.sum(np.tanh(c) * np.arange(36.0).reshape(18, 2))


def products(a: Any, b: Any) -> Any:
    c = np.einsum("ij,jk->ik", a, b)
    return (
        np.sum(c * np.outer(a[:, 0], b[0])) + np.sum(np.tensordot(a, b, 1)) + np.dot(a[0], b[:, 1])
    )


def solve(a: Any, b: Any) -> Any:
    _, logdet = np.linalg.slogdet(a)
    return np.sum(np.linalg.solve(a, b) ** 2) + logdet + np.trace(np.linalg.inv(a))


def containers(params: Any) -> Any:
    return np.sum(params["w"] * params["pair"].a) * params["rest"][0] + params["pair"].b


def objects(model: Any) -> Any:
    return np.mean(model(X) ** 2)


def weak_scalars(x: Any, s: Any) -> Any:
    return np.sum(x * (s * 2.0 + 1.0)) / (s - 0.25)


def sorting(x: Any) -> Any:
    return np.sum(np.sort(x) * np.arange(5.0)) + np.cumsum(x)[3] ** 2 + np.max(x) - np.median(x)


def inner_gradient(x: Any) -> Any:
    import yota

    return np.sum(yota.grad(lambda y: np.sum(np.sin(y) * x), x)[1][0] ** 2)


SMOOTH: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("exp", exp, (0.5,)),
    ("polynomial", polynomial, (1.3,)),
    ("polynomial_of_array", lambda x: np.sum(polynomial(x)), (np.array([0.5, 1.5, -2.0]),)),
    ("scalar_mix", scalar_mix, (0.7,)),
    ("mlp", mlp, (rng.standard_normal((3, 4)), np.zeros(4), rng.standard_normal((4, 1)))),
    ("gaussian_process", gaussian_process, (np.array([0.1, 0.3]),)),
    ("recurrent", recurrent, (0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3)))),
    ("masked_sqrt", masked_sqrt, (V,)),
    ("branches", branches, (V,)),
    ("in_place", in_place, (V,)),
    ("indexing", indexing, (rng.standard_normal((3, 4)),)),
    ("reductions", reductions, (rng.standard_normal((4, 3)) + 2.0,)),
    ("shapes", shapes, (M,)),
    ("products", products, (M, rng.standard_normal((4, 2)) @ np.ones((2, 3)))),
    ("solve", solve, (SPD, rng.standard_normal((4, 2)))),
    (
        "containers",
        containers,
        ({"w": V, "pair": Pair(V[::-1].copy(), 0.5), "rest": [2.0, "text", None, 3]},),
    ),
    ("objects", objects, (Model(Layer(rng.standard_normal((3, 2)), np.zeros(2)), 1.5),)),
    ("weak_scalars", weak_scalars, (V, 0.75)),
    ("sorting", sorting, (V,)),
    ("inner_gradient", inner_gradient, (V,)),
    ("fortran_order", lambda x: np.sum(np.exp(x.T) * x.T), (np.asfortranarray(M),)),
    ("float32", lambda x: np.sum(np.tanh(x) * x, dtype=np.float64), (V.astype(np.float32),)),
    ("complex", lambda z: np.real(np.sum(np.exp(z) * np.conj(z))), (V + 1j * V[::-1],)),
]
