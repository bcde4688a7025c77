"""Functions that take the named forms, and the exact and the default answer side by side."""

from __future__ import annotations

import numpy as np

import yota
from yota.passes import PIPELINE, optimise
from yota.program import MISS, entry_of

rng = np.random.default_rng(5)
EPS = np.finfo(np.float64).eps
A, B = rng.standard_normal((40, 7)), rng.standard_normal((40, 7))
V = rng.standard_normal(100)
W, U = 0.5 * rng.standard_normal((6, 6)), 0.5 * rng.standard_normal((6, 3))
X = rng.standard_normal((20, 3))
LONG = rng.uniform(0.5, 1.5, 70_000)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -2e-308, 1e308, -1.0, 2.0])


def forms_of(tape, exact=False):
    """Return the names of the forms that a tape is rewritten with."""
    rewrites = optimise(tape, PIPELINE, exact)[-1].rewrites
    whys = [w for r in rewrites for w in r.why.split("; ")]
    return {w.partition(":")[0] for w in whys} - {"not needed by any result"}


def ways(tape, *args):
    """Return the exact answer and the default one, as flat lists of arrays."""
    exact, quick = (entry_of(tape, e)(*args) for e in (True, False))
    assert exact is not MISS
    assert quick is not MISS
    return [[np.asarray(x) for x in leaves(tree)] for tree in (exact, quick)]


def leaves(tree):
    found, _ = yota.structs.flatten(
        tree, leaf=lambda x: isinstance(x, np.ndarray | np.generic | float | complex)
    )
    return found


def forward(f, *args):
    return yota.trace(f, *args)[1]


def assert_close(tape, *args, scale, terms):
    """Compare both answers: `terms` roundings of a sum of magnitudes `scale`."""
    want, got = ways(tape, *args)
    for x, y, s in zip(want, got, leaves(scale), strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        eps = np.finfo(x.dtype).eps
        assert np.all(np.abs(x - y) <= terms * eps * np.abs(s)), np.max(np.abs(x - y))


def recurrent(w, u, h):
    for x in X:
        h = np.tanh(w @ h + u @ x)
    return np.sum(h * h)


def batched(w, h):
    for k in range(6):
        h = np.tanh(h @ w + k)
    return np.sum(h)


def repeated(x, y):
    total = 0.0
    for k in range(1, 9):
        total = total + np.sin(x * y) * float(k) + np.exp(np.cos(x * y)) / k
    return np.sum(total)


# form -> a function that takes it, arguments, magnitudes of what it adds up, number of roundings
CASES = {
    "blocks": (
        lambda x, y: np.sum((x * y + 0.5 * x) ** 2 - y) + np.sum(np.sqrt(x * x + y * y)),
        (LONG, LONG[::-1].copy()), None, LONG.size,
    ),
    "vectors": (lambda m, v: np.sum(np.tanh(m @ v)), (A, V[:7]), None, 40),
    "cotangents": (repeated, (V, V[::-1].copy()), None, 40),
    "parts": (lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2 + np.exp(x[:-1])), (V,), None, 100),
    "stacks": (recurrent, (W, U, V[:6]), None, 100),
    "batches": (recurrent, (W, U, V[:6]), None, 200),
    "signs": (lambda x, y: np.sum(x - np.exp(-x * y)), (V, V + 0.1), None, 4),
    "scales": (lambda x: np.sum(np.exp(3.1 * x * 0.7 / 1.3)), (V,), None, 100),
    "powers": (lambda x: np.sum(np.power(x, 5)), (V,), None, 100),
    "products": (lambda x, y: np.sum(np.sin(x) * y), (A, B), None, 280),
    "sums": (lambda x, y: np.sum(np.sum(np.exp(x), axis=0) * y), (A, V[:7]), None, 280),
    "columns": (
        lambda x: np.sum(np.exp(x - yota.stop_gradient(np.max(x, axis=1, keepdims=True)))),
        (rng.standard_normal((300, 3)),), None, 900,
    ),
    "dots": (lambda x, y: np.sum(np.sin(x @ y.T)), (A, B), None, 280),
    "floats": (lambda x, y: np.tanh(x) * np.exp(y) + x**3, (0.3, -0.8), None, 8),
    "means": (lambda x: np.mean(np.tanh(x), axis=0)[2], (A,), None, 40),
    "numbers": (lambda x: np.mean(np.tanh(x)), (A,), None, 300),
    "broadcasts": (
        lambda x, y: np.sum(np.log(np.sum(np.exp(x), axis=1)) * y), (A, B[:, 0]), None, 80,
    ),
    "ones": (lambda x, s: np.sum(np.tanh(x * s) ** 2) * s, (A, 2.0), None, 300),
}  # fmt: skip
