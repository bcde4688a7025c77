"""What a mask or a selection left out contributes nothing, whatever slope stands behind it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES, Sample
from yota.rules.registry import VJP, Live, elementwise, unbroadcast

STEP = 1e-6


@yota.primitive
def steep(x: Any, dead: Any) -> Any:
    """Return `x`; its slope is infinite at the dead elements."""
    return x


elementwise(steep, lambda dy, y, x, dead: dy * np.where(dead, np.inf, 1.0), yota.zero)


def parts(y: Any) -> list[Any]:
    return list(y) if isinstance(y, list | tuple) else [y]


def leaf(operand: Any) -> Any:
    """Return an operand, of a list of arrays the last one."""
    return operand[-1] if isinstance(operand, list | tuple) and operand else operand


def with_leaf(operand: Any, x: Any) -> Any:
    """Return an operand with another array in the leaf's place."""
    if isinstance(operand, list | tuple):
        return type(operand)([*operand[:-1], x])
    return x


def masks_of(y: Any, share: float) -> list[Any]:
    """Return a mask for each output; of several outputs one is left out altogether."""
    masks = [np.random.default_rng(5).random(np.shape(v)) < share for v in parts(y)]
    return [np.zeros_like(masks[0]), *masks[1:]] if len(masks) > 1 and share < 1 else masks


def shares(s: Sample, position: Any) -> tuple[float, ...]:
    """Return how much of the output to keep: all where the rule knows no more than what it sees."""
    vjp = VJP.get(s.fn)
    if vjp is None or not isinstance(leaf(s.operand(position)), np.ndarray):
        return ()
    mode = vjp.mode(*s.args, **s.kwargs)
    if mode is not Live.OPAQUE:
        return (0.5, 1.0) if mode is Live.SELECTS else (0.5,)
    sees = position == 0 and vjp.sees is not None and vjp.sees(*s.args, **s.kwargs) is not None
    return (1.0,) if sees else ()


def every_sample() -> list[Sample]:
    """Return the samples, with those of SciPy's functions where SciPy is there."""
    if importlib.util.find_spec("scipy") is None:
        return SAMPLES
    special = importlib.import_module("tests.yota.scipy.samples").SAMPLES
    return [*SAMPLES, *special, *importlib.import_module("tests.yota.scipy.namespace").SAMPLES]


CASES = [(s, k, share) for s in every_sample() for k in s.argnums for share in shares(s, k)]


@pytest.mark.parametrize(
    ("s", "position", "share"), CASES, ids=[f"{s.name}-{k}-{share}" for s, k, share in CASES]
)
def test_what_is_left_out_contributes_nothing(s: Sample, position: Any, share: float) -> None:
    y = s.run()
    masks = masks_of(y, share)
    dead = left_out(s, position, y, masks)

    def kept(*varied: Any) -> Any:
        call = s
        for k, x in zip(s.argnums, varied, strict=True):
            x = with_leaf(x, steep(leaf(x), dead)) if k == position else x
            call = call.with_operand(k, x)
        return sum(
            np.sum(np.real(v if share == 1 else np.where(m, v, 0)))
            for m, v, plain in zip(masks, parts(call.run()), parts(y), strict=True)
            if np.asarray(plain).dtype.kind in "fc"
        )

    _, g = yota.grad(kept, *(s.operand(k) for k in s.argnums))
    slopes = leaf(g[s.argnums.index(position)])[dead]
    np.testing.assert_array_equal(slopes, np.zeros(np.count_nonzero(dead)))


def left_out(s: Sample, position: Any, y: Any, masks: list[Any]) -> Any:
    """Return the elements of an argument that nothing behind the masks depends on."""
    x = leaf(s.operand(position))
    mode = VJP[s.fn].mode(*s.args, **s.kwargs)
    if mode in (Live.SMOOTH, Live.POINTWISE):
        return unbroadcast(np.any(masks, axis=0) * 1, x.shape) == 0
    # A slope that happens to be 0 leaves nothing out; NaN tells what is not looked at.
    steps = (np.nan,) if mode is Live.OPAQUE else (STEP, -STEP)
    dead = np.zeros(x.shape, bool)
    for at in np.ndindex(x.shape):
        dead[at] = all(same(s, position, at, y, masks, step) for step in steps)
    return dead


def same(s: Sample, position: Any, at: Any, y: Any, masks: list[Any], step: float) -> bool:
    """Tell whether what is behind the masks stays as it is when one element moves."""
    moved = leaf(s.operand(position)).copy()
    moved[at] += step
    now = s.with_operand(position, with_leaf(s.operand(position), moved)).run()
    return all(
        np.shape(a) == np.shape(b)
        and np.array_equal(np.asarray(a)[m], np.asarray(b)[m], equal_nan=True)
        for m, a, b in zip(masks, parts(now), parts(y), strict=True)
    )
