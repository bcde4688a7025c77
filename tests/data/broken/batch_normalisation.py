"""Division by the deviation of a constant feature: keras-team/keras#2960."""

import numpy as np

import yota


def f(x):
    mean, std = np.mean(x, axis=0), np.std(x, axis=0)
    return np.sum(((x - mean) / std) ** 3)


with np.errstate(all="ignore"):
    yota.grad(f, np.array([[1.0, 2.0], [4.0, 2.0], [2.5, 2.0]]))
