"""What samples are made of: operands, calls, and what this NumPy can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """One call; arguments stand as the tracer hands them to a rule: traced ones by position."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: tuple[int | str, ...]

    def operand(self, at: int | str) -> Any:
        return self.kwargs[at] if isinstance(at, str) else self.args[at]

    def with_operand(self, at: int | str, value: Any) -> Sample:
        if isinstance(at, str):
            return self._replace(kwargs={**self.kwargs, at: value})
        return self._replace(args=(*self.args[:at], value, *self.args[at + 1 :]))

    def run(self) -> Any:
        return self.fn(*self.args, **self.kwargs)


def real(*shape: int, seed: int = 0) -> Any:
    """Return numbers between -2 and 2, no two closer than 1e-3."""
    rng = np.random.default_rng(seed + 7919 * sum(shape) + len(shape))
    n = int(np.prod(shape))
    x = np.linspace(-1.9, 1.93, max(n, 2))[:n]
    x = x + rng.uniform(-0.3, 0.3, n) / max(n, 2)
    return rng.permutation(x).reshape(shape) if shape else np.asarray(rng.uniform(0.3, 1.5))


def positive(*shape: int, seed: int = 0) -> Any:
    return np.abs(real(*shape, seed=seed)) + 0.3


def inside(*shape: int, seed: int = 0) -> Any:
    """Return numbers between -0.9 and 0.9."""
    return real(*shape, seed=seed) * 0.45


def cplx(*shape: int, seed: int = 0) -> Any:
    return real(*shape, seed=seed) + 1j * real(*shape, seed=seed + 100)


def single(*shape: int, seed: int = 0) -> Any:
    return real(*shape, seed=seed).astype(np.float32)


def spd(n: int, *lead: int, seed: int = 0) -> Any:
    a = real(*lead, n, n, seed=seed)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


def hermitian(n: int, seed: int = 0) -> Any:
    a = cplx(n, n, seed=seed)
    return a @ a.conj().T + np.diag(np.arange(n)) + n * np.eye(n)


def regular(n: int, *lead: int, seed: int = 0) -> Any:
    return real(*lead, n, n, seed=seed) + 3 * np.eye(n)


def holes(*shape: int, seed: int = 0) -> Any:
    """Return numbers of which some are NaN, no row wholly."""
    x = real(*shape, seed=seed)
    x.flat[1] = np.nan
    x.flat[-2] = np.nan
    return x


def case(
    name: str, fn: Any, *args: Any, at: tuple[int | str, ...] | None = None, **kw: Any
) -> Sample:
    """Make a sample; without `at`, all arrays of floating type and lists of them are varied."""
    label = getattr(fn, "__name__", str(fn))
    if at is None:
        at = tuple(k for k, a in enumerate(args) if _varies(a))
    return Sample(f"{label}-{name}" if name else label, fn, args, kw, at)


def _varies(a: Any) -> bool:
    if type(a) in (list, tuple):
        return bool(a) and all(_varies(b) for b in a)
    return isinstance(a, (np.ndarray, np.inexact)) and a.dtype.kind in "fc"


def unique(samples: Iterator[Sample]) -> Iterator[Sample]:
    """Number samples of one name."""
    seen: dict[str, int] = {}
    for s in samples:
        k = seen[s.name] = seen.get(s.name, 0) + 1
        yield s if k == 1 else s._replace(name=f"{s.name}-{k}")


def supported(samples: Iterator[Sample]) -> Iterator[Sample]:
    """Leave out what this NumPy has no such option for; the newest must have them all."""
    is_newest = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
    yield from (s for s in samples if is_newest or runs(s))


def runs(s: Sample) -> bool:
    """Tell whether the plain call of a sample is possible."""
    try:
        s.fn(*s.args, **s.kwargs)
    except (TypeError, FutureWarning):
        return False
    return True
