"""A network with one hidden layer, called three times, and a penalty whose NaN a mask removes."""

import numpy as np

import yota

rng = np.random.default_rng(0)
X = rng.normal(size=(8, 3))
Y = rng.integers(0, 2, size=(8, 1)).astype(float)
W1, b1, W2 = rng.normal(size=(3, 4)) * 0.5, np.zeros(4), rng.normal(size=(4, 1)) * 0.5


def loss(W1, b1, W2):
    h = np.tanh(X @ W1 + b1)
    p = 1 / (1 + np.exp(-(h @ W2)))
    ll = Y * np.log(p) + (1 - Y) * np.log(1 - p)
    return -np.mean(ll)


def penalty(W):
    return np.sum(np.where(W > 0, np.sqrt(W), 0.0))


def distance(p, q):
    return np.sqrt(np.sum((p - q) ** 2))


for step in range(3):
    value, g = yota.grad(loss, W1, b1, W2)
    print("step", step, "loss", round(float(value), 4))
    W1, b1, W2 = (w - 0.5 * d for w, d in zip((W1, b1, W2), g, strict=True))

with np.errstate(all="ignore"):
    value, g = yota.grad(penalty, W1)
    print("penalty", round(float(value), 3))
    value, g = yota.grad(distance, W2, W2)
    print("distance", float(value))
