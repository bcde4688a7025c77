"""Gradients of functions: values, arguments, results, and who is told of a call."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import threading
import tracemalloc

import numpy as np
import pytest

import yota
from tests.zoo import SMOOTH
from yota.program import Built, Called, Failed

X = np.array([1.0, 2.0, 3.0])


def quadratic(x):
    return np.sum(x * x[::-1])


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_gradients_agree_with_finite_differences(name, f, args):
    loose = {"rtol": 1e-2, "atol": 1e-2} if name == "float32" else {}
    yota.check_grads(f, *args, **loose)


@pytest.mark.parametrize(
    ("name", "f", "args"), [s for s in SMOOTH if s[0] not in ("float32", "complex")]
)
def test_second_derivatives_agree_with_finite_differences(name, f, args):
    yota.check_grads(f, *args, order=2)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH)
def test_the_value_is_the_functions_own_to_the_last_bit_and_in_type(name, f, args):
    value, _ = yota.grad(f, *args, exact=True)
    plain = f(*args)
    assert type(value) is type(plain)
    assert np.array_equal(value, plain)
    for _ in range(2):
        again, _ = yota.grad(f, *args)
        assert type(again) is type(plain)
        np.testing.assert_allclose(again, plain, rtol=1e-14)


# ---- the function and its arguments


def test_the_function_runs_once_a_call():
    calls = []
    yota.grad(lambda x: (calls.append(1), x * x)[1], 2.0)
    assert calls == [1]


def test_arguments_are_never_modified_and_results_never_aliased():
    data = np.ones(3)

    def f(x, w):
        return np.sum(x * data) + np.sum(w)

    x, w = X.copy(), X.copy()
    _, g = yota.grad(f, x, w)
    _, tape_g = yota.vjp(lambda x: x, x)
    for array in (*g, *tape_g(x)):
        array[:] = -7.0
    assert np.array_equal(x, X)
    assert np.array_equal(w, X)
    assert data.tolist() == [1.0, 1.0, 1.0]
    assert g[0].tolist() == [-7.0] * 3
    value, _ = yota.trace(lambda x: x, x)
    value[:] = 0.0
    assert np.array_equal(x, X)


def test_a_pullback_is_fresh_whatever_happens_to_the_argument():
    x = X.copy()
    _, pullback = yota.vjp(lambda x: x * x, x)
    x[:] = 100.0
    first = pullback(np.ones(3))[0]
    first[:] = 0.0
    assert pullback(np.ones(3))[0].tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("name", ["seed", "argnums", "has_aux", "exact"])
def test_reserved_parameter_names_are_refused_with_the_cure(name):
    f = {
        "seed": lambda seed: seed,
        "argnums": lambda argnums: argnums,
        "has_aux": lambda has_aux: has_aux,
        "exact": lambda exact: exact,
    }[name]
    with pytest.raises(TypeError, match="wrap it in a lambda"):
        yota.grad(f, 1.0)


def test_static_values_reach_the_function_as_they_are():
    def f(x, n, mode, flag, nothing):
        assert type(n) is int
        assert type(flag) is bool
        assert nothing is None
        return x**n if mode == "power" and flag else x

    _, g = yota.grad(f, 2.0, 3, "power", True, None)
    assert tuple(g) == (12.0, None, None, None, None)


@pytest.mark.parametrize(
    ("x", "cure"),
    [
        (np.array([1.0, 2.0], dtype=object), r"argument x holds an array of objects .*astype"),
        (np.array([1, 2], dtype=object), "list of its elements"),
        ({"a": np.array([None, np.ones(2)], dtype=object)}, "list of its elements"),
        (np.ones(2, [("a", float), ("b", int)]), "dict of its fields"),
        (np.ones(2, [("a", [("b", float)])])[0], "dict of its fields"),
    ],
)
def test_numbers_in_arrays_of_objects_and_records_are_refused(x, cure):
    with pytest.raises(yota.TraceError, match=cure):
        yota.grad(lambda x, y: y * 2.0, x, 1.0)
    assert yota.grad(lambda x, y: y * 2.0, x, 1.0, argnums=1)[1][1] == 2


class Frame:
    """A table as data frame libraries have them: NumPy sees an array, the columns have dtypes."""

    def __init__(self, *columns):
        self.columns = columns

    def __array__(self, dtype=None, copy=None):
        return np.stack(self.columns, 1)


@pytest.mark.parametrize("columns", [np.ones(2), np.array(["a", 1.5], dtype=object)])
@pytest.mark.parametrize("nest", [lambda x: x, lambda x: {"data": [x]}])
def test_data_frames_of_numbers_are_refused(columns, nest):
    data = nest(Frame(columns))
    with pytest.raises(yota.TraceError, match=r"argument d holds a Frame of numbers.*argnums"):
        yota.grad(lambda d, y: y * 2.0, data, 1.0)
    assert yota.grad(lambda d, y: y * 2.0, data, 1.0, argnums=1)[1][1] == 2


def test_data_frames_of_anything_else_have_no_gradient():
    frame = Frame(np.array(["a", "b"]))
    assert list(yota.grad(lambda d, y: y * 2.0, frame, 1.0)[1]) == [None, 2.0]


def test_a_masked_array_is_refused_without_a_cure_that_forgets_the_mask():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    with pytest.raises(yota.TraceError, match=r"argument x is a MaskedArray.*np\.where\(mask"):
        yota.grad(lambda x: np.sum(x), masked)
    with pytest.raises(yota.TraceError, match=r"a MaskedArray meets.*np\.where\(mask"):
        yota.grad(lambda x: np.sum(x * masked), 1.0)


def test_arrays_of_anything_else_have_no_gradient():
    for x in (np.array(["a", None], dtype=object), np.array(["a"]), np.zeros(1, "M8[s]")):
        assert list(yota.grad(lambda x, y: y * 2.0, x, 1.0)[1]) == [None, 2.0]


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">c16"])
def test_gradients_of_0d_arrays_keep_the_byte_order(dtype):
    def f(x):
        return np.real(x * x * np.sin(x))

    x = np.array(1.5, dtype)
    for _ in range(2):
        assert yota.grad(f, x)[1][0].dtype == x.dtype
    tape = yota.gradtape(f, x)
    for run in (tape.play, tape.compile(form="lean"), tape.compile(form="bound")):
        assert run(x)[1][0].dtype == x.dtype
    assert yota.simplegrad(f, x)(x)[1].dtype == x.dtype
    yota.check_grads(f, np.array(1.5, np.result_type(x.dtype, np.float64)), order=2)


@pytest.mark.parametrize("f", [np.real, lambda z: z.real, lambda z: abs(z) * 0 + z.imag])
def test_the_gradient_of_a_complex_number_is_complex(f):
    for z in (1 + 2j, np.complex64(1 + 2j), np.array(1 + 2j), {"z": 1 + 2j}):
        g = yota.grad(f if not isinstance(z, dict) else lambda d: f(d["z"]), z)[1][0]
        given, found = (z, g) if not isinstance(z, dict) else (z["z"], g["z"])
        assert type(given) is type(found)
        assert np.iscomplexobj(found)


def test_integers_run_as_floats_where_no_argument_is_a_float():
    value, g = yota.grad(lambda a, b: a * b, 3, 4)
    assert (value, tuple(g)) == (12.0, (4.0, 3.0))
    assert type(value) is float
    _, g = yota.grad(lambda a: np.sum(a * a), np.array([1, 2]))
    assert g[0].dtype == np.float64
    _, g = yota.grad(lambda a, n: np.sum(a[n]), X, np.array([0, 0]))
    assert g[0].tolist() == [2.0, 0.0, 0.0]
    assert g[1] is None


def test_keywords_are_inputs_and_not_differentiated():
    _, g = yota.grad(lambda w, batch=None: np.sum(w * batch), X, batch=X * 10)
    assert len(g) == 1
    assert g[0].tolist() == [10.0, 20.0, 30.0]
    assert g.tape.play(X, batch=np.ones(3))[1][0].tolist() == [1.0, 1.0, 1.0]


def test_argnums_leaves_the_others_none():
    _, g = yota.grad(lambda a, b: a * b, 2.0, 5.0, argnums=1)
    assert tuple(g) == (None, 2.0)
    with pytest.raises(ValueError, match="argnums"):
        yota.grad(lambda a: a, 1.0, argnums=3)


def test_a_vector_without_a_seed_says_what_to_do():
    with pytest.raises(TypeError, match="seed="):
        yota.grad(lambda x: x * 2, X)
    with pytest.raises(TypeError, match=r"yota\.vjp"):
        yota.grad(lambda x: (x, x), X)
    with pytest.raises(ValueError, match="seed has shape"):
        yota.grad(lambda x: x * 2, X, seed=np.ones(2))
    with pytest.raises(TypeError, match="complex"):
        yota.grad(lambda z: z * 1j, 1.0)


def test_seeds():
    assert yota.grad(lambda x: x * x, X, seed="ones")[1][0].tolist() == [2.0, 4.0, 6.0]
    assert yota.grad(lambda x: x * x, X, seed=[1.0, 0.0, 0.0])[1][0].tolist() == [2.0, 0.0, 0.0]


def test_auxiliary_output_is_plain():
    value, g = yota.grad(lambda x: (np.sum(x), {"twice": x * 2}), X, has_aux=True)
    assert value == 6.0
    assert g.aux["twice"].tolist() == [2.0, 4.0, 6.0]
    (value, aux), gx = yota.value_and_grad(lambda x: (x * x, x), has_aux=True)(3.0)
    assert (value, aux, gx) == (9.0, 3.0, 6.0)


# ---- who is told, threads, leaks


def test_observers_hear_of_calls_and_failures():
    events = []
    with yota.observe(events.append):
        value, g = yota.grad(quadratic, X)
        with pytest.raises(ValueError, match="matmul"):
            yota.grad(lambda x: np.sum(x @ np.ones(4)), X)
    yota.grad(quadratic, X)
    called = [e for e in events if isinstance(e, Called)]
    failed = [e for e in events if isinstance(e, Failed)]
    assert len(called) == len(failed) == 1
    assert called[0].call.value == value
    assert np.array_equal(called[0].call.gradients[0], g[0])
    assert called[0].call.inputs[0] is not X
    assert failed[0].fn is np.matmul
    assert failed[0].origin.place.startswith("test_api.py:")
    assert dataclasses.is_dataclass(called[0])


def test_observers_hear_of_a_program_once_it_is_built():
    events = []
    _, g = yota.grad(quadratic, X)
    with yota.observe(events.append):
        value, _ = g.program.run()(X)
        g.program.run()
    assert value == quadratic(X)
    assert events == [Built(g.program)]


def test_threads_do_not_see_each_others_traces():
    wrong = []

    def work(k):
        for _ in range(50):
            _, g = yota.grad(lambda x: np.sum(x**2) * k, X)
            if not np.array_equal(g[0], 2 * X * k):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_async_tasks_do_not_see_each_others_traces():
    async def work(k):
        await asyncio.sleep(0)
        _, g = yota.grad(lambda x: np.sum(x * k), X)
        return g[0][0]

    async def both():
        return await asyncio.gather(*(work(float(k)) for k in range(5)))

    assert asyncio.run(both()) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_an_error_in_the_function_leaves_nothing_behind():
    def fail(x):
        np.exp(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        yota.grad(fail, 1.0)
    assert yota.grad(lambda x: x * x, 3.0)[1][0] == 6.0


def test_repeated_gradients_leave_no_cycles_of_arrays():
    big = np.ones(20_000)
    for _ in range(3):
        yota.grad(quadratic, big)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            yota.grad(quadratic, big)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.enable()
    assert grown < big.nbytes


def test_auxiliary_objects_are_handed_through():
    extra = object()
    assert yota.grad(lambda x: (x * x, extra), 2.0, has_aux=True)[1].aux is extra


def test_grad_without_arguments_names_the_function_to_use():
    with pytest.raises(TypeError, match=r"value_and_grad\(quadratic\)"):
        yota.grad(quadratic)


def test_a_tape_keeps_no_hold_on_the_callers_arrays():
    tape = yota.gradtape(quadratic, X)
    mine = X.copy()
    tape.play(mine)
    mine[:] = 0.0
    assert tape.value(tape.inputs[0]).tolist() == X.tolist()


def test_masks_pass_through_functions_of_several_results():
    def f(x):
        a, b = np.split(np.sqrt(x), 2)
        return np.sum(np.where(a > 0, a, 0.0)) + np.sum(b)

    assert yota.grad(f, np.array([0.0, 1.0]))[1][0].tolist() == [0.0, 0.5]
    assert yota.grad(lambda x: np.sum(np.split(np.sqrt(x), 2)[1]), np.array([0.0, 1.0]))[1][
        0
    ].tolist() == [0.0, 0.5]
