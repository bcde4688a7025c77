"""The direction of a rotation by 0: jax-ml/jax#26248."""

import numpy as np

import yota


def f(r):
    angle = np.linalg.norm(r)
    axis = r / angle
    return np.sum(axis * np.sin(angle / 2.0))


with np.errstate(all="ignore"):
    yota.grad(f, np.zeros(3))
