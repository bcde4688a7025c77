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
from yota.codegen.source import Line
from yota.shapes import may_vary
from yota.tape import Call, Constant, Guard, Input, Op, Tape, Var, comment_of

_HELPERS = (
    "unpack", "leaves", "constants", "buffers", "take_buffers", "give_back", "check_guard",
    "check_shape", "new_values", "write_back", "tape", "result", "state", "missing", "more",
    "others", "miss", "holds", "memory", "idle", "by_numpy",
)  # fmt: skip

# Bytes from which an array is freed before the function returns.
_BIG = 1 << 20


@dataclass
class Step:
    """The lines of one op, with the vars that they read and the number of its buffer.

    `memory` are the names that it needs of memory that stays, `more` the other vars that it gives.
    """

    var: Var
    lines: list[Line]
    reads: list[Var] = field(default_factory=list)
    buffer: int | None = None
    memory: list[str] = field(default_factory=list)
    more: tuple[Var, ...] = ()

    @property
    def gives(self) -> tuple[Var, ...]:
        """All vars that the lines assign."""
        return (self.var, *self.more)


class Draft(Scope):
    """What the code of a tape consists of; `target` is the tape that bound code writes to."""

    def __init__(self, tape: Tape, plan: Plan, target: Tape) -> None:
        super().__init__(tape)
        self.plan, self.target = plan, target
        self.is_long = False
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

    # ops

    def steps(self) -> tuple[list[Step], list[Step]]:
        """Return the steps of inputs and constants, and those of calls."""
        return self.heads(), [self.call(v, op) for v, op in self.tape if isinstance(op, Call)]

    def heads(self) -> list[Step]:
        """Return the steps of inputs and constants."""
        leaves = self.helper["leaves"]
        inputs = [(v, op) for v, op in self.tape if isinstance(op, Input)]
        head = [self.step(v, op, f"{leaves}[{k}]") for k, (v, op) in enumerate(inputs)]
        constants = ((v, op) for v, op in self.tape if isinstance(op, Constant))
        return [*head, *(self.step(v, op, self.constant(v, op)) for v, op in constants)]

    def call(self, var: Var, op: Call) -> Step:
        """Return the step of a call."""
        step = self.step(var, op, self.write.call(op, self.out(var)))
        step.reads, step.buffer = op.operands, self.plan.slot.get(var)
        return step

    def out(self, var: Var) -> str:
        """Return the name of the buffer that a value is computed into, empty if there is none."""
        k = self.plan.slot.get(var)
        return "" if k is None else f"{self.buffer}{k}"

    def release(self, steps: list[Step]) -> None:
        """Let big arrays that stand in no buffer go once nothing needs their memory."""
        place, last = {s.var: s for s in steps}, steps[-1].var if steps else None
        for step in steps:
            var, end = step.var, self.plan.last_use[step.var]
            big = step.buffer is None and self.tape[var].spec.nbytes >= _BIG
            if big and end != last and end in place:
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
            lines += self.shape(var, op)
        if not isinstance(op, Constant):
            lines += self.guarded(var)
        return Step(var, lines)

    def guarded(self, var: Var) -> list[Line]:
        """Return the checks of all guards of an op."""
        return [line for k, guard in self.guards.get(var, ()) for line in self.guard(k, guard)]

    def shape(self, var: Var, op: Op) -> list[Line]:
        """Return the check of a shape that depends on values."""
        return [Line(f"{self.helper['check_shape']}({var.id}, {self.local[var]})")]

    def guard(self, k: int, guard: Guard) -> list[Line]:
        """Return the check of a guard."""
        value = self.local[guard.var]
        check = f"{self.helper['check_guard']}({k}, {value})"
        if guard.how != "bool":
            return [Line(check, guard.origin.place)]
        test = f"if not {value}:" if guard.expected else f"if {value}:"
        return [Line(test, guard.origin.place), Line(f"    {check}")]

    def body(self, lines: list[Line]) -> list[Line]:
        """Return the lines of the body from those of its ops."""
        return lines

    # arguments and memory

    def header(self) -> list[Line]:
        """Return the lines in front of the function."""
        return []

    def head(self, name: str) -> Line:
        """Return the line that begins a function of the arguments."""
        return Line(self.signature(name, "{}=None"))

    def unpack(self) -> list[Line]:
        """Return the check of the arguments."""
        return [Line(f"{self.helper['leaves']} = {self.helper['unpack']}({self.arguments()})")]

    def arguments(self) -> str:
        """Return the arguments as they are passed on."""
        named = [f"{k}={k}" for k in (*self.keywords, *self.seed)]
        return ", ".join([*self.positional, *named])

    def allocate(self) -> list[Line]:
        """Return the line that takes a set of buffers."""
        if not self.plan.buffers:
            return []
        return [Line(f"{self.helper['buffers']} = {self.helper['take_buffers']}()")]

    def take(self, steps: list[Step]) -> None:
        """Note what steps need of the memory."""

    def last_piece(self) -> list[Line]:
        """Return the lines that name what is handed out, behind all pieces."""
        return self.loads(self.tape.outputs)

    def bring(self) -> list[Line]:
        """Return the lines that name all buffers."""
        return list(self.named(range(len(self.plan.buffers))))

    def named(self, wanted: Iterable[int]) -> Iterator[Line]:
        """Yield the lines that name buffers."""
        for k in wanted:
            name, source = f"{self.buffer}{k}", self.helper["buffers"]
            yield Line(f"{name} = {source}[{k}]", _describe(self.plan.buffers[k]))

    def give_back(self) -> list[Line]:
        """Return the line that lets the next call use the buffers."""
        if not self.plan.buffers:
            return []
        return [Line(f"{self.helper['give_back']}({self.helper['buffers']})")]

    # pieces of a long tape

    def begin(self, call: str, state: str) -> list[Line]:
        """Return the lines that call the prologue of a long tape."""
        return [Line(call)]

    def piece(self, name: str, at: int, steps: list[Step]) -> tuple[str, list[Line]]:
        """Return the call of a piece of a long tape, and the lines that it begins with."""
        state = self.helper["state"]
        used = sorted({s.buffer for s in steps if s.buffer is not None})
        own = {v for s in steps for v in s.gives}
        given = [state, *([self.helper["buffers"]] if self.plan.buffers else [])]
        loads = self.loads({v for s in steps for v in s.reads} - own)
        return f"{name}({', '.join(given)})", [*loads, *self.named(used)]

    def calling(self, call: str, lines: list[Line]) -> list[Line]:
        """Return the lines that call one piece of a long tape."""
        return [Line(call)]

    def loads(self, wanted: Iterable[Var]) -> list[Line]:
        """Return the lines that take values from the state."""
        state = self.helper["state"]
        return [Line(f"{self.local[v]} = {state}[{v.id}]") for v in sorted(set(wanted))]

    def is_handed_on(self, var: Var) -> bool:
        """Tell whether a value goes from piece to piece in the state."""
        return True

    # results

    def wanted(self) -> list[Var]:
        """Return the vars that are needed behind the body."""
        return self.tape.outputs

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
        give = self.give_back()
        if not give:
            return [*lines, Line(f"return {value}")]
        result = self.helper["result"]
        return [*lines, Line(f"{result} = {value}"), *give, Line(f"return {result}")]


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
