"""A census of ordinary functions: nearly all of them are answered from the cache."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import logging
import math
import operator
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

import yota

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
Y = RNG.standard_normal((6, 2))
W, B = RNG.standard_normal((3, 2)), RNG.standard_normal(2)
EPS = 1e-8
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0.0)}
LAYERS = [RNG.standard_normal((3, 3)) for _ in range(2)]
LOG = logging.getLogger("census")
Params = namedtuple("Params", "w b")


@dataclass(frozen=True)
class Config:
    rate: float = 0.1
    activation: str = "tanh"
    sizes: tuple = (3, 2)


class Kind(Enum):
    SQUARED = 1
    ABSOLUTE = 2


CONFIG = Config()


class Layer:
    gain = 1.5

    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b) * self.gain


class Residual(Layer):
    def __call__(self, x):
        return super().__call__(x) + 1.0


class Model:
    def __init__(self, layers, kind=Kind.SQUARED):
        self.layers, self.kind = layers, kind

    @property
    def depth(self):
        return len(self.layers)

    @staticmethod
    def norm(x):
        return np.sqrt(np.sum(x * x) + EPS)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x / self.depth

    def loss(self, x):
        r = self.forward(x) - Y
        return np.sum(r * r) if self.kind is Kind.SQUARED else np.sum(np.abs(r))


MODEL = Model([Residual(W, B)])


def affine(x, w, b):
    return x @ w + b


def timed(fn):
    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapped


@timed
def decorated(w):
    return np.sum(affine(X, w, B) ** 2)


def loss_with_checks(w):
    if w.ndim != 2:
        raise ValueError(f"w must be a matrix, not of shape {w.shape}")
    assert w.shape[1] == CONFIG.sizes[1], "wrong width"
    return np.mean((X @ w - Y) ** 2)


def loss_of_dict(params):
    h = ACTIVATIONS[CONFIG.activation](affine(X, params["w"], params["b"]))
    return np.mean((h - Y) ** 2) + CONFIG.rate * sum(np.sum(p**2) for p in params.values())


def fibonacci(x, n=6):
    return x if n < 2 else fibonacci(x, n - 1) + 0.5 * fibonacci(x, n - 2)


def power_series(x):
    term, total = x, x
    for k in range(2, 8):
        term = term * x / k
        total = total + term
    return total


def newton(x):
    y = x
    while abs(y * y - x) > 1e-6:
        y = 0.5 * (y + x / y)
    return y


def closure_of(scale, shift):
    def inner(x):
        return np.sum(np.tanh(x * scale + shift))

    return inner


def nested(x):
    def square(z):
        return z * z

    return sum(square(v) for v in x)


def batches(w):
    total = 0.0
    for rows, targets in zip(np.split(X, 2), np.split(Y, 2), strict=True):
        total = total + np.sum((rows @ w - targets) ** 2)
    return total


def attention(q):
    scores = q @ X.T / math.sqrt(X.shape[1])
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return np.sum((weights / weights.sum(-1, keepdims=True)) @ Y)


def replaced(x):
    config = dataclasses.replace(CONFIG, rate=0.5)
    return np.sum(x) * config.rate


def with_errstate(x):
    with np.errstate(divide="ignore"):
        return np.sum(np.log(np.abs(x)))


def logs(x):
    LOG.debug("called")
    return np.sum(x)


def sorted_items(params):
    return sum(np.sum(params[k] * (i + 1)) for i, k in enumerate(sorted(params)))


def einsum(w):
    return np.einsum("ni,ij,nj->", X, w, Y)


def unpacked(p):
    w, b = p
    return np.sum(affine(X, w, b))


TABLE = OrderedDict(a=1.0, b=2.0)


def ordered(x, table=TABLE):
    return sum(x * v for v in table.values())


CENSUS = [
    (decorated, (W,)),
    (loss_with_checks, (W,)),
    (loss_of_dict, ({"w": W, "b": B},)),
    (fibonacci, (2.0,)),
    (power_series, (0.5,)),
    (newton, (2.0,)),
    (closure_of(2.0, 0.5), (X,)),
    (closure_of(X, Y[:, :1]), (X,)),
    (nested, (B,)),
    (batches, (W,)),
    (attention, (X,)),
    (replaced, (X,)),
    (with_errstate, (X,)),
    (logs, (X,)),
    (sorted_items, ({"w": W, "b": B},)),
    (einsum, (W,)),
    (unpacked, (Params(W, B),)),
    (ordered, (2.0,)),
    (MODEL.loss, (X,)),
    (MODEL.forward, (X,)),
    (Model.norm, (X,)),
    (lambda x: MODEL.norm(x) * MODEL.depth, (X,)),
    (Layer(W, B), (X,)),
    (lambda layer: np.sum(layer(X)), (Layer(W, B),)),
    (functools.partial(affine, X), (W, B)),
    (lambda x: functools.reduce(lambda h, w: np.tanh(h @ w), LAYERS, x), (X,)),
    (lambda x: functools.reduce(operator.mul, [x, x, x]), (2.0,)),
    (lambda x: np.sum(np.stack([x * k for k in itertools.accumulate((1, 2, 3))])), (X,)),
    (lambda x: x * CONFIG.rate if CONFIG.activation in ACTIVATIONS else x, (2.0,)),
    (lambda x: np.sum(np.where(x > 0, x, EPS * x)) * math.pi + max(len(LAYERS), 1), (X,)),
]


def on_the_slow_road(f, args):
    """Return why a function is traced at each call, '' if it is not."""
    seed = {} if np.ndim(f(*args)) == 0 else {"seed": "ones"}
    for _ in range(3):
        value, g = yota.grad(f, *args, **seed)
        np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    return g.program.why_retraced


def test_at_least_25_of_30_ordinary_functions_stay_off_the_slow_road():
    reasons = [why for f, args in CENSUS if (why := on_the_slow_road(f, args))]
    assert len(CENSUS) == 30
    assert len(reasons) <= 5, reasons


@pytest.mark.parametrize(("f", "args"), CENSUS)
def test_their_gradients_are_right_from_the_cache_too(f, args):
    if np.ndim(f(*args)) == 0:
        for _ in range(2):
            yota.check_grads(f, *args)


def test_distributions_of_yota_scipy_are_answered_from_the_cache():
    stats = pytest.importorskip("yota.scipy.stats")
    scale = 2.0

    def likelihood(x):
        return np.sum(stats.norm.logpdf(x, 0.0, scale) + stats.gamma(2.0).logpdf(x * x))

    def draws(x):
        return np.sum(x * stats.norm.rvs(size=3))

    assert on_the_slow_road(likelihood, (X,)) == ""
    first, slow = yota.grad(likelihood, X)[1][0], yota.grad(draws, X)[1].program.why_retraced
    scale = 3.0
    assert not np.array_equal(yota.grad(likelihood, X)[1][0], first)
    assert "rvs" in slow
