"""Reductions, products of matrices, and what adds up to a cotangent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from yota.tape import Call, Var
from yotaview.model.replay import quiet
from yotaview.model.why.ask import Ask, Terms, one
from yotaview.model.why.elements import Element, Part, Term, array_of

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SUMMING = {"sum", "mean", "nansum", "nanmean", "prod", "nanprod", "max", "min", "amax", "amin",
           "nanmax", "nanmin", "var"}  # fmt: skip
CONJUGATING = {"vdot", "vecdot", "vecmat"}
MANY = 64
Array = np.ndarray[Any, Any]


def reduced(ask: Ask) -> Terms | None:
    """Say which elements a reduction sums, multiplies or chooses from."""
    found = _block(ask)
    if found is None:
        return None
    block, place = found
    raw = ask.op.args[0]
    name = _ufunc_method(ask.op) if ask.op.name == "reduce" else ask.op.name

    def part(k: int) -> Part:
        return Part(block[k], Element(raw, place(k)) if isinstance(raw, Var) else None)

    return _combined(ask, name, block, part)


def _ufunc_method(op: Call) -> str:
    names = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
    return names.get(getattr(getattr(op.fn, "__self__", None), "__name__", ""), "")


def _combined(ask: Ask, name: str, block: Array, part: Any) -> Terms | None:
    count, wide = block.size, _wide(block)
    gone = np.isnan(wide) if name.startswith("nan") else np.zeros(count, bool)
    left_out = f"{np.count_nonzero(gone):,} NaN left out" if gone.any() else ""
    name = name.removeprefix("nan").removeprefix("a")
    if name in ("sum", "mean"):
        live = max(count - np.count_nonzero(gone), 1) if name == "mean" else 1
        values, form = np.where(gone, 0, wide) / live, "{0}" if name == "sum" else f"{{0}} / {live}"
        return Terms(values, lambda k: Term(values[k], (part(k),), form), note=left_out)
    if name == "prod" and 0 < count <= MANY:
        form = " × ".join(f"{{{k}}}" for k in range(count))
        return one(ask.y, tuple(map(part, range(count))), form, note=left_out)
    if name in ("max", "min") and count:
        same = np.flatnonzero(block == ask.y)
        if same.size:
            told = "the largest" if name == "max" else "the smallest"
            tie = f", with {same.size - 1} equal to it" if same.size > 1 else ""
            return one(ask.y, (part(int(same[0])),), "{0}", "chosen", f"{told} of {count:,}{tie}")
    if ask.op.name == "var" and count and not np.iscomplexobj(block):
        free, mean = count - ask.kwargs.get("ddof", 0), wide.mean()
        values, form = np.square(wide - mean) / free, f"({{0}} − {mean:.6g})² / {free:g}"
        return Terms(values, lambda k: Term(values[k], (part(k),), form))
    return None


def _wide(x: Array) -> Array:
    if x.dtype.kind == "c":
        return x if x.dtype.itemsize > 16 else x.astype(np.complex128)
    return x if x.dtype == np.longdouble else x.astype(np.float64)


def _block(ask: Ask) -> tuple[Array, Any] | None:
    """Return the elements behind the one asked for, flat, and from each number its index."""
    known = {"axis", "keepdims", "dtype", "ddof"}
    if any(k not in known and v is not np._NoValue for k, v in ask.op.kwargs):
        return None
    if not ask.args or len(ask.args) > 2 or ask.element.item is not None:
        return None
    x = array_of(ask.args[0])
    default = 0 if ask.op.name == "reduce" else None
    axis = ask.args[1] if len(ask.args) == 2 else ask.kwargs.get("axis", default)
    if x is None or x.ndim == 0:
        return None
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis).tolist()
    gone = sorted(a % x.ndim for a in axes)
    stays = [a for a in range(x.ndim) if a not in gone]
    kept = ask.index if len(ask.index) == len(stays) else tuple(ask.index[a] for a in stays)
    window: list[Any] = [slice(None)] * x.ndim
    for a, k in zip(stays, kept, strict=True):
        window[a] = k
    block = x[tuple(window)]

    def place(k: int) -> tuple[int, ...]:
        inner = iter(np.unravel_index(k, block.shape))
        return tuple(int(next(inner)) if isinstance(w, slice) else int(w) for w in window)

    return block.reshape(-1), place


def product(ask: Ask) -> Terms | None:
    """Say which products of elements a contraction sums."""
    if ask.element.item is not None:
        return None
    found = _subscripts(ask)
    if found is None:
        return None
    positions, inputs, output = found
    xs = [array_of(ask.args[k]) for k in positions]
    if any(x is None or x.dtype.kind == "b" for x in xs):
        return None
    return _contracted(ask, positions, [x for x in xs if x is not None], inputs, output)


def _contracted(
    ask: Ask, positions: Sequence[int], xs: list[Array], inputs: list[str], output: str
) -> Terms | None:
    if len(output) != len(ask.index):
        return None
    operands = list(zip(xs, inputs, strict=True))
    sizes = {c: n for x, word in operands for c, n in zip(word, x.shape, strict=True) if n != 1}
    fixed = dict(zip(output, ask.index, strict=True))
    summed = [c for c in dict.fromkeys("".join(inputs)) if c not in fixed]
    shape = tuple(sizes.get(c, 1) for c in summed)
    where = {**fixed, **dict(zip(summed, np.indices(shape, sparse=True), strict=True))}
    factors = [_wide(np.asarray(x[_picked(x, word, where)])) for x, word in operands]
    if ask.op.name in CONJUGATING:
        factors[0] = np.conjugate(factors[0])
    with quiet():
        values = np.broadcast_to(math.prod(factors[1:], start=factors[0]), shape).reshape(-1)

    def describe(k: int) -> Term:
        at = fixed | dict(zip(summed, map(int, np.unravel_index(k, shape)), strict=True))
        parts = tuple(
            ask.part(ask.op.args[p], ask.args[p], tuple(map(int, _picked(x, word, at))))
            for p, (x, word) in zip(positions, operands, strict=True)
        )
        return Term(values[k], parts, " × ".join(f"{{{i}}}" for i in range(len(parts))))

    return Terms(values, describe)


def _picked(x: Array, word: str, at: dict[str, Any]) -> tuple[Any, ...]:
    """Return the index of an operand; an axis of length 1 is repeated."""
    return tuple(at[c] if n != 1 else 0 for c, n in zip(word, x.shape, strict=True))


Found = tuple[Sequence[int], list[str], str]


def _subscripts(ask: Ask) -> Found | None:
    name = ask.op.name
    if name == "einsum":
        return _einsum(ask)
    if len(ask.args) < 2 or any(
        v is not None and v is not np._NoValue for k, v in ask.op.kwargs if k != "axes"
    ):
        return None
    a, b = np.ndim(ask.args[0]), np.ndim(ask.args[1])
    if a + b > 20:
        return None
    maker = CONTRACTIONS.get(name)
    words = None if maker is None else maker(ask, a, b)
    return None if words is None else ((0, 1), list(words[:2]), words[2])


def _matmul(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    if not a or not b:
        return None
    lead = max(a - 2, b - 2, 0)
    batch = LETTERS[5 : 5 + lead]
    left = "k" if a == 1 else batch[lead - (a - 2) :].replace("k", "Z") + "ik"
    right = "k" if b == 1 else batch[lead - (b - 2) :].replace("k", "Z") + "kj"
    out = batch.replace("k", "Z") + ("i" if a > 1 else "") + ("j" if b > 1 else "")
    return left, right, out


def _letters(a: int, b: int) -> tuple[str, str]:
    return LETTERS[:a], LETTERS[a : a + b]


def _dot(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    left, right = _letters(a, b)
    if not a or not b:
        return left, right, left + right
    axis = max(b - 2, 0)
    right = right[:axis] + left[-1] + right[axis + 1 :]
    return left, right, left[:-1] + right.replace(left[-1], "")


def _inner(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    left, right = _letters(a, b)
    if not a or not b:
        return left, right, left + right
    return left, right[:-1] + left[-1], left[:-1] + right[:-1]


def _outer(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    return ("a", "b", "ab") if a == b == 1 else None


def _vdot(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    return ("a", "a", "") if a == b == 1 else None


def _tensordot(ask: Ask, a: int, b: int) -> tuple[str, str, str] | None:
    axes = ask.args[2] if len(ask.args) > 2 else ask.kwargs.get("axes", 2)
    left, right = _letters(a, b)
    if isinstance(axes, int):
        first, second = list(range(a - axes, a)), list(range(axes))
    else:
        first, second = (np.atleast_1d(x).tolist() for x in axes)
    first, second = [k % a for k in first], [k % b for k in second]
    word = list(right)
    for i, j in zip(first, second, strict=True):
        word[j] = left[i]
    gone = {left[i] for i in first}
    out = "".join(c for c in (*left, *word) if c not in gone)
    return left, "".join(word), out


CONTRACTIONS = {
    "matmul": _matmul, "dot": _dot, "inner": _inner, "outer": _outer, "vdot": _vdot,
    "tensordot": _tensordot,
}  # fmt: skip


def _einsum(ask: Ask) -> Found | None:
    text = ask.args[0]
    if (
        not isinstance(text, str)
        or "." in text
        or any(k not in ("optimize",) for k, _ in ask.op.kwargs)
    ):
        return None
    left, arrow, output = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow:
        letters = left.replace(",", "")
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return range(1, 1 + len(inputs)), inputs, output


def contributions(ask: Ask) -> Terms | None:
    """Say which contributions a cotangent adds up from, over all additions of one operand."""
    if ask.op.origin.role != "accumulate" or ask.op.name not in ("add", "iadd"):
        return None
    found: list[Part] = []
    stack: list[tuple[Any, Any]] = [*zip(ask.op.args, ask.args, strict=True)][::-1]
    wrt = ask.op.origin.wrt
    while stack:
        raw, value = stack.pop()
        op = ask.tape[raw] if isinstance(raw, Var) else None
        onward = isinstance(op, Call) and op.origin.role == "accumulate" and op.origin.wrt == wrt
        if (
            onward
            and isinstance(op, Call)
            and op.name == "add"
            and all(isinstance(a, Var) for a in op.args)
        ):
            stack.extend((a, ask.values[a]) for a in reversed(op.args))
        elif np.shape(value) != np.shape(ask.args[0]):
            return None
        else:
            found.append(ask.part(raw, value, ask.index))
    values = np.asarray([p.value for p in found])
    note = f"contributions to δ{wrt}"
    return Terms(values, lambda k: Term(values[k], (found[k],)), "sum", note)
