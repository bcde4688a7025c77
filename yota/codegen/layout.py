"""Lay the lines of a draft out: as one function, or a long tape as several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from yota.buffers import Plan
from yota.buffers import plan as plan_buffers
from yota.codegen.draft import Draft, Step
from yota.codegen.source import Line, Page, Source
from yota.tape import Tape, Var

# Longer tapes become functions of so many ops each.
PIECE = 2_000

Sections = tuple[range, range, range]


def generate(
    tape: Tape, form: str = "lean", *, plan: Plan | None = None, target: Tape | None = None
) -> Source:
    """Return the code of an optimised tape.

    The bound form writes every value to `target`, the tape as it was recorded.
    """
    draft = Draft(tape, plan or plan_buffers(tape, form), target or tape)
    page, (head, body) = Page(), draft.steps()
    long = len(tape) > PIECE
    sections = _Pieces(draft, page).run(head, body) if long else _whole(draft, page, head, body)
    line_of, ops_of = page.numbers(draft.merged)
    form, space = draft.plan.form, draft.namespace()
    return Source(page.text(), draft.name, form, *sections, line_of, ops_of, space)


def _whole(draft: Draft, page: Page, head: list[Step], body: list[Step]) -> Sections:
    """Write one function."""
    page.add([Line(draft.signature(draft.name, "{}=None"))])
    if draft.plan.form == "lean":
        draft.release(body)
    start = [Line("# prologue"), draft.unpack(), *_lines(head), *draft.allocate()]
    first = page.add([*start, *draft.buffers(range(len(draft.plan.buffers)))], "    ")
    second = page.add([Line("# body"), *_lines(body)], "    ")
    back = [line for _, line in draft.write_backs()]
    if back:
        tape = draft.helper["tape"]
        back = [_new_values(draft), *back, Line(f"{draft.helper['write_back']}({tape})")]
    return first, second, page.add([Line("# epilogue"), *back, *draft.returns()], "    ")


def _lines(steps: Iterable[Step]) -> list[Line]:
    return [line for step in steps for line in step.lines]


def _new_values(draft: Draft) -> Line:
    return Line(f"{draft.helper['tape']} = {draft.helper['new_values']}()")


@dataclass
class _Pieces:
    """Several functions that hand values on in a dict, and one that calls them."""

    draft: Draft
    page: Page

    def run(self, head: list[Step], body: list[Step]) -> Sections:
        self.state = self.draft.helper["state"]
        self.calls: list[Line] = []
        return self.prologue(head), self.body(body), self.epilogue()

    def function(self, signature: Line, lines: Iterable[Line]) -> None:
        self.page.add([signature])
        self.page.add(lines, "    ")
        self.page.add([Line("")])

    def prologue(self, head: list[Step]) -> range:
        """Write the function that fills the state from the arguments."""
        draft, before = self.draft, len(self.page) + 1
        name = draft.names.unique(f"{draft.name}_prologue")
        self.page.add([Line("# prologue")])
        kept = ", ".join(f"{s.var.id}: {draft.local[s.var]}" for s in head)
        end = Line(f"return {{{kept}}}")
        self.function(Line(draft.signature(name, "{}=None")), [draft.unpack(), *_lines(head), end])
        self.calls += [Line(f"{self.state} = {name}({draft.arguments()})"), *draft.allocate()]
        return range(before, len(self.page) + 1)

    def body(self, body: list[Step]) -> range:
        """Write one function for each piece of the body."""
        before = len(self.page) + 1
        self.page.add([Line("# body")])
        needed = self.last_readers(body)
        for start in range(0, len(body), PIECE):
            self.piece(start, body[start : start + PIECE], needed)
        return range(before, len(self.page) + 1)

    def last_readers(self, body: list[Step]) -> dict[Var, int]:
        """Return for each var the place in the body of the last step that reads it."""
        draft = self.draft
        found = {var: k for k, step in enumerate(body) for var in step.reads}
        kept = draft.tape.ops if draft.plan.form == "bound" else draft.tape.outputs
        return found | dict.fromkeys(kept, len(body))

    def piece(self, start: int, steps: list[Step], needed: dict[Var, int]) -> None:
        draft, end = self.draft, start + len(steps)
        name = draft.names.unique(f"{draft.name}_body{start // PIECE + 1}")
        given = [self.state, *([draft.helper["buffers"]] if draft.plan.buffers else [])]
        used = sorted({s.buffer for s in steps if s.buffer is not None})
        own = {s.var for s in steps}
        loads = self.loads({v for s in steps for v in s.reads} - own)
        stores = [
            Line(f"{self.state}[{v.id}] = {draft.local[v]}")
            for v in sorted(own)
            if needed.get(v, -1) >= end
        ]
        call = f"{name}({', '.join(given)})"
        self.function(Line(f"def {call}:"), [*loads, *draft.buffers(used), *_lines(steps), *stores])
        self.calls.append(Line(call))

    def loads(self, wanted: Iterable[Var]) -> list[Line]:
        local = self.draft.local
        return [Line(f"{local[v]} = {self.state}[{v.id}]") for v in sorted(set(wanted))]

    def epilogue(self) -> range:
        """Write the write-back in pieces, and the function that calls all others."""
        draft, before = self.draft, len(self.page) + 1
        self.page.add([Line("# epilogue")])
        self.write_back(draft.write_backs())
        outputs = self.loads(draft.tape.outputs)
        self.page.add([Line(draft.signature(draft.name, "{}=None"))])
        self.page.add([*self.calls, *outputs, *draft.returns()], "    ")
        return range(before, len(self.page) + 1)

    def write_back(self, found: list[tuple[Var, Line]]) -> None:
        if not found:
            return
        draft, tape = self.draft, self.draft.helper["tape"]
        self.calls.append(_new_values(draft))
        for start in range(0, len(found), PIECE):
            part = found[start : start + PIECE]
            name = draft.names.unique(f"{draft.name}_epilogue{start // PIECE + 1}")
            call = f"{name}({self.state}, {tape})"
            lines = [*self.loads(v for v, _ in part), *(line for _, line in part)]
            self.function(Line(f"def {call}:"), lines)
            self.calls.append(Line(call))
        self.calls.append(Line(f"{draft.helper['write_back']}({tape})"))
