"""Jacobians, Hessians and their products with a direction, by repeated reverse passes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.api import as_argnums, grad, hand_back, pick, report, value_and_grad
from yota.batching import run_batched
from yota.recording import Recording, is_boxed_leaf, seed_box
from yota.structs import flatten, pick_leaves, unflatten
from yota.tape import Var, hand_out, spec_of, tree_vars
from yota.tracing import Traced


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that returns the Jacobian of `f`: the output's axes, then the leaf's.

    Structures nest: at each array of the output stands the structure of the argument.  The reverse
    pass is recorded once and run for all rows together, op by op where an op allows it.
    """

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        recording = Recording(f, args, kwargs, as_argnums(argnums, len(args)))
        output = recording.run(f)
        if not recording.nested:
            report(recording, recording.value(output), "vjp")
        outputs, structure = flatten(output, leaf=is_boxed_leaf)
        blocks = [block(recording, y, argnums) for y in outputs]
        return unflatten(structure, blocks)

    return jacobian_of


def block(recording: Recording, y: Any, argnums: Any) -> Any:
    """Return one block of a Jacobian: the gradient for each unit cotangent of `y`, stacked.

    Of a complex output z the real argument x gets dz/dx, and a complex one too where z is
    holomorphic; elsewhere there is no such number: TypeError.
    """
    shape, spec = np.shape(y), spec_of(y._value if isinstance(y, Traced) else y)
    size = int(np.prod(shape, dtype=int))
    units = np.eye(size, dtype=spec.dtype).reshape(size, *shape)
    found, structure = pull_rows(recording, y, units, argnums)
    if spec.dtype.kind == "c":
        turned, _ = pull_rows(recording, y, 1j * units, argnums)
        found = list(map(complex_rows, found, turned))
    return unflatten(structure, [np.reshape(v, shape + np.shape(v)[1:]) for v in found])


def pull_rows(recording: Recording, y: Any, seeds: Any, argnums: Any) -> tuple[list[Any], Any]:
    """Return the leaves of the gradient, stacked over the cotangents of `y`, and the structure."""
    if not recording.nested and isinstance(y, Traced):
        together = pull_together(recording, y, seeds, argnums)
        if together is not None:
            return together
    rows = seeds if len(seeds) else [np.zeros(np.shape(y), seeds.dtype)]
    found = [flatten(pull_one(recording, y, s, argnums), leaf=is_boxed_leaf) for s in rows]
    stacked = [np.stack(leaf) for leaf in zip(*(f[0] for f in found), strict=True)]
    return [v[: len(seeds)] for v in stacked], found[0][1]


def pull_one(recording: Recording, y: Any, seed: Any, argnums: Any) -> Any:
    """Return the gradient for one cotangent of `y`."""
    here, gradients = recorded(recording, y, seed)
    if not here.nested:
        gradients = tuple(hand_out(g, here.trace.values) for g in gradients)
    return pick(gradients, argnums)


def recorded(recording: Recording, y: Any, seed: Any) -> tuple[Recording, tuple[Any, ...]]:
    """Record the reverse pass of one output for one cotangent."""
    here = recording if recording.nested else recording.fork()
    with here.trace.under_way(sys._getframe()):
        seeds = []
        if isinstance(y, Traced):
            box = Traced(here.trace, y._var, y._value)
            seeds.append((box, seed_box(here, box, seed)))
        return here, hand_back(here, seeds)


def pull_together(
    recording: Recording, y: Traced, seeds: Any, argnums: Any
) -> tuple[list[Any], Any] | None:
    """Record the reverse pass once and run it for all rows; None where a rule reads a cotangent."""
    first = seeds[0] if len(seeds) else np.zeros(np.shape(y._value), seeds.dtype)
    here, gradients = recorded(recording, y, first)
    tape, values = here.tape, here.trace.values
    if len(tape.guards) > len(recording.tape.guards) or tape.seed is None:
        return None
    with here.trace.under_way(sys._getframe()):
        found = run_batched(tape, values, tape.seed, seeds, set(tree_vars(gradients)))
    trees = tuple(
        unflatten(g.structure, [None if v is None else _Rows(v) for v in g.leaves])
        for g in gradients
    )
    leaves, structure = flatten(pick(trees, argnums), leaf=lambda v: isinstance(v, _Rows))
    return [found[v.var] for v in leaves], structure


@dataclass(frozen=True, slots=True)
class _Rows:
    """A leaf of a gradient while its rows are found."""

    var: Var


def complex_rows(plain: Any, turned: Any) -> Any:
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
