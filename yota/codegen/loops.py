"""Write a loop over the rounds of a region as one for-statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from yota.codegen.draft import Step
from yota.codegen.lean import Raw
from yota.codegen.rolling import Loop, varying
from yota.codegen.source import Line
from yota.rules.functional import getitem
from yota.tape import Call, Constant, Var, format_arg, format_value

if TYPE_CHECKING:
    from yota.buffers import Buffer
    from yota.codegen.memory import LeanDraft

_LONGEST_CYCLE = 8


class LoopWriter:
    """One loop: what varies from round to round stands in rows that are made with the memory."""

    def __init__(self, draft: LeanDraft, loop: Loop) -> None:
        self.draft, self.loop, self.memory = draft, loop, draft.memory
        self.names = [draft.local[v] for v in loop.vars[0]]
        self.columns: dict[str, str] = {}
        self.covered: list[Var] = []
        self.taken: list[str] = []
        # what is still read of the round before when this round's value is there
        late = {j for (k, _), (_, j) in loop.carried.items() if j < k}
        self.held = {j: self.memory.fresh("last") for j in sorted(late)}
        for vars_ in loop.vars:
            for var, name in zip(vars_, self.names, strict=True):
                draft.local[var] = draft.out(var) or name
                draft.rolled.add(var)

    def step(self) -> Step:
        """Return the whole loop as one step."""
        loop, draft = self.loop, self.draft
        lines = [x for k in range(len(self.names)) for x in self.lines(k)]
        last = loop.vars[-1]
        step = Step(last[-1], [], [], more=last[:-1])
        for j, start in {j: start for start, j in loop.carried.values()}.items():
            step.lines.append(Line(f"{self.names[j]} = {draft.local[start]}"))
            self.read(step, start)
        before = [Line(f"{name} = {self.names[j]}") for j, name in self.held.items()]
        step.lines.append(Line(f"for {self.heading()}:", f"{loop.region.rounds} times"))
        step.lines += [x.indented() for x in (*before, *lines)]
        self.reads(step)
        return step

    def reads(self, step: Step) -> None:
        """Note what the loop reads, and what it needs of the memory."""
        draft, own = self.draft, {v for vars_ in self.loop.vars for v in vars_}
        for k, var in enumerate(self.loop.vars[0]):
            op = draft.tape[var]
            if not isinstance(op, Call):
                continue
            for at, x in enumerate(varying(op)):
                if type(x) is Var and x not in own and not self.varies(k, at):
                    self.read(step, x)
        step.memory += self.taken

    def read(self, step: Step, var: Var) -> None:
        """Note that the loop reads a value from outside."""
        step.reads.append(var)
        self.memory.need(var)
        name = self.draft.kept_name(var)
        step.memory += [name] if name else []

    def varies(self, k: int, at: int) -> bool:
        """Tell whether an operand differs from round to round."""
        return (k, at) in self.loop.columns or (k, at) in self.loop.carried

    def lines(self, k: int) -> list[Line]:
        """Return the lines of one call of the period, with all the ops that they stand for."""
        draft, loop = self.draft, self.loop
        var = loop.vars[0][k]
        op = draft.tape[var]
        if not isinstance(op, Call):
            raise TypeError(op)
        known = dict(draft.local)
        self.rename(op, k)
        op = self.indexed(op, k)
        out = self.out(k)
        draft.local[var] = self.names[k]
        if draft.is_writing(var, op):
            found = draft.step(var, op, "").lines
            found[0:1] = draft.writing(var, op, out)
        else:
            found = draft.step(var, op, draft.write.call(op, out)).lines
        draft.local.update(known)
        rounds = [vars_[k] for vars_ in loop.vars]
        at = next(i for i, x in enumerate(found) if x.var == var)
        comment = f"{rounds[0]} … {rounds[-1]}{found[at].comment.removeprefix(str(var))}"
        found[at] = replace(found[at], comment=comment, more=tuple(rounds))
        return found

    def rename(self, op: Call, k: int) -> None:
        """Let the operands of a call go by the names that they have inside the loop."""
        draft, loop = self.draft, self.loop
        for j in range(k):
            draft.local[loop.vars[0][j]] = self.names[j]
        for at, x in enumerate(varying(op)):
            if type(x) is Var and (k, at) in loop.columns:
                draft.local[x] = self.column(loop.columns[k, at], "x")
            elif type(x) is Var and (k, at) in loop.carried:
                j = loop.carried[k, at][1]
                draft.local[x] = self.held.get(j, self.names[j])

    def indexed(self, op: Call, k: int) -> Call:
        """Return an index that varies as the name of the number."""
        if op.fn is getitem and type(op.args[1]) is int and (k, 1) in self.loop.columns:
            name = self.column(self.loop.columns[k, 1], "at")
            return replace(op, args=(op.args[0], Raw(name)))
        return op

    def out(self, k: int) -> str:
        """Return the name of the memory that a call is computed into."""
        vars_ = tuple(r[k] for r in self.loop.vars)
        if vars_[0] not in self.draft.plan.slot:
            return ""
        return self.column(vars_, "y")

    # columns

    def column(self, values: tuple[Any, ...], letter: str) -> str:
        """Return the name of what varies, or of what it always is."""
        place = {self.draft.place(v) if type(v) is Var else format_value(v) for v in values}
        if len(place) == 1:
            self.memory.need(values[0])
            self.taken.append(*place)
            return place.pop()
        column = Column(self.draft, values)
        text = column.written()
        self.covered += column.covers
        if text not in self.columns:
            self.columns[text] = self.memory.fresh(letter)
        return self.columns[text]

    def heading(self) -> str:
        """Return what stands between `for` and the colon."""
        builtin = self.draft.names.builtin
        if not self.columns:
            return f"_ in {builtin(range)}({self.loop.region.rounds})"
        rows = self.memory.fresh("rows")
        texts = list(self.columns)
        names = ", ".join(self.columns.values())
        many = f"{builtin(zip)}({', '.join(texts)})" if len(texts) > 1 else texts[0]
        covered = tuple(dict.fromkeys(self.covered))
        self.memory.tables.append(Line(f"{rows} = {builtin(list)}({many})", more=covered))
        self.taken.append(rows)
        return f"{names} in {rows}"


class Column:
    """Where the values of one occurrence stand, round by round; `text` is None if unevenly."""

    def __init__(self, draft: LeanDraft, values: Sequence[Any]) -> None:
        self.draft, self.values = draft, values
        self.needs: list[Var] = []
        self.covers: list[Var] = []
        self.whole: int | None = None
        self.text = self.numbers() if type(values[0]) is not Var else self.places()

    def written(self) -> str:
        """Return the text, and note what it needs of the memory."""
        memory, text = self.draft.memory, self.text
        if text is None:
            self.needs = list(self.values)
            text = f"[{', '.join(map(self.draft.place, self.values))}]"
        for var in self.needs:
            memory.need(var)
        if self.whole is not None:
            memory.need_buffer(self.whole)
        return text

    def numbers(self) -> str:
        """Return the text for whole numbers."""
        found = _range(self.values)
        if found is None:
            return format_arg(tuple(self.values))
        return f"{self.draft.names.builtin(range)}({found.start}, {found.stop}, {found.step})"

    def places(self) -> str | None:
        """Return the text for values that stand in memory that stays."""
        return self.constants() or self.cycle() or self.parts() or self.views()

    def constants(self) -> str | None:
        """Return constants by their numbers."""
        if not all(isinstance(self.draft.tape[v], Constant) for v in self.values):
            return None
        numbers = [v.id for v in self.values]
        found, each = _range(numbers), self.draft.memory.each
        text = repr(tuple(numbers))
        if found is not None:
            name = self.draft.names.builtin(range)
            text = f"{name}({found.start}, {found.stop}, {found.step})"
        return f"[{self.draft.helper['constants']}[{each}] for {each} in {text}]"

    def cycle(self) -> str | None:
        """Return a few places that take turns."""
        places = [self.draft.place(v) for v in self.values]
        for n in range(1, _LONGEST_CYCLE + 1):
            if all(x == y for x, y in zip(places, places[n:], strict=False)):
                self.needs = list(self.values[:n])
                return f"[{', '.join(places[:n])}] * {-(-len(places) // n)}"
        return None

    def parts(self) -> str | None:
        """Return parts of one buffer as its rows."""
        plan = self.draft.plan
        if any(v not in plan.slot for v in self.values):
            return None
        buffers = [plan.buffers[plan.slot[v]] for v in self.values]
        first = buffers[0].within
        if first is None or any(b.shape != buffers[0].shape for b in buffers):
            return None
        indices = [b.within[1] for b in buffers if b.within and b.within[0] == first[0]]
        if len(indices) < len(buffers):
            return self.parts_of_parts(buffers)
        whole = plan.buffers[first[0]]
        rows = _rows(indices, whole.shape[0])
        if rows is None:
            return None
        self.whole = first[0]
        name = f"{self.draft.buffer}{first[0]}"
        if type(indices[0]) is slice:
            name += f".reshape({self.draft.write.operand((-1, *buffers[0].shape))})"
        return f"{name}[{_slice(rows)}]"

    def parts_of_parts(self, buffers: list[Buffer]) -> str | None:
        """Return equal parts of buffers that are parts of one themselves."""
        plan, draft = self.draft.plan, self.draft
        within = [b.within for b in buffers if b.within is not None]
        outer = [plan.buffers[k].within for k, _ in within]
        if len(within) < len(buffers) or any(i != within[0][1] for _, i in within) or None in outer:
            return None
        wholes = [o[0] for o in outer if o is not None]
        rows = _rows([o[1] for o in outer if o is not None], plan.buffers[wholes[0]].shape[0])
        if rows is None or any(k != wholes[0] for k in wholes):
            return None
        self.whole = wholes[0]
        name, one = f"{draft.buffer}{wholes[0]}", plan.buffers[within[0][0]]
        if type(outer[0][1] if outer[0] else 0) is slice:
            name += f".reshape({draft.write.operand((-1, *one.shape))})"
        each, index = draft.memory.each, draft.write.index(within[0][1])
        return f"[{each}[{index}] for {each} in {name}[{_slice(rows)}]]"

    def views(self) -> str | None:
        """Return equal views of what varies."""
        draft, hoisted = self.draft, self.draft.memory.hoisted
        pairs = [(v, hoisted[v]) for v in self.values if v in hoisted and v not in draft.plan.joins]
        if len(pairs) < len(self.values) or len({draft.key_of(*p) for p in pairs}) > 1:
            return None
        self.covers = list(self.values)
        if pairs[0][1].fn is getitem and type(pairs[0][1].args[1]) is int:
            return self.rows([op for _, op in pairs])
        inner = Column(draft, [op.args[0] for _, op in pairs])
        self.needs, self.whole = inner.needs, inner.whole
        self.covers += inner.covers
        name = draft.memory.each
        return inner.text and f"[{draft.memory.view(pairs[0][1], name)} for {name} in {inner.text}]"

    def rows(self, ops: list[Call]) -> str | None:
        """Return rows of one table."""
        found = _range([op.args[1] for op in ops])
        table = ops[0].args[0]
        if found is None or found.start < 0 or any(op.args[0] != table for op in ops):
            return None
        self.needs = [table]
        return f"{self.draft.place(table)}[{_slice(found)}]"


def _range(values: Sequence[int]) -> range | None:
    """Return equally spaced numbers as a range, None for others."""
    step = values[1] - values[0]
    if not step or any(y - x != step for x, y in pairwise(values)):
        return None
    return range(values[0], values[-1] + (1 if step > 0 else -1), step)


def _rows(indices: Sequence[Any], count: int) -> range | None:
    """Return the numbers of equally spaced rows, or of equally high blocks of rows."""
    if type(indices[0]) is int:
        return _range(indices)
    if type(indices[0]) is not slice:
        return None
    size = indices[0].stop - indices[0].start
    starts = [x.start for x in indices]
    if any(x.stop - x.start != size for x in indices) or any(s % size for s in (*starts, count)):
        return None
    return _range([s // size for s in starts])


def _slice(rows: range) -> str:
    start = "" if rows.start == 0 and rows.step > 0 else str(rows.start)
    stop = "" if rows.stop < 0 else str(rows.stop)
    return f"{start}:{stop}" + ("" if rows.step == 1 else f":{rows.step}")
