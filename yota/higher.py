"""Jacobians, Hessians and their products with a direction, by repeated reverse passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from yota.api import as_argnums, pick, value_and_grad, vjp
from yota.recording import is_boxed_leaf
from yota.structs import flatten, unflatten
from yota.tape import spec_of
from yota.tracing import Traced


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Jacobian of `f`: the output's axes, then the leaf's.

    Structures nest: at each array of the output stands the structure of the argument.
    """

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        as_argnums(argnums, len(args))
        y, pullback = vjp(f, *args, **kwargs)
        outputs, structure = flatten(y, leaf=is_boxed_leaf)

        def block(k: int) -> Any:
            def row(unit: Any) -> Any:
                seeds = [unit if n == k else None for n in range(len(outputs))]
                return pick(pullback(unflatten(structure, seeds)), argnums)

            return stack_rows(row, outputs[k])

        return unflatten(structure, [block(k) for k in range(len(outputs))])

    return jacobian_of


def stack_rows(row: Callable[[Any], Any], y: Any) -> Any:
    """Return one block of a Jacobian: `row` of each unit cotangent of `y`, stacked leaf by leaf.

    Of a complex output z the real argument x gets dz/dx, and a complex one too where z is
    holomorphic; elsewhere there is no such number: TypeError.
    """
    shape, spec = np.shape(y), spec_of(y._value if isinstance(y, Traced) else y)
    units = np.eye(int(np.prod(shape, dtype=int)), dtype=spec.dtype)
    if not len(units):
        first = row(np.zeros(shape, spec.dtype))
        leaves, structure = flatten(first, leaf=is_boxed_leaf)
        return unflatten(structure, [np.zeros(shape + np.shape(v), v.dtype) for v in leaves])
    found = [flatten(row(u.reshape(shape)), leaf=is_boxed_leaf) for u in units]
    columns = list(zip(*(leaves for leaves, _ in found), strict=True))
    if spec.dtype.kind == "c":
        turned = [flatten(row(1j * u.reshape(shape)), leaf=is_boxed_leaf)[0] for u in units]
        other = zip(*turned, strict=True)
        columns = [tuple(map(complex_row, c, d)) for c, d in zip(columns, other, strict=True)]
    leaves = [np.reshape(np.stack(c), shape + np.shape(c[0])) for c in columns]
    return unflatten(found[0][1], leaves)


def complex_row(plain: Any, turned: Any) -> Any:
    """Return dz/dx from the pullbacks of 1 and of i."""
    if not np.iscomplexobj(plain):
        return plain - 1j * turned
    if not np.allclose(turned, 1j * plain, equal_nan=True):
        raise TypeError(
            "the function is not holomorphic: a complex output has no complex derivative there; "
            "differentiate its real and its imaginary part with respect to real arguments"
        )
    return plain


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

    def product(*args_v: Any, **kwargs: Any) -> Any:
        *args, v = args_v

        def slope(*a: Any, **k: Any) -> Any:
            return inner(value_and_grad(f, argnums)(*a, **k)[1], v)

        return value_and_grad(slope, argnums)(*args, **kwargs)[1]

    return product


def inner(g: Any, v: Any) -> Any:
    """Return the sum of the products of all leaves of two equal structures."""
    directions, _ = flatten(v, leaf=is_boxed_leaf)
    slopes, _ = flatten(g, leaf=is_boxed_leaf)
    if [np.shape(d) for d in directions] != [np.shape(s) for s in slopes]:
        raise ValueError("hvp: the direction must have the structure and shapes of the argument")
    return sum(np.sum(s * d) for s, d in zip(slopes, directions, strict=True))
