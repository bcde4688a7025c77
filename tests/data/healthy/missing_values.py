"""NaN in the data, which np.nanmean leaves out."""

import numpy as np

import yota

data = np.array([1.0, np.nan, 3.0, 5.0])


def f(scale):
    return np.nanmean((scale * data - 2.0) ** 2)


yota.grad(f, 0.7)
