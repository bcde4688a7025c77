"""What every sample of SciPy's functions is put through."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import yota
from tests.bits import bits
from tests.yota.rules.samples import Sample
from tests.yota.rules.test_rules import STEP, cotangents, differences, leaves
from tests.yota.rules.test_traced import moved, weighed


def prepared(s: Sample) -> tuple[Any, list[Any], Any]:
    """Return the sample as a real function of what it varies, that, and the weights."""
    dy = cotangents(s.run(), np.random.default_rng(len(s.name)))
    return weighed(s, dy), [s.operand(k) for k in s.argnums], dy


def check_first(s: Sample) -> None:
    """Compare the traced gradient with central differences of the plain function."""
    f, varied, dy = prepared(s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, g = yota.grad(f, *varied)
    tol = 2e-3 if s.name.endswith("single") else 2e-5
    for k, got, x in zip(s.argnums, g, varied, strict=True):
        for a, w, leaf in zip(leaves(got), differences(s, k, dy), leaves(x), strict=True):
            assert np.all(np.isfinite(w)), "the sample has no differences"
            assert np.result_type(a) == np.result_type(leaf)
            scale = max(1.0, float(np.max(np.abs(w), initial=0)))
            np.testing.assert_allclose(a, w, rtol=tol, atol=tol * scale)


def check_second(s: Sample) -> None:
    """Compare the derivative of the gradient along a direction with differences of the gradient."""
    f, varied, _ = prepared(s)
    rng = np.random.default_rng(1)
    way = [[direction(leaf, rng) for leaf in leaves(v)] for v in varied]

    @yota.compile
    def along(*xs: Any) -> Any:
        _, g = yota.grad(f, *xs)
        parts = [zip(leaves(p), step, strict=True) for p, step in zip(g, way, strict=True)]
        return sum(np.sum(np.real(leaf * d)) for part in parts for leaf, d in part)

    _, second = yota.grad(along, *varied)
    high = yota.grad(f, *moved(varied, way, STEP))[1]
    low = yota.grad(f, *moved(varied, way, -STEP))[1]
    for got, p, m in zip(second, high, low, strict=True):
        for a, b, c in zip(leaves(got), leaves(p), leaves(m), strict=True):
            want = (np.asarray(b) - np.asarray(c)) / (2 * STEP)
            assert np.all(np.isfinite(want)), "the sample has no second differences"
            tol = 1e-4 * max(1.0, float(np.max(np.abs(want), initial=0)))
            np.testing.assert_allclose(a, want, rtol=1e-4, atol=tol)


def direction(leaf: Any, rng: np.random.Generator) -> Any:
    """Return a random direction of a leaf's shape and type."""
    d = rng.normal(size=np.shape(leaf))
    d = d + 1j * rng.normal(size=np.shape(leaf)) if np.iscomplexobj(leaf) else d
    return d if isinstance(leaf, np.ndarray) else d[()].item() if np.ndim(d) == 0 else d


def check_code(s: Sample) -> None:
    """Compare value and gradients of every form of code with those of the tape, bit for bit."""
    f, varied, _ = prepared(s)
    tape = yota.gradtape(f, *varied)
    value, gradients = tape.play(*varied)
    assert bits(value) == bits(f(*varied))
    for form in ("lean", "bound"):
        got, slopes = tape.compile(form=form, exact=True)(*varied)
        assert bits(got) == bits(value)
        assert bits(slopes) == bits(gradients)
    plain = yota.simplegrad(f, *varied)
    got, *found = plain(*varied)
    assert bits(got) == bits(value)
    for a, b in zip(found, gradients, strict=True):
        assert bits(a) == bits(b)
    alone(plain.__source__)


def alone(source: str) -> None:
    """Assert that generated code runs by itself up to its function, without this library."""
    assert "yota" not in source
    exec(compile(source, "<generated>", "exec"), {})
