"""np.std of equal numbers has a slope of 0."""

import numpy as np

import yota


def f(x):
    return np.std(x) + np.mean(x)


yota.grad(f, np.ones(4))
