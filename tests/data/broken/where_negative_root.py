"""A root of a negative number in the branch that is not taken: HIPS/autograd#802."""

import numpy as np

import yota


def f(x):
    return np.sum(np.where(x >= 0.0, x, np.sqrt(-x)))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([1.0, -4.0]))
