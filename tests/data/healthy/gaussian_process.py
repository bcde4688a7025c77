"""A marginal likelihood through a Cholesky factor."""

import numpy as np

import yota

X = np.linspace(-2.0, 2.0, 12)
Y = np.sin(2.0 * X)


def loss(theta):
    d = (X[:, None] - X[None, :]) / np.exp(theta[0])
    L = np.linalg.cholesky(np.exp(-0.5 * d**2) + np.exp(theta[1]) * np.eye(12))
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, Y))
    return 0.5 * Y @ alpha + np.sum(np.log(np.diag(L)))


yota.grad(loss, np.array([0.0, -2.0]))
