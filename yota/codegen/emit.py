"""Turn an optimised tape and its buffer plan into the text of a function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yota.buffers import Plan, is_fresh
from yota.buffers import plan as plan_buffers
from yota.codegen.expressions import Expressions
from yota.codegen.names import Names, identifier, input_names, parameters
from yota.codegen.runtime import BufferPool, Checks, Unpack, Values, has_seed_input
from yota.codegen.shapes import may_vary
from yota.codegen.source import Line, Page, Source
from yota.codegen.structure import Builder
from yota.tape import (
    Call,
    Constant,
    Guard,
    Input,
    Op,
    Structured,
    Tape,
    Var,
    comment_of,
)

# Longer functions are compiled in pieces of so many ops.
PIECE = 2_000


@dataclass
class Step:
    """The lines of one op, with the vars and the buffer that they read."""

    var: Var
    lines: list[Line]
    reads: list[Var] = field(default_factory=list)
    buffer: str = ""


def generate(
    tape: Tape, form: str = "lean", *, plan: Plan | None = None, target: Tape | None = None
) -> Source:
    """Return the code of an optimised tape.

    The bound form writes every value to `target`, the tape as it was recorded.
    """
    return _Generator(tape, plan or plan_buffers(tape, form), target or tape).run()


class _Generator:
    def __init__(self, tape: Tape, plan: Plan, target: Tape) -> None:
        self.tape, self.plan, self.target = tape, plan, target
        self.merged = merged_vars(tape)
        self.positional, self.keywords = parameters(tape)
        self.seed = ["seed"] if has_seed_input(tape) else []
        own = [*self.positional, *self.keywords, *self.seed]
        self.names = Names(own)
        self.name = self.names.unique(identifier(tape.entry.name, "f"))
        self.local = local_names(tape, self.names, own)
        self.buffer_prefix = self.names.prefix("B")
        self.write = Expressions(tape, self.names, self.local)
        self.guards: dict[Var, list[tuple[int, Guard]]] = {}
        for k, guard in enumerate(tape.guards):
            self.guards.setdefault(guard.var, []).append((k, guard))
        self.helper = {w: self.names.unique(w) for w in _HELPERS}
        self.checks = Checks(tape)

    def run(self) -> Source:
        page = Page()
        head: list[Step] = []
        body: list[Step] = []
        for step in self.steps():
            (body if isinstance(self.tape[step.var], Call) else head).append(step)
        layout = self.pieces if len(self.tape) > PIECE else self.whole
        ranges = layout(page, head, body)
        line_of, ops_of = page.numbers(self.merged)
        return Source(
            page.text(), self.name, self.plan.form, *ranges, line_of, ops_of, self.namespace()
        )

    def namespace(self) -> dict[str, Any]:
        """Return what the global names of the code stand for."""
        pool = BufferPool(self.plan.buffers)
        helper = self.helper
        constants = {v.id: op.value for v, op in self.tape if isinstance(op, Constant)}
        given = {
            helper["unpack"]: Unpack(self.tape),
            helper["constants"]: constants,
            helper["take_buffers"]: pool.take,
            helper["give_back"]: pool.give_back,
            helper["check_guard"]: self.checks.guard,
            helper["check_shape"]: self.checks.shape,
            helper["new_values"]: Values,
            helper["write_back"]: self.write_back,
        }
        modules = {name: _module(path) for name, path in self.write.imports.items()}
        return {**self.names.bound, **modules, **given}

    @property
    def write_back(self) -> Any:
        target = self.target

        def write_back(tape: Values) -> None:
            target.values = tape.values

        return write_back

    # What each op becomes

    def steps(self) -> Iterator[Step]:
        leaves = iter(range(len(self.tape.inputs)))
        for var, op in self.tape:
            match op:
                case Input():
                    yield self.step(var, op, f"{self.helper['leaves']}[{next(leaves)}]")
                case Constant():
                    yield self.step(var, op, self.constant(var, op))
                case Call():
                    k = self.plan.slot.get(var)
                    buffer = "" if k is None else f"{self.buffer_prefix}{k}"
                    step = self.step(var, op, self.write.call(op, buffer))
                    step.reads, step.buffer = op.operands, buffer
                    yield step

    def step(self, var: Var, op: Op, value: str) -> Step:
        lines = [Line(f"{self.local[var]} = {value}", f"{var} {comment_of(op)}".rstrip(), var)]
        if isinstance(op, Call) and may_vary(op, self.tape):
            lines.append(Line(f"{self.helper['check_shape']}({var.id}, {self.local[var]})"))
        if not isinstance(op, Constant):
            for k, guard in self.guards.get(var, ()):
                lines += self.guard(k, guard)
        return Step(var, lines)

    def guard(self, k: int, guard: Guard) -> list[Line]:
        value = self.local[guard.var]
        check = f"{self.helper['check_guard']}({k}, {value})"
        if guard.how != "bool":
            return [Line(check, guard.origin.place)]
        test = f"if not {value}:" if guard.expected else f"if {value}:"
        return [Line(test, guard.origin.place), Line(f"    {check}")]

    def constant(self, var: Var, op: Constant) -> str:
        if op.spec.kind == "python":
            return self.write.literal(op.value)
        return f"{self.helper['constants']}[{var.id}]"

    # The three sections

    def unpack(self) -> list[Line]:
        given = [*self.positional, *(f"{k}={k}" for k in (*self.keywords, *self.seed))]
        return [Line(f"{self.helper['leaves']} = {self.helper['unpack']}({', '.join(given)})")]

    def signature(self, name: str) -> str:
        named = [*self.keywords, *(f"{s}=None" for s in self.seed)]
        return f"def {name}({', '.join([*self.positional, *(['*', *named] if named else [])])}):"

    def allocate(self) -> list[Line]:
        if not self.plan.buffers:
            return []
        return [Line(f"{self.helper['buffers']} = {self.helper['take_buffers']}()")]

    def buffer_lines(self, wanted: Iterator[int] | range) -> list[Line]:
        return [
            Line(f"{self.buffer_prefix}{k} = {self.helper['buffers']}[{k}]", _describe(b))
            for k in wanted
            for b in [self.plan.buffers[k]]
        ]

    def write_backs(self) -> list[tuple[Var, Line]]:
        tape = self.helper["tape"]
        found = [(v, Line(f"{tape}[{v.id}] = {self.local[v]}", f"{v}")) for v in self.tape.ops]
        for var, into in self.merged.items():
            line = Line(f"{tape}[{var.id}] = {self.local[into]}", f"{var} merged into {into}")
            found.append((into, line))
        return sorted(found, key=lambda pair: int(pair[1].code.split("[")[1].split("]")[0]))

    def returns(self) -> list[Line]:
        statements: list[str] = []
        value = Results(self.tape, self.plan, self.write, statements).text()
        lines = [Line(s) for s in statements]
        if not self.plan.buffers:
            return [*lines, Line(f"return {value}")]
        result = self.helper["result"]
        give = Line(f"{self.helper['give_back']}({self.helper['buffers']})")
        return [*lines, Line(f"{result} = {value}"), give, Line(f"return {result}")]

    # Two layouts

    def whole(self, page: Page, head: list[Step], body: list[Step]) -> tuple[range, range, range]:
        page.add([Line(self.signature(self.name))])
        start = [Line("# prologue"), *self.unpack(), *(x for s in head for x in s.lines)]
        start += [*self.allocate(), *self.buffer_lines(range(len(self.plan.buffers)))]
        first = page.add(start, "    ")
        second = page.add([Line("# body"), *(x for s in body for x in s.lines)], "    ")
        end = [Line("# epilogue")]
        if self.plan.form == "bound":
            tape = self.helper["tape"]
            end.append(Line(f"{tape} = {self.helper['new_values']}()"))
            end += [line for _, line in self.write_backs()]
            end.append(Line(f"{self.helper['write_back']}({tape})"))
        return first, second, page.add([*end, *self.returns()], "    ")

    def pieces(self, page: Page, head: list[Step], body: list[Step]) -> tuple[range, range, range]:
        return Pieces(self, page).run(head, body)


class Pieces:
    """A long tape as several functions that hand their values on in a dict."""

    def __init__(self, whole: _Generator, page: Page) -> None:
        self.whole, self.page = whole, page
        self.state = whole.names.unique("state")
        self.calls: list[Line] = []

    def run(self, head: list[Step], body: list[Step]) -> tuple[range, range, range]:
        first = self.prologue(head)
        second = self.body(body)
        return first, second, self.epilogue()

    def prologue(self, head: list[Step]) -> range:
        """Write the function that fills the state from the arguments."""
        whole, page = self.whole, self.page
        before = len(page) + 1
        name = whole.names.unique(f"{whole.name}_prologue")
        page.add([Line("# prologue"), Line(whole.signature(name))])
        page.add([*whole.unpack(), *(x for s in head for x in s.lines)], "    ")
        kept = [f"{s.var.id}: {whole.local[s.var]}" for s in head]
        page.add([Line(f"return {{{', '.join(kept)}}}"), Line("")], "    ")
        given = [*whole.positional, *(f"{k}={k}" for k in (*whole.keywords, *whole.seed))]
        self.calls = [Line(f"{self.state} = {name}({', '.join(given)})"), *whole.allocate()]
        return range(before, len(page) + 1)

    def body(self, body: list[Step]) -> range:
        """Write one function for each piece of the body."""
        page, before = self.page, len(self.page) + 1
        page.add([Line("# body")])
        needed = last_readers(body, self.whole)
        for k, start in enumerate(range(0, len(body), PIECE)):
            self.piece(k, start, body[start : start + PIECE], needed)
        return range(before, len(page) + 1)

    def piece(self, k: int, start: int, steps: list[Step], needed: dict[Var, int]) -> None:
        whole = self.whole
        name = whole.names.unique(f"{whole.name}_body{k + 1}")
        own = {s.var for s in steps}
        used = sorted({int(s.buffer[len(whole.buffer_prefix) :]) for s in steps if s.buffer})
        buffers = [whole.helper["buffers"]] if whole.plan.buffers else []
        given = ", ".join([self.state, *buffers])
        loads = self.loads({v for s in steps for v in s.reads} - own)
        lines = [*loads, *whole.buffer_lines(iter(used)), *(x for s in steps for x in s.lines)]
        end = start + len(steps)
        lines += [
            Line(f"{self.state}[{s.var.id}] = {whole.local[s.var]}")
            for s in steps
            if needed.get(s.var, -1) >= end
        ]
        self.page.add([Line(f"def {name}({given}):")])
        self.page.add([*lines, Line("")], "    ")
        self.calls.append(Line(f"{name}({given})"))

    def loads(self, wanted: set[Var]) -> list[Line]:
        local = self.whole.local
        return [Line(f"{local[v]} = {self.state}[{v.id}]") for v in sorted(wanted)]

    def epilogue(self) -> range:
        """Write the write-back in pieces, and the function that calls all others."""
        whole, page, before = self.whole, self.page, len(self.page) + 1
        page.add([Line("# epilogue")])
        if whole.plan.form == "bound":
            self.write_back()
        page.add([Line(whole.signature(whole.name))])
        outputs = self.loads(set(whole.tape.outputs))
        page.add([*self.calls, *outputs, *whole.returns()], "    ")
        return range(before, len(page) + 1)

    def write_back(self) -> None:
        whole, tape = self.whole, self.whole.helper["tape"]
        found = whole.write_backs()
        self.calls.append(Line(f"{tape} = {whole.helper['new_values']}()"))
        for k, start in enumerate(range(0, len(found), PIECE)):
            part = found[start : start + PIECE]
            name = whole.names.unique(f"{whole.name}_epilogue{k + 1}")
            self.page.add([Line(f"def {name}({self.state}, {tape}):")])
            lines = [*self.loads({v for v, _ in part}), *(line for _, line in part), Line("")]
            self.page.add(lines, "    ")
            self.calls.append(Line(f"{name}({self.state}, {tape})"))
        self.calls.append(Line(f"{whole.helper['write_back']}({tape})"))


def last_readers(body: list[Step], whole: _Generator) -> dict[Var, int]:
    """Return for each var the place in the body of the last step that reads it."""
    found: dict[Var, int] = {}
    for k, step in enumerate(body):
        for var in step.reads:
            found[var] = k
    everything = whole.tape.ops if whole.plan.form == "bound" else whole.tape.outputs
    return found | dict.fromkeys(everything, len(body))


class Results:
    """The text of what a function returns: the caller's own arrays in the caller's structure."""

    def __init__(
        self, tape: Tape, plan: Plan | None, write: Expressions, statements: list[str]
    ) -> None:
        self.tape, self.plan, self.write = tape, plan, write
        self.builder = Builder(write, statements)
        self.handed_out: set[Var] = set()

    def text(self) -> str:
        """Return value, or value and the tuple of gradients."""
        value = self.tree(self.tape.result)
        if self.tape.gradients is None:
            return value
        gradients = [self.tree(g) for g in self.tape.gradients]
        return f"{value}, ({', '.join(gradients)}{',' if len(gradients) == 1 else ''})"

    def tree(self, tree: Any) -> str:
        """Return one structured result."""
        if not isinstance(tree, Structured):
            return self.write.operand(tree, numpy=False)
        texts: dict[int, str] = {}

        def leaf(index: int) -> str:
            if index not in texts:
                texts[index] = self.leaf(tree.leaves[index], tree.kinds[index])
            return texts[index]

        return self.builder.build(tree.structure, leaf)

    def leaf(self, leaf: Any, kind: str) -> str:
        """Return a leaf as the kind of value that the caller gets, an array as a fresh one."""
        if not isinstance(leaf, Var):
            return self.constant(leaf, kind)
        text, spec = self.write.local[leaf], self.tape[leaf].spec
        if kind == "python":
            return f"{text}.item()" if spec.kind in ("array", "scalar") else text
        if kind == "array" or (kind == "" and spec.kind == "array"):
            return text if self.is_own(leaf) else self.copy(text)
        return f"{text}[()]" if kind == "scalar" and spec.kind == "array" else text

    def constant(self, value: Any, kind: str) -> str:
        text = self.write.operand(value, numpy=False)
        if kind == "python":
            return f"{text}.item()" if isinstance(value, np.ndarray | np.generic) else text
        if kind == "array" or isinstance(value, np.ndarray):
            return self.copy(text) if kind != "scalar" else f"{text}[()]"
        return text

    def copy(self, text: str) -> str:
        return f"{self.write.np}.array({text}, order='K')"

    def is_own(self, var: Var) -> bool:
        """Tell whether an array was made by this call and is handed out for the first time."""
        op = self.tape[var]
        first = var not in self.handed_out
        self.handed_out.add(var)
        planned = self.plan is not None and var in self.plan.slot
        return first and not planned and isinstance(op, Call) and op.spec.kind == "array" and is_fresh(op)


def local_names(tape: Tape, names: Names, own: list[str]) -> dict[Var, str]:
    """Name every op: inputs as the user does, `c3` for constants, `v5` for what is computed."""
    found = input_names(tape, names, own)
    value, constant = names.prefix("v"), names.prefix("c")
    for var, op in tape:
        if not isinstance(op, Input):
            found[var] = f"{constant if isinstance(op, Constant) else value}{var.id}"
    return found


def merged_vars(tape: Tape) -> dict[Var, Var]:
    """Return the ops that another one stands for."""
    found = {}
    for var in tape.fates:
        if var not in tape and (into := tape.survivor(var)) is not None:
            found[var] = into
    return found


def _describe(buffer: Any) -> str:
    shape = ",".join(map(str, buffer.shape))
    return f"{buffer.dtype}[{shape}]" + (" in columns" if buffer.order == "F" else "")


def _module(path: str) -> Any:
    import importlib

    return importlib.import_module(path)


_HELPERS = (
    "unpack", "leaves", "constants", "buffers", "take_buffers", "give_back", "check_guard",
    "check_shape", "new_values", "write_back", "tape", "result",
)  # fmt: skip
