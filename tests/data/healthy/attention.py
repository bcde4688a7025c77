"""Attention with a causal mask."""

import numpy as np

import yota

rng = np.random.default_rng(4)
x = rng.standard_normal((5, 4))
mask = np.tril(np.ones((5, 5), bool))


def f(wq, wk):
    scores = np.einsum("ij,kj->ik", x @ wq, x @ wk) / 2.0
    scores = np.where(mask, scores, -1e9)
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True) @ x) ** 2)


yota.grad(f, rng.standard_normal((4, 4)), rng.standard_normal((4, 4)))
