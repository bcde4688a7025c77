"""Run ops for many values of one input at once: with a leading axis where an op allows it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.ops import Call, Op, Spec, Var, map_vars
from yota.rules.functional import cast, getitem, halt, identity, place, scatter

# how much memory a batch may take before it is cut
ROOM = 1 << 26


class RaggedError(ValueError):
    """Rows are not of one shape: each has to run by itself."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The values of one op for every row, stacked along a first axis."""

    rows: Any

    @property
    def ndim(self) -> int:
        """The number of axes of one row."""
        return int(np.ndim(self.rows)) - 1


Ops = list[tuple[Var, Call]]


def run_batched(
    ops: Iterable[tuple[Var, Op]], known: Mapping[Var, Any], seed: Var, rows: Any, wanted: set[Var]
) -> dict[Var, Any]:
    """Return the values of `wanted`, stacked over the rows of `seed`; `known` are the others'.

    An op whose value does not depend on `seed` keeps its known value, repeated for each row.
    """
    if not len(rows):
        return {v: np.zeros((0, *np.shape(known[v])), np.asarray(known[v]).dtype) for v in wanted}
    chain = dependent(ops, seed)
    size = sum(op.spec.nbytes for _, op in chain) or 1
    step = max(1, ROOM // size)
    parts = [_run(chain, known, seed, rows[k : k + step]) for k in range(0, len(rows), step)]
    found = {}
    for var in wanted:
        if var in parts[0]:
            found[var] = np.concatenate([p[var].rows for p in parts])
        else:
            found[var] = np.broadcast_to(known[var], (len(rows), *np.shape(known[var])))
    return found


def dependent(ops: Iterable[tuple[Var, Op]], seed: Var) -> Ops:
    """Return the calls whose value depends on `seed`, in order."""
    reached = {seed}
    chain: Ops = []
    for var, op in ops:
        if isinstance(op, Call) and any(v in reached for v in op.operands):
            reached.add(var)
            chain.append((var, op))
    return chain


def _run(chain: Ops, known: Mapping[Var, Any], seed: Var, rows: Any) -> dict[Var, Any]:
    found: dict[Var, Any] = {seed: Batch(rows)}

    def lift(var: Var) -> Any:
        return found[var] if var in found else known[var]

    for var, op in chain:
        found[var] = _call(op, lift, len(rows))
    return found


def _call(op: Call, lift: Callable[[Var], Any], count: int) -> Any:
    args = tuple(map_vars(a, lift) for a in op.args)
    kwargs = {k: map_vars(v, lift) for k, v in op.kwargs}
    rule = _RULES.get(op.fn, _elementwise if isinstance(op.fn, np.ufunc) else None)
    fits = rule is not None and op.spec.kind != "tuple" and _is_plain(tuple(kwargs.values()))
    made = rule(op, args, kwargs) if rule is not None and fits else None
    if made is None:
        return _looped(op, args, kwargs, count)
    shape = (count, *op.spec.shape)
    made = made if np.shape(made) == shape else np.broadcast_to(made, shape)
    return Batch(made if made.dtype == op.spec.dtype else made.astype(op.spec.dtype))


def _looped(op: Call, args: Any, kwargs: Any, count: int) -> Any:
    values = [op.fn(*_row(args, k), **_row(kwargs, k)) for k in range(count)]
    if isinstance(values[0], tuple | list):
        items = zip(zip(*values, strict=True), op.spec.items, strict=True)
        return tuple(_stacked(item, spec) for item, spec in items)
    return _stacked(values, op.spec)


def _stacked(values: Sequence[Any], spec: Spec) -> Batch:
    if any(np.shape(v) != spec.shape for v in values):
        raise RaggedError("the shape of a value depends on the row")
    return Batch(np.stack(values))


def _row(tree: Any, k: int) -> Any:
    """Return what one row of a batch sees of operands."""
    if isinstance(tree, Batch):
        return tree.rows[k]
    if type(tree) in (tuple, list):
        return type(tree)(_row(t, k) for t in tree)
    if type(tree) is slice:
        return slice(_row(tree.start, k), _row(tree.stop, k), _row(tree.step, k))
    return {n: _row(t, k) for n, t in tree.items()} if type(tree) is dict else tree


def _batches(tree: Any) -> Iterator[Batch]:
    if isinstance(tree, Batch):
        yield tree
    elif isinstance(tree, tuple | list):
        for t in tree:
            yield from _batches(t)


def _is_plain(tree: Any) -> bool:
    return not any(_batches(tree))


def _aligned(args: Any) -> list[Any]:
    """Return operands that broadcast row by row: every batch gets as many axes as the largest."""
    depth = max(a.ndim if isinstance(a, Batch) else np.ndim(a) for a in args)

    def align(a: Any) -> Any:
        if not isinstance(a, Batch):
            return a
        shape = np.shape(a.rows)
        return np.reshape(a.rows, (shape[0], *(1,) * (depth - a.ndim), *shape[1:]))

    return [align(a) for a in args]


Made = Any  # rows, or None where only a loop answers


def _elementwise(op: Call, args: Any, kwargs: Any) -> Made:
    if getattr(op.fn, "signature", None) is not None or not set(kwargs) <= {"dtype"}:
        return None
    return op.fn(*_aligned(args), **kwargs)


def _where(op: Call, args: Any, kwargs: Any) -> Made:
    return np.where(*_aligned(args)) if len(args) == 3 else None


def _reduction(op: Call, args: Any, kwargs: Any) -> Made:
    x, *more = args
    axis, keep = (*more, kwargs.get("axis"))[0], kwargs.get("keepdims", False)
    usual = len(more) <= 1 and set(kwargs) <= {"axis", "keepdims", "dtype"}
    if not usual or not isinstance(x, Batch) or not _is_plain(more):
        return None
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    dtype = {"dtype": kwargs["dtype"]} if "dtype" in kwargs else {}
    return op.fn(x.rows, axis=tuple(a % x.ndim + 1 for a in axes), keepdims=keep, **dtype)


def _reshape(op: Call, args: Any, kwargs: Any) -> Made:
    if kwargs.get("order", "C") != "C" or not isinstance(args[0], Batch) or len(args) > 2:
        return None
    return np.reshape(args[0].rows, (len(args[0].rows), *op.spec.shape))


def _transpose(op: Call, args: Any, kwargs: Any) -> Made:
    x, axes = args[0], args[1] if len(args) > 1 else kwargs.get("axes")
    if not isinstance(x, Batch):
        return None
    axes = range(x.ndim)[::-1] if axes is None else (axes,) if isinstance(axes, int) else axes
    return np.transpose(x.rows, (0, *(a % x.ndim + 1 for a in axes)))


def _shape_only(op: Call, args: Any, kwargs: Any) -> Made:
    """Do what only adds or removes axes of length 1."""
    return np.reshape(args[0].rows, (len(args[0].rows), *op.spec.shape))


def _swapaxes(op: Call, args: Any, kwargs: Any) -> Made:
    if kwargs or len(args) != 3 or not isinstance(args[0], Batch):
        return None
    x, *axes = args
    return np.swapaxes(x.rows, *(a % x.ndim + 1 for a in axes))


def _broadcast_to(op: Call, args: Any, kwargs: Any) -> Made:
    x, shape = args[0], op.spec.shape
    rows = np.reshape(x.rows, (len(x.rows), *(1,) * (len(shape) - x.ndim), *np.shape(x.rows)[1:]))
    return np.broadcast_to(rows, (len(x.rows), *shape))


def _getitem(op: Call, args: Any, kwargs: Any) -> Made:
    x, index = args
    if not isinstance(x, Batch) or not _keeps_rows(index):
        return None
    return x.rows[_behind_rows(index)]


def _put(op: Call, args: Any, kwargs: Any) -> Made:
    x, index, shape = args
    if not isinstance(x, Batch) or not _keeps_rows(index):
        return None
    return op.fn(x.rows, _behind_rows(index), (len(x.rows), *shape))


def _keeps_rows(index: Any) -> bool:
    """Tell whether an index behind a full slice leaves the rows in front."""
    parts = index if type(index) is tuple else (index,)
    if not _is_plain(parts):
        return False
    basic = [p is None or p is Ellipsis or type(p) in (slice, int) for p in parts]
    if all(basic):
        return True
    free = [p is None or p is Ellipsis or type(p) is slice for p in parts]
    return sum(not f for f in free) == 1 and not any(type(p) is bool for p in parts)


def _behind_rows(index: Any) -> tuple[Any, ...]:
    return (slice(None), *(index if type(index) is tuple else (index,)))


def _matmul(op: Call, args: Any, kwargs: Any) -> Made:
    if kwargs or len(args) != 2:
        return None
    a, b = (x.rows if isinstance(x, Batch) else x for x in args)
    depth = tuple(x.ndim if isinstance(x, Batch) else np.ndim(x) for x in args)
    is_batch = [isinstance(x, Batch) for x in args]
    if depth == (2, 2):
        return np.matmul(a, b)
    if depth == (1, 2):
        return np.matmul(a, b) if not is_batch[1] else np.matmul(a[..., None, :], b)[..., 0, :]
    if depth == (2, 1):
        return np.matmul(b, a.T) if not is_batch[0] else np.matmul(a, b[..., None])[..., 0]
    return np.sum(a * b, axis=-1) if depth == (1, 1) else None


def _outer(op: Call, args: Any, kwargs: Any) -> Made:
    if kwargs or len(args) != 2:
        return None
    a, b = (
        np.reshape(x.rows, (len(x.rows), -1)) if isinstance(x, Batch) else np.ravel(x) for x in args
    )
    return a[..., :, None] * b[..., None, :]


def _einsum(op: Call, args: Any, kwargs: Any) -> Made:
    text, *operands = args
    if not isinstance(text, str) or "->" not in text or "." in text:
        return None
    letter = next((c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text), None)
    if letter is None:
        return None
    inputs, output = text.replace(" ", "").split("->")
    names = [
        letter + n if isinstance(x, Batch) else n
        for n, x in zip(inputs.split(","), operands, strict=True)
    ]
    rows = [x.rows if isinstance(x, Batch) else x for x in operands]
    return np.einsum(f"{','.join(names)}->{letter}{output}", *rows, **kwargs)


def _solve(op: Call, args: Any, kwargs: Any) -> Made:
    a, b = args
    if not isinstance(b, Batch) or isinstance(a, Batch) or np.ndim(a) != 2:
        return None
    return np.linalg.solve(a, b.rows.T).T if b.ndim == 1 else np.linalg.solve(a, b.rows)


def _along_axis(op: Call, args: Any, kwargs: Any) -> Made:
    x, *more = args
    axis = (*more, kwargs.get("axis"))[0]
    usual = len(more) <= 1 and set(kwargs) <= {"axis"}
    if not usual or not isinstance(x, Batch) or not isinstance(axis, int):
        return None
    return op.fn(x.rows, axis=axis % x.ndim + 1)


def _last_two(op: Call, args: Any, kwargs: Any) -> Made:
    x, *more = args
    return op.fn(x.rows, *more, **kwargs) if isinstance(x, Batch) and x.ndim > 1 else None


def _like(op: Call, args: Any, kwargs: Any) -> Made:
    return op.fn(args[0].rows) if len(args) == 1 and not kwargs else None


def _same(op: Call, args: Any, kwargs: Any) -> Made:
    return args[0].rows


def _item_of(op: Call, args: Any, kwargs: Any) -> Made:
    """Take an item of a tuple of batches."""
    whole, index = args
    return whole[index].rows if isinstance(whole, tuple) and type(index) is int else None


_PYTHON = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.neg: np.negative,
    operator.pos: np.positive,
}


def _python(op: Call, args: Any, kwargs: Any) -> Made:
    return _PYTHON[op.fn](*(a.rows if isinstance(a, Batch) else a for a in args))


_RULES: dict[Any, Callable[[Call, Any, Any], Made]] = {
    np.where: _where,
    np.sum: _reduction,
    np.mean: _reduction,
    np.reshape: _reshape,
    np.transpose: _transpose,
    np.squeeze: _shape_only,
    np.expand_dims: _shape_only,
    np.swapaxes: _swapaxes,
    np.broadcast_to: _broadcast_to,
    np.matmul: _matmul,
    np.dot: _matmul,
    np.outer: _outer,
    np.einsum: _einsum,
    np.linalg.solve: _solve,
    np.cumsum: _along_axis,
    np.flip: _along_axis,
    np.tril: _last_two,
    np.triu: _last_two,
    np.real: _like,
    np.imag: _like,
    np.zeros_like: _like,
    getitem: _getitem,
    operator.getitem: _item_of,
    place: _put,
    scatter: _put,
    cast: _same,
    identity: _same,
    halt: _same,
    **dict.fromkeys(_PYTHON, _python),
}
