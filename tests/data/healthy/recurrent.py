"""Twenty steps of a recurrent loop."""

import numpy as np

import yota

rng = np.random.default_rng(1)
inputs = rng.standard_normal((20, 3))


def loss(w, u):
    h = np.zeros(4)
    for x in inputs:
        h = np.tanh(w @ h + u @ x)
    return np.sum(h**2)


yota.grad(loss, 0.5 * rng.standard_normal((4, 4)), rng.standard_normal((4, 3)))
