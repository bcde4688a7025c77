"""The norm of a zero vector: pytorch/pytorch#2421."""

import numpy as np

import yota


def f(x):
    return np.sqrt(np.sum(x**2))


with np.errstate(all="ignore"):
    yota.grad(f, np.zeros(3))
