"""Special values, layouts and types in the named forms, and what decides in its exact form."""

from __future__ import annotations

import re

import numpy as np
import pytest

import yota
from tests.bits import bits
from tests.yota.forms import SPECIAL, A, V, forward, ways
from yota.passes import optimise
from yota.program import MISS, entry_of

rng = np.random.default_rng(5)


# ---- special values, layouts, types

SHAPED = [
    lambda x: np.sum(x, axis=0),
    lambda x: np.sum(x * x, axis=-1, keepdims=True),
    lambda x: np.sum(x * np.abs(x)),
    lambda x: np.mean(x * 2.0, axis=0),
    lambda x: np.max(x - np.mean(x), axis=-1),
    lambda x: np.power(x, 3) - np.power(x, -2),
    lambda x: -x * 2.0 + -np.exp(-x),
    lambda x: (x - np.max(x)) / np.sum(np.exp(x)),
    lambda x: np.where(x > 0, np.sqrt(np.abs(x)), -x) @ np.ones(x.shape[-1], x.dtype),
]


def inputs():
    square = np.resize(SPECIAL, (10, 10))
    yield "special", np.where(np.isfinite(square), square, 1.5)
    yield "infinite", square
    yield "fortran", np.asfortranarray(rng.standard_normal((4, 5)))
    yield "strided", rng.standard_normal((8, 10))[::2, ::-2]
    yield "float32", rng.standard_normal((4, 5)).astype(np.float32)
    yield "float16", rng.standard_normal((4, 5)).astype(np.float16)
    yield "complex", rng.standard_normal((4, 5)) + 1j * rng.standard_normal((4, 5))
    yield "empty", np.zeros((0, 5))
    yield "one", np.array([[2.5]])
    yield "vector", rng.standard_normal(9)
    yield "cube", rng.standard_normal((3, 4, 5))


@pytest.mark.parametrize("f", SHAPED)
@pytest.mark.parametrize(("name", "x"), list(inputs()))
def test_special_values_layouts_and_types(f, name, x):
    if x.dtype.kind == "c" or x.size == 0:
        f = SHAPED[0] if x.dtype.kind == "c" else f
    try:
        f(x)
    except (ValueError, RuntimeWarning) as error:
        # a maximum or mean of nothing: the trace raises what NumPy does
        with pytest.raises(type(error), match=re.escape(str(error))):
            forward(f, x)
        return
    tape = forward(f, x)
    want, got = ways(tape, x)
    for a, b in zip(want, got, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        eps = np.finfo(a.dtype).eps
        assert np.allclose(a, b, rtol=200 * eps, atol=200 * eps, equal_nan=True)


def test_zero_d_arrays_and_weak_scalars_keep_their_types():
    x = np.ones((2, 3), np.float32)
    f = lambda x, s, z: np.sum(x * (s * 2.0) + z * 1.5, axis=0)
    for z in (np.array(0.5, np.float32), np.float32(0.5), 0.5):
        tape = forward(f, x, 0.25, z)
        want, got = ways(tape, x, 0.25, z)
        assert got[0].dtype == want[0].dtype == np.float32
        assert np.allclose(want[0], got[0])


def test_another_layout_is_taken_where_it_decides_nothing():
    tape = yota.gradtape(lambda x: np.sum(np.tanh(x) * x), A)
    value, (g,) = entry_of(tape)(np.asfortranarray(A))
    assert np.allclose(value, tape.play(A)[0], rtol=1e-14)
    assert np.allclose(g, tape.play(A)[1][0], rtol=1e-14)
    assert entry_of(tape, exact=True)(np.asfortranarray(A)) is MISS
    shaped = forward(lambda x: np.tanh(x) * 2.0, A)
    assert entry_of(shaped)(np.asfortranarray(A)) is MISS
    branch = yota.gradtape(lambda x: np.sum(x) if np.sum(x) > -1e9 else 0.0, A)
    assert entry_of(branch)(np.asfortranarray(A)) is MISS


def test_stale_memory_is_never_read():
    f = lambda m, v: np.sum(np.tanh(m @ v) @ m) + np.sum(np.sum(m * 2.0, axis=0) ** 2)
    tape = yota.gradtape(f, A, V[:7])
    run = entry_of(tape)
    want = run(A, V[:7])
    for bad in (np.nan, np.inf):
        run(np.full_like(A, bad), V[:7])
        assert bits(run(A, V[:7])) == bits(want)


# ---- what decides keeps NumPy's bits


def test_a_guard_compares_what_numpy_computes():
    for _ in range(30):
        x, y = rng.standard_normal(300), rng.standard_normal(300)
        at = float(np.sum(x * y))
        f = lambda x, y, at=at: np.sum(x * y) * 2.0 if np.sum(x * y) >= at else np.sum(x)
        tape = yota.gradtape(f, x, y)
        assert entry_of(tape)(x, y) is not MISS
        assert entry_of(tape)(x, np.nextafter(y, -np.inf * np.sign(x))) is MISS


@pytest.mark.parametrize(
    "decide",
    [
        lambda s: np.sum(np.where(s > 0.3, s, 0.0)),
        lambda s: np.floor(s) * s,
        lambda s: np.sum(np.argmax(s)) * s,
        lambda s: np.sign(s) * s,
    ],
)
def test_what_jumps_is_fed_with_numpys_bits(decide):
    f = lambda x: decide(np.sum(x * x) * 1.0)
    tape = yota.gradtape(f, V)
    exact = {v for v, op in optimise(tape)[-1].tape if op.origin.frames and not tape.is_reverse(v)}
    assert exact
    assert not any(
        r.why.startswith(("products", "sums")) and not tape.is_reverse(r.var)
        for r in optimise(tape)[-1].rewrites
    )


def test_one_complex_element_is_not_read_through_a_broadcast():
    def f(z, x):
        v = np.linalg.vecdot(z, x)
        return np.sum(np.real(v) * np.cos([1.0])) + np.sum(np.imag(v) * np.sin([1.0]))

    random = np.random.default_rng(0)
    for _ in range(20):
        z = random.normal(size=(1, 1)) + 1j * random.normal(size=(1, 1))
        tape = yota.gradtape(f, z, np.array([1.0]))
        for stage in optimise(tape, ("fuse",), exact=True):
            want, got = tape.play(z, np.array([1.0])), stage.tape.play(z, np.array([1.0]))
            assert bits(got) == bits(want)
