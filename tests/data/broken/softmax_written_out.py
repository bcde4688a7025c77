"""A softmax without its maximum subtracted: FluxML/NNlib.jl#68."""

import numpy as np

import yota


def f(logits):
    e = np.exp(logits)
    return np.sum(np.square(e / np.sum(e) - np.array([1.0, 0.0, 0.0])))


with np.errstate(all="ignore"):
    yota.grad(f, np.array([-1047.0, -981.0, 1891.0]))
