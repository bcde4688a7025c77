"""The norm of an empty row, replaced by one: jax-ml/jax#347."""

import numpy as np

import yota


def f(x):
    length = np.sqrt(np.sum(x**2, axis=1))
    return np.sum(np.where(length > 0.5, length, 1.0))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]))
