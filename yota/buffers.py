"""Decide which values are computed into pre-allocated memory, and which of them may share it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from yota.aliasing import (
    WRITERS,
    is_elementwise,
    is_fresh,
    may_alias,
    may_overwrite,
    takes_out,
)
from yota.blocks import Block, find_blocks
from yota.joins import Join, find_joins
from yota.rounds import rounds_of
from yota.rules.functional import add_at, setitem
from yota.tape import Call, Op, Spec, Tape, Var

__all__ = ["FORMS", "Buffer", "Plan", "check_form", "is_elementwise", "is_fresh", "plan"]

FORMS = ("bound", "lean")


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory for one array at a time: of this shape, or of another with as many elements.

    `within` says of which buffer it is a part, and by which index.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...]
    order: str
    nbytes: int
    within: tuple[int, Any] | None = None

    def allocate(self) -> Any:
        """Return an array of this type with unspecified contents."""
        return np.empty(self.shape, self.dtype, self.order)  # type: ignore[call-overload]  # C or F


@dataclass(frozen=True)
class Plan:
    """Which op is computed into which buffer, and how long its memory is needed.

    `joins` are the calls that find their parts where they belong, `blocks` those that are computed
    some rows at a time; `peak_nbytes` are the most bytes that values in buffers take at a time.
    """

    form: str
    buffers: tuple[Buffer, ...]
    slot: dict[Var, int]
    last_use: dict[Var, Var]
    unshared_nbytes: int
    peak_nbytes: int = 0
    joins: dict[Var, Join] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    _order: dict[Var, int] = field(repr=False, default_factory=dict)
    _occupants: list[list[Var]] = field(repr=False, default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(b.nbytes for b in self.buffers if b.within is None)

    def buffer(self, var: Var) -> Buffer | None:
        """Return the buffer that `var` is computed into, None if it has none."""
        return self.buffers[self.slot[var]] if var in self.slot else None

    def spec(self, var: Var, spec: Spec) -> Spec:
        """Return the type of what stands in the buffer of a value of this type at a time."""
        block = self._block_of.get(var)
        return spec if block is None else block.spec(spec)

    @cached_property
    def _block_of(self) -> dict[Var, Block]:
        return {v: block for block in self.blocks for v in block.local}

    def occupants(self, k: int) -> list[tuple[Var, Var]]:
        """Return the ops computed into buffer `k`, each with the last op that needs its memory."""
        return [(v, self.last_use[v]) for v in self._occupants[k]]

    def holds(self, at: Var) -> dict[int, Var]:
        """Return what each buffer holds once op `at` has run, without those not yet written."""
        now = self._order[at]
        found = {}
        for k, occupants in enumerate(self._occupants):
            place = bisect_right(occupants, now, key=self._order.__getitem__)
            if place:
                found[k] = occupants[place - 1]
        return found


def plan(tape: Tape, form: str = "lean") -> Plan:
    """Plan the buffers: form `bound` gives each op its own, `lean` shares them by lifetime.

    What the lean form hands out is computed into no buffer at all.
    """
    check_form(form)
    return _Planner(tape, form).run()


def check_form(form: str) -> None:
    """Raise ValueError unless `form` is one of the two forms of code."""
    if form not in FORMS:
        raise ValueError(f"no form is named {form!r}; there are {' and '.join(FORMS)}")


class _Planner:
    def __init__(self, tape: Tape, form: str) -> None:
        self.tape, self.form = tape, form
        self.vars = list(tape.ops)
        self.order = {v: k for k, v in enumerate(self.vars)}
        self.blocks = find_blocks(tape) if form == "lean" else []
        self.blocked = {v for b in self.blocks for v in b.vars}
        self.local = {v: b.spec(tape[v].spec) for b in self.blocks for v in b.local}
        self.ends = lifetimes(tape, self.order, self.blocks)
        self.buffers: list[Buffer] = []
        self.occupants: list[list[Var]] = []
        self.slot: dict[Var, int] = {}
        self.free: dict[Any, list[int]] = {}
        self.dying: dict[int, list[Var]] = {}
        self.joins = find_joins(tape) if form == "lean" else {}
        self.rows: dict[Var, int] = {}
        self.held = self.peak = 0

    def run(self) -> Plan:
        handed_out = set(self.tape.outputs) if self.form == "lean" else set()
        # the last first: a join that is a part of another one has its place within that
        for join in sorted(self.joins.values(), key=lambda j: self.order[j.var], reverse=True):
            self.place(join)
        if self.form == "lean":
            self.place_rounds()
        for at, (var, op) in enumerate(self.tape):
            early = self.release_operands(at, op)
            if var in self.rows or var in self.joins:
                self.occupy_place(var)
            elif var not in handed_out and self.takes_out(op):
                self.occupy(var, op, early)
            for v in self.dying.pop(at, ()):
                if v not in early:
                    self.release(v)
        return self.done()

    def takes_out(self, op: Op) -> bool:
        """Tell whether a call is computed into a buffer; only lean code writes parts of one."""
        writes = isinstance(op, Call) and _is_one_of(op.fn, WRITERS)
        return takes_out(op, self.tape) and not (writes and self.form == "bound")

    def done(self) -> Plan:
        unshared = sum(op.spec.nbytes for _, op in self.tape if isinstance(op, Call))
        end = len(self.vars) - 1
        last = {v: self.vars[min(self.ends[v], end)] for v in self.vars}
        own = sum(b.nbytes for b in self.buffers if b.within is not None)
        return Plan(
            self.form,
            tuple(self.buffers),
            self.slot,
            last,
            unshared,
            self.peak + own,
            self.joins,
            tuple(self.blocks),
            self.order,
            self.occupants,
        )

    def place(self, join: Join) -> None:
        """Allocate the memory of joined parts, and within it that of each part."""
        if join.whole != join.var:
            return
        whole = self.rows.get(join.var)
        if whole is None:
            whole = self.rows[join.var] = self.allocate(self.tape[join.var].spec)
        for at, part in enumerate(join.parts):
            if part in join.inside:
                self.rows[part] = self.allocate(self.tape[part].spec, (whole, join.index(at)))

    def place_rounds(self) -> None:
        """Let what a loop keeps from round to round stand side by side, a row a round."""
        placed = {*self.tape.outputs, *self.blocked}
        for columns in rounds_of(self.tape):
            for values in columns:
                kept = self.order[columns[-1][0]] - self.order[columns[0][0]] + 1
                own = any(v in self.rows or v in placed for v in values)
                op = self.tape[values[0]]
                if own or op.spec.order != "C" or not takes_out(op, self.tape):
                    continue
                # the last round's values may be dead where those of others are not
                if any(self.ends[v] > self.order[v] + 2 * kept for v in values[:-2]):
                    self.place_rows(values, op.spec)

    def place_rows(self, values: tuple[Var, ...], spec: Spec) -> None:
        shape = (len(values), *spec.shape)
        whole = self.allocate(replace(spec, shape=shape))
        for k, var in enumerate(values):
            self.rows[var] = self.allocate(spec, (whole, k))

    def occupy_place(self, var: Var) -> None:
        """Note what is computed where it is to stand."""
        if var in self.rows:
            self.slot[var] = self.rows[var]
            self.occupants[self.rows[var]].append(var)

    def release_operands(self, at: int, op: Op) -> set[Var]:
        """Free what an elementwise call may overwrite: dying operands of its own type."""
        writes = isinstance(op, Call) and op.fn in (setitem, add_at)
        if not isinstance(op, Call) or not (writes or may_overwrite(op)):
            return set()
        # a part is written into what the whole was, which must not be read as the part, too
        direct = set(op.operands[:1]) - set(op.operands[1:]) if writes else set(op.operands)
        early = {
            v
            for v in self.dying.get(at, ())
            if v in direct
            and _memory(self.tape[v].spec) == _memory(op.spec)
            # a block may be computed once more, of what stood in front of it
            and (v in self.local or self.vars[at] not in self.blocked)
        }
        for v in early:
            self.release(v)
        return early

    def occupy(self, var: Var, op: Op, early: set[Var]) -> None:
        spec = self.local.get(var, op.spec)
        free = self.free.get(self.size(spec))
        if early and isinstance(op, Call) and op.fn in (setitem, add_at) and free:
            k = self.slot[next(iter(early))]
            free.remove(k)
            heapify(free)
        else:
            # the lowest number, so that the rounds of a loop take the same buffers
            k = heappop(free) if free else self.allocate(spec)
        self.slot[var] = k
        self.occupants[k].append(var)
        self.held += spec.nbytes
        self.peak = max(self.peak, self.held)
        if self.form == "lean":
            self.dying.setdefault(self.ends[var], []).append(var)

    def allocate(self, spec: Spec, within: tuple[int, Any] | None = None) -> int:
        k = len(self.buffers)
        self.buffers.append(
            Buffer(f"B{k}", spec.dtype, spec.shape, spec.order, spec.nbytes, within)
        )
        self.occupants.append([])
        return k

    def release(self, var: Var) -> None:
        spec = self.local.get(var, self.tape[var].spec)
        self.held -= spec.nbytes
        heappush(self.free.setdefault(self.size(spec), []), self.slot[var])

    def size(self, spec: Spec) -> Any:
        """Return what values that may share a buffer have in common."""
        return (spec.dtype, spec.nbytes)


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False


def _memory(spec: Spec) -> Any:
    return (spec.kind, spec.dtype, spec.shape, spec.order)


def lifetimes(tape: Tape, order: dict[Var, int], blocks: list[Block]) -> dict[Var, int]:
    """Return for each op the position of the last one that may read its memory."""
    ends = dict(order)
    # each turn of a block reads again what came before it
    until = {v: order[b.last] for b in blocks for v in b.vars}
    for var in tape.outputs:
        # Results are read behind the last op.
        ends[var] = len(order)
    for var in reversed(tape.ops):
        op = tape[var]
        if not isinstance(op, Call):
            continue
        end = ends[var] if may_alias(op) else order[var]
        for operand in op.operands:
            own = var in until and until.get(operand) == until[var]
            ends[operand] = max(ends[operand], end if own else until.get(var, end))
    return ends
