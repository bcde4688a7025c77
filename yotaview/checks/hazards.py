"""Whether a plan of buffers is sound: every value is read before something else is written there.

What shares memory is found from the replayed arrays themselves and from buffers that are allocated
but never touched, not from the rules by which the plan was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yota.buffers import Plan
from yota.joins import Join
from yota.rules.functional import add_at, setitem
from yota.tape import Call, Op, Tape, Var


@dataclass(frozen=True, slots=True)
class Hazard:
    """Two ops that stand in each other's way: `writer` writes where `var` still needs a value."""

    kind: str
    var: Var
    writer: Var
    text: str


@dataclass(eq=False, slots=True)
class Held:
    """Memory that an op wrote, and the op that wrote over it since."""

    var: Var
    memory: Any
    buffer: int
    lost_to: Var | None = None


class Memory:
    """The buffers of a plan as arrays that are never touched."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.arrays: list[Any] = []
        for buffer in plan.buffers:
            within = buffer.within
            self.arrays.append(
                buffer.allocate() if within is None else self.arrays[within[0]][within[1]]
            )

    def root(self, k: int) -> int:
        """Return the buffer that `k` is a part of, itself if it is none."""
        while (within := self.plan.buffers[k].within) is not None:
            k = within[0]
        return k


@dataclass
class Walk:
    """A walk over the ops of the code, which writes down who holds which memory."""

    tape: Tape
    plan: Plan
    values: Mapping[Var, Any]
    found: list[Hazard] = field(default_factory=list)
    lives: dict[Var, list[Held]] = field(default_factory=dict)
    held: dict[int, list[Held]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = Memory(self.plan)
        self.order = {v: k for k, v in enumerate(self.tape.ops)}

    def run(self) -> list[Hazard]:
        """Return every hazard, in the order of the ops."""
        for var, op in self.tape:
            if isinstance(op, Call):
                self.read(var, op)
            self.write(var, op)
        self.hand_out()
        return self.found

    def report(self, kind: str, var: Var, writer: Var, text: str) -> None:
        """Note a hazard, each pair once."""
        if not any((h.kind, h.var, h.writer) == (kind, var, writer) for h in self.found[-8:]):
            self.found.append(Hazard(kind, var, writer, text))

    def read(self, var: Var, op: Call) -> None:
        """Look whether what an op reads is still there, and was to be there."""
        for operand in dict.fromkeys(op.operands):
            self.still_there(var, operand, f"{var} reads {operand}")
            last = self.plan.last_use.get(operand)
            if last is None or self.order.get(last, -1) < self.order[var]:
                text = f"{var} reads {operand}, which the plan keeps until {last} only"
                self.report("released early", var, last if last is not None else operand, text)

    def still_there(self, var: Var, operand: Var, what: str) -> None:
        """Report memory of an operand that another op has written since."""
        for held in self.lives.get(operand, ()):
            if held.lost_to is not None:
                name = self.plan.buffers[held.buffer].name
                text = f"{what} in {name}, where {held.lost_to} has written since"
                self.report("overwritten", var, held.lost_to, text)

    def write(self, var: Var, op: Op) -> None:
        """Take what an op writes, and where its value lives from then on."""
        join, k = self.plan.joins.get(var), self.plan.slot.get(var)
        if join is not None:
            self.join(var, join)
            return
        if k is None:
            self.lives[var] = list(self.inherited(var, op))
            return
        if not isinstance(op, Call):
            kind = "an argument" if var in self.tape.inputs else "a constant"
            self.report("no result", var, var, f"{var} is {kind}: it is not computed into a buffer")
        memory = self.memory.arrays[k]
        spec = self.plan.spec(var, op.spec)
        if memory.nbytes != spec.nbytes or memory.dtype != spec.dtype:
            name = self.plan.buffers[k].name
            text = f"{var} is {spec.text(short=True)}, which does not fit {name} "
            text += f"{memory.dtype}{list(memory.shape)}"
            self.report("does not fit", var, var, text)
        if isinstance(op, Call):
            self.over_operands(var, op, memory)
        self.lives[var] = [self.take(var, memory, k)]

    def take(self, var: Var, memory: Any, k: int, spare: frozenset[Var] = frozenset()) -> Held:
        """Note that an op writes memory; what lived there is lost."""
        root = self.memory.root(k)
        around = self.held.setdefault(root, [])
        kept = []
        for other in around:
            if other.var not in spare and overlap(other.memory, memory):
                other.lost_to = var
            else:
                kept.append(other)
        new = Held(var, memory, k)
        self.held[root] = [*kept, new]
        return new

    def over_operands(self, var: Var, op: Call, memory: Any) -> None:
        """Report operands that are still read while the result is written over them."""
        if isinstance(op.fn, np.ufunc) and op.fn.signature is None:
            return  # NumPy takes a copy where operands overlap
        at = 1 if op.fn in (setitem, add_at) else 0
        direct = {v for v in op.operands if v != op.args[0]} if at else set(op.operands)
        for operand in sorted(direct):
            for held in self.lives.get(operand, ()):
                if overlap(held.memory, memory):
                    name = self.plan.buffers[held.buffer].name
                    text = f"{var} = {op.name}(…) writes over its operand {operand} in {name}"
                    self.report("in place", var, held.var, text)

    def join(self, var: Var, join: Join) -> None:
        """Take what joins parts: those computed in place live on, the others are copied."""
        inside = self.plan.joins[join.whole].inside
        k = self.plan.slot[join.whole]
        lives = [h for p in join.parts if p in inside for h in self.lives.get(p, ())]
        for at, part in enumerate(join.parts):
            if part not in inside:
                whole = self.memory.arrays[k]
                start = join.index(at) if join.whole == join.var else slice(*join.place(at))
                lives.append(self.take(var, whole[start], k, inside))
        self.lives[var] = lives

    def inherited(self, var: Var, op: Op) -> Iterator[Held]:
        """Yield the memory that a value shares with what it was made of."""
        for operand in dict.fromkeys(op.operands) if isinstance(op, Call) else ():
            held = self.lives.get(operand)
            if held and self.shares(var, op, operand):
                yield from held

    def shares(self, var: Var, op: Op, operand: Var) -> bool:
        """Tell whether a value is a view of an operand; so taken for what could not be computed."""
        if op.spec.kind in ("scalar", "python"):
            return False
        if var in self.values and operand in self.values:
            return any(
                overlap(x, y)
                for x in arrays_in(self.values[var])
                for y in arrays_in(self.values[operand])
            )
        return not (isinstance(op, Call) and isinstance(op.fn, np.ufunc))

    def hand_out(self) -> None:
        """Look whether results are intact behind the last op, and the caller's own."""
        for var in self.tape.outputs:
            for held in self.lives.get(var, ()):
                if held.lost_to is not None:
                    name = self.plan.buffers[held.buffer].name
                    text = f"the result {var} lives in {name}, where {held.lost_to} has written"
                    self.report("overwritten", var, held.lost_to, text)
            if self.plan.form == "lean" and self.is_own_slot(var):
                name = self.plan.buffers[self.plan.slot[var]].name
                text = f"the result {var} is computed into {name}, which the next call writes"
                self.report("escapes", var, var, text)

    def is_own_slot(self, var: Var) -> bool:
        """Tell whether a result stands in a buffer without being a joined one, which is copied."""
        if var not in self.plan.slot or var in self.plan.joins:
            return False
        return self.plan.buffers[self.plan.slot[var]].within is None


def plan_hazards(tape: Tape, plan: Plan, values: Mapping[Var, Any]) -> list[Hazard]:
    """Return where a plan lets an op write what is still needed; `values` are those of `tape`."""
    return Walk(tape, plan, values).run()


def arrays_in(value: Any) -> Iterator[Any]:
    """Yield the arrays of a value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from arrays_in(x)


def overlap(a: Any, b: Any) -> bool:
    """Tell whether two arrays have an element in common; so taken where that is hard to find."""
    if not np.may_share_memory(a, b):
        return False
    try:
        # the stubs know the two special limits alone
        return bool(np.shares_memory(a, b, max_work=10_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
