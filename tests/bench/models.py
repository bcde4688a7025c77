"""Models as users write them, for the benchmark: each takes NumPy's namespace, or a peer's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Model = tuple[Callable[..., Any], tuple[Any, ...]]


def scalar(np: Any) -> Model:
    """Return a chain on one Python float."""
    return lambda x: np.sin(np.exp(x)) * x + x**3, (0.7,)


def chain(np: Any) -> Model:
    """Return elementwise functions of two vectors."""
    rng = numpy.random.default_rng(0)

    def f(x: Any, y: Any) -> Any:
        a = x * y + 0.5 * x
        b = a * a - y
        return np.sum(np.tanh(a) * np.exp(-b * b) + b / (1.0 + a * a))

    return f, (rng.standard_normal(10_000), rng.standard_normal(10_000))


def mlp(np: Any) -> Model:
    """Return a small network on a batch of 32."""
    rng = numpy.random.default_rng(1)
    data, target = map(np.asarray, (rng.standard_normal((32, 64)), rng.standard_normal((32, 10))))

    def loss(w1: Any, b1: Any, w2: Any) -> Any:
        return np.mean((np.tanh(data @ w1 + b1) @ w2 - target) ** 2)

    return loss, (
        0.1 * rng.standard_normal((64, 128)),
        numpy.zeros(128),
        rng.standard_normal((128, 10)),
    )


def softmax(np: Any) -> Model:
    """Return a regression onto five classes."""
    rng = numpy.random.default_rng(2)
    data = np.asarray(rng.standard_normal((200, 20)))
    target = np.asarray(numpy.eye(5)[rng.integers(0, 5, 200)])

    def loss(w: Any, b: Any) -> Any:
        z = data @ w + b
        z = z - np.amax(z, axis=1, keepdims=True)
        z = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
        return -np.mean(np.sum(target * z, axis=1)) + 0.01 * np.sum(w**2)

    return loss, (0.1 * rng.standard_normal((20, 5)), numpy.zeros(5))


def recurrent(np: Any) -> Model:
    """Return a loop of 100 small steps."""
    rng = numpy.random.default_rng(3)
    inputs, start = np.asarray(rng.standard_normal((100, 8))), np.asarray(numpy.zeros(16))

    def loss(w: Any, u: Any) -> Any:
        h = start
        for x in inputs:
            h = np.tanh(np.dot(w, h) + np.dot(u, x))
        return np.mean(h**2)

    return loss, (0.2 * rng.standard_normal((16, 16)), 0.1 * rng.standard_normal((16, 8)))


def lstm(np: Any) -> Model:
    """Return a gated loop over batches of 8."""
    rng = numpy.random.default_rng(4)
    inputs, start = map(np.asarray, (rng.standard_normal((40, 8, 10)), numpy.zeros((8, 16))))

    def loss(w: Any, u: Any, b: Any) -> Any:
        h, c = start, start
        for x in inputs:
            z = x @ w + h @ u + b
            gates = 1 / (1 + np.exp(-z[:, :48]))
            c = gates[:, 16:32] * c + gates[:, :16] * np.tanh(z[:, 48:])
            h = gates[:, 32:] * np.tanh(c)
        return np.mean(h**2)

    return loss, (
        0.3 * rng.standard_normal((10, 64)),
        0.3 * rng.standard_normal((16, 64)),
        numpy.zeros(64),
    )


def attention(np: Any) -> Model:
    """Return one head of attention over batches of 4."""
    rng = numpy.random.default_rng(5)

    def loss(q: Any, k: Any, v: Any, w: Any) -> Any:
        s = q @ np.swapaxes(k, -1, -2) / 4.0
        p = np.exp(s - np.amax(s, axis=-1, keepdims=True))
        return np.sum((p / np.sum(p, axis=-1, keepdims=True) @ v @ w) ** 2)

    return loss, (*(rng.standard_normal((4, 32, 16)) for _ in range(3)),
                  rng.standard_normal((16, 8)))  # fmt: skip


def convolution(np: Any) -> Model:
    """Return a layer of eight 3x3 filters over four pictures, by einsum."""
    rng = numpy.random.default_rng(7)
    pictures = np.asarray(rng.standard_normal((4, 3, 12, 12)))

    def loss(w: Any, b: Any) -> Any:
        patches = [pictures[:, :, i : i + 10, j : j + 10] for i in range(3) for j in range(3)]
        y = np.einsum("pnchw,ocp->nohw", np.stack(patches), w) + b
        return np.mean(np.tanh(y) ** 2)

    return loss, (rng.standard_normal((8, 3, 9)), rng.standard_normal((8, 1, 1)))


def kalman(np: Any) -> Model:
    """Return the likelihood of a track of 40 points under a filter of position and speed."""
    rng = numpy.random.default_rng(8)
    track = numpy.cumsum(rng.standard_normal(40)).tolist()
    start, unit = np.asarray(numpy.zeros(2)), np.asarray(numpy.eye(2))

    def loss(move: Any, q: Any, r: Any) -> Any:
        m, p, total = start, unit, 0.0
        for y in track:
            m, p = move @ m, move @ p @ move.T + q * unit
            s, e = p[0, 0] + r, y - m[0]
            gain = p[:, 0] / s
            m, p = m + gain * e, p - np.outer(gain, p[0])
            total = total + np.log(s) + e * e / s
        return total

    return loss, (numpy.array([[1.0, 0.9], [0.1, 0.8]]), 0.3, 0.5)


def ode(np: Any) -> Model:
    """Return a fit of an equation of prey and predator, on Python's floats alone."""

    def loss(a: Any, b: Any, c: Any, d: Any) -> Any:
        x, y, h, total = 10.0, 5.0, 0.01, 0.0
        for _ in range(100):
            x1, y1 = a * x - b * x * y, d * x * y - c * y
            xm, ym = x + 0.5 * h * x1, y + 0.5 * h * y1
            x, y = x + h * (a * xm - b * xm * ym), y + h * (d * xm * ym - c * ym)
            total = total + np.sqrt((x - 8.0) ** 2 + y * y)
        return total

    return loss, (1.1, 0.4, 0.4, 0.1)


def rosenbrock(np: Any) -> Model:
    """Return the test function of optimisers, in 100 dimensions."""
    f = lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    return f, (numpy.random.default_rng(6).standard_normal(100),)


MODELS = (
    scalar, chain, mlp, softmax, recurrent, lstm, attention, convolution, kalman, ode, rosenbrock,
)  # fmt: skip
