"""The code behind a cache: it checks arguments in its own lines, and MISS is an answer."""

from __future__ import annotations

from typing import Any

from yota.buffers import Plan
from yota.codegen.draft import Step
from yota.codegen.fits import Holds
from yota.codegen.fitting import Fitting
from yota.codegen.laying import laid_out
from yota.codegen.memory import LeanDraft
from yota.codegen.runtime import MISS
from yota.codegen.source import Line
from yota.tape import Guard, Op, Tape, Var


class EntryDraft(LeanDraft):
    """Code of a tape that returns MISS where arguments or guards differ from the recorded ones.

    It may be called with anything: `missing`, `more` and `others` take too few and too many.
    """

    misses = True

    def __init__(self, tape: Tape, plan: Plan, target: Tape, exact: bool) -> None:
        super().__init__(tape, plan, target)
        self.laid_out = laid_out(tape, exact)
        self.refusal = f"return {self.helper['miss']}"

    def namespace(self) -> dict[str, Any]:
        """Return what the global names of the code stand for."""
        own = {"missing": MISS, "miss": MISS, "holds": Holds(self.tape)}
        return {**super().namespace(), **{self.helper[k]: v for k, v in own.items()}}

    def head(self, name: str) -> Line:
        """Return the line that begins a function of any arguments."""
        absent = self.helper["missing"]
        given = [f"{x}={absent}" for x in self.positional]
        parts = [*given, *(["/"] if given else []), f"*{self.helper['more']}"]
        parts += [*(f"{x}={absent}" for x in self.keywords), *(f"{x}=None" for x in self.seed)]
        return Line(f"def {name}({', '.join(parts)}, **{self.helper['others']}):")

    def unpack(self) -> list[Line]:
        """Return the checks of the arguments, with the leaves named."""
        test = f"if {self.helper['more']} or {self.helper['others']}:"
        return [Line(test), Line(f"    {self.refusal}"), *self.fitting()]

    def fitting(self) -> list[Line]:
        """Return the checks of what the arguments are, with the guards on them."""
        guards = [line for var in self.tape.inputs for line in self.guarded(var)]
        return [*Fitting(self, self.refusal, self.laid_out).lines(), *guards]

    def steps(self) -> tuple[list[Step], list[Step]]:
        """Return the steps of calls; inputs are named by the checks."""
        return [], super().steps()[1]

    def guard(self, k: int, guard: Guard) -> list[Line]:
        """Return the check of a guard."""
        value = self.local[guard.var]
        if guard.how == "bool":
            test = f"if not {value}:" if guard.expected else f"if {value}:"
        else:
            test = f"if not {self.helper['holds']}({k}, {value}):"
        return [Line(test, guard.origin.place), Line(f"    {self.refusal}")]

    def shape(self, var: Var, op: Op) -> list[Line]:
        """Return the check of a shape that depends on values."""
        test = f"if {self.local[var]}.shape != {op.spec.shape}:"
        return [Line(test), Line(f"    {self.refusal}")]

    def body(self, lines: list[Line]) -> list[Line]:
        """Return the lines of the body; who leaves early gives the memory back."""
        give, found = self.give_back(), []
        for line in lines:
            if line.code.endswith(self.refusal):
                found += [x.indented(line.code[: -len(self.refusal)]) for x in give]
            found.append(line)
        return super().body(found)

    def begin(self, call: str, state: str) -> list[Line]:
        """Return the lines that call the prologue of a long tape."""
        return [Line(call), *self.unless(f"{state} is {self.helper['miss']}")]

    def calling(self, call: str, lines: list[Line]) -> list[Line]:
        """Return the lines that call one piece of a long tape."""
        call = self.with_memory(call)
        if not any(line.code.endswith(self.refusal) for line in lines):
            return [Line(call)]
        return self.unless(f"{call} is {self.helper['miss']}")

    def unless(self, test: str) -> list[Line]:
        """Return the lines that leave the function where a test is true."""
        return self.refused(f"if {test}:")

    def refused(self, clause: str) -> list[Line]:
        """Return the lines that leave the function behind a clause."""
        return [Line(clause), Line(f"    {self.refusal}")]

    def arguments(self) -> str:
        """Return the arguments as the prologue of a long tape takes them."""
        more, others = self.helper["more"], self.helper["others"]
        named = [f"{k}={k}" for k in (*self.keywords, *self.seed)]
        return ", ".join([*self.positional, f"*{more}", *named, f"**{others}"])
