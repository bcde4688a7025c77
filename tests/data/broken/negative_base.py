"""The derivative by the exponent of a negative base: karpathy/micrograd#41."""

import numpy as np

import yota


def f(a, b):
    return np.sum(np.power(a, b))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([2.0, -2.0]), np.array([3.0, -3.0]))
