"""Compare values to the last bit, and gradients with differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.structs import flatten

STEP = 1e-5
RTOL = 1e-5
ATOL = 1e-6
# In units of the type's precision, for what may be summed in another order.
SLACK = 1e3


def unequal(got: Any, want: Any) -> str | None:
    """Return how two structures differ in type, shape or bits, None where they do not."""
    a, how_a = flatten(got, leaf=is_leaf)
    b, how_b = flatten(want, leaf=is_leaf)
    if str(how_a) != str(how_b) or len(a) != len(b):
        return f"another structure: {got!r} for {want!r}"
    for x, y in zip(a, b, strict=True):
        if type(x) is not type(y) or np.asarray(x).dtype != np.asarray(y).dtype:
            return f"{type_text(x)} for {type_text(y)}"
        if np.shape(x) != np.shape(y):
            return f"shape {np.shape(x)} for {np.shape(y)}"
        if not same_bits(x, y):
            return f"{x!r} for {y!r}"
    return None


def is_leaf(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic | int | float | complex)


def type_text(x: Any) -> str:
    return f"{type(x).__name__} of {np.asarray(x).dtype}"


def same_bits(x: Any, y: Any) -> bool:
    """Tell whether two arrays of one type are equal, signs of zeros too; NaNs are alike."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "c":
        return same_bits(x.real, y.real) and same_bits(x.imag, y.imag)
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    signs = np.signbit(x) == np.signbit(y)
    return bool(np.array_equal(x, y, equal_nan=True) and np.all(signs | np.isnan(x)))


def far(got: Any, want: Any, eps: float, unsure: float = 0.0) -> str | None:
    """Return how two structures differ by more than another order of the same sums can explain.

    `eps` is the precision of the least precise type that is computed in, `unsure` how much the
    numbers move with the last bit of the arguments.
    """
    a, b = flatten(got, leaf=is_leaf)[0], flatten(want, leaf=is_leaf)[0]
    if len(a) != len(b):
        return f"another structure: {got!r} for {want!r}"
    for x, y in zip(a, b, strict=True):
        if type(x) is not type(y) or np.shape(x) != np.shape(y):
            return f"{type_text(x)} for {type_text(y)}"
        x, y = np.asarray(x), np.asarray(y)
        if x.dtype.kind not in "fc":
            continue
        known = np.isfinite(x) & np.isfinite(y)
        scale = max(1.0, float(np.max(np.abs(y[known]), initial=0.0)))
        same = np.isnan(x) == np.isnan(y)
        if not np.all(same & ((np.abs(x - y) <= SLACK * eps * scale + 8 * unsure) | ~known)):
            return f"{x!r} for {y!r}"
    return None


@dataclass
class Count:
    """How many elements of gradients were compared with differences, and how many left out.

    `alone` counts programs that are off at their very point, and at none near it.
    """

    compared: int = 0
    left_out: int = 0
    alone: int = 0


@dataclass(frozen=True)
class Off:
    """One element of a gradient that differences do not agree with."""

    leaf: int
    index: tuple[int, ...]
    got: Any
    want: Any

    def __str__(self) -> str:
        at = f"{list(self.index)}" if self.index else ""
        return f"leaf {self.leaf}{at}: {self.got!r}, differences {self.want!r}"


def differences(
    f: Callable[[Sequence[Any]], float],
    leaves: Sequence[Any],
    gradients: Sequence[Any],
    count: Count,
    rtol: float = RTOL,
) -> Iterator[Off]:
    """Yield the elements of gradients that central differences contradict.

    `f` takes all leaves.  Elements where two step sizes do not agree, near a kink or a pole, are
    left out.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        middle = f(leaves)
        for k, (leaf, gradient) in enumerate(zip(leaves, gradients, strict=True)):
            if gradient is None:
                continue
            scale = float(np.max(np.abs(gradient), initial=0.0))
            scale = scale if np.isfinite(scale) else 0.0
            for index in np.ndindex(np.shape(leaf)):
                want, error = slope(f, leaves, k, index, middle)
                got = np.asarray(gradient)[index]
                bound = ATOL * max(1.0, scale) + rtol * abs(want) + rtol * 1e-3 * abs(middle)
                if not error < bound:
                    count.left_out += 1
                    continue
                count.compared += 1
                if not abs(complex(got) - want) <= 3 * bound + 3 * error:
                    yield Off(k, index, got, want)


def slope(
    f: Callable[[Sequence[Any]], float], leaves: Sequence[Any], k: int, index: Any, middle: float
) -> tuple[complex, float]:
    """Return df/dx - i df/dy of one element, and how far two step sizes or two sides differ."""
    x = np.asarray(leaves[k])
    size = STEP * max(1.0, float(abs(x[index])))
    total, error = 0.0 + 0.0j, 0.0
    for unit in (1.0, 1j) if x.dtype.kind == "c" else (1.0,):
        wide, kink = central(f, leaves, k, index, unit * size, middle)
        near, sharp = central(f, leaves, k, index, unit * size / 4, middle)
        total += near if unit == 1.0 else -1j * near
        # the two sides of a smooth point come together with the step, those of a kink stay apart
        apart = sharp if sharp > 0.5 * kink else 0.0
        error = max(error, abs(wide - near), apart)
    return total, error if np.isfinite(error) else np.inf


def central(
    f: Callable[[Sequence[Any]], float],
    leaves: Sequence[Any],
    k: int,
    index: Any,
    step: complex,
    middle: float,
) -> tuple[float, float]:
    """Return the central difference, and how far the differences to either side are apart."""
    up, h = moved(leaves, k, index, step)
    down, _ = moved(leaves, k, index, -step)
    high, low = beside(f, up), beside(f, down)
    return (high - low) / (2 * h), abs(high - 2 * middle + low) / h


def beside(f: Callable[[Sequence[Any]], float], leaves: Sequence[Any]) -> float:
    """Return a value beside the point, NaN where the program cannot run on what it gets there."""
    try:
        return f(leaves)
    except (ValueError, IndexError, TypeError):
        return float("nan")


def moved(leaves: Sequence[Any], k: int, index: Any, step: complex) -> tuple[list[Any], float]:
    """Return the leaves with one element moved, and by how much."""
    leaf = leaves[k]
    new = np.array(leaf, copy=True, order="K")
    before = new[index]
    new[index] += step if new.dtype.kind == "c" else step.real
    h = float(abs(new[index] - before))
    if not isinstance(leaf, np.ndarray):
        new = new[()] if isinstance(leaf, np.generic) else new.item()
    elif not leaf.flags.c_contiguous:
        laid = np.empty_like(leaf)
        laid[...] = new
        new = laid
    return [*leaves[:k], new, *leaves[k + 1 :]], h
