"""Lean code: memory that stays from call to call, with the views of it that are made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from yota.aliasing import WRITERS, takes_out
from yota.buffers import Buffer, Plan
from yota.codegen.blocks import BlockWriter
from yota.codegen.draft import Draft, Step
from yota.codegen.lean import LeanExpressions, is_view
from yota.codegen.loops import Column, LoopWriter
from yota.codegen.rolling import find_loops
from yota.codegen.runtime import ByNumpy
from yota.codegen.source import Line
from yota.floats import suspects, uses_floats
from yota.joins import Join
from yota.rounds import skeleton
from yota.rules.functional import add_at, place
from yota.tape import Call, Constant, Tape, Var, comment_of


class LeanDraft(Draft):
    """Code whose buffers, their views and its constants are made before it runs."""

    expressions = LeanExpressions
    write: LeanExpressions
    misses = False

    def __init__(self, tape: Tape, plan: Plan, target: Tape) -> None:
        super().__init__(tape, plan, target)
        self.make = self.names.unique(f"{self.name}_memory")
        self.memory = Memory(self)
        self.resident: set[Var] = {*plan.slot, *plan.joins}
        self.rolled: set[Var] = set()
        self.blocked = {v for block in plan.blocks for v in block.vars}
        self.constants: list[Step] = []
        self.pieces: list[list[str]] = []
        self.floats = uses_floats(tape)
        self.suspects = suspects(tape) if self.floats else []

    # ops

    def steps(self) -> tuple[list[Step], list[Step]]:
        """Return the steps of inputs, and those of calls that are left to do at each call."""
        head = self.heads()
        self.constants = [s for s in head if isinstance(self.tape[s.var], Constant)]
        live = [(v, op) for v, op in self.tape if isinstance(op, Call) and not self.hoist(v, op)]
        loops = find_loops(live, self.tape, self.key_of, self)
        writers = {k: LoopWriter(self, loop) for k, loop in loops.items()}
        blocks = {b.vars[0]: b for b in self.plan.blocks}
        body, k = [], 0
        while k < len(live):
            if k in writers:
                body.append(writers[k].step())
                k = loops[k].region.stop
            elif live[k][0] in blocks:
                block = blocks[live[k][0]]
                body.append(BlockWriter(self, block).step())
                k += len(block.vars)
            else:
                body.append(self.call(*live[k]))
                k += 1
        inputs = [s for s in head if not isinstance(self.tape[s.var], Constant)]
        return inputs, [s for s in body if s.lines]

    def hoist(self, var: Var, op: Call) -> bool:
        """Tell whether a call is done with the memory: a view of what stays, or a join in place."""
        if var in self.plan.joins:
            self.memory.hoisted[var] = op
            return not self.copies(self.plan.joins[var])
        if var in self.plan.slot or not is_view(op, self.tape) or op.args[0] not in self.resident:
            return False
        self.memory.hoisted[var] = op
        self.resident.add(var)
        return True

    def key_of(self, var: Var, op: Call) -> Any:
        """Return what tells calls apart that a loop cannot say in one line."""
        if var in self.plan.joins or any(g.how != "bool" for _, g in self.guards.get(var, ())):
            return var
        if var in self.blocked:
            return var
        expected = tuple(g.expected for _, g in self.guards.get(var, ()))
        return (skeleton(op), var in self.plan.slot, expected)

    def stays(self, var: Var) -> bool:
        """Tell whether a value stands in memory that stays, or is a constant."""
        return var in self.resident or isinstance(self.tape[var], Constant)

    def is_placed(self, var: Var) -> bool:
        """Tell whether a value is computed into memory that stays."""
        return var in self.plan.slot

    def is_even(self, values: Sequence[Any]) -> bool:
        """Tell whether a few words say where these stand."""
        return Column(self, values).text is not None

    def call(self, var: Var, op: Call) -> Step:
        """Return the step of a call, with what it needs of the memory."""
        if var in self.plan.joins:
            step = self.joined(self.plan.joins[var], op)
        elif self.is_writing(var, op):
            step = self.step(var, op, "")
            step.lines[0:1] = self.writing(var, op, self.out(var))
            step.reads, step.buffer = op.operands, self.plan.slot.get(var)
        else:
            step = super().call(var, op)
        step.memory = [n for v in step.reads if (n := self.kept_name(v))]
        if step.buffer is not None:
            step.memory.append(self.out(var))
            self.memory.need(var)
        for v in step.reads:
            self.memory.need(v)
        return step

    def is_writing(self, var: Var, op: Call) -> bool:
        """Tell whether a call is written as lines of its own."""
        if op.fn not in WRITERS:
            return False
        return var in self.plan.slot or (takes_out(op, self.tape) and type(op.args[0]) is Var)

    def writing(self, var: Var, op: Call, out: str) -> list[Line]:
        """Return the lines that write a part of `out`, which holds the whole or takes it."""
        x, index = op.args[0], self.write.index(op.args[1])
        name = out or self.local[var]
        part, lines = f"{name}[{index}]", []
        if op.fn is place:
            shape = f"{self.write.operand(op.spec.shape)}, {self.write.dtype(op.spec.dtype)}"
            lines = [f"{out}.fill(0)" if out else f"{name} = {self.write.np}.zeros({shape})"]
            value = self.local[x]
        else:
            value, whole = self.write.operand(op.args[2]), self.write.operand(x)
            if not out:
                lines = [f"{name} = {whole}.copy('K')"]
            elif self.plan.slot.get(x) != self.plan.slot[var]:
                lines = [f"{out}[...] = {whole}"]
        if op.fn is not add_at:
            lines.append(f"{part} = {value}")
        elif type(op.args[1]) is int and len(op.spec.shape) == 1:
            lines.append(f"{part} += {value}")
        else:
            lines.append(f"{self.write.name(np.add)}({part}, {value}, {part})")
        lines += [f"{self.local[var]} = {out}"] if out else []
        found = [Line(code) for code in lines]
        found[-1] = replace(found[-1], comment=f"{var} {comment_of(op)}".rstrip(), var=var)
        return found

    def kept_name(self, var: Var) -> str:
        """Return the name of a value that no line of the body assigns, else nothing."""
        is_kept = var in self.memory.hoisted or (var in self.rolled and var in self.plan.slot)
        return self.local[var] if is_kept else ""

    def joined(self, join: Join, op: Call) -> Step:
        """Return the copies of the parts that are not computed in place."""
        step = Step(join.var, [], [join.var])
        for at in self.copies(join):
            part, index = join.parts[at], self.write.index(join.index(at))
            code = f"{self.local[join.var]}[{index}] = {self.local[part]}"
            step.lines.append(Line(code, f"part of {join.var}"))
            step.reads.append(part)
        return step

    def copies(self, join: Join) -> list[int]:
        """Return the numbers of the parts that are not computed in place."""
        inside = self.plan.joins[join.whole].inside
        return [at for at, part in enumerate(join.parts) if part not in inside]

    def out(self, var: Var) -> str:
        """Return the name of the memory that a value is computed into."""
        return self.memory.name(var) if var in self.plan.slot else ""

    def place(self, var: Var) -> str:
        """Return the name of a value that stays, in the function that makes the memory."""
        return self.local[var] if var in self.memory.hoisted else self.out(var) or self.local[var]

    def namespace(self) -> dict[str, Any]:
        """Return what the global names of the code stand for."""
        space = super().namespace()
        for name in ("take_buffers", "give_back", "new_values", "write_back"):
            del space[self.helper[name]]
        if self.floats:
            space[self.helper["by_numpy"]] = ByNumpy(self.target, self.misses)
        return space

    def body(self, lines: list[Line]) -> list[Line]:
        """Return the lines of the body; where floats go astray, NumPy's own functions answer."""
        if not self.floats:
            return lines
        errors = ", ".join(map(self.names.builtin, (ArithmeticError, ValueError)))
        back = [*self.give_back(), Line(f"return {self.helper['by_numpy']}({self.given()})")]
        back = [x.indented() for x in back]
        found = [Line("try:"), *(x.indented() for x in lines), Line(f"except ({errors}):"), *back]
        if not self.suspects:
            return found
        loads = self.loads(self.suspects) if self.is_long else []
        test = " * ".join(["0.0", *(self.local[v] for v in self.suspects)])
        return [*found, *loads, Line(f"if {test}:", "infinite or nan"), *back]

    def given(self) -> str:
        """Return the arguments as the function itself would be called."""
        named = [f"{k}={k}" for k in (*self.keywords, *self.seed)]
        return ", ".join([*self.positional, *named])

    def wanted(self) -> list[Var]:
        """Return the vars that are needed behind the body."""
        return [*self.tape.outputs, *self.suspects]

    # memory

    def header(self) -> list[Line]:
        """Return the lines in front of the function: constants, and one that makes memory."""
        lines = [Line(f"{name} = {text}") for name, text in self.write.zero_ds.items()]
        lines += [line for s in self.constants for line in s.lines]
        if self.has_memory():
            lines += [Line(f"{self.helper['idle']} = []"), Line(""), Line(f"def {self.make}():")]
            lines += [x.indented() for x in self.memory.lines()]
            kept = [f"({_listed(p)})" if p else "()" for p in self.pieces] or self.taken
            lines.append(Line(f"    return {_listed(kept)}"))
        return [*lines, Line("")] if lines else []

    def has_memory(self) -> bool:
        """Tell whether anything stays from call to call."""
        return bool(self.plan.buffers)

    def allocate(self) -> list[Line]:
        """Return the lines that take memory that nobody else uses."""
        if not self.has_memory():
            return []
        name, error = self.helper["buffers"], self.names.builtin(IndexError)
        return [
            Line("try:"),
            Line(f"    {name} = {self.helper['idle']}.pop()"),
            Line(f"except {error}:"),
            Line(f"    {name} = {self.make}()"),
        ]

    def take(self, steps: list[Step]) -> None:
        """Note what steps, and what is handed out, need of the memory."""
        names = [n for s in steps for n in s.memory]
        self.taken = list(dict.fromkeys([*names, *self.handed()]))

    def handed(self) -> list[str]:
        """Return the names in the memory of what is handed out."""
        for v in self.tape.outputs:
            self.memory.need(v)
        return [n for v in self.tape.outputs if (n := self.kept_name(v))]

    def bring(self) -> list[Line]:
        """Return the line that names what the function needs of the memory."""
        if not self.taken:
            return []
        return [Line(f"{_listed(self.taken)} = {self.helper['buffers']}")]

    def give_back(self) -> list[Line]:
        """Return the line that lets the next call use the memory."""
        if not self.has_memory():
            return []
        return [Line(f"{self.helper['idle']}.append({self.helper['buffers']})")]

    # pieces

    def piece(self, name: str, at: int, steps: list[Step]) -> tuple[str, list[Line]]:
        """Return the call of a piece of a long tape, and the lines that it begins with."""
        own = {s.var for s in steps if s.buffer is not None or s.var not in self.resident}
        own |= {v for s in steps for v in s.more}
        read = {v for s in steps for v in s.reads} - own
        names = list(dict.fromkeys(n for s in steps for n in s.memory))
        brought = [v for v in sorted(read & self.resident) if self.local[v] not in names]
        loads = self.loads(v for v in read if self.is_handed_on(v))
        self.pieces.append([*names, *map(self.place, brought)])
        if not self.has_memory():
            return f"{name}({self.helper['state']})", loads
        names += [self.local[v] for v in brought]
        if names:
            loads.append(Line(f"{_listed(names)} = {self.helper['memory']}"))
        return f"{name}({self.helper['state']}, {self.helper['memory']})", loads

    def calling(self, call: str, lines: list[Line]) -> list[Line]:
        """Return the lines that call one piece of a long tape."""
        return [Line(self.with_memory(call))]

    def with_memory(self, call: str) -> str:
        """Return a call with the piece's own memory."""
        part = f"{self.helper['buffers']}[{len(self.pieces) - 1}]"
        return call.replace(f", {self.helper['memory']})", f", {part})")

    def last_piece(self) -> list[Line]:
        """Return the line that names what is handed out of the memory, behind all pieces."""
        names, loads = list(dict.fromkeys(self.handed())), self.loads(self.tape.outputs)
        if not names:
            return loads
        self.pieces.append(names)
        return [
            *loads,
            Line(f"{_listed(names)} = {self.helper['buffers']}[{len(self.pieces) - 1}]"),
        ]

    def is_handed_on(self, var: Var) -> bool:
        """Tell whether a value goes from piece to piece in the state."""
        return var not in self.resident and not isinstance(self.tape[var], Constant)

    def loads(self, wanted: Iterable[Var]) -> list[Line]:
        """Return the lines that take values from the state."""
        return super().loads(v for v in wanted if self.is_handed_on(v))


class Memory:
    """The function that makes one set of buffers, their views and the rows that loops go over."""

    def __init__(self, draft: LeanDraft) -> None:
        self.draft, self.plan = draft, draft.plan
        self.hoisted: dict[Var, Call] = {}
        self.wanted: set[Var] = set()
        self.buffers: set[int] = set()
        self.shapes: dict[Any, str] = {}
        self.tables: list[Line] = []
        self.each = draft.names.unique("each")
        self.counts: Counter[str] = Counter()

    def fresh(self, word: str) -> str:
        """Return a new numbered name."""
        self.counts[word] += 1
        return self.draft.names.unique(f"{word}{self.counts[word]}")

    def need(self, var: Var) -> None:
        """Note that a value that stays is used, if it is one."""
        while True:
            if var in self.plan.joins and var in self.hoisted:
                self.wanted.add(var)
                var = self.plan.joins[var].whole
                self.need_buffer(self.plan.slot[var])
                return
            if var in self.plan.slot:
                self.need_buffer(self.plan.slot[var])
                self.name(var)
                return
            if var not in self.hoisted:
                return
            self.wanted.add(var)
            var = self.hoisted[var].args[0]

    def need_buffer(self, k: int) -> None:
        """Note that a buffer is used, and what it is a part of."""
        while k not in self.buffers:
            self.buffers.add(k)
            within = self.plan.buffers[k].within
            k = k if within is None else within[0]

    def name(self, var: Var) -> str:
        """Return the name of the buffer of a value, in the value's shape."""
        k = self.plan.slot[var]
        buffer, spec = self.plan.buffers[k], self.plan.spec(var, self.draft.tape[var].spec)
        if (buffer.shape, buffer.order) == (spec.shape, spec.order):
            return f"{self.draft.buffer}{k}"
        key = (k, spec.shape, spec.order)
        if key not in self.shapes:
            wanted = f"{self.draft.buffer}{k}_{len(self.shapes) + 1}"
            self.shapes[key] = self.draft.names.unique(wanted)
        return self.shapes[key]

    def lines(self) -> Iterator[Line]:
        """Yield the lines that make one set of memory."""
        for k in sorted(self.buffers):
            yield Line(f"{self.draft.buffer}{k} = {self.empty(self.plan.buffers[k])}")
        for (k, shape, order), name in self.shapes.items():
            if k in self.buffers:
                yield Line(f"{name} = {self.reshaped(k, shape, order)}")
        for var, op in self.hoisted.items():
            if var in self.wanted:
                yield from self.hoist(var, op)
        yield from self.tables

    def empty(self, buffer: Buffer) -> str:
        """Return the text that allocates a buffer, or takes it as a part of another one."""
        if buffer.within is not None:
            whole, index = buffer.within
            return f"{self.draft.buffer}{whole}[{self.draft.write.index(index)}]"
        return self.draft.write.empty(buffer.shape, buffer.dtype, buffer.order)

    def reshaped(self, k: int, shape: tuple[int, ...], order: str) -> str:
        """Return the text of a buffer in another shape."""
        buffer, name = self.plan.buffers[k], f"{self.draft.buffer}{k}"
        if len(buffer.shape) > 1 and buffer.order != order:
            name = f"{name}.ravel({buffer.order!r})"
        text = self.draft.write.operand(shape)
        return f"{name}.reshape({text})" if order == "C" else f"{name}.reshape({text}, order='F')"

    def hoist(self, var: Var, op: Call) -> list[Line]:
        """Return the line of a view, or of a join that stands where its parts are computed."""
        if var not in self.plan.joins:
            return self.draft.step(var, op, self.view(op, self.draft.place(op.args[0]))).lines
        join = self.plan.joins[var]
        text = f"{self.draft.buffer}{self.plan.slot[join.whole]}"
        if join.whole != join.var:
            text += f"[{join.starts[0]}:{join.starts[-1]}]"
            if join.is_stack != self.plan.joins[join.whole].is_stack:
                text += f".reshape({self.draft.write.operand(op.spec.shape)})"
        return self.draft.step(var, op, text).lines

    def view(self, op: Call, source: str) -> str:
        """Return the text of a view of what `source` names."""
        local, x = self.draft.local, op.args[0]
        local[x], known = source, local[x]
        text = self.draft.write.call(op)
        local[x] = known
        return text


def _listed(names: list[str]) -> str:
    return f"{', '.join(names)}{',' if len(names) == 1 else ''}"
