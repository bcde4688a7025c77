"""Every sample once more with other operands: complex, empty, of length 1, in another layout."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES, Sample
from tests.yota.rules.test_rules import cotangents, differences, leaves, paired, pulled_back
from tests.yota.rules.test_traced import prepared
from yota.rules.registry import VJP

Array = Any

# What is refused of complex operands: vectors whose phase counts, a complex mean of real numbers.
REFUSED = {np.linalg.eigh: "phase", np.linalg.svd: "phase", np.var: "mean=", np.std: "mean="}
# NumPy gives these values in no order.
UNORDERED = {np.unique_values}
# For the first a number is no operand at all, for some diagonals NumPy takes unequal lengths, and
# the last read in the order of memory.
NOT_VARIED = (
    "getitem-zero-d", "setitem-zero-d", "add_at-zero-d",
    "einsum-square-ii->i", "einsum-iij", "einsum-iji",
    "ravel-columns", "ravel-rows", "reshape-columns", "reshape-rows",
)  # fmt: skip


def changed(x: Any, change: Callable[[Array], Array]) -> Any:
    """Return an operand with its floating arrays changed."""
    if isinstance(x, list | tuple):
        return type(x)(changed(v, change) for v in x)
    return change(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x


def variations(s: Sample, change: Callable[[Array], Array]) -> Iterator[Sample]:
    """Yield a sample with all its varied operands changed, and with each alone, if it runs."""
    each = [(k,) for k in s.argnums] if len(s.argnums) > 1 else []
    for chosen in [s.argnums, *each] if s.argnums else []:
        new = s
        for k in chosen:
            new = new.with_operand(k, changed(s.operand(k), change))
        same = all(new.operand(k) is s.operand(k) for k in chosen)
        if not same and is_defined(new):
            yield new._replace(name=f"{s.name}-{'-'.join(map(str, chosen))}")


def is_defined(s: Sample) -> bool:
    """Tell whether a call runs without a warning and gives finite numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = s.run()
            return bool(np.isfinite(paired(y, y)))
    except Exception:
        return False


def compare(s: Sample) -> None:
    y = s.run()
    dy = cotangents(y, np.random.default_rng(1))
    for k in s.argnums:
        got = pulled_back(s, k, dy, y)
        for a, b in zip(got, differences(s, k, dy), strict=True):
            scale = max(1.0, float(np.max(np.abs(b), initial=0)))
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * scale)


def to_complex(x: Array) -> Array:
    if x.dtype != np.float64:
        return x
    return x + 1j * np.random.default_rng(x.size).uniform(-1, 1, x.shape)


def is_plain(s: Sample) -> bool:
    ours = getattr(s.fn, "__module__", None) or ""
    return (
        not ours.startswith("yota.")
        and "single" not in s.name
        and not s.name.startswith(NOT_VARIED)
    )


def refusal(s: Sample) -> str:
    """Compare a sample with differences; return why its gradient is refused, if it is."""
    try:
        compare(s)
    except yota.RuleError as error:
        return str(error)
    return ""


def is_ordered(s: Sample) -> bool:
    return s.fn not in UNORDERED and not s.name.startswith(NOT_VARIED)


@pytest.mark.parametrize("s", list(filter(is_ordered, SAMPLES)), ids=lambda s: s.name)
def test_complex_operands_are_right_or_refused(s: Sample) -> None:
    for v in variations(s, to_complex):
        told = refusal(v)
        assert not told or REFUSED[s.fn] in told


def first_only(x: Array) -> Array:
    return x[:1]


def last_only(x: Array) -> Array:
    return x[..., :1]


def number(x: Array) -> Array:
    return np.asarray(x.flat[0]) if x.size else x


@pytest.mark.parametrize("s", list(filter(is_plain, SAMPLES)), ids=lambda s: s.name)
def test_operands_of_one_element(s: Sample) -> None:
    """Along an axis, or in all; alone, or broadcast against the others."""
    for cut in (first_only, last_only, number):
        for v in variations(s, lambda x, cut=cut: cut(x) if x.ndim else x):
            assert "of shape" not in refusal(v)


@pytest.mark.parametrize("s", list(filter(is_plain, SAMPLES)), ids=lambda s: s.name)
def test_empty_operands_have_empty_gradients(s: Sample) -> None:
    for cut in (lambda x: x[:0], lambda x: x[..., :0]):
        for new in variations(s, lambda x, cut=cut: cut(x) if x.ndim else x):
            f, varied, _ = prepared(new)
            for v, g in zip(varied, yota.grad(f, *varied)[1], strict=True):
                assert [np.shape(a) for a in leaves(g)] == [np.shape(a) for a in leaves(v)], cut


# ---- memory layouts


def strided(x: Array) -> Array:
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    part = wide[(Ellipsis, *(slice(None, None, 2),) * x.ndim)]
    part[...] = x
    return part


def reversed_in_memory(x: Array) -> Array:
    turned = np.zeros_like(x)[(Ellipsis, *(slice(None, None, -1),) * x.ndim)]
    turned[...] = x
    return turned


def read_only(x: Array) -> Array:
    new = x.copy(order="K")
    new.flags.writeable = False
    return new


LAYOUTS = {
    "columns": lambda x: np.asfortranarray(x) if x.ndim else x,
    "strided": strided,
    "reversed": reversed_in_memory,
    "read-only": read_only,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
}
# which of several writes comes last, and which of equal orders, follows the memory
BY_LAYOUT = ("setitem-F-index",)
ONE_EACH = {(id(s.fn), len(s.args), *s.kwargs): s for s in reversed(SAMPLES) if s.argnums}


@pytest.mark.parametrize("s", list(ONE_EACH.values()), ids=lambda s: s.name)
def test_layout_changes_neither_values_nor_types(s: Sample) -> None:
    f, varied, _ = prepared(s)
    plain = yota.grad(f, *varied)[1]
    for layout, change in LAYOUTS.items():
        new = [changed(v, change) for v in varied]
        laid = yota.grad(f, *new)[1]
        for before, v, a, b in zip(varied, new, plain, laid, strict=True):
            for x, y, p, q in zip(leaves(before), leaves(v), leaves(a), leaves(b), strict=True):
                if s.name not in BY_LAYOUT:
                    same = np.asarray(q, np.result_type(p))
                    np.testing.assert_allclose(same, p, rtol=1e-6, atol=1e-9, err_msg=layout)
                assert np.shape(x) == np.shape(q), layout
                assert not isinstance(y, np.ndarray) or y.dtype == q.dtype, layout


PRECISIONS = {
    "half": lambda x: x.astype(np.float16) if x.dtype.kind == "f" else x,
    "long": lambda x: x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("s", list(ONE_EACH.values()), ids=lambda s: s.name)
def test_gradients_have_their_arguments_precision(s: Sample, precision: str) -> None:
    f, varied, _ = prepared(s)
    new = [changed(v, PRECISIONS[precision]) for v in varied]
    try:
        f(*new)
    except (TypeError, ValueError):
        return  # NumPy itself has no such function
    for v, g in zip(new, yota.grad(f, *new)[1], strict=True):
        for x, a in zip(leaves(v), leaves(g), strict=True):
            assert not isinstance(x, np.ndarray) or a.dtype == x.dtype


def test_every_rule_is_varied() -> None:
    assert {id(s.fn) for s in ONE_EACH.values()} >= {id(fn) for fn in VJP if _is_numpys(fn)}


def _is_numpys(fn: Any) -> bool:
    return (getattr(fn, "__module__", None) or "").startswith("numpy")
