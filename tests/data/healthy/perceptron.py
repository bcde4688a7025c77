"""A network of one hidden layer, three steps of descent."""

import numpy as np

import yota

rng = np.random.default_rng(0)
x, y = rng.standard_normal((8, 3)), rng.standard_normal((8, 1))


def loss(params):
    hidden = np.tanh(x @ params["a"] + params["b"])
    return np.mean((hidden @ params["c"] - y) ** 2)


params = {"a": rng.standard_normal((3, 4)), "b": np.zeros(4), "c": rng.standard_normal((4, 1))}
for _ in range(3):
    value, g = yota.grad(loss, params)
    yota.update(params, g[0], lambda p, dp: p - 0.1 * dp)
