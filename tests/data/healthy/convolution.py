"""A convolution of shifted slices."""

import numpy as np

import yota

signal = np.sin(np.arange(30.0))


def f(kernel):
    out = sum(kernel[k] * signal[k : k + 26] for k in range(5))
    return np.sum(out**2)


yota.grad(f, np.ones(5) / 5.0)
