"""p log p at 0: jax-ml/jax#15709, pytorch/pytorch#144279."""

import numpy as np

import yota


def entropy(p):
    return -np.sum(p * np.log(p))


with np.errstate(all="ignore"):
    yota.grad(entropy, np.array([0.5, 0.5, 0.0]))
