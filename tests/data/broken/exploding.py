"""NaN long after the numbers grew: tensorflow/tensorflow#49257."""

import numpy as np

import yota


def f(w):
    h = w
    for _ in range(12):
        h = h * h * 3.0 - h
    return np.sum(h - 2.0 * h)


with np.errstate(all="ignore"):
    yota.grad(f, np.array([0.1, 5.0]))
