"""Powers at 0 that have a slope there."""

import numpy as np

import yota


def f(x):
    return np.sum(x**2) + np.sum(x**3) + np.sum(x**1.5) + np.sum(np.cosh(x))


yota.grad(f, np.array([0.0, 1.0, 2.0]))
