"""Inverse circular functions inside of their domain."""

import numpy as np

import yota


def f(x):
    return np.sum(np.arccos(x) * np.arcsin(x)) + np.sum(np.arctan2(x, 1.0 - x))


yota.grad(f, np.array([0.0, 0.5, -0.9]))
