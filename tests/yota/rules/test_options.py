"""The options of ufuncs and reductions: out, where, initial, dtype, keepdims, axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import yota

Array = Any
X = np.array([[0.7, -1.3, 2.2], [0.4, 1.9, -0.6]])
HOLES = np.where(np.abs(X - 1.9) < 0.1, np.nan, X)
MASK = np.array([[True, False, True], [True, True, False]])
SUMS = ["sum", "prod", "nansum", "nanprod"]
EXTREMES = ["max", "min", "amax", "amin", "nanmax", "nanmin"]
MEANS = ["mean", "var", "std", "nanmean", "nanvar", "nanstd"]
RUNNING = ["cumsum", "cumprod", "nancumsum", "nancumprod"]
RUNNING += [name for name in ("cumulative_sum", "cumulative_prod") if hasattr(np, name)]
OTHERS = ["ptp", "median", "nanmedian"]


def check(f: Any, x: Array = X, **options: Any) -> None:
    """Compare values with NumPy's, and gradients with differences."""
    value, _ = yota.trace(f, x)
    np.testing.assert_array_equal(value, f(x))
    assert np.asarray(value).dtype == np.asarray(f(x)).dtype
    yota.check_grads(lambda x: np.sum(np.sin(f(x))), x, **options)


@pytest.mark.parametrize("name", SUMS + EXTREMES + MEANS + OTHERS + RUNNING)
def test_out_of_a_traced_array_is_written_and_returned(name: str) -> None:
    fn = getattr(np, name)

    def f(x: Array) -> Array:
        y = fn(x, axis=1) * 0.0
        made = fn(x, axis=1, out=y)
        assert made is y
        return y + 0.0

    check(f)
    check(lambda x: f(x) * np.sum(x))


@pytest.mark.parametrize("name", SUMS + EXTREMES + MEANS)
def test_where_leaves_elements_out(name: str) -> None:
    fn = getattr(np, name)
    more = {"initial": 0.1} if name in EXTREMES else {}
    for axis in (None, 0, (0, 1), -1):
        check(lambda x, axis=axis: fn(x, axis=axis, where=MASK, **more))
    for axis in (None, (1, 0), -1):
        check(lambda x, axis=axis: fn(x, axis=axis, where=MASK[:1], keepdims=True, **more))
    check(lambda x: fn(x, where=x > -1.0, **more))


@pytest.mark.parametrize("name", SUMS + EXTREMES)
def test_initial_is_one_more_element(name: str) -> None:
    fn = getattr(np, name)
    for axis in (None, 0, (0, 1), -1):
        for start in (-0.9, 0.5, 3.0):
            check(lambda x, axis=axis, start=start: fn(x, axis=axis, initial=start))
        check(lambda x, axis=axis: fn(x, axis=axis, initial=x[0, 0] * 1.1))


@pytest.mark.parametrize("name", [*SUMS, *MEANS, *RUNNING])
def test_dtype_computes_in_it_and_gives_the_arguments_back(name: str) -> None:
    fn = getattr(np, name)
    x = X.astype(np.float32)
    _, g = yota.grad(lambda x: np.sum(fn(x, axis=1, dtype=np.float64) ** 2), x)
    _, wide = yota.grad(lambda x: np.sum(fn(x, axis=1) ** 2), X)
    assert g[0].dtype == np.float32
    np.testing.assert_allclose(g[0], wide[0], rtol=1e-5)
    value, g = yota.grad(lambda x: np.sum(fn(x, axis=1, dtype=np.float32) ** 2), X)
    assert value.dtype == np.float32
    assert g[0].dtype == np.float64
    np.testing.assert_allclose(g[0], wide[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "cumsum", "cumprod"])
def test_dtype_may_turn_real_numbers_complex(name: str) -> None:
    check(lambda x: np.real(getattr(np, name)(x, axis=1, dtype=complex) * (1 - 2j)))


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", *MEANS[3:], "nanmedian"])
def test_nans_are_left_out_with_every_option(name: str) -> None:
    fn = getattr(np, name)

    def holed(x: Array) -> Array:
        return np.where(np.isnan(HOLES), np.nan, x)

    for axis in (None, 0, (0, 1), -1):
        check(lambda x, axis=axis: fn(holed(x), axis=axis, keepdims=True))
    if name != "nanmedian":
        more = {"initial": 0.1} if name in EXTREMES else {}
        check(lambda x: fn(holed(x), axis=1, where=MASK, **more))


UFUNCS = {
    "add": 2, "multiply": 2, "divide": 2, "power": 2, "maximum": 2, "hypot": 2, "arctan2": 2,
    "logaddexp": 2, "exp": 1, "sqrt": 1, "tanh": 1, "absolute": 1, "square": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_options_of_ufuncs(name: str) -> None:
    fn, nin = getattr(np, name), UFUNCS[name]
    x = np.abs(X) + 0.3

    def operands(x: Array) -> Any:
        return (x, x[:1] + 0.5)[:nin]

    def into(x: Array) -> Array:
        y = x * 2.0
        assert fn(*operands(x), out=y, where=MASK) is y
        return y

    check(into, x)
    if fn is not np.maximum:  # its third operand is deprecated
        check(lambda x: fn(*operands(x), x * 1.0), x)
    check(
        lambda x: np.real(fn(*operands(x), dtype=complex)) if fn not in REAL else fn(*operands(x)),
        x,
    )
    check(lambda x: fn(*operands(x), order="F", casting="same_kind"), x)
    single = x.astype(np.float32)
    _, g = yota.grad(lambda x: np.sum(fn(*operands(x), dtype=np.float64)), single)
    _, want = yota.grad(lambda x: np.sum(fn(*operands(x))), single.astype(float))
    assert g[0].dtype == np.float32
    np.testing.assert_allclose(g[0], want[0], rtol=1e-5)


REAL = {np.hypot, np.arctan2, np.logaddexp, np.maximum, np.absolute}


def test_where_without_out_is_refused() -> None:
    with pytest.raises(yota.TraceError, match=r"np\.where"):
        yota.grad(lambda x: np.sum(np.exp(x, where=MASK)), X)


def test_two_results_into_two_arrays() -> None:
    def f(x: Array) -> Array:
        whole, part = x * 0.0, x * 0.0
        made = np.modf(x, out=(part, whole))
        assert made[0] is part
        return part * x

    check(f)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add.reduce(x, axis=(0, 1), keepdims=True, initial=2.0),
        lambda x: np.add.reduce(x, axis=1, where=MASK, initial=x[0, 0]),
        lambda x: np.multiply.reduce(x, axis=None),
        lambda x: np.multiply.reduce(x, where=MASK),
        lambda x: np.maximum.reduce(x, axis=1, initial=0.5, where=MASK),
        lambda x: np.minimum.reduce(x, keepdims=True),
        lambda x: np.logaddexp.reduce(x, axis=None, where=MASK),
        lambda x: np.subtract.reduce(x, axis=1),
        lambda x: np.divide.accumulate(x, axis=1),
        lambda x: np.logaddexp.accumulate(x),
        lambda x: np.add.accumulate(x, axis=-1) * np.multiply.accumulate(x, axis=-1),
        lambda x: np.maximum.accumulate(x, axis=1),
        lambda x: np.add.reduceat(x, [0, 2, 1], axis=1),
        lambda x: np.arctan2.outer(x[0], x),
        lambda x: np.divmod.outer(x[0], x[1])[1],
        lambda x: np.power.outer(np.abs(x[0]), [1, 2, 3]),
        lambda x: np.add.reduce(x, axis=1, out=x[:, 0] * 1.0),
    ],
)
def test_methods_of_ufuncs(f: Any) -> None:
    check(f, order=2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.power.reduceat(x, [0, 1]),
        lambda x: np.subtract.reduce(x, axis=0, keepdims=True),
        lambda x: np.arctan2.accumulate(x, axis=0, dtype=np.float32),
    ],
)
def test_methods_that_are_not_followed_say_so(f: Any) -> None:
    with pytest.raises(yota.TraceError, match="not followed"):
        yota.grad(lambda x: np.sum(f(x)), X)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_methods_of_functions_without_slope_are_constants(method: str) -> None:
    for fn in (np.logical_xor, np.floor_divide, np.bitwise_or, np.gcd):
        of_integers = fn in (np.bitwise_or, np.gcd)

        def f(x: Array, fn: Any = fn, of_integers: bool = of_integers) -> Any:
            return np.sum(x) + np.sum(
                getattr(fn, method)(np.argsort(x) if of_integers else x, axis=1)
            )

        value, g = yota.grad(f, X)
        assert value == f(X)
        np.testing.assert_array_equal(g[0], 1)
