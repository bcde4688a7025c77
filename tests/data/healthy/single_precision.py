"""A regression in float32."""

import numpy as np

import yota

rng = np.random.default_rng(2)
A = rng.standard_normal((16, 4)).astype(np.float32)
b = rng.standard_normal(16).astype(np.float32)


def loss(w):
    r = A @ w - b
    return np.mean(r * r)


yota.grad(loss, np.zeros(4, np.float32))
