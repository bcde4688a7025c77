"""An epsilon that half precision rounds to 0: lightonai/pylate#239."""

import numpy as np

import yota


def f(scores):
    low, high = np.min(scores), np.max(scores)
    return np.sum((scores - low) / (high - low + np.float16(1e-8)))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([2.0, 2.0, 2.0], np.float16))
