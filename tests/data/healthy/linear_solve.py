"""A determinant and an inverse."""

import numpy as np

import yota

rng = np.random.default_rng(5)


def f(a):
    return np.linalg.slogdet(a)[1] + np.sum(np.linalg.inv(a))


yota.grad(f, rng.standard_normal((4, 4)) + 4.0 * np.eye(4))
