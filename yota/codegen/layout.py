"""Lay the lines of a draft out: as one function, or a long tape as several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from yota.buffers import Plan
from yota.buffers import plan as plan_buffers
from yota.codegen.answer import AnswerDraft, Check
from yota.codegen.draft import Draft, Step
from yota.codegen.entry import EntryDraft
from yota.codegen.memory import LeanDraft
from yota.codegen.source import Line, Page, Source
from yota.tape import Call, Tape, Var

# Longer tapes become functions of so many ops each.
PIECE = 2_000

Sections = tuple[range, range, range]


def generate(
    tape: Tape, form: str = "lean", *, plan: Plan | None = None, target: Tape | None = None
) -> Source:
    """Return the code of an optimised tape.

    The bound form writes every value to `target`, the tape as it was recorded.
    """
    plan = plan or plan_buffers(tape, form)
    draft = LeanDraft if plan.form == "lean" else Draft
    return lay_out(draft(tape, plan, target or tape))


def generate_entry(
    tape: Tape, plan: Plan | None = None, *, target: Tape | None = None, exact: bool = False
) -> Source:
    """Return the code of an optimised tape, lean, that returns MISS where arguments do not fit.

    The recorded tape is `target`; with `exact` every argument has to come in the recorded layout.
    """
    return lay_out(EntryDraft(tape, plan or plan_buffers(tape), target or tape, exact))


def generate_answer(
    tape: Tape, plan: Plan, check: Check, *, target: Tape, exact: bool = False
) -> Source:
    """Return the code of an optimised tape as a cache runs it: `answer(f, args, kwargs)`."""
    return lay_out(AnswerDraft(tape, plan, target, exact, check))


def lay_out(draft: Draft) -> Source:
    """Return the code of a draft."""
    page, (head, body) = Page(), draft.steps()
    draft.is_long = len(body) > PIECE
    lay = _Pieces(draft, page).run if draft.is_long else partial(_whole, draft, page)
    sections = lay(head, body)
    line_of, ops_of = page.numbers(draft.merged)
    form, space = draft.plan.form, draft.namespace()
    return Source(page.text(), draft.name, form, *sections, line_of, ops_of, space)


def _whole(draft: Draft, page: Page, head: list[Step], body: list[Step]) -> Sections:
    """Write one function."""
    if draft.plan.form == "lean":
        draft.release(body)
    draft.take(body)
    page.add([*draft.header(), draft.head(draft.name)])
    start = [Line("# prologue"), *draft.unpack(), *_lines(head), *draft.allocate()]
    first = page.add([*start, *draft.bring()], "    ")
    second = page.add([Line("# body"), *draft.body(_lines(body))], "    ")
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
        pieces = self.pieces(body)
        self.outputs = self.draft.last_piece()
        self.page.add(self.draft.header())
        return self.prologue(head), self.body(pieces), self.epilogue()

    def function(self, signature: Line, lines: Iterable[Line]) -> None:
        self.page.add([signature])
        self.page.add(lines, "    ")
        self.page.add([Line("")])

    def prologue(self, head: list[Step]) -> range:
        """Write the function that fills the state from the arguments."""
        draft, before = self.draft, len(self.page) + 1
        name = draft.names.unique(f"{draft.name}_prologue")
        self.page.add([Line("# prologue")])
        given = [v for v, op in draft.tape if not isinstance(op, Call) and draft.is_handed_on(v)]
        kept = ", ".join(f"{v.id}: {draft.local[v]}" for v in given)
        end = Line(f"return {{{kept}}}")
        self.function(draft.head(name), [*draft.unpack(), *_lines(head), end])
        begin = draft.begin(f"{self.state} = {name}({draft.arguments()})", self.state)
        self.begin = [*begin, *draft.allocate()]
        return range(before, len(self.page) + 1)

    def pieces(self, body: list[Step]) -> list[tuple[Line, list[Line]]]:
        """Return signature and lines of one function for each piece of the body."""
        needed = self.last_readers(body)
        return [
            self.piece(start, body[start : start + PIECE], needed)
            for start in range(0, len(body), PIECE)
        ]

    def body(self, pieces: list[tuple[Line, list[Line]]]) -> range:
        """Write one function for each piece of the body."""
        before = len(self.page) + 1
        self.page.add([Line("# body")])
        for signature, lines in pieces:
            self.function(signature, lines)
        return range(before, len(self.page) + 1)

    def last_readers(self, body: list[Step]) -> dict[Var, int]:
        """Return for each var the place in the body of the last step that reads it."""
        draft = self.draft
        found = {var: k for k, step in enumerate(body) for var in step.reads}
        kept = draft.tape.ops if draft.plan.form == "bound" else draft.wanted()
        return found | dict.fromkeys(kept, len(body))

    def piece(
        self, start: int, steps: list[Step], needed: dict[Var, int]
    ) -> tuple[Line, list[Line]]:
        draft, end, at = self.draft, start + len(steps), start // PIECE
        name = draft.names.unique(f"{draft.name}_body{at + 1}")
        call, loads = draft.piece(name, at, steps)
        stores = [
            Line(f"{self.state}[{v.id}] = {draft.local[v]}")
            for s in steps
            for v in s.gives
            if needed.get(v, -1) >= end and draft.is_handed_on(v)
        ]
        lines = _lines(steps)
        self.calls += draft.calling(call, lines)
        return Line(f"def {call}:"), [*loads, *lines, *stores]

    def epilogue(self) -> range:
        """Write the write-back in pieces, and the function that calls all others."""
        draft, before = self.draft, len(self.page) + 1
        self.page.add([Line("# epilogue")])
        self.write_back(draft.write_backs())
        self.page.add([draft.head(draft.name)])
        end = [*self.outputs, *draft.returns()]
        self.page.add([*self.begin, *draft.body(self.calls), *end], "    ")
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
            lines = [*draft.loads(v for v, _ in part), *(line for _, line in part)]
            self.function(Line(f"def {call}:"), lines)
            self.calls.append(Line(call))
        self.calls.append(Line(f"{draft.helper['write_back']}({tape})"))
