"""Random programs of plain NumPy: a list of steps, each an operation on values made before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st


def _same(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two values that broadcast: the second as it is, or its mean."""
    try:
        np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return x, np.mean(y)
    return x, y


def _flat(x: Any) -> Any:
    return np.reshape(x, (-1,))


def _matmul(x: Any, y: Any) -> Any:
    a, b = _flat(x), _flat(y)
    n = min(a.shape[0], b.shape[0])
    return np.outer(a[:n], b[:n]) @ b[:n]


def _write(x: Any, y: Any) -> Any:
    z = np.reshape(x * 1.0, (-1,)).copy()
    z[0] = np.sum(y) * 0.1
    z[1:] *= 0.5
    return z


def _view(x: Any, y: Any) -> Any:
    z = np.stack([_flat(x), _flat(x) * 2.0])
    row = z[1]
    row[::2] = np.tanh(row[::2])
    return z + np.mean(y)


def _branch(x: Any, y: Any) -> Any:
    return x * 2.0 if np.sum(y) > 0 else np.sin(x)


OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: np.sin(x),
    lambda x, y: np.tanh(x),
    lambda x, y: np.exp(0.1 * np.tanh(x)),
    lambda x, y: np.sqrt(1.0 + x**2),
    lambda x, y: np.log(1.5 + np.cos(x)),
    lambda x, y: -x,
    lambda x, y: np.tanh(x) ** 3,
    lambda x, y: np.arctan2(*_same(np.sin(x) + 3.0, y)),
    lambda x, y: np.add(*_same(x, y)),
    lambda x, y: np.subtract(*_same(x, y)),
    lambda x, y: np.multiply(*_same(np.tanh(x), np.tanh(y))),
    lambda x, y: np.divide(*_same(x, 2.0 + np.cos(y))),
    lambda x, y: np.logaddexp(*_same(x, y)),
    lambda x, y: np.where(np.greater(*_same(x, y)), *_same(x * 2.0, np.sin(y))),
    lambda x, y: np.maximum(*_same(x, y + 0.01)),
    lambda x, y: np.where(x > 0, np.sqrt(np.abs(x)), 0.0),
    lambda x, y: np.clip(x, -0.71, 0.83),
    lambda x, y: _flat(x)[::-1],
    lambda x, y: np.transpose(x),
    lambda x, y: np.concatenate([_flat(x), _flat(y)])[:6],
    lambda x, y: np.stack([_flat(x)[:1], _flat(y)[-1:]], axis=1),
    lambda x, y: np.sum(x, axis=0) if np.ndim(x) else x,
    lambda x, y: np.mean(x, axis=-1, keepdims=True) if np.ndim(x) else x,
    lambda x, y: np.max(_flat(x)) + np.std(_flat(x) + np.arange(np.size(x))),
    lambda x, y: np.cumsum(_flat(x)),
    lambda x, y: np.prod(np.tanh(_flat(x)) + 1.1),
    lambda x, y: np.sort(_flat(x)),
    lambda x, y: _flat(x)[np.array([0, -1, 0])],
    lambda x, y: np.einsum("i,j->ji", _flat(x)[:3], _flat(y)[:2]),
    lambda x, y: np.linalg.norm(_flat(x) + 2.0),
    lambda x, y: np.sum(x) * 2.0 + 1,
    _matmul,
    _write,
    _view,
    _branch,
]


@dataclass(frozen=True)
class Step:
    operation: int
    left: int
    right: int


@dataclass(frozen=True)
class RandomProgram:
    steps: tuple[Step, ...]
    seed: int

    @property
    def args(self) -> tuple[Any, ...]:
        rng = np.random.default_rng(self.seed)
        return rng.standard_normal(3), rng.standard_normal((2, 3)), float(rng.standard_normal())

    def __call__(self, x: Any, m: Any, s: Any) -> Any:
        pool = [x, m, s]
        for step in self.steps:
            left, right = pool[step.left % len(pool)], pool[step.right % len(pool)]
            pool.append(OPERATIONS[step.operation](left, right))
        return sum(np.mean(np.tanh(v)) * (1.0 + 0.1 * k) for k, v in enumerate(pool))


steps = st.builds(
    Step,
    st.integers(0, len(OPERATIONS) - 1),
    st.integers(0, 12),
    st.integers(0, 12),
)
programs = st.builds(
    RandomProgram, st.lists(steps, min_size=1, max_size=8).map(tuple), st.integers(0, 2**16)
)
