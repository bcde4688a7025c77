"""The deviation of equal numbers: pytorch/pytorch#4320, jax-ml/jax#11716."""

import numpy as np

import yota


def f(x):
    centred = x - np.mean(x)
    return np.sqrt(np.mean(centred * centred))


with np.errstate(all="ignore"):
    yota.grad(f, np.ones(4))
