"""Write a block: a loop that computes some rows of all its calls at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yota.blocks import Block, has_rows, in_turns
from yota.codegen.draft import Step
from yota.codegen.source import Line
from yota.tape import Call, Spec, Var

if TYPE_CHECKING:
    from yota.codegen.memory import LeanDraft


class BlockWriter:
    """One block: what only its own calls read stands in memory for as many rows as there are."""

    def __init__(self, draft: LeanDraft, block: Block) -> None:
        self.draft, self.block = draft, block
        self.own = set(block.vars)
        self.cut = draft.memory.fresh("cut")
        # arrays, and memory of as many rows as there are -> the names of their parts
        self.parts: dict[str, str] = {}
        self.turns: dict[str, str] = {}
        self.lines: list[Line] = []

    def step(self) -> Step:
        """Return the whole block as one step."""
        draft, block = self.draft, self.block
        known = dict(draft.local)
        given = [v for v in block.vars if v not in block.local]
        step = Step(block.last, [], [], draft.plan.slot.get(block.last))
        step.more = tuple(v for v in given if v != block.last)
        for var in block.vars:
            op = draft.tape[var]
            if isinstance(op, Call):
                self.write(step, var, op)
        draft.local.update(known)
        for var in given:
            if var in draft.plan.slot:
                draft.local[var] = draft.out(var)
                draft.rolled.add(var)
            else:
                step.lines.append(Line(f"{draft.local[var]} = {self.empty(draft.tape[var].spec)}"))
        step.lines += self.heading()
        step.lines += [line.indented() for line in self.lines]
        return step

    def heading(self) -> list[Line]:
        """Return the lines that begin the loop."""
        count, rows = self.block.shape[0], self.block.rows
        given = ", ".join([str(count), str(rows), *self.turns])
        names = ", ".join([self.cut, *self.turns.values()]) if self.turns else f"({self.cut},)"
        turns = self.draft.memory.fresh("turns")
        return [
            Line(f"{turns} = {self.draft.write.name(in_turns)}({given})"),
            Line(f"for {names} in {turns}:", f"{rows:,} of {count:,} rows at a time"),
        ]

    def write(self, step: Step, var: Var, op: Call) -> None:
        """Write one call, and before it what it reads and writes of greater arrays."""
        draft = self.draft
        for x in dict.fromkeys(op.operands):
            if x not in self.own:
                self.read(step, x)
        if var in self.block.local:
            out = self.turn(draft.out(var))
        else:
            out = f"{draft.out(var) or draft.local[var]}[{self.cut}]"
        if var in draft.plan.slot:
            draft.memory.need(var)
            step.memory.append(draft.out(var))
        else:
            # by its own name goes the whole array
            draft.local[var] = draft.memory.fresh("part")
        self.lines += draft.step(var, op, draft.write.call(op, out)).lines

    def read(self, step: Step, x: Var) -> None:
        """Let a value from outside go by the name of its rows."""
        draft = self.draft
        if x not in step.reads:
            step.reads.append(x)
            draft.memory.need(x)
            step.memory += [name] if (name := draft.kept_name(x)) else []
            if has_rows(draft.tape[x].spec, self.block.shape):
                draft.local[x] = self.part(draft.local[x])

    def part(self, name: str) -> str:
        """Return the name of the rows of an array that a turn computes."""
        if name not in self.parts:
            self.parts[name] = self.draft.memory.fresh("part")
            self.lines.append(Line(f"{self.parts[name]} = {name}[{self.cut}]"))
        return self.parts[name]

    def turn(self, name: str) -> str:
        """Return the name of as much memory as a turn needs."""
        if name not in self.turns:
            self.turns[name] = self.draft.memory.fresh("part")
        return self.turns[name]

    def empty(self, spec: Spec) -> str:
        """Return the text that allocates what is handed out."""
        return self.draft.write.empty(spec.shape, spec.dtype)
