"""What the ops of a saved session may ask for, and what they may not."""

from __future__ import annotations

import contextlib
import operator
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yota.rules.samples import SAMPLES
from tests.yotaview.sessions import altered, call_of
from yota.rules import functional as fun
from yota.tape import Call, Var, spec_of
from yotaview.capture.functions import name_of
from yotaview.model import bounds
from yotaview.model.bounds.sizes import result_size
from yotaview.model.session import NotKnown, Session


def num(n: int) -> dict[str, str]:
    """Return a number as it stands in the file."""
    return {"int": str(n)}


X, ONE = {"%": 1}, {"list": [num(1)]}
GREEDY: dict[str, tuple[str, list[Any], list[Any]]] = {
    "a power of integers": ("operator.pow", [num(9), num(9**8)], []),
    "a shift": ("operator.lshift", [num(1), num(1 << 28)], []),
    "a round number": ("builtins.round", [num(5), num(-(1 << 28))], []),
    "a text often": ("operator.mul", ["a", num(1 << 28)], []),
    "a list often": ("operator.mul", [{"list": [X]}, num(1 << 28)], []),
    "a format": ("operator.mod", ["%999999999d", num(1)], []),
    "a shape": ("numpy.full_like", [X, num(1)], [["shape", {"tuple": [num(20000), num(13000)]}]]),
    "a shape by position": ("numpy.zeros_like", [X, None, "K", True, num(1 << 28)], []),
    "a resize": ("numpy.resize", [X, {"list": [num(1 << 28)]}], []),
    "a broadcast": ("numpy.broadcast_to", [X, {"tuple": [num(1 << 28)]}], []),
    "points": ("numpy.linspace", [num(0), num(1), num(1 << 28)], []),
    "a repetition": ("numpy.repeat", [X, num(1 << 28)], []),
    "tiles": ("numpy.tile", [X, {"tuple": [num(100000), num(2000)]}], []),
    "a padding": ("numpy.pad", [ONE, num(1 << 28)], []),
    "sections": ("numpy.array_split", [ONE, num(1 << 28)], []),
    "a transform": ("numpy.fft.fft", [ONE, num(1 << 28)], []),
    "bins": ("numpy.bincount", [{"list": [num(1 << 30)]}], []),
    "a table": ("numpy.isin", [ONE, {"list": [num(1 << 40)]}], [["kind", "table"]]),
    "a far diagonal": ("numpy.diag", [ONE, num(1 << 20)], []),
    "large elements": ("numpy.zeros_like", [X], [["dtype", {"dtype": "S2000000000"}]]),
    "large elements by name": ("numpy.zeros_like", [X], [["dtype", "S2000000000"]]),
    "long integers in a list": ("numpy.prod", [{"list": [num(10**400), num(10**400)]}], []),
    "a function in a function": ("yota.rules.functional.raises", [
        {"fn": "operator.pow"}, {"type": "int"}, num(9), num(9**8)], []),
    "a range": ("yota.rules.functional.getitem", [ONE, {"range": [num(0), num(1 << 40), num(1)]}],
        []),
    "differences": ("numpy.diff", [ONE, num(1 << 40)], []),
    "an order of products": ("numpy.einsum", [",".join("abcdefghijkl"), *[ONE] * 12],
        [["optimize", "optimal"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", GREEDY)
def test_op_that_asks_for_too_much_is_not_computed(tmp_path: Path, name: str) -> None:
    fn, args, kwargs = GREEDY[name]
    capture = altered(tmp_path, lambda h: call_of(h, "exp").update(fn=fn, args=args, kwargs=kwargs))
    started, session = time.perf_counter(), Session(capture)
    with pytest.raises(NotKnown) as reason:
        session.recorded(Var(2))
    assert "Error" not in str(reason.value)
    assert not str(reason.value).startswith("gives")
    assert session.program.stages
    assert session.profile().not_run
    assert time.perf_counter() - started < 5


def test_op_whose_value_is_in_the_file_is_not_run_for_its_time(tmp_path: Path) -> None:
    def change(head: Any) -> None:
        call_of(head, "exp").update(fn="operator.pow", args=[num(9), num(9**8)])
        head["rows"][0]["calls"][0].update(known=[[2, {"float": "0x1p+0"}]])

    session = Session(altered(tmp_path, change))
    started = time.perf_counter()
    assert session.recorded(Var(2)) == 1.0
    assert session.profile().not_run == (Var(2),)
    assert session.program.stages
    assert time.perf_counter() - started < 5


def chained(count: int, fn: str, args: Callable[[int], list[Any]]) -> Callable[[Any], None]:
    """Return a change that adds ops, each of which reads the one before."""

    def change(head: Any) -> None:
        ops = head["rows"][0]["tape"]["ops"]
        for k in range(count):
            ops.append({**call_of(head, "exp"), "id": 1000 + k, "fn": fn, "args": args(k)})

    return change


TOWERS = {
    "powers": ("operator.pow", lambda k: [num(9), num(9) if k == 0 else {"%": 999 + k}]),
    "squares": ("operator.mul", lambda k: [num(10**399) if k == 0 else {"%": 999 + k}] * 2),
    "arrays": ("numpy.stack", lambda k: [{"list": [{"%": 1 if k == 0 else 999 + k}] * 4}]),
}


@pytest.mark.parametrize("name", TOWERS)
def test_values_that_grow_from_op_to_op_are_not_computed(tmp_path: Path, name: str) -> None:
    started, session = (
        time.perf_counter(),
        Session(altered(tmp_path, chained(24, *TOWERS[name]))),
    )
    with pytest.raises(NotKnown):
        session.recorded(Var(1023))
    assert session.program.stages
    assert time.perf_counter() - started < 5


def test_values_that_grow_as_the_file_says_stop_at_what_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = chained(9, *TOWERS["arrays"])

    def shaped(head: Any) -> None:
        change(head)
        for k, op in enumerate(head["rows"][0]["tape"]["ops"][-9:]):
            op["spec"] = ["array", "<f8", [4] * (k + 1), "C", []]

    capture = altered(tmp_path, shaped)
    assert Session(capture).recorded(Var(1008)).nbytes == 8 * 4**9
    monkeypatch.setattr(bounds, "most_bytes", lambda: 100_000)
    session = Session(capture)
    assert session.recorded(Var(1005)).nbytes == 8 * 4**6
    with pytest.raises(NotKnown, match="all values together take more than"):
        session.recorded(Var(1006))
    with pytest.raises(NotKnown, match="needs %1006"):
        session.recorded(Var(1007))


@pytest.mark.parametrize(
    ("fn", "expected"),
    [(np.copy, 8000), (lambda x: np.tile(x, 1), 8000), (np.transpose, 0), (np.array_split, 0),
     (lambda x: np.broadcast_to(x, (9, 1000)), 0), (lambda x: (x + 1, x[::2], 1.0), 8000)],
)  # fmt: skip
def test_only_memory_of_its_own_counts(fn: Callable[..., Any], expected: int) -> None:
    x, limits = np.ones(1000), bounds.Bounds()
    args = (x, 4) if fn is np.array_split else (x,)
    value = fn(*args)
    limits.accept(Call(spec=spec_of(value), fn=fn, args=args), args, value)
    assert limits.used == expected


def test_what_is_computed_from_a_wrong_type_is_not_computed(tmp_path: Path) -> None:
    session = Session(
        altered(tmp_path, lambda h: call_of(h, "exp").update(spec=["array", "<f8", [7], "C", []]))
    )
    with pytest.raises(NotKnown, match=r"^gives f64, not f64\[7\]$"):
        session.recorded(Var(2))
    assert session.recorded(Var(4)) == np.exp(0.5)


def test_size_of_every_sample_is_told_before_it_runs() -> None:
    told = 0
    for sample in SAMPLES:
        name = getattr(sample.fn, "__name__", "")
        if name_of(sample.fn) is None:
            continue
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):
            value = sample.fn(*sample.args, **sample.kwargs)
            call = Call(spec=spec_of(value), fn=sample.fn, args=sample.args)
            bounds.Bounds().admit(call, sample.args, sample.kwargs)
            size = result_size(name, sample.fn, sample.args, sample.kwargs)
            assert count(value) <= 4 * size + 8, sample.name
            told += 1
    assert told > 500


def count(value: Any) -> int:
    return sum(map(count, value)) if isinstance(value, tuple | list) else int(np.size(value))


LARGE = np.broadcast_to(np.float64(1), (3000, 3000))
ORDINARY: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "product": (np.matmul, (LARGE, LARGE), {}),
    "sum of products": (np.einsum, ("ij,jk->ik", LARGE, LARGE), {}),
    "contraction": (np.tensordot, (LARGE, LARGE, 1), {}),
    "solution": (np.linalg.solve, (LARGE, LARGE[0]), {}),
    "values": (np.linalg.svd, (LARGE,), {}),
    "shift": (np.roll, (LARGE, 100_000), {}),
    "rows": (np.take, (LARGE, np.arange(3000)), {"axis": 0}),
    "index": (fun.getitem, (LARGE, (np.arange(3000), slice(None))), {}),
    "quantiles": (np.quantile, (LARGE, np.linspace(0, 1, 100)), {}),
    "large number": (operator.mul, (LARGE, 10**9), {}),
    "covariance": (np.cov, (np.broadcast_to(np.float64(1), (3, 10**7)),), {}),
    "mean": (np.mean, (LARGE,), {"axis": (0, 1)}),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_call_on_large_arrays_is_admitted(name: str) -> None:
    fn, args, kwargs = ORDINARY[name]
    bounds.Bounds().admit(Call(spec=spec_of(1.0), fn=fn, args=args), args, kwargs)
