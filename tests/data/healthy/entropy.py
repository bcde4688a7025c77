"""The entropy of probabilities above 0."""

import numpy as np

import yota


def entropy(logits):
    p = np.exp(logits - np.max(logits))
    p = p / np.sum(p)
    return -np.sum(p * np.log(p))


yota.grad(entropy, np.array([0.1, 0.5, -2.0]))
