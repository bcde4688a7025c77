"""Units that are off, and one that stands at its edge."""

import numpy as np

import yota

rng = np.random.default_rng(3)
w = rng.standard_normal((5, 5))


def f(x):
    return np.sum(np.maximum(w @ np.maximum(w @ x, 0.0), 0.0))


yota.grad(f, np.array([0.0, 0.0, 0.0, 0.0, 0.0]))
yota.grad(f, rng.standard_normal(5))
