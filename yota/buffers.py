"""Decide which values are computed into pre-allocated memory, and which of them may share it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yota.rules.functional import cast, place, scatter, setitem
from yota.tape import Call, Op, Spec, Tape, Var

FORMS = ("bound", "lean")

# Functions whose result never shares memory with an operand.
_FRESH = {
    np.sum, np.prod, np.max, np.min, np.mean, np.var, np.std, np.cumsum, np.cumprod, np.all, np.any,
    np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.where, np.clip,
    np.concatenate, np.stack, np.vstack, np.hstack, np.copy, np.repeat, np.tile, np.roll, np.take,
    np.zeros, np.ones, np.full, np.zeros_like, np.ones_like, np.full_like, np.tril, np.triu,
    np.take_along_axis, np.sort, np.argsort, np.argmax, np.argmin, np.linalg.inv, np.linalg.solve,
    np.linalg.det, setitem, scatter, place, cast,
}  # fmt: skip

# Functions that compute the same bits into `out=` as into a new array.
_TAKES_OUT = {np.sum, np.prod, np.max, np.min, np.cumsum, np.cumprod, np.mean, np.dot}


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory for one array at a time."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    order: str
    nbytes: int

    def allocate(self) -> Any:
        """Return an array of this type with unspecified contents."""
        return np.empty(self.shape, self.dtype, self.order)  # type: ignore[call-overload]  # C or F


@dataclass(frozen=True)
class Plan:
    """Which op is computed into which buffer, and how long its memory is needed."""

    form: str
    buffers: tuple[Buffer, ...]
    slot: dict[Var, int]
    last_use: dict[Var, Var]
    unshared_nbytes: int
    _order: dict[Var, int] = field(repr=False, default_factory=dict)
    _occupants: list[list[Var]] = field(repr=False, default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(b.nbytes for b in self.buffers)

    def buffer(self, var: Var) -> Buffer | None:
        """Return the buffer that `var` is computed into, None if it has none."""
        return self.buffers[self.slot[var]] if var in self.slot else None

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
        self.ends = lifetimes(tape, self.order)
        self.buffers: list[Buffer] = []
        self.occupants: list[list[Var]] = []
        self.slot: dict[Var, int] = {}
        self.free: dict[Any, list[int]] = {}
        self.dying: dict[int, list[Var]] = {}

    def run(self) -> Plan:
        handed_out = set(self.tape.outputs) if self.form == "lean" else set()
        for at, (var, op) in enumerate(self.tape):
            early = self.release_operands(at, op)
            if var not in handed_out and takes_out(op, self.tape):
                self.occupy(var, op.spec)
            for v in self.dying.pop(at, ()):
                if v not in early:
                    self.release(v)
        unshared = sum(op.spec.nbytes for _, op in self.tape if isinstance(op, Call))
        end = len(self.vars) - 1
        last = {v: self.vars[min(self.ends[v], end)] for v in self.vars}
        return Plan(
            self.form, tuple(self.buffers), self.slot, last, unshared, self.order, self.occupants
        )

    def release_operands(self, at: int, op: Op) -> set[Var]:
        """Free what an elementwise call may overwrite: dying operands of its own type."""
        if not isinstance(op, Call) or not is_elementwise(op):
            return set()
        direct = set(op.operands)
        early = {
            v
            for v in self.dying.get(at, ())
            if v in direct and _memory(self.tape[v].spec) == _memory(op.spec)
        }
        for v in early:
            self.release(v)
        return early

    def occupy(self, var: Var, spec: Spec) -> None:
        key = _memory(spec)
        free = self.free.get(key)
        k = free.pop() if free else self.allocate(spec)
        self.slot[var] = k
        self.occupants[k].append(var)
        if self.form == "lean":
            self.dying.setdefault(self.ends[var], []).append(var)

    def allocate(self, spec: Spec) -> int:
        k = len(self.buffers)
        self.buffers.append(Buffer(f"B{k}", spec.dtype, spec.shape, spec.order, spec.nbytes))
        self.occupants.append([])
        return k

    def release(self, var: Var) -> None:
        self.free.setdefault(_memory(self.tape[var].spec), []).append(self.slot[var])


def _memory(spec: Spec) -> Any:
    return (spec.kind, spec.dtype, spec.shape, spec.order)


def lifetimes(tape: Tape, order: dict[Var, int]) -> dict[Var, int]:
    """Return for each op the position of the last one that may read its memory."""
    ends = dict(order)
    for var in tape.outputs:
        # Results are read behind the last op.
        ends[var] = len(order)
    for var in reversed(tape.ops):
        op = tape[var]
        if not isinstance(op, Call):
            continue
        end = ends[var] if may_alias(op) else order[var]
        for operand in op.operands:
            ends[operand] = max(ends[operand], end)
    return ends


def may_alias(op: Call) -> bool:
    """Tell whether the result may share memory with an operand: so for all unknown functions."""
    return op.spec.kind not in ("scalar", "python") and not is_fresh(op)


def is_fresh(op: Call) -> bool:
    """Tell whether a function is known to return memory of its own."""
    if isinstance(op.fn, np.ufunc):
        return op.spec.dtype is None or not op.spec.dtype.hasobject
    return _is_one_of(op.fn, _FRESH)


def is_elementwise(op: Call) -> bool:
    """Tell whether element k of the result depends on elements k of the operands alone."""
    return isinstance(op.fn, np.ufunc) and op.fn.signature is None and op.fn.nout == 1


def takes_out(op: Op, tape: Tape) -> bool:
    """Tell whether a call can be computed into a buffer without changing a bit."""
    if not isinstance(op, Call) or not _is_plain(op.spec) or "out" in dict(op.kwargs):
        return False
    if isinstance(op.fn, np.ufunc):
        return op.fn.nout == 1 and len(op.args) == op.fn.nin
    if not _is_one_of(op.fn, _TAKES_OUT) or len(op.args) > 2:
        return False
    return op.fn is not np.mean or _means_in_own_dtype(op, tape)


def _is_plain(spec: Spec) -> bool:
    if spec.kind != "array" or not spec.shape or spec.order not in "CF" or 0 in spec.shape:
        return False
    return spec.dtype.kind in "biufc" and bool(spec.dtype.isnative)


def _means_in_own_dtype(op: Call, tape: Tape) -> bool:
    # The mean of float16 is summed in float32 only without out=.
    operand = op.args[0]
    return (
        isinstance(operand, Var)
        and tape[operand].spec.dtype == op.spec.dtype
        and op.spec.dtype != np.float16
    )


def _is_one_of(fn: Any, functions: set[Any]) -> bool:
    try:
        return fn in functions
    except TypeError:
        return False
