"""The logarithm of a sigmoid written out: jax-ml/jax#13398 in another dress."""

import numpy as np

import yota


def f(x):
    return -np.sum(np.log(1.0 / (1.0 + np.exp(-x))))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([2.0, -800.0]))
