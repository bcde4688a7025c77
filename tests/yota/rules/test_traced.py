"""Every rule through the tracer: first derivatives as the bare rule's, second by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES, Sample
from tests.yota.rules.test_rules import STEP, cotangents, leaves, pulled_back

Array = Any

# Their second derivative is not compared: it is not defined there, or differences are too coarse.
FIRST_ONLY = ("power-of-0",)


def weighed(s: Sample, dy: Any) -> Callable[..., Any]:
    """Return the sample as a real function of what it varies, weighed with `dy`."""

    @yota.compile  # what it reads outside is fixed, and dear to look through for each sample
    def f(*varied: Any) -> Any:
        call = s
        for k, v in zip(s.argnums, varied, strict=True):
            call = call.with_operand(k, v)
        y = call.run()
        total = 0.0
        for g, v in zip(leaves(dy), leaves(y), strict=True):
            total = total + np.sum(np.real(g * v))
        return total

    return f


def prepared(s: Sample) -> tuple[Callable[..., Any], list[Any], Any]:
    y = s.fn(*s.args, **s.kwargs)
    dy = cotangents(y, np.random.default_rng(len(s.name)))
    return weighed(s, dy), [s.operand(k) for k in s.argnums], dy


@pytest.mark.parametrize("s", [s for s in SAMPLES if s.argnums], ids=lambda s: s.name)
def test_traced_gradient_is_the_rules_answer(s: Sample) -> None:
    f, varied, dy = prepared(s)
    _, g = yota.grad(f, *varied)
    y = s.fn(*s.args, **s.kwargs)
    for k, got in zip(s.argnums, g, strict=True):
        for a, b in zip(leaves(got), pulled_back(s, k, dy, y), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def smooth(s: Sample) -> bool:
    return bool(s.argnums) and "single" not in s.name and s.name not in FIRST_ONLY


@pytest.mark.parametrize("s", list(filter(smooth, SAMPLES)), ids=lambda s: s.name)
def test_second_derivative_agrees_with_differences_of_the_first(s: Sample) -> None:
    f, varied, _ = prepared(s)
    rng = np.random.default_rng(1)
    way = [[_step(leaf, rng) for leaf in leaves(v)] for v in varied]

    @yota.compile
    def along(*xs: Any) -> Any:
        _, g = yota.grad(f, *xs)
        total = 0.0
        for part, step in zip(g, way, strict=True):
            for leaf, d in zip(leaves(part), step, strict=True):
                total = total + np.sum(np.real(leaf * d))
        return total

    _, second = yota.grad(along, *varied)
    high = yota.grad(f, *moved(varied, way, STEP))[1]
    low = yota.grad(f, *moved(varied, way, -STEP))[1]
    for got, p, m in zip(second, high, low, strict=True):
        for a, b, c in zip(leaves(got), leaves(p), leaves(m), strict=True):
            want = (np.asarray(b) - np.asarray(c)) / (2 * STEP)
            tol = 1e-4 * max(1.0, float(np.max(np.abs(want), initial=0)))
            np.testing.assert_allclose(a, want, rtol=1e-4, atol=tol)


def _step(leaf: Any, rng: np.random.Generator) -> Any:
    d = rng.normal(size=np.shape(leaf))
    d = d + 1j * rng.normal(size=np.shape(leaf)) if np.iscomplexobj(leaf) else d
    if not isinstance(leaf, np.ndarray):
        return d[()].item() if np.ndim(d) == 0 else d
    step = np.empty_like(leaf, dtype=d.dtype)  # in the same memory layout
    step[...] = d
    return step


def moved(varied: list[Any], way: list[list[Any]], by: float) -> list[Any]:
    result = []
    for v, step in zip(varied, way, strict=True):
        new = [leaf + by * d for leaf, d in zip(leaves(v), step, strict=True)]
        new = [np.asarray(n) if isinstance(b, np.ndarray) else n
               for n, b in zip(new, leaves(v), strict=True)]  # fmt: skip
        result.append(type(v)(new) if isinstance(v, (list, tuple)) else new[0])
    return result
