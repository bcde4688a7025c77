from __future__ import annotations

import copy
import math
import os
import pickle
import traceback

import numpy as np
import pytest

import yota
import yota.numpy as ynp

X = np.array([1.0, 2.0, 3.0])


class Sub(np.ndarray):
    """A subclass as users write them."""


def gradient(f, *args, **kwargs):
    return yota.grad(f, *args, **kwargs)[1][0]


# ---- values that leave NumPy's sight


def fill_plain(x):
    b = np.zeros(3)
    b[0] = x[0]
    return np.sum(b)


def swallow(x):
    b = np.zeros(3)
    try:
        b[0] = x[0]
    except (TypeError, ValueError, yota.TraceError):
        b[0] = 0.0
    return np.sum(x) + b[0]


def add_into_plain(x):
    b = np.zeros(3)
    b += x
    return np.sum(b)


@pytest.mark.parametrize(
    ("f", "cure"),
    [
        (lambda x: math.exp(x[0]), "np.exp"),
        (fill_plain, "np.zeros_like"),
        (swallow, "np.zeros_like"),
        (add_into_plain, "B = B \\+ t"),
        (lambda x: np.sum(np.array([x[0], x[1]])), "yota.array"),
        (lambda x: np.sum(np.asarray(x)), "yota.array"),
        (lambda x: np.sum(np.full(3, x[0])), "yota.numpy"),
        (lambda x: np.mean([x[0], x[1]]), "np.stack"),
        (lambda x: np.sum(np.exp(x, out=np.zeros(3))), "out=|np.zeros_like"),
        (lambda x: np.sum(x.view(np.int64)), "x.astype"),
        (lambda x: complex(x[0]).real, "np.exp"),
        (lambda x: np.add.at(np.zeros(3), [0], x[:1]), "np.zeros_like"),
        (lambda x: pickle.dumps(x), "return the value"),
        (lambda x: np.sum(x * np.ma.array(X, mask=[1, 0, 0])), "np.where"),
        (lambda x: np.sum(x * X.view(Sub)), "np.asarray"),
        (lambda x: np.put(np.zeros(3), 0, x[0]), "np.zeros_like"),
        (lambda x: np.sum(np.multiply(x, 2.0, where=[True, False, True])), "np.where"),
    ],
)
def test_a_value_that_escapes_raises_with_line_and_cure(f, cure):
    with pytest.raises(yota.TraceError, match=cure) as caught:
        yota.grad(f, X)
    assert "test_tracing.py" in str(caught.value) or "np.where" in str(caught.value)


def test_a_box_kept_after_the_call_refuses_to_work():
    kept = []
    yota.grad(lambda x: (kept.append(x), np.sum(x))[1], X)
    with pytest.raises(yota.TraceError, match="after its function returned"):
        kept[0] * 2.0
    with pytest.raises(yota.TraceError, match="after its function returned"):
        yota.grad(lambda x: np.sum(x * kept[0]), X)


def test_an_error_of_the_users_keeps_its_type_and_gets_op_shapes_and_line():
    with pytest.raises(ValueError, match="matmul") as caught:
        yota.grad(lambda x: np.sum(x @ np.ones(4)), X)
    assert "matmul(f64[3], f64[4])" in caught.value.__notes__[0]
    assert "test_tracing.py" in caught.value.__notes__[0]


# ---- the box's other faces


def test_isinstance_and_match_take_plain_numpys_branch():
    def f(x):
        match x:
            case float():
                return x * 2.0
        return x * 100.0

    assert gradient(f, 1.0) == 2.0
    assert gradient(
        lambda a: np.sum(a * 2.0) if isinstance(a, np.ndarray) else 0.0, X
    ).tolist() == [2, 2, 2]


def test_formatting_printing_and_len_behave_as_the_values():
    seen = []
    yota.grad(lambda x: (seen.append((f"{x[0]:.2f}", repr(x), len(x), str(x[1]))), np.sum(x))[1], X)
    assert seen == [("1.00", "array([1., 2., 3.])", 3, "2.0")]


def test_rounding_and_int_give_plain_integers_under_guard():
    def f(x):
        total = 0.0
        for _ in range(int(x)):
            total = total + x
        return total + round(x) + math.floor(x) + math.ceil(x)

    tape = yota.gradtape(f, 2.6)
    assert tape.play(2.6)[1] == (2.0,)
    with pytest.raises(yota.GuardError):
        tape.play(3.6)


def test_an_int_box_indexes_a_plain_list_and_array_under_guard():
    table = [10.0, 20.0, 30.0]
    plain = np.array(table)

    def f(x):
        k = np.argmax(x)
        return x[k] * table[k] * plain[np.argsort(x)][0]

    tape = yota.gradtape(f, np.array([1.0, 5.0, 2.0]))
    assert tape.play(np.array([1.0, 5.0, 2.0]))[1][0].tolist() == [0.0, 200.0, 0.0]
    with pytest.raises(yota.GuardError):
        tape.play(np.array([9.0, 5.0, 2.0]))


def test_copies_of_a_box_stay_traced():
    assert gradient(lambda x: np.sum(copy.deepcopy(x) * copy.copy(x)), X).tolist() == [
        2.0,
        4.0,
        6.0,
    ]


def test_unknown_attributes_fail_as_the_values_would():
    with pytest.raises(AttributeError, match="'ndarray' object has no attribute 'nope'"):
        yota.grad(lambda x: x.nope, X)
    assert gradient(lambda x: np.sum(x) if not hasattr(x, "nope") else 0.0, X).tolist() == [1, 1, 1]


def test_array_methods_are_numpys_functions():
    def f(x):
        y = x.reshape(1, 3).T.ravel().copy().astype(float).clip(0.5, 2.5)
        return (
            y.sum()
            + x.mean() * x.std(ddof=1)
            + x.dot(x)
            + x.cumsum()[1]
            + x.prod()
            + x.flatten()[0]
            + x[1].item()
        )

    yota.check_grads(f, X)


# ---- Python scalars stay weak


def test_python_scalars_do_not_widen_float32():
    x = X.astype(np.float32)
    _, g = yota.grad(lambda a, s: np.sum(a * (s * 2.0)), x, 3.0)
    assert g[0].dtype == np.float32
    assert type(g[1]) is float


def test_python_scalar_arithmetic_is_pythons():
    with pytest.raises(ZeroDivisionError):
        yota.grad(lambda x: 1.0 / x, 0.0)
    value, _ = yota.grad(lambda x: abs((-x) ** 0.5), 2.0)
    assert value == abs((-2.0) ** 0.5)


def test_powers_take_the_way_that_numpy_takes():
    odd = np.array([0.0, -0.0, 1e-310, 2.5, np.inf, np.nan, 1e200])
    for p in (2, 1, 0.5, -1, 3, 2.0, 0.3, -2):
        assert np.array_equal(yota.trace(lambda x, p=p: x**p, odd)[0], odd**p, equal_nan=True), p
        for v in (np.float64(1.7), np.float32(1.7)):
            assert yota.trace(lambda x, p=p: x**p, v)[0] == v**p


def test_complex_scalars_are_multiplied_as_numpy_does_it():
    rng = np.random.default_rng(0)
    for kind in (np.complex64, np.complex128):
        for z, w in rng.normal(size=(20, 2)) + 1j * rng.normal(size=(20, 2)):
            z, w = kind(z), kind(w)
            for f in (lambda z, w: z * w, lambda z, w: abs(z) * abs(w), lambda z, w: 1.5 * z * w):
                value, tape = yota.trace(f, z, w)
                assert value == f(z, w) == tape.play(z, w) == tape.compile(exact=True)(z, w)
    yota.check_grads(lambda z, w: abs(z * w) + (z * w * 2.0).imag, z, w)


# ---- in-place code


def test_writes_into_a_traced_array_become_functional():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[1] ** 2
        y[1:] += x[:2] * x[2]
        y *= 2.0
        y[y > 100.0] = 0.0
        return np.sum(y * y)

    before = X.copy()
    yota.check_grads(f, X)
    assert np.array_equal(X, before)


def test_a_write_reaches_every_name_of_the_array():
    def f(x):
        y = x * 1.0
        z = y
        z += x
        return np.sum(y * y)

    assert gradient(f, X).tolist() == [8.0, 16.0, 24.0]


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[0],
        lambda y: y[:, 1],
        lambda y: y.T[0],
        lambda y: y.ravel(),
        lambda y: y.reshape(4)[1:],
        lambda y: y[None][0, 1],
        lambda y: np.swapaxes(y, 0, 1),
        lambda y: y[1][::-1],
    ],
)
def test_writes_pass_through_views_both_ways_or_raise(view):
    def f(x, view=view):
        y = x * 1.0
        v = view(y)
        v[0] = x[1, 1] ** 2
        first = np.sum(y * y)
        y[...] = y * x
        return first + np.sum(np.sin(v))

    def plain(x):
        return f(x)

    m = np.array([[0.3, 0.7], [1.1, -0.4]])
    refusal = None
    try:
        got = gradient(f, m)
    except yota.TraceError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.count("test_tracing.py") == 2
        return
    for i in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[i] = 1e-6
        assert got[i] == pytest.approx((plain(m + step) - plain(m - step)) / 2e-6, rel=1e-6)


def test_a_view_that_cannot_be_followed_names_both_lines():
    def f(x):
        y = x * 1.0
        parts = np.split(y, [1])
        y[0] = 7.0
        return np.sum(parts[0])

    with pytest.raises(yota.TraceError) as caught:
        yota.grad(f, X)
    assert str(caught.value).count("test_tracing.py") == 2


def test_out_of_a_traced_array_is_a_write_into_it():
    def f(x):
        y = np.zeros_like(x)
        np.multiply(x, x, out=y, where=np.array([True, False, True]))
        np.add(y, x, out=y)
        return np.sum(y)

    assert gradient(f, X).tolist() == [3.0, 1.0, 7.0]


def test_in_place_keeps_numpys_casting_rules():
    with pytest.raises(TypeError, match="same_kind"):
        yota.grad(lambda x, n: (n.__iadd__(x), np.sum(n))[1], X, np.array([1, 2, 3]))
    _, tape = yota.trace(lambda x: x.__iadd__(np.ones(3)), X.astype("f4"))
    assert tape.play(X.astype("f4")).dtype == np.float32
    with pytest.raises(ValueError, match="broadcast"):
        yota.grad(lambda x: x.__iadd__(np.ones((2, 3))), X)


def test_the_optional_namespace_makes_writable_arrays():
    def f(x):
        y = ynp.zeros((2, 2))
        y[0, 0] = x[0] * x[1]
        y[1] = ynp.array([x[2], 1.0])
        return ynp.sum(ynp.asarray([y[0, 0], y[1, 0] ** 2])) + ynp.full(2, x[0])[1]

    yota.check_grads(f, X)
    assert ynp.zeros(2).tolist() == [0.0, 0.0]
    assert isinstance(ynp.array([1.0]), np.ndarray)


# ---- captured values


def test_a_captured_array_is_copied_when_it_is_used():
    data = np.ones(3)
    _, g = yota.grad(lambda x: np.sum(x * data), X)
    data[:] = 50.0
    assert g.tape.play(X)[1][0].tolist() == [1.0, 1.0, 1.0]


def test_an_array_that_changes_inside_the_call_is_captured_twice():
    def f(x):
        data = np.ones(3)
        first = np.sum(x * data)
        data[:] = 10.0
        return first + np.sum(x * data)

    assert gradient(f, X).tolist() == [11.0, 11.0, 11.0]


def test_keyword_arrays_reach_their_rules():
    assert gradient(lambda x: np.sum(a=np.exp(x)) + np.dot(a=x, b=x), X) == pytest.approx(
        np.exp(X) + 2 * X
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add.reduce(x) + np.multiply.reduce(x) + np.maximum.reduce(x),
        lambda x: np.sum(np.multiply.outer(x, x)[0]) + np.add.accumulate(x)[1] ** 2,
        lambda x: np.logaddexp.reduce(x) + np.subtract.reduce(x),
        lambda x: np.sum(np.add.reduce(np.outer(x, x), axis=1) * x),
    ],
)
def test_ufunc_methods_are_followed(f):
    yota.check_grads(f, X)


# ---- the faces that a value does not have


def test_a_box_has_no_attribute_that_its_value_lacks():
    import collections.abc

    def f(x):
        faces = (hasattr(x, n) for n in ("shape", "sum", "__len__", "__iter__", "ndim"))
        return x * 2 if any(faces) or isinstance(x, collections.abc.Iterable) else x * 5

    assert yota.grad(f, 2.0)[0] == 10.0
    assert (
        yota.grad(
            lambda x: x * (2 if isinstance(x, collections.abc.Hashable) else 5), X, seed="ones"
        )[0][0]
        == 5.0
    )
    assert yota.grad(lambda x: x * x.ndim, np.float64(2.0))[0] == 0.0


def test_sequences_are_repeated_by_traced_integers():
    f = lambda x, i: np.sum(x) * len([0] * i[0]) + len((1,) * np.argmax(x))
    assert yota.grad(f, X, np.array([3, 1]))[0] == f(X, np.array([3, 1]))
    assert yota.grad(lambda x: x * len([0] * math.floor(x)), 3.5)[0] == 10.5
    with pytest.raises(TypeError):
        yota.grad(lambda x: x * [1.0, 2.0], 3.0)
    assert yota.grad(lambda x: np.sum(x * [1.0, 2.0, 3.0]), X)[1][0].tolist() == [1.0, 2.0, 3.0]


def test_methods_of_python_scalars_keep_pythons_types():
    value, _ = yota.grad(lambda z: (z.conjugate() * z).real, 1 + 2j)
    assert type(value) is float
    assert yota.grad(lambda x: x.item(3) * 2, np.ones((2, 2)))[1][0].tolist() == [[0, 0], [0, 2]]


def test_optional_array_takes_numpys_keywords():
    shapes = []
    yota.grad(lambda x: (shapes.append(ynp.array(x, ndmin=2).shape), np.sum(x))[1], X)
    assert shapes == [(1, 3)]


def test_warnings_name_the_users_line():
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="encountered in sqrt") as seen:
        yota.grad(lambda x: np.sum(np.sqrt(x) * 0.0 + x), np.array([-1.0]))
    assert all(w.filename == __file__ for w in seen)


# ---- what Python reads without asking


@pytest.mark.parametrize(
    ("f", "first", "other"),
    [
        (lambda x: np.sum(x) * len(x[x > 0]), X * [1, 1, -1], X * [-1, -1, 1]),
        (lambda x: np.sum(x) * x[x > 0].size, X * [1, 1, -1], X * [-1, -1, 1]),
        (lambda x: np.sum(x) * len(np.nonzero(x > 0)[0]), X * [1, 1, -1], X * [-1, -1, 1]),
        (lambda x: np.sum(x) * np.unique(x).size, X, np.ones(3)),
        (lambda x: abs(x**0.5), 2.0, -2.0),
        (
            lambda a: np.sum(np.abs(np.linalg.eigvals(a))),
            np.eye(2) + 0.1,
            np.array([[0, 1.0], [-2, 0.3]]),
        ),
        (lambda x: x * int(x), 2.5, 3.5),
        (lambda z: np.sum(np.abs(np.poly(z))), np.array([1j, -1j]), np.array([1j, 1j])),
        (lambda x: np.sum(np.abs(np.emath.sqrt(x))), X, -X),
        (lambda x: np.sum(np.abs(np.emath.logn(2.0, x))), X, -X),
        (lambda x: np.sum(np.abs(np.emath.arctanh(x))), X / 9, X),
        (lambda a: np.linalg.lstsq(a, X)[1].size * np.sum(a), np.eye(3, 2), np.ones((3, 2))),
    ],
)
def test_shapes_and_types_that_depend_on_values_are_guarded(f, first, other):
    tape = yota.gradtape(f, first)
    plain = yota.simplegrad(f, first)
    want = tape.play(first)
    for run in (tape.compile(), tape.compile(form="bound")):
        assert run(first)[0] == want[0] == plain(first)[0]
        with pytest.raises(yota.GuardError):
            run(other)
    with pytest.raises(yota.GuardError):
        tape.play(other)
    with pytest.raises(ValueError, match=r"record|branch"):
        plain(other)


# ---- tracebacks


def clash(x):
    return x @ np.ones((7, 7))


def files_of(error):
    return [os.path.basename(f.filename) for f in traceback.extract_tb(error.__traceback__)]


def test_a_traceback_ends_in_the_users_frames():
    with pytest.raises(ValueError, match="mismatch") as caught:
        yota.grad(lambda x: np.sum(clash(x)), X)
    assert files_of(caught.value)[-2:] == ["test_tracing.py", "test_tracing.py"]
    with pytest.raises(yota.TraceError) as escaped:
        yota.value_and_grad(lambda x: math.exp(x[0]))(X)
    assert files_of(escaped.value)[-1] == "test_tracing.py"


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


def test_an_operand_without_a_text_does_not_hide_the_error():
    fail = yota.primitive(lambda x, what: x @ np.ones((7, 7)))
    with pytest.raises(ValueError, match="mismatch") as caught:
        yota.grad(lambda x: np.sum(fail(x, Unprintable())), X)
    assert any("<Unprintable>" in note for note in caught.value.__notes__)


def test_a_traceback_of_an_own_rule_ends_in_the_rule():
    half = yota.primitive(lambda x: x / 2)
    yota.defvjp(half, lambda dy, y, x: dy @ np.ones((7, 7)))
    with pytest.raises(ValueError, match="mismatch") as caught:
        yota.grad(lambda x: np.sum(half(x)), X)
    assert files_of(caught.value)[-1] == "test_tracing.py"


def test_all_frames_are_kept_on_request(monkeypatch):
    monkeypatch.setenv("YOTA_TRACEBACK", "1")
    with pytest.raises(ValueError, match="mismatch") as caught:
        yota.grad(lambda x: np.sum(clash(x)), X)
    assert files_of(caught.value)[-1] == "recorder.py"
