"""Every public function of NumPy's, and every attribute of its arrays: none is forgotten."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import yota
from tests.yota.rules.samples import SAMPLES
from yota.rules.namespace import ATTRIBUTES, FOLLOWED, NO_NUMBERS, UNSEEN, standing
from yota.rules.registry import COMPOSED, NONDIFF, REFUSED, VJP, zero
from yota.tracing.box import METHODS
from yota.tracing.dispatch import STATIC, WRITERS

Array = Any
X = np.array([[0.7, -1.3, 2.2], [0.4, 1.9, -0.6]])
V = np.array([0.7, -1.3, 2.2, 0.4])
DAY = np.datetime64("2024-02-29")


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public callable of the three namespaces, and of those beside them, once."""
    seen: set[int] = set()
    modules = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.emath": np.emath}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, module in modules.items():
            for name in dir(module):
                fn = getattr(module, name)
                if not name.startswith("_") and callable(fn) and id(fn) not in seen:
                    seen.add(id(fn))
                    yield f"{path}.{name}", fn
    yield "np.lib.stride_tricks.sliding_window_view", sliding_window_view
    yield "np.lib.stride_tricks.as_strided", as_strided


def decided(fn: Any) -> str | None:
    if fn in STATIC:
        return "static"
    return "writes" if fn in WRITERS else standing(fn)


PUBLIC = dict(public())
STANDING = {path: decided(fn) for path, fn in PUBLIC.items()}


def of_standing(*words: str) -> list[str]:
    return [path for path, word in STANDING.items() if word in words]


def last(path: str) -> str:
    return path.rpartition(".")[2]


@pytest.fixture(autouse=True)
def deprecated_functions_are_called_too() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def total(r: Any) -> Any:
    """Return the sum of all numbers in a result, 0 for what is no number."""
    if isinstance(r, tuple | list):
        return sum(map(total, r))
    if isinstance(r, np.ndarray | np.generic) and r.dtype.kind in "biufc":
        return np.sum(np.real(r) * 1.0)
    return 0.0


def test_every_public_name_is_decided() -> None:
    assert not [path for path, word in STANDING.items() if word is None]


def test_no_name_is_decided_that_numpy_lacks() -> None:
    known = {getattr(fn, "__name__", type(fn).__name__) for fn in PUBLIC.values()}
    spelled = {*known, *map(last, PUBLIC)}
    assert not {*UNSEEN, *FOLLOWED, *NO_NUMBERS} - spelled - {"row_stack", "show"}


def test_no_function_is_decided_twice() -> None:
    tables: tuple[Any, ...] = (
        VJP.keys(),
        NONDIFF,
        REFUSED.keys(),
        COMPOSED.keys(),
        STATIC - NONDIFF,
        WRITERS,
    )
    numpys = [{fn for fn in table if fn in PUBLIC.values()} for table in tables]
    assert sum(map(len, numpys)) == len(set().union(*numpys))
    named = {*UNSEEN, *FOLLOWED, *NO_NUMBERS}
    assert not {fn.__name__ for table in numpys for fn in table} & named


# ---- differentiable


@pytest.mark.parametrize("path", of_standing("rule"))
def test_a_function_with_rules_is_called_by_samples(path: str) -> None:
    fn = PUBLIC[path]
    varied = {k for s in SAMPLES if s.fn is fn for k in s.argnums}
    vjp = VJP[fn]
    want = {
        k for k, rule in (*enumerate(vjp.rules), *vjp.keywords.items()) if rule not in (None, zero)
    }
    assert varied
    assert varied >= want


COMPOSED_CALLS: dict[str, Callable[..., Any]] = {
    "apply_along_axis": lambda x: np.apply_along_axis(lambda r: np.cumsum(r**2), 1, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.prod, x, (0, 1)),
    "fftfreq": lambda x: np.fft.fftfreq(5, x[0, 0]),
    "fromfunction": lambda x: np.fromfunction(lambda i, j: x[i, j] * x[0, 0], (2, 3), dtype=int),
    "histogram": lambda x: np.histogram(x, 3, density=True, weights=x**2),
    "histogram2d": lambda x: np.histogram2d(x[0], x[1], 2, density=True, weights=x[0] ** 2),
    "histogramdd": lambda x: np.histogramdd(x.T, (2, 3), density=True),
    "piecewise": lambda x: np.piecewise(x, [x < 0, x > 1], [lambda t: t**2, 3.0, np.exp]),
    "poly1d": lambda x: np.poly1d(x[0])(x[1]),
    "rfftfreq": lambda x: np.fft.rfftfreq(5, x[0, 0]),
    "row_stack": lambda x: PUBLIC["np.row_stack"]([x, x[0] ** 2]),
    "trapz": lambda x: PUBLIC["np.trapz"](x**2),
}


def numbers(r: Any) -> list[Any]:
    return [v for part in r for v in numbers(part)] if isinstance(r, tuple | list) else [r]


@pytest.mark.parametrize("path", of_standing("composed", "followed"))
def test_a_composed_function_has_numpys_value_and_two_derivatives(path: str) -> None:
    f = COMPOSED_CALLS[last(path)]
    value, _ = yota.trace(f, X)
    for got, want in zip(numbers(value), numbers(f(X)), strict=True):
        np.testing.assert_array_equal(got, want)
        assert type(got) is type(want)
        assert np.asarray(got).dtype == np.asarray(want).dtype
    yota.check_grads(lambda x: sum(np.sum(v * np.cos(v)) for v in numbers(f(x))), X, order=2)


WRITES: dict[str, Callable[..., Any]] = {
    "copyto": lambda y, x: np.copyto(y, x * x, where=x > 0),
    "fill_diagonal": lambda y, x: np.fill_diagonal(y, x[0, 0] ** 2),
    "place": lambda y, x: np.place(y, y > 0, x[0] ** 2),
    "put": lambda y, x: np.put(y, [0, 4], x[1] ** 2),
    "put_along_axis": lambda y, x: np.put_along_axis(y, np.array([[0], [2]]), x[:, :1] ** 2, 1),
    "putmask": lambda y, x: np.putmask(y, y > 0, x**2),
}


@pytest.mark.parametrize("path", of_standing("writes"))
def test_a_function_that_writes_is_followed(path: str) -> None:
    def f(x: Array) -> Any:
        y = x * 3.0
        WRITES[last(path)](y, x)
        return np.sum(np.sin(y))

    yota.check_grads(f, X, order=2)


# ---- without a slope


CALLS: dict[str, Callable[..., Any]] = {
    "argpartition": lambda fn, x: fn(x, 1),
    "can_cast": lambda fn, x: fn(x.dtype, np.float32),
    "diag_indices_from": lambda fn, x: fn(x[:, :2]),
    "digitize": lambda fn, x: fn(x, [0.0, 1.0]),
    "einsum_path": lambda fn, x: fn("ij,kj->ik", x, x)[1:] and (),
    "isnat": lambda fn, x: fn(np.array([DAY])),
    "lexsort": lambda fn, x: fn((x[0], x[1])),
    "nextafter": lambda fn, x: fn(x, x + 1),
    "packbits": lambda fn, x: fn(x > 0),
    "ravel_multi_index": lambda fn, x: fn((np.argmax(x, 1), np.argmin(x, 1)), (3, 3)),
    "searchsorted": lambda fn, x: fn(np.sort(x[0]), x[1]),
    "unpackbits": lambda fn, x: fn(np.packbits(x > 0)),
    "unravel_index": lambda fn, x: fn(np.argmax(x), x.shape),
}
OF_INTEGERS = {
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "gcd", "invert", "lcm", "left_shift",
    "right_shift",
}  # fmt: skip


def called(fn: Any, x: Array) -> Any:
    """Call a function with as many operands as it takes."""
    if isinstance(fn, np.ufunc):
        return fn(*[x] * fn.nin)
    try:
        return fn(x)
    except TypeError:
        return fn(x, x)


@pytest.mark.parametrize("path", of_standing("nondiff", "static"))
def test_a_function_without_slope_is_a_constant(path: str) -> None:
    fn, name = PUBLIC[path], last(path)

    def f(x: Array) -> Any:
        of = np.argsort(x) if name in OF_INTEGERS else x
        result = CALLS[name](fn, of) if name in CALLS else called(fn, of)
        return np.sum(x) + total(result)

    value, g = yota.grad(f, X)
    np.testing.assert_array_equal(g[0], np.ones_like(X))
    if name != "empty_like":
        np.testing.assert_array_equal(value, f(X))


# ---- refused


@pytest.mark.parametrize("path", of_standing("refused"))
def test_a_refused_function_runs_but_has_no_derivative(path: str) -> None:
    fn = PUBLIC[path]
    g = yota.grad(lambda x: np.sum(x) + 0 * yota.stop_gradient(np.sum(called(fn, x))), X)[1][0]
    np.testing.assert_array_equal(g, 1)
    with pytest.raises(yota.RuleError) as caught:
        yota.grad(lambda x: np.sum(called(fn, x)), X)
    assert REFUSED[fn] in str(caught.value)
    assert f"no derivative of {fn.__name__}" in str(caught.value)
    assert "yota.defvjp" in str(caught.value)


UNSEEN_CALLS: dict[str, Callable[..., Any]] = {
    "arange": lambda x: np.arange(x[0, 0]),
    "as_strided": lambda x: as_strided(x, (2, 2), (8, 8)),
    "bmat": lambda x: np.bmat([[x, x]]),
    "broadcast": lambda x: np.broadcast(x, x),
    "format_float_positional": lambda x: np.format_float_positional(x[0, 0]),
    "format_float_scientific": lambda x: np.format_float_scientific(x[0, 0]),
    "fromiter": lambda x: np.fromiter(x[0], float),
    "frompyfunc": lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(x),
    "full": lambda x: np.full(3, x[0, 0]),
    "kaiser": lambda x: np.kaiser(4, x[0, 0]),
    "nditer": lambda x: [v * 2 for v in np.nditer(x)],
    "nested_iters": lambda x: np.nested_iters([x], [[0], [1]]),
    "recarray": lambda x: np.rec.array(x),
    "vectorize": lambda x: np.vectorize(lambda a: a * a)(x),
}


@pytest.mark.parametrize("path", [p for p in of_standing("unseen") if last(p) in UNSEEN])
def test_a_function_that_cannot_be_seen_raises_with_a_cure(path: str) -> None:
    fn, name = PUBLIC[path], last(path)
    with pytest.raises(yota.TraceError) as caught:
        yota.grad(lambda x: total(UNSEEN_CALLS.get(name, fn)(x)) + np.sum(x), X)
    assert "test_namespace.py" in str(caught.value)
    known = UNSEEN[name] in str(caught.value)
    assert known or (name in WRITTEN_IN_C and any(map(str(caught.value).count, DEFAULTS)))


# these leave no frame to be known by
WRITTEN_IN_C = {
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "broadcast",
    "fromiter", "frompyfunc", "nditer", "nested_iters", "recarray",
}  # fmt: skip
DEFAULTS = "use np.stack", "use NumPy's function", "use arrays of numbers"
SCALAR_TYPES = [t for t in set(np.sctypeDict.values()) if np.dtype(t).kind in "biufc"]


@pytest.mark.parametrize("kind", SCALAR_TYPES, ids=lambda t: t.__name__)
def test_a_scalar_type_of_a_traced_number_is_refused(kind: Any) -> None:
    with pytest.raises(yota.TraceError):
        yota.grad(lambda x: x * kind(x), 0.7)


# ---- no numbers


NO_NUMBER_CALLS: dict[str, Callable[..., Any]] = {
    "LinAlgError": lambda x: np.linalg.LinAlgError("text"),
    "bartlett": lambda x: np.bartlett(np.argmax(x)),
    "base_repr": lambda x: np.base_repr(np.argmax(x), 3),
    "binary_repr": lambda x: np.binary_repr(np.argmax(x)),
    "blackman": lambda x: np.blackman(np.argmax(x)),
    "broadcast_shapes": lambda x: np.broadcast_shapes(x.shape, (1,)),
    "busday_count": lambda x: np.busday_count(DAY, DAY + 9),
    "busday_offset": lambda x: np.busday_offset(DAY, 3),
    "busdaycalendar": lambda x: np.busdaycalendar(),
    "datetime_as_string": lambda x: np.datetime_as_string(DAY),
    "datetime_data": lambda x: np.datetime_data(DAY.dtype),
    "diag_indices": lambda x: np.diag_indices(int(np.argmax(x))),
    "dtype": lambda x: np.dtype(x.dtype),
    "empty": lambda x: np.empty(np.argmax(x)) * 0,
    "errstate": lambda x: np.errstate(all="ignore"),
    "eye": lambda x: np.eye(np.argmax(x)),
    "finfo": lambda x: np.finfo(x.dtype),
    "flatiter": lambda x: np.zeros(3).flat,
    "from_dlpack": lambda x: np.from_dlpack(np.ones(2)),
    "frombuffer": lambda x: np.frombuffer(np.ones(2)),
    "fromfile": lambda x: np.fromfile,
    "fromregex": lambda x: np.fromregex(io.StringIO("1.5"), r"([\d.]+)", [("a", float)])["a"],
    "fromstring": lambda x: np.fromstring("1.5 2", sep=" "),
    "genfromtxt": lambda x: np.genfromtxt(io.StringIO("1.5 2")),
    "hamming": lambda x: np.hamming(np.argmax(x)),
    "hanning": lambda x: np.hanning(np.argmax(x)),
    "identity": lambda x: np.identity(np.argmax(x)),
    "iinfo": lambda x: np.iinfo(np.argmax(x).dtype),
    "indices": lambda x: np.indices((int(np.argmax(x)), 2)),
    "is_busday": lambda x: np.is_busday(DAY),
    "isdtype": lambda x: np.isdtype(x.dtype, "numeric"),
    "isfortran": lambda x: np.isfortran(x),
    "issubdtype": lambda x: np.issubdtype(x.dtype, np.floating),
    "iterable": lambda x: np.iterable(x),
    "load": lambda x: np.load(saved("save")),
    "loadtxt": lambda x: np.loadtxt(io.StringIO("1.5 2")),
    "mask_indices": lambda x: np.mask_indices(3, np.triu),
    "memmap": lambda x: np.memmap,
    "mintypecode": lambda x: np.mintypecode(["d", "F"]),
    "ndarray": lambda x: np.ndarray((2,), buffer=np.ones(2)),
    "ndindex": lambda x: list(np.ndindex(x.shape)),
    "ones": lambda x: np.ones(np.argmax(x)),
    "printoptions": lambda x: np.printoptions(precision=3),
    "promote_types": lambda x: np.promote_types(x.dtype, np.float32),
    "save": lambda x: np.load(saved("save", x)),
    "savetxt": lambda x: saved("savetxt", x).getvalue(),
    "savez": lambda x: np.load(saved("savez", x))["arr_0"],
    "savez_compressed": lambda x: np.load(saved("savez_compressed", x))["arr_0"],
    "set_printoptions": lambda x: np.set_printoptions(**np.get_printoptions()),
    "setbufsize": lambda x: np.setbufsize(np.getbufsize()),
    "seterr": lambda x: np.seterr(**np.geterr()),
    "seterrcall": lambda x: np.seterrcall(np.geterrcall()),
    "test": lambda x: np.test,
    "tri": lambda x: np.tri(int(np.argmax(x))),
    "tril_indices": lambda x: np.tril_indices(int(np.argmax(x))),
    "triu_indices": lambda x: np.triu_indices(int(np.argmax(x))),
    "typename": lambda x: np.typename("d"),
    "ufunc": lambda x: isinstance(np.add, np.ufunc),
    "zeros": lambda x: np.zeros(np.argmax(x)),
}
PRINTING = {"info", "show_config", "show_runtime", "show"}


def saved(how: str, x: Any = X) -> Any:
    file: Any = io.BytesIO()
    getattr(np, how)(file, x)
    file.seek(0)
    return file


@pytest.mark.parametrize("path", [p for p in of_standing("no numbers") if last(p) not in PRINTING])
def test_a_function_of_no_numbers_runs_as_ever(path: str) -> None:
    fn = PUBLIC[path]
    call = NO_NUMBER_CALLS.get(last(path), lambda x: fn())
    value, g = yota.grad(lambda x: np.sum(x) + total(call(x)), X)
    assert value == np.sum(X) + total(call(X))
    np.testing.assert_array_equal(g[0], 1)


@pytest.mark.parametrize("name", sorted(PRINTING & {last(p) for p in PUBLIC}))
def test_a_function_that_prints_prints(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("sum",) if name == "info" else ()
    yota.grad(lambda x: (getattr(np, name)(*arguments), np.sum(x))[1], X)
    assert capsys.readouterr().out


# ---- methods and attributes of arrays


METHOD_CALLS: dict[str, Callable[..., Any]] = {
    "T": lambda x: x.T * np.arange(2.0),
    "astype": lambda x: x.astype(np.float64, copy=False),
    "choose": lambda x: (x > 0).choose([x**2, x**3]),
    "clip": lambda x: x.clip(min=-1.0, max=1.0) + x.clip(0.5),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "conj": lambda x: x.conj() * x,
    "conjugate": lambda x: x.conjugate() * x,
    "copy": lambda x: x.copy("F") * x,
    "cumprod": lambda x: x.cumprod(axis=1),
    "cumsum": lambda x: x.cumsum(),
    "diagonal": lambda x: x.diagonal(1),
    "dot": lambda x: x.dot(x.T),
    "fill": lambda x: written(x, lambda y: y.fill(x[0, 0] ** 2)),
    "flat": lambda x: x.flat[1:4] * x.flat[-3:],
    "flatten": lambda x: x.flatten("F") * np.arange(6.0),
    "imag": lambda x: (x * (1 + 2j)).imag,
    "item": lambda x: x.item(3) * x[0, 0].item(),
    "mT": lambda x: x.mT * np.arange(2.0),
    "max": lambda x: x.max(axis=0, keepdims=True),
    "mean": lambda x: x.mean(1),
    "min": lambda x: x.min(initial=0.0),
    "partition": lambda x: written(x, lambda y: y.partition(1, axis=0)),
    "prod": lambda x: x.prod(),
    "put": lambda x: written(x, lambda y: y.put([1, 2], x[0, :2] ** 2)),
    "ravel": lambda x: x.ravel("F") * np.arange(6.0),
    "real": lambda x: (x * (1 + 2j)).real,
    "repeat": lambda x: x.repeat([2, 1], axis=0),
    "reshape": lambda x: x.reshape(3, -1) @ x,
    "round": lambda x: x.round(1) * x,
    "sort": lambda x: written(x, lambda y: y.sort(axis=0)),
    "squeeze": lambda x: x[None].squeeze(0),
    "std": lambda x: x.std(axis=0, ddof=1),
    "sum": lambda x: x.sum(axis=-1) ** 2,
    "swapaxes": lambda x: x.swapaxes(0, 1) @ x,
    "take": lambda x: x.take([0, 0, 5]),
    "to_device": lambda x: x.to_device("cpu") * x,
    "tolist": lambda x: x.tolist()[1][0] * x,
    "trace": lambda x: x.trace(),
    "transpose": lambda x: x.transpose(1, 0) @ x,
    "var": lambda x: x.var(axis=1, keepdims=True),
    "view": lambda x: x.view() * x,
}
CONSTANT_CALLS: dict[str, Callable[..., Any]] = {
    "all": lambda x: x.all(axis=0),
    "any": lambda x: x.any(),
    "argmax": lambda x: x.argmax(axis=1),
    "argmin": lambda x: x.argmin(),
    "argpartition": lambda x: x.argpartition(1),
    "argsort": lambda x: x.argsort(axis=0),
    "nonzero": lambda x: x.nonzero(),
    "searchsorted": lambda x: np.sort(x[0]).searchsorted(x[1]),
}
PLAIN = {"device", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides"}
GONE = {"itemset", "newbyteorder", "ptp", "tostring"}  # NumPy 2.0 still names them, to raise
PUBLIC_ATTRIBUTES = [n for n in dir(np.ndarray) if not n.startswith("_") and n not in GONE]


def written(x: Array, write: Callable[[Array], Any]) -> Array:
    y = x * 2.0
    write(y)
    return y * np.arange(6.0).reshape(2, 3)


def test_every_attribute_is_decided() -> None:
    known = {*METHOD_CALLS, *CONSTANT_CALLS, *PLAIN, *ATTRIBUTES}
    assert {*PUBLIC_ATTRIBUTES} == known
    assert {*METHODS} & {*PUBLIC_ATTRIBUTES} <= {*METHOD_CALLS, *CONSTANT_CALLS}


@pytest.mark.parametrize("name", METHOD_CALLS)
def test_a_method_has_numpys_value_and_two_derivatives(name: str) -> None:
    f = METHOD_CALLS[name]
    value, _ = yota.trace(f, X)
    np.testing.assert_array_equal(value, f(X))
    assert type(value) is type(f(X))
    yota.check_grads(lambda x: np.sum(np.sin(f(x))), X, order=2)


@pytest.mark.parametrize("name", CONSTANT_CALLS)
def test_a_method_without_slope_is_a_constant(name: str) -> None:
    value, g = yota.grad(lambda x: np.sum(x) + total(CONSTANT_CALLS[name](x)), X)
    assert value == np.sum(X) + total(CONSTANT_CALLS[name](X))
    np.testing.assert_array_equal(g[0], 1)


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_plain_attribute_is_the_arrays(name: str) -> None:
    found = []
    yota.grad(lambda x: (found.append(str(getattr(x, name))), np.sum(x))[1], X)
    want = str(getattr(X, name))
    assert found[0].splitlines()[:2] == want.splitlines()[:2]


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_a_refused_attribute_raises_with_its_cure(name: str) -> None:
    with pytest.raises(yota.TraceError) as caught:
        yota.grad(lambda x: (getattr(x, name), np.sum(x))[1], X)
    assert ATTRIBUTES[name] in str(caught.value)
    assert f".{name}" in str(caught.value)
