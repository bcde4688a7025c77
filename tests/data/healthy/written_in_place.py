"""A recurrence that is written into an array."""

import numpy as np

import yota


def f(x):
    y = x * 1.0
    for k in range(1, 6):
        y[k] = 0.5 * y[k - 1] + y[k]
    return np.sum(y**2)


yota.grad(f, np.arange(6.0))
