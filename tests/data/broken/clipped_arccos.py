"""arccos of what was clipped to [-1, 1]: jax-ml/jax#23649, pytorch/pytorch#8069."""

import numpy as np

import yota


def f(a, b):
    return np.sum(np.arccos(np.clip(np.sum(a * b, axis=1), -1.0, 1.0)))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([[0.8, 0.6], [1.0, 0.0]]))
