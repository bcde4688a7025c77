"""A product with a Hessian."""

import numpy as np

import yota


def f(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum((1.0 - x) ** 2)


yota.hvp(f)(np.array([1.2, 0.8, 1.1]), np.ones(3))
