"""One step of an optimiser through any structure: `update`."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.structs import Attr, fields_of, is_leaf


def subtract(x: Any, gx: Any) -> Any:
    """Return `x - gx`, the default step of `update`."""
    return x - gx


def update(x: Any, gx: Any, fn: Callable[[Any, Any], Any] = subtract) -> Any:
    """Apply `fn(leaf, gradient)` to every leaf of `x` that has a gradient and return the structure.

    Arrays are written in place, once each also when shared; numbers, tuples and frozen objects
    are rebuilt.  Leaves whose gradient is None are left as they are.
    """
    return _Update(fn).visit(x, gx)


class _Update:
    def __init__(self, fn: Callable[[Any, Any], Any]) -> None:
        self.fn = fn
        self.done: dict[int, Any] = {}
        self.alive: list[Any] = []

    def visit(self, x: Any, gx: Any) -> Any:
        if gx is None:
            return x
        if is_leaf(x):
            return self.leaf(x, gx)
        if id(x) in self.done:
            return self.done[id(x)]
        found = fields_of(x)
        if found is None:
            return x
        self.alive.append(x)
        return self.container(x, gx, *found)

    def leaf(self, x: Any, gx: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return self.fn(x, gx)
        if id(x) not in self.done:
            self.alive.append(x)
            self.done[id(x)] = x
            x[...] = self.fn(x, gx)
        return x

    def container(self, x: Any, gx: Any, keys: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        found: Any = fields_of(gx)  # gx has the structure of x: not None
        grads = dict(zip(*found, strict=True))
        if isinstance(x, tuple):
            new = {k: self.visit(v, grads[k]) for k, v in zip(keys, values, strict=True)}
            items = [v for k, v in new.items() if not isinstance(k, Attr)]
            whole = self.done[id(x)] = tuple.__new__(type(x), items)
            for k, v in new.items():
                if isinstance(k, Attr):
                    object.__setattr__(whole, k.name, v)
            return whole
        self.done[id(x)] = x
        news = [(k, v, self.visit(v, grads.get(k))) for k, v in zip(keys, values, strict=True)]
        changed = {k: new for k, v, new in news if new is not v}
        return self.store(x, changed) if changed else x

    def store(self, x: Any, changed: dict[Any, Any]) -> Any:
        """Write what was rebuilt into a container; one that cannot be written is rebuilt itself."""
        if isinstance(x, list | dict | collections.deque):
            for key, new in changed.items():
                if isinstance(key, Attr):
                    setattr(x, key.name, new)
                else:
                    x[key] = new
            return x
        try:
            for name, new in changed.items():
                setattr(x, name, new)
        except Exception:  # frozen, each class in its own way
            found: Any = fields_of(x)  # x has fields: not None
            kept = dict(zip(*found, strict=True))
            self.done[id(x)] = copy = object.__new__(type(x))
            for name, new in (kept | changed).items():
                object.__setattr__(copy, name, new)
            return copy
        return x
