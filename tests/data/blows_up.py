"""Train a small network for a thousand steps; batch 731 holds a row that the loss cannot take."""

import numpy as np

import yota

rng = np.random.default_rng(5)
X = rng.standard_normal((1000, 16, 4))
Y = np.exp(X @ np.array([0.5, -0.25, 0.1, 0.3]))
Y[730, 3] = 0.0


def loss(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    guess = h @ params["W2"]
    return np.mean((guess - np.log(y)) ** 2)


params = {
    "W1": 0.3 * rng.standard_normal((4, 8)),
    "b1": np.zeros(8),
    "W2": 0.3 * rng.standard_normal(8),
}
with np.errstate(all="ignore"):
    for step in range(1000):
        value, g = yota.grad(loss, params, X[step], Y[step])
        yota.update(params, g[0], lambda p, dp: p - 0.05 * dp)
        if step % 100 == 0:
            print(f"step {step}  loss {value:.6f}")
