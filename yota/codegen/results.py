"""The text of what a function returns: the caller's own arrays in the caller's structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from yota.aliasing import is_fresh
from yota.buffers import Plan
from yota.codegen.expressions import Expressions
from yota.codegen.structure import Builder, fixed, walk
from yota.structs import Leaf
from yota.tape import Call, Structured, Tape, Var


class Results:
    """Expressions for results and gradients; what they need before goes to `statements`.

    Without a plan nothing is computed into buffers.
    """

    def __init__(self, tape: Tape, plan: Plan | None, write: Expressions) -> None:
        self.tape, self.plan, self.write = tape, plan, write
        self.statements: list[str] = []
        self.builder = Builder(write, self.statements)
        self.handed_out: set[Var] = set()

    def parts(self) -> tuple[str, list[str]]:
        """Return the value and the gradient of each argument."""
        return self.tree(self.tape.result), [self.tree(g) for g in self.tape.gradients or ()]

    def tree(self, tree: Any) -> str:
        """Return one structured result."""
        if not isinstance(tree, Structured):
            return fixed(tree, self.write)
        texts: dict[int, str] = {}
        shared = set(_repeated(tree.structure))

        def leaf(index: int) -> str:
            if index not in texts:
                text = self.leaf(tree.leaves[index], tree.kinds[index])
                texts[index] = self.named(text) if index in shared else text
            return texts[index]

        return self.builder.build(tree.structure, leaf)

    def named(self, text: str) -> str:
        """Return a name for a value that stands at several places."""
        if text.isidentifier():
            return text
        name = self.write.names.unique("shared")
        self.statements.append(f"{name} = {text}")
        return name

    def leaf(self, leaf: Any, kind: str) -> str:
        """Return a leaf as the kind of value that the caller gets, an array as a fresh one."""
        text = self.write.local[leaf] if isinstance(leaf, Var) else fixed(leaf, self.write)
        have = self.tape[leaf].spec.kind if isinstance(leaf, Var) else _kind(leaf)
        if kind == "python":
            return f"{text}.item()" if have in ("array", "scalar") else text
        if kind == "array" or (kind == "" and have == "array"):
            own = isinstance(leaf, Var) and self.is_own(leaf)
            return text if own else f"{self.write.np}.array({text}, order='K')"
        return f"{text}[()]" if kind == "scalar" and have == "array" else text

    def is_own(self, var: Var) -> bool:
        """Tell whether an array was made by this call and is handed out for the first time."""
        op = self.tape[var]
        first = var not in self.handed_out
        self.handed_out.add(var)
        if self.plan is not None and var in self.plan.slot:
            return False
        return first and isinstance(op, Call) and op.spec.kind == "array" and is_fresh(op)


def _repeated(structure: Any) -> Iterator[int]:
    """Yield the leaves that stand at several places."""
    seen: set[int] = set()
    for s in walk(structure):
        if isinstance(s, Leaf):
            if s.index in seen:
                yield s.index
            seen.add(s.index)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "array"
    return "scalar" if isinstance(value, np.generic) else ""
