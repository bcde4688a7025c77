"""Gradients against differences: the first derivative, the second, and another engine's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import yota
from tests.fuzz.compare import Count, Off, differences
from tests.fuzz.failure import Failure, telling
from tests.fuzz.peers import Peer, off_from
from tests.fuzz.program import Program
from yota.structs import flatten, is_float


def against_differences(program: Program, gradients: tuple[Any, ...], count: Count) -> None:
    """Compare gradients with central differences of the program in double precision."""
    wide = program.widened()
    f, leaves = wide.function(), [leaf.make() for leaf in wide.leaves]
    if program.is_narrow:
        gradients = narrow_gradients(program, wide, f, gradients)
    if first_off(wide, f, leaves, gradients, count) is None:
        return
    # A point by itself, where slopes of infinity or kinks cancel out, says nothing of a rule.
    rng = np.random.default_rng(program.seed)
    for _ in range(2):
        near = [other(x, rng, 1e-3) for x in leaves]
        with telling("grad near"):
            found = tuple(yota.grad(f, *wide.args(near), exact=True)[1])
        off = first_off(wide, f, near, found, Count())
        if off is not None and not (np.isnan(off.got) and warns(wide, f, near)):
            raise Failure("gradient", str(off))
    count.alone += 1


def warns(program: Program, f: Any, leaves: list[Any]) -> bool:
    """Tell whether NumPy warns on the way to a gradient: 0 times infinity stays NaN, not unsaid."""
    try:
        with np.errstate(divide="raise", invalid="raise"):
            yota.grad(f, *program.args(leaves), exact=True)
    except FloatingPointError:
        return True
    return False


def first_off(
    program: Program, f: Any, leaves: list[Any], gradients: tuple[Any, ...], count: Count
) -> Off | None:
    """Return the first element that differences contradict."""
    found = by_leaf(program, gradients)
    return next(differences(lambda x: float(f(*program.args(x))), leaves, found, count), None)


def other_leaves(program: Program) -> list[Any]:
    """Return other values for all leaves."""
    rng = np.random.default_rng(program.seed)
    return [other(leaf.make(), rng) for leaf in program.leaves]


def other(x: Any, rng: np.random.Generator, far: float = 0.5) -> Any:
    """Return other values of the same type and layout, so far from these; integers stay."""
    if np.asarray(x).dtype.kind not in "fc":
        return x
    if not isinstance(x, np.ndarray):
        return type(x)(x * (1 - far / 2) + far / 4)
    new = np.empty_like(x)
    shift = far * rng.uniform(0.05, 0.15, x.shape)
    new[...] = x * rng.uniform(1 - far, 1 + far / 2, x.shape) + shift
    return new


def by_leaf(program: Program, gradients: tuple[Any, ...]) -> list[Any]:
    """Return a gradient for each leaf, None for one of integers."""
    found = iter([g for got in gradients for g in flatten(got, leaf=is_float)[0]])
    return [next(found) if leaf.is_float else None for leaf in program.leaves]


def narrow_gradients(
    program: Program, wide: Program, f: Any, narrow: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the gradients in double precision, near which those of less precision must lie."""
    with telling("grad wide"):
        value, g = yota.grad(f, *wide.args())
    coarse = 2e-3 if program.eps < 1e-5 else 0.05
    plain = program.function()(*program.args())
    if abs(plain - value) <= coarse * max(1.0, abs(value)):
        for k, (a, b) in enumerate(
            zip(by_leaf(program, narrow), by_leaf(program, tuple(g)), strict=True)
        ):
            if b is None:
                continue
            scale = np.max(np.abs(b), initial=1.0)
            if np.isfinite(scale) and not np.all(np.abs(a - b) <= coarse * scale):
                raise Failure("precision", f"leaf {k}: {a!r}, in double precision {b!r}")
    return tuple(g)


def compare_with(program: Program, peer: Peer, gradients: tuple[Any, ...]) -> str | None:
    """Return how another engine's gradients differ, "" where it has none, None where they agree."""
    theirs = peer.gradients(program)
    return "" if theirs is None else off_from(by_leaf(program, gradients), theirs, program)


def second_derivative(program: Program, count: Count) -> None:
    """Compare the slope of the gradient along one direction with differences of it."""
    wide = program.widened()
    f, leaves = wide.function(), [leaf.make() for leaf in wide.leaves]
    way = [direction(np.shape(x), k) for k, x in enumerate(leaves)]

    def along(*args: Any) -> Any:
        total = 0.0
        for g, d in zip(by_leaf(wide, tuple(yota.grad(f, *args)[1])), way, strict=True):
            if g is not None:
                total = total + np.sum(np.real(g * d))
        return total

    def at(t: Sequence[Any]) -> float:
        moved = [stepped(x, t[0] * d) for x, d in zip(leaves, way, strict=True)]
        return float(along(*wide.args(moved)))

    with telling("second"):
        _, g = yota.grad(along, *wide.args())
    pairs = zip(by_leaf(wide, tuple(g)), way, strict=True)
    slope = sum(float(np.sum(np.real(x * d))) for x, d in pairs if x is not None)
    for off in differences(at, [0.0], [slope], count, 1e-4):
        if np.isfinite(slope):
            raise Failure("second", str(off))


def stepped(x: Any, by: Any) -> Any:
    """Return a leaf moved by so much; integers stay."""
    if not isinstance(x, np.ndarray):
        return x if isinstance(x, int) else type(x)(x + by)
    if x.dtype.kind not in "fc":
        return x
    new = np.empty_like(x)
    new[...] = x + by
    return new


def direction(shape: tuple[int, ...], k: int) -> Any:
    return np.cos(np.arange(1.0 + k, np.prod(shape, dtype=int) + 1.0 + k)).reshape(shape)
