"""Each named form within the bound that its row states, and what decides in its exact form."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yota
from tests.bits import bits
from tests.programs import programs
from tests.yota.tapes import Hand
from tests.zoo import SMOOTH
from yota import floats
from yota.kernels import CHUNK
from yota.passes import PIPELINE, optimise
from yota.passes.forms import FORMS
from yota.program import MISS, entry_of

rng = np.random.default_rng(5)
EPS = np.finfo(np.float64).eps
A, B = rng.standard_normal((40, 7)), rng.standard_normal((40, 7))
V = rng.standard_normal(100)
W, U = 0.5 * rng.standard_normal((6, 6)), 0.5 * rng.standard_normal((6, 3))
X = rng.standard_normal((20, 3))
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -2e-308, 1e308, -1.0, 2.0])


def forms_of(tape, exact=False):
    """Return the names of the forms that a tape is rewritten with."""
    rewrites = optimise(tape, PIPELINE, exact)[-1].rewrites
    whys = [w for r in rewrites for w in r.why.split("; ")]
    return {w.partition(":")[0] for w in whys} - {"not needed by any result"}


def ways(tape, *args):
    """Return the exact answer and the default one, as flat lists of arrays."""
    exact, quick = (entry_of(tape, e)(*args) for e in (True, False))
    assert exact is not MISS
    assert quick is not MISS
    return [[np.asarray(x) for x in leaves(tree)] for tree in (exact, quick)]


def leaves(tree):
    found, _ = yota.structs.flatten(
        tree, leaf=lambda x: isinstance(x, np.ndarray | np.generic | float | complex)
    )
    return found


def assert_close(tape, *args, scale, terms):
    """Compare both answers: `terms` roundings of a sum of magnitudes `scale`."""
    want, got = ways(tape, *args)
    for x, y, s in zip(want, got, leaves(scale), strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        eps = np.finfo(x.dtype).eps
        assert np.all(np.abs(x - y) <= terms * eps * np.abs(s)), np.max(np.abs(x - y))


def recurrent(w, u, h):
    for x in X:
        h = np.tanh(w @ h + u @ x)
    return np.sum(h * h)


def batched(w, h):
    for k in range(6):
        h = np.tanh(h @ w + k)
    return np.sum(h)


def repeated(x, y):
    total = 0.0
    for k in range(1, 9):
        total = total + np.sin(x * y) * float(k) + np.exp(np.cos(x * y)) / k
    return np.sum(total)


# form -> a function that takes it, arguments, magnitudes of what it adds up, number of roundings
CASES = {
    "vectors": (lambda m, v: np.sum(np.tanh(m @ v)), (A, V[:7]), None, 40),
    "cotangents": (repeated, (V, V[::-1].copy()), None, 40),
    "parts": (lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2 + np.exp(x[:-1])), (V,), None, 100),
    "stacks": (recurrent, (W, U, V[:6]), None, 100),
    "batches": (recurrent, (W, U, V[:6]), None, 200),
    "signs": (lambda x, y: np.sum(x - np.exp(-x * y)), (V, V + 0.1), None, 4),
    "scales": (lambda x: np.sum(np.exp(3.1 * x * 0.7 / 1.3)), (V,), None, 100),
    "powers": (lambda x: np.sum(np.power(x, 5)), (V,), None, 100),
    "products": (lambda x, y: np.sum(np.sin(x) * y), (A, B), None, 280),
    "sums": (lambda x, y: np.sum(np.sum(np.exp(x), axis=0) * y), (A, V[:7]), None, 280),
    "columns": (
        lambda x: np.sum(np.exp(x - yota.stop_gradient(np.max(x, axis=1, keepdims=True)))),
        (rng.standard_normal((300, 3)),), None, 900,
    ),
    "dots": (lambda x, y: np.sum(np.sin(x @ y.T)), (A, B), None, 280),
    "floats": (lambda x, y: np.tanh(x) * np.exp(y) + x**3, (0.3, -0.8), None, 8),
    "means": (lambda x: np.mean(np.tanh(x), axis=0)[2], (A,), None, 40),
    "numbers": (lambda x: np.mean(np.tanh(x)), (A,), None, 300),
    "broadcasts": (
        lambda x, y: np.sum(np.log(np.sum(np.exp(x), axis=1)) * y), (A, B[:, 0]), None, 80,
    ),
    "ones": (lambda x, s: np.sum(np.tanh(x * s) ** 2) * s, (A, 2.0), None, 300),
}  # fmt: skip


def test_every_form_has_a_row_and_a_case():
    names = [f.name for f in FORMS]
    assert len(set(names)) == len(names)
    assert set(CASES) == set(names)
    for form in FORMS:
        assert form.replaces
        assert form.why
        assert (form.bound == "0") == form.exact


@pytest.mark.parametrize("name", CASES)
def test_form_is_taken_and_keeps_within_its_bound(name):
    f, args, _, terms = CASES[name]
    tape = yota.gradtape(f, *args)
    if name != "ones":
        assert name in forms_of(tape)
    size = (1.0 + abs(f(*args)), *(1.0 + np.abs(g) for g in yota.grad(f, *args)[1]))
    assert_close(tape, *args, scale=size, terms=terms)


@pytest.mark.parametrize("name", CASES)
def test_exact_takes_exact_forms_alone_and_keeps_every_bit(name):
    f, args, _, _ = CASES[name]
    tape = yota.gradtape(f, *args)
    inexact = {form.name for form in FORMS if not form.exact}
    assert not forms_of(tape, exact=True) & inexact
    assert bits(entry_of(tape, exact=True)(*args)) == bits(tape.play(*args))
    assert bits(tape.compile(exact=True)(*args)) == bits(tape.play(*args))


def forward(f, *args):
    return yota.trace(f, *args)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, 2), 2, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_add_up_to_n_roundings(dtype, axis, keepdims):
    x = (rng.standard_normal((5, 6, 7)) * 10.0 ** rng.integers(-6, 6, (5, 6, 7))).astype(dtype)
    f = lambda x: np.sum(x * dtype(1.5), axis=axis, keepdims=keepdims) * dtype(1.0)
    size = np.sum(np.abs(x) * 1.5, axis=axis, keepdims=keepdims)
    assert_close(forward(f, x), x, scale=size, terms=210)


@pytest.mark.parametrize("n", [1, 2, 1000, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
def test_long_sums_go_in_chunks(n):
    x, y = rng.standard_normal(n), rng.standard_normal(n)
    tape = forward(lambda x, y: np.sum((x + 0.0) * (y + 0.0)), x, y)
    want, got = ways(tape, x, y)
    true = math.fsum(x * y)
    assert abs(got[0] - true) <= min(n, CHUNK) * EPS * np.sum(np.abs(x * y))
    assert abs(want[0] - got[0]) <= min(n, CHUNK) * EPS * np.sum(np.abs(x * y))
    m = np.repeat(x[:, None], 3, axis=1)
    tape = forward(lambda m: np.sum(m * 2.0, axis=0) * 1.0, m)
    assert_close(tape, m, scale=np.sum(np.abs(m) * 2.0, axis=0), terms=min(n, CHUNK))


@pytest.mark.parametrize("n", [-8, -3, -2, -1, 2, 3, 4, 5, 6, 7, 8, 2.0, -3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_keep_within_n_ulp(n, dtype):
    x = rng.uniform(0.1, 4.0, 500).astype(dtype) * np.where(rng.random(500) < 0.5, -1, 1)
    x = x.astype(dtype)
    tape = forward(lambda x: np.power(x, n) + dtype(0.0), x)
    assert "powers" in forms_of(tape)
    (got,) = ways(tape, x)[1]
    true = np.power(x.astype(np.longdouble), int(n))
    assert np.all(
        np.abs(got - true) <= (n if n > 0 else -2 * n) * np.spacing(np.abs(true).astype(dtype))
    )


@pytest.mark.parametrize("factors", [(3.1, 0.7), (-0.3, 7.7), (1e-3, 1e3), (-1.0, 0.1)])
def test_scales_keep_within_three_ulp(factors):
    x = rng.standard_normal(1000)
    tape = forward(lambda x: -((x * factors[0]) / 1.7) * factors[1], x)
    want, got = ways(tape, x)
    assert "scales" in forms_of(tape)
    assert np.all(np.abs(want[0] - got[0]) <= 3 * np.spacing(np.abs(want[0])))


@pytest.mark.parametrize("fn", [np.max, np.min])
@pytest.mark.parametrize("shape", [(400, 2), (5000, 10), (3, 300, 4), (300, 1, 3)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_columns_give_numpys_numbers(fn, shape, keepdims):
    x = rng.choice([*SPECIAL, *rng.standard_normal(50)], shape)
    tape = forward(lambda x: fn(x * 1.5, axis=-1, keepdims=keepdims) + 1.0, x)
    assert "columns" in forms_of(tape)
    want, got = ways(tape, x)
    assert np.array_equal(want[0], got[0], equal_nan=True)


def test_scales_do_not_join_to_what_a_number_cannot_hold():
    x = np.array([1e-300, 1.0, 1e300])
    tape = forward(lambda x: (x * 1e200) * 1e200 + (x * 1e-200) * 1e-200, x)
    assert "scales" not in forms_of(tape)


def test_signs_change_no_bit_but_those_of_zero_and_nan():
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    for f in (
        lambda x, y: np.sum(y + -np.abs(x) * y, axis=0) + np.sum(-(x * x), axis=1),
        lambda x, y: (y + -x) + (-x + y) - (-x),
        lambda x, y: (y - -x / y) * (-np.abs(y) * -np.abs(x)),
    ):
        tape = forward(f, x, y)
        assert "signs" in forms_of(tape)
        want, got = ways(tape, x, y)
        assert np.allclose(want[0], got[0], rtol=1e-14, atol=0, equal_nan=True)


@pytest.mark.parametrize("fn", floats.PYTHON, ids=lambda f: f.__name__)
def test_floats_differ_by_four_ulp_at_most(fn):
    args = (0.5, 0.25)[: fn.nin]
    tape = forward(lambda *a: fn(*a), *args)
    assert "floats" in forms_of(tape)
    run, exact = entry_of(tape), entry_of(tape, exact=True)
    for _ in range(500):
        args = tuple(float(10.0 ** rng.uniform(-3, 2) * s) for s in rng.choice([-1, 1], fn.nin))
        want, got = exact(*args), run(*args)
        assert type(got) is type(want) is np.float64
        if math.isfinite(want):
            assert abs(got - want) <= 4 * np.spacing(abs(want)), args
        else:
            assert bits(got) == bits(want)


# ---- floats answer as NumPy does where Python raises


SCALARS = [
    (lambda x: np.exp(x), 1000.0),
    (lambda x: np.exp(x), -1000.0),
    (lambda x: np.log(x), 0.0),
    (lambda x: np.log(x), -1.0),
    (lambda x: np.sqrt(x) * 2.0, -1.0),
    (lambda x: 1.0 / np.exp(-x), 1000.0),
    (lambda x: np.tanh(np.exp(x) * 1e300), 700.0),
    (lambda x: np.exp(-(np.exp(x) ** 2)), 400.0),
    (lambda x: np.power(x, 0.5), -2.0),
    (lambda x: np.divide(x, 0.0), 3.0),
    (lambda x: np.sin(x) + 1.0, np.inf),
    (lambda x: np.arctan(np.multiply(x, 1e200) * 1e200), 3.0),
    (lambda x: np.subtract(x, x) * 1.0, np.inf),
    (lambda x: np.multiply(x, 0.0) + 1.0, np.nan),
    (lambda x: np.hypot(x, np.inf), np.nan),
    (lambda x: np.power(np.multiply(x, 0.0), 0.0), np.inf),
    (lambda x: np.cosh(x) - np.sinh(x), 800.0),
    (lambda x: np.log1p(x) ** 3, -1.0),
]


@pytest.mark.parametrize(("f", "x"), SCALARS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_answer_and_warn_as_numpy_does(f, x):
    with np.errstate(all="ignore"):
        tape = yota.gradtape(f, 0.3)
    heard, answers = [], []
    for exact in (True, False):
        run = entry_of(tape, exact)
        with (
            warnings.catch_warnings(record=True) as caught,
            np.errstate(all="warn", under="ignore"),
        ):
            warnings.simplefilter("always")
            answers.append(run(x))
        heard.append({str(w.message).replace("scalar ", "") for w in caught})
    assert heard[0] == heard[1]
    for a, b in zip(*map(leaves, answers), strict=True):
        assert type(a) is type(b)
        assert np.allclose(a, b, rtol=1e-15, atol=0, equal_nan=True)


@pytest.mark.parametrize(("f", "x"), SCALARS)
def test_floats_raise_where_numpy_is_told_to(f, x):
    with np.errstate(all="ignore"):
        tape = yota.gradtape(f, 0.3)
    told = []
    for exact in (True, False):
        with np.errstate(all="raise", under="ignore"):
            try:
                told.append(entry_of(tape, exact)(x) is MISS)
            except FloatingPointError as error:
                told.append(type(error))
    assert told[0] == told[1]


def test_an_error_of_the_users_own_arithmetic_passes_through():
    tape = yota.gradtape(lambda x: np.exp(x) + 1.0 / (x - 1.0), 3.0)
    for exact in (True, False):
        with pytest.raises(ZeroDivisionError):
            entry_of(tape, exact)(1.0)
        with pytest.raises(ZeroDivisionError):
            tape.compile(exact=exact)(1.0)


def test_numbers_of_numpys_and_kinds_of_gradients_are_kept():
    f = lambda x, y, v: np.sin(x) * y + np.sum(v) * np.exp(y)
    args = (np.float64(0.5), 0.25, V)
    tape = yota.gradtape(f, *args)
    value, (dx, dy, dv) = entry_of(tape)(*args)
    assert (type(value), type(dx), type(dy), type(dv)) == (
        np.float64,
        np.float64,
        float,
        np.ndarray,
    )
    assert_close(tape, *args, scale=(100.0, 1.0, 100.0, np.ones(100) * 2), terms=100)
    pair = forward(lambda x: (x, np.exp(x), x * 2.0, [np.exp(x)]), 0.5)
    kinds = [type(v) for v in leaves(entry_of(pair)(0.5))]
    assert kinds == [float, np.float64, float, np.float64]


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
        tape = forward(f, x)
    except (ValueError, TypeError, RuntimeWarning):
        pytest.skip("not defined for these")
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


# ---- everything together


@given(programs)
@settings(max_examples=100)
def test_random_programs_agree_closely(program):
    tape = yota.gradtape(program, *program.args)
    want, got = ways(tape, *program.args)
    for a, b in zip(want, got, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        eps = np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0.0
        assert np.allclose(a, b, rtol=1e5 * eps, atol=1e4 * eps, equal_nan=True)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_all_functions_agree_closely(name, f, args):
    tape = yota.gradtape(f, *args)
    want, got = ways(tape, *args)
    for a, b in zip(want, got, strict=True):
        eps = np.finfo(a.dtype).eps
        assert np.allclose(a, b, rtol=1e4 * eps, atol=1e4 * eps)


STEPS = [
    lambda hand, a, b: hand.call(np.add, a, b),
    lambda hand, a, b: hand.call(np.multiply, a, b),
    lambda hand, a, b: hand.call(np.multiply, a, 0.5),
    lambda hand, a, b: hand.call(np.divide, a, -1.25),
    lambda hand, a, b: hand.call(np.negative, b),
    lambda hand, a, b: hand.call(np.power, a, 3),
    lambda hand, a, b: hand.call(np.tanh, a),
    lambda hand, a, b: hand.call(np.transpose, a),
    lambda hand, a, b: hand.call(np.matmul, a, b),
    lambda hand, a, b: hand.call(np.subtract, a, hand.call(np.negative, b)),
    lambda hand, a, b: hand.call(np.add, a, hand.call(np.sum, b, axis=0, keepdims=True)),
    lambda hand, a, b: hand.call(np.multiply, a, hand.call(np.mean, b, axis=1, keepdims=True)),
    lambda hand, a, b: hand.call(np.add, a, hand.call(np.sum, hand.call(np.multiply, a, b))),
    lambda hand, a, b: hand.call(
        np.multiply, a, hand.call(np.broadcast_to, hand.call(np.sum, b, axis=1), (4, 4))
    ),
    lambda hand, a, b: hand.call(
        np.reshape, hand.call(np.concatenate, [hand.call(np.tanh, a), hand.call(np.sin, b)]),
        (2, 16),
    ),
    lambda hand, a, b: hand.call(np.multiply, a, np.float64(1.0)),
]  # fmt: skip


@given(st.data())
@settings(max_examples=150)
def test_any_chain_of_forms_agrees_closely(data):
    x = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal((4, 4))
    hand = Hand(x=x, y=np.asfortranarray(x * 0.5))
    for _ in range(data.draw(st.integers(1, 20))):
        square = [v for v, op in hand.tape if op.spec.shape == (4, 4)]
        near = st.integers(1, min(len(square), 5)).map(lambda k, s=square: s[-k])
        data.draw(st.sampled_from(STEPS))(hand, data.draw(near), data.draw(near))
    arrays = [v for v, op in hand.tape if op.spec.kind == "array"]
    results = data.draw(st.lists(st.sampled_from(arrays), min_size=1, max_size=3))
    tape = hand.done(results[0], *results)
    args = (x, np.asfortranarray(x * 0.5))
    want, got = ways(tape, *args)
    assert bits(entry_of(tape, exact=True)(*args)) == bits(tape.play(*args))
    for a, b in zip(want, got, strict=True):
        fine = np.isfinite(a) & (np.abs(a) < 1e100)
        assert np.allclose(
            a[fine], b[fine], rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(a[fine]), initial=0))
        )
