"""Run generated code statement by statement, and compare what each one reads and gives.

The code is run as it stands on the recorded inputs; between its statements stand calls that look at
the values.  Code that would run the user's own functions is not run.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yota.blocks import Block
from yota.buffers import Plan
from yota.codegen import Source
from yota.codegen.runtime import ByNumpy, Unpack
from yota.rules.functional import add_at, setitem
from yota.tape import Call, Constant, Tape, Var
from yotaview.checks.hazards import Hazard, arrays_in, overlap
from yotaview.model.replay import quiet
from yotaview.model.same import same_bits

_BEFORE, _BEHIND = "_before_", "_behind_"


class Instrumented(ast.NodeTransformer):
    """Puts a call in front of and behind each statement that computes an op."""

    def __init__(self, source: Source, lines: Mapping[int, Sequence[Var]]) -> None:
        self.lines, self.memory = lines, f"{source.name}_memory"
        self.made_once: set[int] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Note the lines that make memory, whose contents come later."""
        if node.name.startswith(self.memory) and not node.args.args:
            self.made_once |= {x.lineno for x in node.body}
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Go through the statements of a block."""
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [x for s in body for x in self.around(s)]  # type: ignore[attr-defined]
        return node

    def around(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return a statement with what looks at it."""
        simple = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        if statement.lineno not in self.lines or not simple:
            return [statement]
        name = statement.targets[0].id  # type: ignore[attr-defined]
        return [
            _call(f"{_BEFORE}({statement.lineno})", statement),
            statement,
            _call(f"{_BEHIND}({statement.lineno}, {name})", statement),
        ]


def _call(text: str, at: ast.stmt) -> ast.stmt:
    made = ast.parse(text).body[0]
    for node in ast.walk(made):
        ast.copy_location(node, at)
    return made


@dataclass
class Run:
    """What one run of generated code gave, in the order in which it was computed."""

    tape: Tape
    source: Source
    values: Mapping[Var, Any]
    plan: Plan
    seen: dict[Var, Any] = field(default_factory=dict)
    found: list[Hazard] = field(default_factory=list)
    result: Any = None

    def __post_init__(self) -> None:
        self.lines = {n: own for n, vars_ in self.source.ops_of.items() if (own := self.own(vars_))}
        self.rounds: dict[int, int] = {}
        self.block_of = {v: block for block in self.plan.blocks for v in block.vars}
        self.made_once: set[int] = set()
        self.fixed = {v: op.value for v, op in self.tape if isinstance(op, Constant)}

    def own(self, vars_: Sequence[Var]) -> list[Var]:
        """Return the ops of a line that are on the tape of the code: one a round of a loop."""
        return [v for v in vars_ if v in self.tape]

    def run(self, inputs: Sequence[Any]) -> None:
        """Run the code on these values of the inputs."""
        look = Instrumented(self.source, self.lines)
        tree = ast.fix_missing_locations(look.visit(ast.parse(self.source.text)))
        self.made_once = look.made_once
        leaves = [np.copy(x, order="K") if isinstance(x, np.ndarray) else x for x in inputs]
        self.fixed |= dict(zip(self.tape.inputs, leaves, strict=True))
        space = {
            # where floats go astray, NumPy answers from the recorded tape: nothing to look at
            k: (lambda *_, **__: leaves) if isinstance(x, Unpack)
            else (lambda *_, **__: None) if isinstance(x, ByNumpy) else x
            for k, x in self.source.namespace.items()
        }  # fmt: skip
        space |= {_BEFORE: self.before, _BEHIND: self.behind}
        with quiet():
            exec(compile(tree, f"<looked at: {self.source.name}>", "exec"), space)
            function = space[self.source.name]
            count = len(inspect.signature(function).parameters)
            self.result = function(*(None,) * count)
        self.unchanged(inputs)

    def now(self, line: int) -> Var:
        """Return the op that a line computes in this round."""
        vars_ = self.lines[line]
        return vars_[self.rounds.get(line, 0) % len(vars_)]

    def before(self, line: int) -> None:
        """Look at what the next statement reads."""
        var = self.now(line)
        op = self.tape[var]
        if not isinstance(op, Call) or line in self.made_once:
            return
        writes = op.fn in (setitem, add_at)
        for k, operand in enumerate(dict.fromkeys(op.operands)):
            held = self.seen.get(operand)
            if held is None or operand not in self.values or (writes and k == 0):
                continue
            is_part = var in self.block_of and operand in self.block_of[var].vars
            if not same_bits(held, self.recorded(operand, line if is_part else None)):
                writer = self.last_writer(held, operand)
                text = f"{var} reads {operand}, which {writer} has written over"
                self.found.append(Hazard("overwritten", var, writer, text))

    def recorded(self, var: Var, line: int | None = None) -> Any:
        """Return the tape's value; of a block that a line belongs to the rows of this turn."""
        value, block = self.values[var], self.block_of.get(var)
        if block is None or line is None:
            return value
        first = self.rounds.get(line, 0) * block.rows
        return value[first : first + block.rows]

    def last_writer(self, held: Any, operand: Var) -> Var:
        """Return the last op that gave a value in the memory of another one."""
        for var in reversed(self.seen):
            if (
                var != operand
                and var in self.plan.slot
                and any(overlap(x, y) for x in arrays_in(self.seen[var]) for y in arrays_in(held))
            ):
                return var
        return operand

    def behind(self, line: int, value: Any) -> None:
        """Look at what a statement gave."""
        if line in self.made_once and len(self.lines[line]) > 1:
            return  # the rows of a loop: no value of one op
        var = self.now(line)
        self.seen.pop(var, None)  # the order of a dictionary is that of the first insertion
        self.seen[var] = value
        if isinstance(self.tape[var], Call) and line not in self.made_once:
            if var in self.values and not same_bits(value, self.recorded(var, line)):
                text = f"line {line} gives another value for {var} than the tape"
                self.found.append(Hazard("another value", var, var, text))
            self.into_fixed(var, value)
        self.rounds[line] = self.rounds.get(line, 0) + 1
        block = self.block_of.get(var)
        if block is not None and self.is_over(block, var, line):
            self.join_rows(block)

    def is_over(self, block: Block, var: Var, line: int) -> bool:
        """Tell whether the last turn of a block ends with this line."""
        return var == block.last and self.rounds[line] * block.rows >= block.shape[0]

    def join_rows(self, block: Block) -> None:
        """See the wholes of a block in place of their last rows; some have none."""
        for var in block.vars:
            whole = getattr(self.seen.pop(var), "base", None)
            if var not in block.local and whole is not None and whole.shape == block.shape:
                self.seen[var] = whole

    def into_fixed(self, var: Var, value: Any) -> None:
        """Report a result that stands in the memory of an argument or constant."""
        for array in arrays_in(value):
            for source, fixed in self.fixed.items():
                if isinstance(fixed, np.ndarray) and overlap(array, fixed):
                    known = self.values.get(var), self.values.get(source)
                    views = [(x, y) for x in arrays_in(known[0]) for y in arrays_in(known[1])]
                    if not any(overlap(x, y) for x, y in views):
                        kind = "argument" if source in self.tape.inputs else "constant"
                        text = f"{var} is written into the {kind} {source}"
                        self.found.append(Hazard("fixed memory", var, source, text))

    def unchanged(self, inputs: Sequence[Any]) -> None:
        """Report results that are no memory of their own, and arguments that were written."""
        given = dict(zip(self.tape.inputs, inputs, strict=True))
        for var, array in self.fixed.items():
            if not isinstance(array, np.ndarray):
                continue
            if not same_bits(array, given.get(var, self.values.get(var, array))):
                text = f"{var} is changed: it belongs to the caller"
                self.found.append(Hazard("fixed memory", var, var, text))
        for out in results_in(self.result):
            for var, value in (*self.fixed.items(), *self.resident()):
                if any(overlap(out, x) for x in arrays_in(value)):
                    text = f"a result shares memory with {var}, which the next call uses"
                    self.found.append(Hazard("escapes", var, var, text))

    def resident(self) -> list[tuple[Var, Any]]:
        """Return the values that stand in memory which stays from call to call."""
        return [(v, x) for v, x in self.seen.items() if v in self.plan.slot]


def results_in(result: Any) -> list[Any]:
    """Return the arrays of what the code returned."""
    found, stack = [], [result]
    while stack:
        x = stack.pop()
        if isinstance(x, np.ndarray):
            found.append(x)
        elif isinstance(x, dict):
            stack += x.values()
        elif isinstance(x, list | tuple):
            stack += x
        elif hasattr(x, "__dict__") and not isinstance(x, type):
            stack += vars(x).values()
    return found
