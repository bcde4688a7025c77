"""A squared gradient norm in half precision: facebookresearch/fairscale#263."""

import numpy as np

import yota


def f(g):
    return np.sqrt(np.sum(g * g))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([5000.0, 3.0], np.float16))
