"""A quotient whose second derivative is taken at 0: pytorch/pytorch#43405."""

import numpy as np

import yota


def f(v):
    return v[0] / v[1]


with np.errstate(all="ignore"):
    yota.hvp(f)(np.array([0.4, 0.0]), np.array([1.0, 1.0]))
