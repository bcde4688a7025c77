"""Calls in forms that are seldom met, each of which tells a rule from one a little off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.yota.rules.samples.makers import Sample, case, cplx, positive, real
from yota.rules import functional as fun


def rare() -> Iterator[Sample]:
    yield from pointwise()
    yield from placed()
    yield from multiplied()


def pointwise() -> Iterator[Sample]:
    yield case("negative", np.copysign, real(2, 3), -positive(3), at=(0,))
    # The bounds cross: the upper one wins.
    crossed = np.array([0.0, 2.0, 0.7])
    yield case("crossed", np.clip, crossed, 1.0, np.array([0.5, 0.6, 0.9]), at=(0, 2))
    yield case("crossed-low", np.clip, crossed, np.array([1.0, 1.1, 0.2]), 0.9, at=(0, 1))
    parts = np.array([complex(np.nan, 1.0), complex(2.0, np.inf), 1 + 1j])
    yield case("parts", np.nan_to_num, parts, nan=0.0, posinf=3.0)
    yield case("0", np.sinc, np.array([0.0, 1.0, -0.3]))


def placed() -> Iterator[Sample]:
    yield case("lead-row", fun.setitem, real(3, 4), slice(0, 2), real(1, 1, 4), at=(0, 2))
    for mode in ("wrap", "clip"):
        yield case(f"{mode}-axis", np.take, real(3, 4), np.array([5, -3, 1]), axis=1, mode=mode)


def multiplied() -> Iterator[Sample]:
    yield case("unequal", np.kron, real(2), real(2, 3))
    yield case("unequal", np.kron, real(2, 3), real(2))
    yield case("matrices", np.outer, real(2, 2), real(3, 2))
    yield case("number", np.polymul, real(3), real())
    yield case("short", np.polydiv, np.array([2.0, 0.0, 0.5, 1.0]), np.array([1.0, 0.5]))
    yield case("complex", np.linalg.cond, cplx(3, 3))
