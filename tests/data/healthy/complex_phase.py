"""A real loss of complex numbers."""

import numpy as np

import yota


def f(z):
    return np.sum(np.abs(z * np.exp(1j * 0.3) - 1.0) ** 2)


yota.grad(f, np.array([1.0 + 2.0j, -0.5j]))
