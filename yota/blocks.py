"""Runs of elementwise calls on big arrays, which are computed some rows at a time.

What such a run reads and writes is then still in the processor's cache when the next call needs it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from yota.aliasing import is_elementwise, takes_out
from yota.tape import Call, Op, Spec, Tape, Var

# A value of fewer bytes stays in the cache as it is.
_BIG = 1 << 19
# Bytes of one value that are computed at a time: some ten of them have room in a cache of 2 MB.
_AT_A_TIME = 1 << 18
# So few calls do not repay the loop.
FEWEST = 4


@dataclass(frozen=True)
class Block:
    """Calls of equal shape that stand together on a tape; `local` are those that only they read.

    They are computed for `rows` rows of the first axis at a time.
    """

    vars: tuple[Var, ...]
    shape: tuple[int, ...]
    rows: int
    local: frozenset[Var]

    @property
    def last(self) -> Var:
        """The call that the block ends with."""
        return self.vars[-1]

    def spec(self, spec: Spec) -> Spec:
        """Return the type of what is computed of a value at a time."""
        return replace(spec, shape=(self.rows, *self.shape[1:]))


def find_blocks(tape: Tape) -> list[Block]:
    """Return the blocks of a tape, in its order."""
    outside = {*tape.outputs, *(g.var for g in tape.guards)}
    guarded = {g.var for g in tape.guards}
    found = [vars_ for vars_ in _runs(tape, guarded) if len(vars_) >= FEWEST]
    readers = _readers(tape) if found else {}
    return [_block(tape, vars_, readers, outside) for vars_ in found]


def _runs(tape: Tape, guarded: set[Var]) -> Iterator[list[Var]]:
    run: list[Var] = []
    shape = None
    for var, op in tape:
        if not isinstance(op, Call):
            continue
        own = block_shape(op, tape.ops) if var not in guarded else None
        if (own != shape or own is None) and run:
            yield run
            run = []
        shape = own
        if own is not None:
            run.append(var)
    yield run


def _readers(tape: Tape) -> dict[Var, set[Var]]:
    readers: dict[Var, set[Var]] = {}
    for var, op in tape:
        for operand in op.operands if isinstance(op, Call) else ():
            readers.setdefault(operand, set()).add(var)
    return readers


def _block(tape: Tape, vars_: list[Var], readers: dict[Var, set[Var]], outside: set[Var]) -> Block:
    own, shape = set(vars_), tape[vars_[0]].spec.shape
    local = {v for v in vars_ if v not in outside and readers.get(v, set()) <= own}
    return Block(tuple(vars_), shape, rows_at_a_time(shape), frozenset(local))


def rows_at_a_time(shape: tuple[int, ...]) -> int:
    """Return how many rows of float64 are computed at a time."""
    return max(1, _AT_A_TIME // (8 * math.prod(shape[1:])))


def block_shape(op: Op, ops: Any) -> tuple[int, ...] | None:
    """Return the shape of a call that may be computed by rows, None for others.

    Operands have as many rows, or repeat themselves for each; all lie in rows in memory, for NumPy
    may round otherwise where elements lie apart.
    """
    spec = op.spec
    if spec.kind != "array" or spec.nbytes < _BIG or spec.order != "C":
        return None
    if not isinstance(op, Call) or op.kwargs or not is_elementwise(op) or not takes_out(op, ops):
        return None
    if spec.shape[0] < 2 * rows_at_a_time(spec.shape):
        return None
    if not all(_is_by_rows(x, ops) for x in op.args):
        return None
    return spec.shape


def _is_by_rows(x: Any, ops: Any) -> bool:
    if type(x) is not Var:
        return isinstance(x, bool | int | float | complex | np.generic)
    spec = ops[x].spec
    if spec.kind in ("scalar", "python"):
        return True
    return spec.kind == "array" and (not spec.shape or spec.order == "C")


def has_rows(spec: Spec, shape: tuple[int, ...]) -> bool:
    """Tell whether an operand has a row for each row of the block."""
    return spec.kind == "array" and len(spec.shape) == len(shape) and spec.shape[0] == shape[0]


def in_turns(count: int, rows: int, *memory: Any) -> Iterator[tuple[Any, ...]]:
    """Yield which rows a turn computes, with as many rows of each piece of memory.

    Where NumPy has something to say of the numbers, a last turn computes all rows at once: so it
    says it once a call, to whom it always says it.
    """
    heard: list[str] = []
    modes: Any = {k: "ignore" if m == "ignore" else "call" for k, m in np.geterr().items()}
    with np.errstate(**modes, call=lambda kind, flag: heard.append(kind)):
        for start in range(0, count, rows):
            yield slice(start, start + rows), *(m[: count - start] for m in memory)
            if heard:
                break
    if heard:
        yield slice(count), *(np.empty((count, *m.shape[1:]), m.dtype) for m in memory)
