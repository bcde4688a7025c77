"""The lines of a function, section by section, before they are laid out."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from yota.buffers import Buffer, Plan
from yota.codegen.constants import constant_text
from yota.codegen.results import Results
from yota.codegen.runtime import BufferPool, Checks, Unpack, Values
from yota.codegen.scope import Scope
from yota.codegen.shapes import may_vary
from yota.codegen.source import Line
from yota.tape import Call, Constant, Guard, Input, Op, Tape, Var, comment_of

_HELPERS = (
    "unpack", "leaves", "constants", "buffers", "take_buffers", "give_back", "check_guard",
    "check_shape", "new_values", "write_back", "tape", "result", "state",
)  # fmt: skip

# Bytes from which an array is freed before the function returns.
_BIG = 1 << 20


@dataclass
class Step:
    """The lines of one op, with the vars that they read and the number of its buffer."""

    var: Var
    lines: list[Line]
    reads: list[Var] = field(default_factory=list)
    buffer: int | None = None


class Draft(Scope):
    """What the code of a tape consists of; `target` is the tape that bound code writes to."""

    def __init__(self, tape: Tape, plan: Plan, target: Tape) -> None:
        super().__init__(tape)
        self.plan, self.target = plan, target
        self.merged = merged_vars(tape)
        self.buffer = self.names.prefix("B")
        self.helper = {w: self.names.unique(w) for w in _HELPERS}

    def namespace(self) -> dict[str, Any]:
        """Return what the global names of the code stand for."""
        pool, checks, helper = BufferPool(self.plan.buffers), Checks(self.tape), self.helper
        constants = {v.id: op.value for v, op in self.tape if isinstance(op, Constant)}
        given = {
            helper["unpack"]: Unpack(self.tape),
            helper["constants"]: constants,
            helper["take_buffers"]: pool.take,
            helper["give_back"]: pool.give_back,
            helper["check_guard"]: checks.guard,
            helper["check_shape"]: checks.shape,
            helper["new_values"]: Values,
            helper["write_back"]: Values.writer(self.target),
        }
        modules = {n: importlib.import_module(path) for n, path in self.write.imports.items()}
        return {**self.names.bound, **modules, **given}

    def steps(self) -> tuple[list[Step], list[Step]]:
        """Return the steps of inputs and constants, and those of calls."""
        head: list[Step] = []
        body: list[Step] = []
        for var, op in self.tape:
            match op:
                case Input():
                    head.append(self.step(var, op, f"{self.helper['leaves']}[{len(head)}]"))
                case Call():
                    body.append(self.call(var, op))
        for var, op in self.tape:
            if isinstance(op, Constant):
                head.append(self.step(var, op, self.constant(var, op)))
        return head, body

    def call(self, var: Var, op: Call) -> Step:
        """Return the step of a call."""
        k = self.plan.slot.get(var)
        text = self.write.call(op, "" if k is None else f"{self.buffer}{k}")
        step = self.step(var, op, text)
        step.reads, step.buffer = op.operands, k
        return step

    def release(self, steps: list[Step]) -> None:
        """Let big arrays that stand in no buffer go once nothing needs their memory."""
        place, last = {s.var: s for s in steps}, steps[-1].var if steps else None
        for step in steps:
            var, end = step.var, self.plan.last_use[step.var]
            if step.buffer is None and end != last and self.tape[var].spec.nbytes >= _BIG:
                place[end].lines.append(Line(f"del {self.local[var]}"))

    def constant(self, var: Var, op: Constant) -> str:
        """Return a number as text, an array as an item of `constants`."""
        text = None if op.spec.kind == "array" else constant_text(op.value, self.write)
        return text or f"{self.helper['constants']}[{var.id}]"

    def step(self, var: Var, op: Op, value: str) -> Step:
        """Return a step that assigns, then checks what was recorded of the value."""
        name = self.local[var]
        lines = [Line(f"{name} = {value}", f"{var} {comment_of(op)}".rstrip(), var)]
        if isinstance(op, Call) and may_vary(op, self.tape):
            lines.append(Line(f"{self.helper['check_shape']}({var.id}, {name})"))
        if not isinstance(op, Constant):
            for k, guard in self.guards.get(var, ()):
                lines += self.guard(k, guard)
        return Step(var, lines)

    def guard(self, k: int, guard: Guard) -> list[Line]:
        """Return the check of a guard."""
        value = self.local[guard.var]
        check = f"{self.helper['check_guard']}({k}, {value})"
        if guard.how != "bool":
            return [Line(check, guard.origin.place)]
        test = f"if not {value}:" if guard.expected else f"if {value}:"
        return [Line(test, guard.origin.place), Line(f"    {check}")]

    def unpack(self) -> Line:
        """Return the check of the arguments."""
        return Line(f"{self.helper['leaves']} = {self.helper['unpack']}({self.arguments()})")

    def arguments(self) -> str:
        """Return the arguments as they are passed on."""
        named = [f"{k}={k}" for k in (*self.keywords, *self.seed)]
        return ", ".join([*self.positional, *named])

    def allocate(self) -> list[Line]:
        """Return the line that takes a set of buffers."""
        if not self.plan.buffers:
            return []
        return [Line(f"{self.helper['buffers']} = {self.helper['take_buffers']}()")]

    def buffers(self, wanted: Iterable[int]) -> Iterator[Line]:
        """Yield the lines that name buffers."""
        for k in wanted:
            name, source = f"{self.buffer}{k}", self.helper["buffers"]
            yield Line(f"{name} = {source}[{k}]", _describe(self.plan.buffers[k]))

    def write_backs(self) -> list[tuple[Var, Line]]:
        """Return the lines that write values to the tape, each with the var that it reads."""
        if self.plan.form != "bound":
            return []
        found = {v: (v, f"{v}") for v in self.tape.ops}
        found |= {v: (into, f"{v} merged into {into}") for v, into in self.merged.items()}
        tape = self.helper["tape"]
        return [
            (source, Line(f"{tape}[{v.id}] = {self.local[source]}", comment))
            for v, (source, comment) in sorted(found.items())
        ]

    def returns(self) -> list[Line]:
        """Return the lines that hand out results; the buffers are free from then on."""
        results = Results(self.tape, self.plan, self.write)
        value, gradients = results.parts()
        if self.tape.gradients is not None:
            value += f", ({', '.join(gradients)}{',' if len(gradients) == 1 else ''})"
        lines = [Line(s) for s in results.statements]
        if not self.plan.buffers:
            return [*lines, Line(f"return {value}")]
        result = self.helper["result"]
        give = Line(f"{self.helper['give_back']}({self.helper['buffers']})")
        return [*lines, Line(f"{result} = {value}"), give, Line(f"return {result}")]


def merged_vars(tape: Tape) -> dict[Var, Var]:
    """Return the ops that another one stands for."""
    found = {}
    for var in tape.fates:
        if var not in tape and (into := tape.survivor(var)) is not None:
            found[var] = into
    return found


def _describe(buffer: Buffer) -> str:
    shape = ",".join(map(str, buffer.shape))
    return f"{buffer.dtype}[{shape}]" + (" in columns" if buffer.order == "F" else "")
