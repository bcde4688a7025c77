"""Hessians and their products with a direction, by repeated reverse passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from yota.api import grad, value_and_grad
from yota.jacobians import jacobian
from yota.recording import is_boxed_leaf
from yota.structs import flatten, pick_leaves


def hessian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Hessian of a scalar `f`; for a tuple of argnums blocks."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        return value_and_grad(f, argnums)(*args, **kwargs)[1]

    if not isinstance(argnums, tuple | list):
        return jacobian(gradient, argnums)

    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        def row(n: int) -> Any:
            return jacobian(lambda *a, **k: value_and_grad(f, n)(*a, **k)[1], argnums)

        return tuple(row(n)(*args, **kwargs) for n in argnums)

    return hessian_of


def hvp(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function of the arguments and a direction `v` that returns Hessian times v.

    `hvp(f)(x, v)`: v has the structure of the argument that `argnums` names; a tuple for a tuple.
    """

    chosen = as_tuple(argnums)

    def slope(*args_v: Any, **kwargs: Any) -> Any:
        *args, v = args_v
        return inner(value_and_grad(f, argnums)(*args, **kwargs)[1], v)

    def product(*args_v: Any, **kwargs: Any) -> Any:
        # the direction is an argument too: another one builds no new program
        numbers = tuple(n % (len(args_v) - 1) for n in chosen)
        found = grad(slope, *args_v, argnums=numbers, **kwargs)[1]
        picked = tuple(found[n] for n in numbers)
        return picked if isinstance(argnums, tuple | list) else picked[0]

    return product


def as_tuple(argnums: int | Sequence[int]) -> tuple[int, ...]:
    """Return argument numbers as a tuple."""
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def inner(g: Any, v: Any) -> Any:
    """Return the sum of the products of all leaves of two equal structures."""
    slopes, structure = flatten(g, leaf=is_boxed_leaf)
    try:
        directions = pick_leaves(structure, v)
    except (TypeError, LookupError, AttributeError):
        directions = {}
    if any(
        k not in directions or np.shape(s) != np.shape(directions[k]) for k, s in enumerate(slopes)
    ):
        raise ValueError("hvp: the direction must have the structure and shapes of the argument")
    return sum(np.sum(s * directions[k]) for k, s in enumerate(slopes))
