"""Which elements of which values are NaN or infinite, where they are new, and which get through."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from yota.rules.functional import getitem, place
from yota.tape import Call, Tape, Var, map_vars
from yotaview.model.summary import numeric

Mask = np.ndarray[Any, Any]
POINTWISE = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg,
    operator.pos, operator.abs, operator.mod, operator.floordiv, np.clip, np.nan_to_num,
}  # fmt: skip
REDUCES = {np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var}
# Functions that put elements elsewhere and change none.
MOVES = {
    getitem, place, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
    np.broadcast_to, np.ravel, np.flip, np.roll, np.repeat, np.tile, np.concatenate, np.stack,
    np.vstack, np.hstack, np.diag, np.diagonal, np.atleast_1d, np.atleast_2d, np.take,
}  # fmt: skip
MANY = 10_000
PRODUCTS = {np.matmul, operator.matmul, np.dot}


def bad_mask(value: Any) -> Mask | None:
    """Return where a value is NaN or infinite, None if nowhere; of a tuple one flag for all."""
    if isinstance(value, tuple | list):
        return np.array(True) if any(bad_mask(v) is not None for v in value) else None
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc":
        return None
    if x.size > MANY and _has_finite_sum(x):
        return None
    bad = ~np.isfinite(x)
    return bad if bad.any() else None


def _has_finite_sum(x: Mask) -> bool:
    """Tell whether the sum is finite, so that every element is: quicker than a mask of them."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.sum(x)))


def nan_mask(value: Any) -> Mask:
    """Return where a value is NaN; of a tuple one flag for all."""
    if isinstance(value, tuple | list):
        return np.array(any(bool(nan_mask(v).any()) for v in value))
    x = numeric(value)
    return np.isnan(x) if x is not None and x.dtype.kind in "fc" else np.array(False)


def is_pointwise(op: Call) -> bool:
    """Tell whether each element of an op's value is made of the same element of its operands."""
    if isinstance(op.fn, np.ufunc):
        return op.fn.nout == 1 and op.fn.signature is None
    return op.fn in POINTWISE


class Spread:
    """How NaN and infinity spread over a tape, element by element as far as that can be told.

    `bad` are the elements that are not finite, `new` those of them that an op made of finite
    operands, or NaN of infinite ones, and `through` those that reach a result or a gradient.
    """

    def __init__(self, tape: Tape, values: Mapping[Var, Any]) -> None:
        self.tape, self.values = tape, values
        found = ((v, bad_mask(values[v])) for v in tape.ops if v in values)
        self.bad: dict[Var, Mask] = {v: m for v, m in found if m is not None}
        self.new: dict[Var, Mask] = {}
        self.through: dict[Var, Mask] = {}
        if self.bad:
            self._find_new()
            self._find_through()

    def _find_new(self) -> None:
        for var, here in self.bad.items():
            op = self.tape[var]
            new = self._new(var, op, here) if isinstance(op, Call) else here
            if new is not None and new.any():
                self.new[var] = new

    def _new(self, var: Var, op: Call, here: Mask) -> Mask | None:
        operands = [v for v in dict.fromkeys(op.operands) if v in self.bad]
        if not operands:
            return here
        if op.fn is np.where or op.fn in MOVES:
            return None
        nan = nan_mask(self.values[var])
        masks = [pushed(op, v, self.bad[v], here.shape, self.values) for v in operands]
        nans = [pushed(op, v, nan_mask(self.values[v]), here.shape, self.values) for v in operands]
        new: Mask = (here & ~_either(masks)) | (nan & ~_either(nans))
        return new

    def _find_through(self) -> None:
        for var in self.tape.outputs:
            if var in self.bad:
                self.through[var] = self.bad[var]
        for var in reversed(list(self.bad)):
            op, guilty = self.tape[var], self.through.get(var)
            if guilty is None or not isinstance(op, Call):
                continue
            for operand in dict.fromkeys(op.operands):
                if operand in self.bad:
                    self._blame(operand, pulled(op, operand, guilty, self.values))

    def _blame(self, var: Var, mask: Mask) -> None:
        mask = mask & self.bad[var]
        if mask.any():
            self.through[var] = mask | self.through[var] if var in self.through else mask

    def carriers(
        self, begun: Iterable[Var], users: Mapping[Var, Iterable[Var]], within: Mapping[Var, Mask]
    ) -> tuple[set[Var], set[Var]]:
        """Return the ops that carry what some ops made, and those at which it vanishes."""
        stack, ends = list(begun), set()
        seen = set(stack)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user in within and user not in seen:
                    seen.add(user)
                    stack.append(user)
                elif user not in within:
                    ends.add(user)
        return seen - set(begun), ends


def _either(masks: Iterable[Mask]) -> Mask:
    found: Mask = np.array(False)
    for mask in masks:
        found = found | mask
    return found


def pushed(
    op: Call, var: Var, mask: Mask, shape: tuple[int, ...], values: Mapping[Var, Any]
) -> Mask:
    """Return the elements of an op's value that marked elements of one operand can be seen in."""
    try:
        if is_pointwise(op):
            return np.broadcast_to(mask, shape)
        if op.fn in REDUCES and op.args[0] == var:
            options = dict(op.kwargs)
            axis = op.args[1] if len(op.args) > 1 else options.get("axis")
            keep = bool(options.get("keepdims") is True)
            return np.broadcast_to(np.any(mask, axis=axis, keepdims=keep), shape)
        if op.fn in PRODUCTS:
            other = map_vars(op.args, lambda v: np.ones(np.shape(values[v])))
            marked = map_vars(op.args, lambda v: (mask if v == var else mask & False) * 1.0)
            hits = op.fn(marked[0], other[1]) if op.args[0] == var else op.fn(other[0], marked[1])
            return np.broadcast_to(np.asarray(hits) > 0, shape)
    except (ValueError, TypeError, KeyError, IndexError):
        pass  # of an unusual call it is only known that it may be all
    return np.broadcast_to(mask.any(), shape)


def pulled(op: Call, var: Var, mask: Mask, values: Mapping[Var, Any]) -> Mask:
    """Return the elements of one operand that can stand in marked elements of an op's value."""
    shape = np.shape(values[var]) if not isinstance(values[var], tuple | list) else ()
    try:
        if op.fn is np.where:
            return _of_where(op, var, mask, shape, values)
        if is_pointwise(op):
            return unbroadcast_mask(mask, shape)
        if op.fn in MOVES and mask.shape == (moved := _moved(op, var, shape, values)).shape:
            ids = moved[mask]
            found = np.zeros(int(np.prod(shape, dtype=int)) + 1, bool)
            found[ids.astype(np.intp)] = True
            return found[1:].reshape(shape)
        if op.fn in REDUCES and op.args[0] == var:
            options = dict(op.kwargs)
            axis = op.args[1] if len(op.args) > 1 else options.get("axis")
            if axis is not None and options.get("keepdims") is not True:
                mask = np.expand_dims(mask, axis)
            return np.broadcast_to(mask, shape)
    except (ValueError, TypeError, KeyError, IndexError):
        pass  # as above
    return np.ones(shape, bool)


def _moved(op: Call, var: Var, shape: tuple[int, ...], values: Mapping[Var, Any]) -> Mask:
    """Run a moving op on the places of one operand's elements, counted from 1."""
    ids = np.arange(1.0, 1.0 + int(np.prod(shape, dtype=int))).reshape(shape)

    def put(v: Var) -> Any:
        if v == var:
            return ids
        x = numeric(values[v])
        return values[v] if x is None or x.dtype.kind in "biu" else np.zeros(x.shape)

    args = map_vars(op.args, put)
    return np.asarray(op.fn(*args, **{k: map_vars(v, put) for k, v in op.kwargs}))


def _of_where(
    op: Call, var: Var, mask: Mask, shape: tuple[int, ...], values: Mapping[Var, Any]
) -> Mask:
    condition = np.asarray(
        values[op.args[0]] if isinstance(op.args[0], Var) else op.args[0], dtype=bool
    )
    found = np.zeros(shape, bool)
    for branch, chosen in zip(op.args[1:], (condition, ~condition), strict=True):
        if branch == var:
            found = found | unbroadcast_mask(mask & chosen, shape)
    return found


def unbroadcast_mask(mask: Mask, shape: tuple[int, ...]) -> Mask:
    """Return a mask in a shape that broadcasts to its own: marked where any of the copies is."""
    lead = mask.ndim - len(shape)
    axes = [*range(lead)]
    axes += [k + lead for k, n in enumerate(shape) if n == 1 and mask.shape[k + lead] != 1]
    return np.any(mask, axis=tuple(axes), keepdims=False).reshape(shape) if axes else mask
