"""The form that computes for all rounds of a loop at once what none of them has to wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.aliasing import is_elementwise
from yota.passes.forms.exact import count, is_real_array
from yota.passes.forms.stacks import rows_of_one, stacked
from yota.passes.work import Work
from yota.rounds import SHORTEST, may_repeat, numbered, regions, skeleton
from yota.rules.functional import getitem
from yota.tape import Call, Constant, Op, Spec, Var

# Elements from which the work outweighs what a call costs.
_LARGEST = 1 << 10
_PRODUCTS = (np.matmul, np.dot)


@dataclass(frozen=True, slots=True)
class _Table:
    """The values of one call in all rounds, the earliest computed first, as rows of a table."""

    rows: Var
    vars: tuple[Var, ...]


def compute_in_batches(work: Work) -> None:
    """Compute small arrays for all rounds in one call, in front of the loop."""
    if len(work.tape) < SHORTEST:
        return
    order = list(work.order())
    live = work.live(order)
    calls = [(v, op) for v in order if v in live and isinstance(op := work.ops[v], Call)]
    if not may_repeat(id(op.fn) for _, op in calls):
        return
    keys = numbered([skeleton(op) for _, op in calls])
    place = {v: k for k, (v, _) in enumerate(calls)}
    for region in regions(keys):
        batch = _Batch(work, calls[region.start][0], region.start, place)
        for k in range(region.start, region.start + region.period):
            batch.visit(tuple(v for v, _ in calls[k : region.stop : region.period]))


class _Batch:
    def __init__(self, work: Work, at: Var, start: int, place: dict[Var, int]) -> None:
        self.work, self.at, self.start, self.place = work, at, start, place
        self.tables: dict[frozenset[Var], _Table] = {}

    def visit(self, column: tuple[Var, ...]) -> None:
        """Compute one call for all rounds, if it can be and if that pays."""
        op = self.work.ops[column[0]]
        if not isinstance(op, Call) or not self.pays(column, op):
            return
        if op.fn in _PRODUCTS:
            self.multiply(column, op)
        elif is_elementwise(op) and not op.kwargs:
            self.elementwise(column, op)

    def pays(self, column: tuple[Var, ...], op: Call) -> bool:
        plain = is_real_array(op.spec) and op.spec.order == "C" and op.spec.shape
        same = all(isinstance(self.work.ops[v], Call) for v in column)
        free = self.work.is_free(*column) and not any(v in self.work.kept for v in column)
        return bool(plain and same and free and count(op.spec) <= _LARGEST)

    def operands(self, column: tuple[Var, ...], at: int) -> list[Any]:
        ops = (self.work.ops[v] for v in column)
        return [op.args[at] for op in ops if isinstance(op, Call)]

    def elementwise(self, column: tuple[Var, ...], op: Call) -> None:
        """Compute an elementwise call on tables."""
        tables, args, order = [], [], column
        for at in range(len(op.args)):
            values = self.operands(column, at)
            if self.is_common(values):
                args.append(values[0])
                continue
            table = self.table(values)
            if table is None or self.work.ops[values[0]].spec != op.spec:
                return
            tables.append((values, table))
            args.append(table.rows)
        if not tables:
            return
        values, table = tables[0]
        order = _in_order(column, values, table.vars)
        for values, other in tables[1:]:
            if _in_order(column, values, other.vars) != order:
                return
        spec = Spec("array", op.spec.dtype, (len(column), *op.spec.shape), "C")
        self.hand_over(self.work.call(self.at, spec, op.fn, *args), order)

    def multiply(self, column: tuple[Var, ...], op: Call) -> None:
        """Multiply a table of all rounds' rows by a matrix that is common to them."""
        at = next((k for k in (0, 1) if self.is_common(self.operands(column, k))), None)
        if at is None or op.kwargs:
            return
        matrix, values = self.operands(column, at)[0], self.operands(column, 1 - at)
        shapes = (self.work.ops[matrix].spec.shape, self.work.ops[values[0]].spec.shape)
        # a matrix before tables of columns would need them turned
        fits = len(shapes[0]) == 2 and len(shapes[1]) in ((1,), (1, 2))[at]
        table = self.table(values) if fits else None
        if table is None:
            return
        rows, width = len(column), shapes[1][-1]
        if at == 0:
            turned = Spec("array", op.spec.dtype, shapes[0][::-1], "F")
            matrix = self.work.call(self.at, turned, np.swapaxes, matrix, -1, -2)
        flat, high = table.rows, count(self.work.ops[table.rows].spec) // width
        if len(shapes[1]) == 2:
            spec = Spec("array", op.spec.dtype, (high, width), "C")
            flat = self.work.call(self.at, spec, np.reshape, flat, (high, width))
        spec = Spec("array", op.spec.dtype, (high, op.spec.shape[-1]), "C")
        product = self.work.call(self.at, spec, op.fn, flat, matrix)
        if len(op.spec.shape) == 2:
            spec = Spec("array", op.spec.dtype, (rows, *op.spec.shape), "C")
            product = self.work.call(self.at, spec, np.reshape, product, spec.shape)
        self.hand_over(product, _in_order(column, values, table.vars))

    def is_common(self, values: list[Any]) -> bool:
        """Tell whether an operand is the same in all rounds, and there before them."""
        first = values[0]
        if type(first) is not Var:
            return True
        return all(v == first for v in values) and self.is_before(first)

    def is_before(self, var: Var) -> bool:
        return self.place.get(var, -1) < self.start

    def table(self, values: list[Var]) -> _Table | None:
        """Return a table of values that are all there before the loop."""
        known = self.tables.get(frozenset(values))
        if known is not None or len(set(values)) < len(values):
            return known
        ops = [self.work.ops[v] for v in values]
        spec = ops[0].spec
        plain = is_real_array(spec) and spec.order == "C" and len(spec.shape) in (1, 2)
        if not plain or any(op.spec != spec for op in ops):
            return None
        parts = tuple(sorted(values))
        rows = rows_of_one(self.work, self.at, parts)
        if rows is not None and not self.is_before(_source(self.work.ops[parts[0]])):
            return None
        if rows is None:
            here = all(map(self.is_before, values))
            if not here or not (all(map(_is_stackable, ops)) or all(map(_is_constant, ops))):
                return None
            rows = stacked(self.work, self.at, parts, self.work.stacks)
        shape = (len(parts), *ops[0].spec.shape)
        if self.work.ops[rows].spec.shape != shape:
            spec = Spec("array", ops[0].spec.dtype, shape, "C")
            rows = self.work.call(self.at, spec, np.reshape, rows, shape)
        table = self.tables[frozenset(values)] = _Table(rows, parts)
        return table

    def hand_over(self, rows: Var, order: tuple[Var, ...]) -> None:
        """Let each round's value be its row."""
        for k, var in enumerate(order):
            self.work.exchange(var, "batches: computed for all rounds at once", getitem, rows, k)
        self.tables[frozenset(order)] = _Table(rows, order)


def _source(op: Op) -> Any:
    return op.args[0] if isinstance(op, Call) else None


def _is_stackable(op: Op) -> bool:
    """Tell whether a value can be computed into a row."""
    return isinstance(op, Call) and (op.fn in _PRODUCTS or is_elementwise(op))


def _is_constant(op: Op) -> bool:
    return isinstance(op, Constant)


def _in_order(column: Sequence[Var], values: Sequence[Any], rows: Sequence[Var]) -> tuple[Var, ...]:
    """Return the calls of a column in the order in which a table holds their operands."""
    call_of = dict(zip(reversed(values), reversed(column), strict=True))
    return tuple(call_of[v] for v in rows)
