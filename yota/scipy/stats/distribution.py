"""A distribution of SciPy's with some of its functions as ops of the tape."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from yota.rules.registry import Rule
from yota.scipy.wrapping import Wrapper

Array = Any
Op = Callable[..., Any]
_EMPTY = inspect.Parameter.empty
wrap = Wrapper("yota.scipy.stats", "scipy.stats")


class Distribution:
    """One of SciPy's distributions; what is no op here is SciPy's own attribute."""

    def __init__(self, name: str, ops: Mapping[str, Op]) -> None:
        self.name, self.ops = name, dict(ops)
        self._scipy = getattr(stats, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.ops[name] if name in self.ops else getattr(self._scipy, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Frozen:
        """Return the distribution with these parameters."""
        return Frozen(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<yota.scipy.stats.{self.name}>"


class Frozen:
    """A distribution with its parameters."""

    def __init__(self, dist: Distribution, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dist, self.args, self.kwargs = dist, args, kwargs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.dist.ops:
            return getattr(self.dist._scipy(*self.args, **self.kwargs), name)
        op = self.dist.ops[name]
        return functools.wraps(op)(lambda *x: op(*x, *self.args, **self.kwargs))


def make_op(
    name: str, method: str, variable: str, fixed: Mapping[str, Any], *rules: Rule | None
) -> Op:
    """Return one function of a distribution as an op that takes all its parameters by position."""
    dist = getattr(stats, name)
    shapes = dist.shapes.split(", ") if dist.shapes else []
    names = {variable: _EMPTY, **dict.fromkeys(shapes, _EMPTY), **fixed}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(k, kind, default=v) for k, v in names.items()])
    return wrap(
        getattr(dist, method),
        *rules,
        spreads=True,
        complete=True,
        name=f"{name}_{method}",
        path=f"{name}.{method}",
        signature=signature,
    )


def shaped(y: Array, inside: Array, slope: Array) -> Array:
    """Return a slope, 0 outside the support, NaN where the parameters are not valid."""
    slope = slope if inside is True else np.where(inside, slope, 0)
    return np.where(np.isnan(y), math.nan, slope)


def known(logarithm: Array) -> Array:
    """Return a logarithm, 0 in place of -inf: the density there is 0."""
    return np.where(np.isneginf(logarithm), 0, logarithm)
