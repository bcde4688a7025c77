"""The structure of a tape without its numbers: what makes two calls the same row."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Op, Tape, Var, format_op


class _Hole:
    """Stands for a floating-point literal of a type."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"~{self.kind.__name__}"


def swap_floats(tree: Any, fn: Callable[[Any], Any]) -> Any:
    """Return an operand with `fn` of every floating literal, itself where there is none."""
    kind = type(tree)
    if kind is float or kind is complex or isinstance(tree, np.inexact):
        return fn(tree)
    if kind is tuple or kind is list:
        items = [swap_floats(t, fn) for t in tree]
        same = all(a is b for a, b in zip(items, tree, strict=True))
        return tree if same else kind(items)
    if kind is dict:
        return {k: swap_floats(t, fn) for k, t in tree.items()}
    return tree


def swapped(op: Op, fn: Callable[[Any], Any]) -> Op:
    """Return an op with `fn` of every floating literal among its operands."""
    if not isinstance(op, Call):
        return op
    args, values = swap_floats(op.args, fn), tuple(v for _, v in op.kwargs)
    new = swap_floats(values, fn)
    if args is op.args and new is values:
        return op
    kwargs = tuple((k, v) for (k, _), v in zip(op.kwargs, new, strict=True))
    return replace(op, args=args, kwargs=kwargs)


def structure_of(tape: Tape) -> tuple[str, tuple[Any, ...]]:
    """Return a digest of functions, operands, types and lines, and the floats left out."""
    literals: list[Any] = []

    def take(x: Any) -> Any:
        literals.append(x)
        return _Hole(type(x))

    digest = hashlib.sha256()
    for var, op in tape:
        bare = swapped(op, take)
        head = f"const {var}::{op.spec}" if isinstance(op, Constant) else format_op(var, bare)
        module = getattr(bare.fn, "__module__", "") if isinstance(bare, Call) else ""
        digest.update(f"{head} {module} {op.origin.frames[:1]}\n".encode())
    return digest.hexdigest(), tuple(literals)


def literals_of(tape: Tape) -> tuple[Any, ...]:
    """Return the floats that `structure_of` leaves out, in its order."""
    found: list[Any] = []

    def take(x: Any) -> Any:
        found.append(x)
        return x

    for _, op in tape:
        if isinstance(op, Call):
            swap_floats(op.args, take)
            swap_floats(tuple(v for _, v in op.kwargs), take)
    return tuple(found)


def with_literals(
    ops: Iterator[tuple[Var, Op]], literals: Sequence[Any]
) -> Iterator[tuple[Var, Op]]:
    """Yield ops with other floating literals, in the order in which `structure_of` found them."""
    rest = iter(literals)
    for var, op in ops:
        yield var, swapped(op, lambda _: next(rest))


def gradient_names(tape: Tape) -> list[str]:
    """Return the names of the inputs that the gradients belong to, in their order."""
    by_cotangent: dict[Var, list[str]] = {}
    for var in tape.inputs:
        op, done = tape[var], tape.cotangents.get(var)
        if done is not None and isinstance(op, Input):
            by_cotangent.setdefault(done, []).append(op.name)
    taken: dict[Var, int] = {}
    names = []
    for var in tape.gradient_vars:
        known = by_cotangent.get(var, [])
        k = taken[var] = taken.get(var, -1) + 1
        names.append(known[min(k, len(known) - 1)] if known else str(var))
    return names
