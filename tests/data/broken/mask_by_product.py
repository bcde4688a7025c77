"""A mask that multiplies: pytorch/pytorch#31829."""

import numpy as np

import yota

MASK = np.array([1.0, 0.0, 1.0])


def f(x):
    return np.sum(MASK * np.log(x))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([1.0, 0.0, 2.0]))
