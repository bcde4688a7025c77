"""The distance of a particle to itself, masked off the diagonal: jax-ml/jax#654."""

import numpy as np

import yota

CHARGES = np.array([1.3, 0.3, 0.3])


def energy(conf):
    d = conf[:, None, :] - conf[None, :, :]
    distance = np.sqrt(np.sum(d * d, axis=-1))
    q = CHARGES[:, None] * CHARGES[None, :]
    return np.sum(np.where(1.0 - np.eye(3) > 0.0, q / distance, 0.0))


with np.errstate(all="ignore"):
    yota.grad(energy, np.array([[0.1, 0.0, 0.2], [1.0, -0.2, 1.3], [2.4, 1.2, -0.2]]))
