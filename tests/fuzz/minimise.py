"""Make a failing program small: fewer statements, plainer calls, smaller shapes, rounder values."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.fuzz.draw import quiet
from tests.fuzz.program import DEFINED, Argument, Leaf, Program

Test = Callable[[Program], bool]


def minimise(program: Program, fails: Test, seconds: float = 60.0) -> Program:
    """Return a smaller program that fails too; `fails` tells of one whether it does."""
    end = time.monotonic() + seconds
    changed = True
    while changed:
        changed = False
        for smaller in STEPS:
            before = program
            program = exhaust(program, smaller, fails, end)
            changed = changed or program is not before
    return program


def exhaust(
    program: Program, smaller: Callable[[Program], Iterator[Program]], fails: Test, end: float
) -> Program:
    """Take the first smaller program that fails, until there is none or the time is over."""
    found: Program | None = program
    while found is not None:
        program, found = found, None
        for candidate in smaller(program):
            if time.monotonic() > end:
                return program
            if runs(candidate) and fails(candidate):
                found = candidate
                break
    return program


def runs(program: Program) -> bool:
    """Tell whether NumPy runs the program without a warning, to a finite number."""
    try:
        with quiet():
            return bool(np.isfinite(program.function()(*program.args())))
    except Exception:
        return False


# What a program may lose.


def fewer_results(p: Program) -> Iterator[Program]:
    for k in range(len(p.results)):
        yield replace(p, results=p.results[:k] + p.results[k + 1 :])


def fewer_statements(p: Program) -> Iterator[Program]:
    """Drop one statement; what reads it reads one of its own operands instead."""
    for k in reversed(range(len(p.statements))):
        rest = p.statements[:k] + p.statements[k + 1 :]
        yield replace(p, statements=rest)
        made, read = names_of(p.statements[k])
        for name in made:
            for operand in read:
                yield replace(
                    p,
                    statements=tuple(renamed(s, name, operand) for s in rest),
                    results=tuple(renamed(r, name, operand) for r in p.results),
                )


def given_results(p: Program) -> Iterator[Program]:
    """Make an argument of what a statement computes."""
    for k in reversed(range(len(p.statements))):
        made, _ = names_of(p.statements[k])
        for name in made:
            value = values_after(p, k).get(name)
            taken = name in {a.name for a in p.arguments}
            if (
                taken
                or not isinstance(value, np.ndarray | np.generic)
                or value.dtype.kind not in "fc"
            ):
                continue
            layout = "scalar" if isinstance(value, np.generic) else "C"
            new = Argument(name, (Leaf(np.ascontiguousarray(value).reshape(value.shape), layout),))
            statements = p.statements[:k] + p.statements[k + 1 :]
            yield replace(p, arguments=(*p.arguments, new), statements=statements)


def values_after(p: Program, last: int) -> dict[str, Any]:
    """Return the names and values behind a statement."""
    space = dict(DEFINED) | dict(zip((a.name for a in p.arguments), p.args(), strict=True))
    try:
        for text in p.statements[: last + 1]:
            exec(text, space)
    except Exception:
        return {}
    return space


def fewer_arguments(p: Program) -> Iterator[Program]:
    for k in range(len(p.arguments)):
        yield replace(p, arguments=p.arguments[:k] + p.arguments[k + 1 :])


def plainer_statements(p: Program) -> Iterator[Program]:
    """Put a part of an expression in the place of the whole, or leave an option away."""
    for k, text in enumerate(p.statements):
        for plainer in plainer_sources(text):
            yield replace(p, statements=(*p.statements[:k], *plainer, *p.statements[k + 1 :]))


def plainer_sources(text: str) -> Iterator[tuple[str, ...]]:
    """Yield sources with one node less."""
    tree = ast.parse(text)
    if len(tree.body) > 1:
        for k in range(len(tree.body)):
            yield tuple(ast.unparse(n) for j, n in enumerate(tree.body) if j != k)
        yield tuple(map(ast.unparse, tree.body))
    for n in tree.body:
        for body in (getattr(n, "body", None), getattr(n, "orelse", None)):
            if isinstance(n, ast.If | ast.For | ast.While) and body:
                yield tuple(map(ast.unparse, body))
    count = len(list(ast.walk(tree)))
    for k in range(count):
        node = list(ast.walk(tree))[k]
        for part in parts_of(node):
            yield (ast.unparse(Put(k, part).visit(ast.parse(text))),)
        if isinstance(node, ast.Call):
            for j in range(len(node.keywords)):
                yield (ast.unparse(Put(k, without_keyword(node, j)).visit(ast.parse(text))),)


def parts_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that may stand for a whole."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(value=value), args=args):
            own = [] if isinstance(value, ast.Name) and value.id == "np" else [value]
            return [*own, *args]
        case ast.Subscript(value=value, ctx=ast.Load()):
            return [value]
    return []


def without_keyword(call: ast.Call, k: int) -> ast.Call:
    return ast.Call(call.func, call.args, call.keywords[:k] + call.keywords[k + 1 :])


class Put(ast.NodeTransformer):
    """Put another node in the place of the one with this number in the order of ast.walk."""

    def __init__(self, number: int, other: ast.expr) -> None:
        self.number, self.other = number, other
        self.target: ast.AST | None = None

    def visit(self, node: ast.AST) -> Any:
        if self.target is None:
            self.target = list(ast.walk(node))[self.number]
        return self.other if node is self.target else self.generic_visit(node)


def names_of(text: str) -> tuple[list[str], list[str]]:
    """Return the names that a statement makes, and those it reads."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)]
    made = dict.fromkeys(n.id for n in nodes if isinstance(n.ctx, ast.Store))
    read = dict.fromkeys(n.id for n in nodes if isinstance(n.ctx, ast.Load))
    return list(made), [n for n in read if n not in made and n not in DEFINED]


def renamed(text: str, name: str, other: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            node.id = other
    return ast.unparse(tree)


# What its values may lose.


def plainer_leaves(p: Program) -> Iterator[Program]:
    """Simplify one leaf: layout, type, values."""
    leaves = p.leaves
    for k, leaf in enumerate(leaves):
        for plainer in plainer_leaf(leaf):
            yield p.with_leaves([*leaves[:k], plainer, *leaves[k + 1 :]])


def plainer_leaf(leaf: Leaf) -> Iterator[Leaf]:
    data, kind = leaf.data, leaf.data.dtype.kind
    if leaf.layout not in ("C", "python"):
        yield Leaf(data, "C")
    if kind == "c":
        yield Leaf(data.real.copy(), leaf.layout)
    if kind in "fc" and data.dtype not in (np.dtype(float), np.dtype(complex)):
        yield Leaf(data.astype(complex if kind == "c" else float), leaf.layout)
    for plain in (np.ones_like(data), np.rint(data), np.round(data, 1)) if kind in "fc" else ():
        if not np.array_equal(plain, data) and text_size(plain) < text_size(data):
            yield Leaf(plain, leaf.layout)


def text_size(x: np.ndarray) -> int:
    return len(repr(x.tolist()))


def smaller_shapes(p: Program) -> Iterator[Program]:
    """Cut all axes of one length, or one axis of one leaf."""
    leaves = p.leaves
    for n in sorted({n for leaf in leaves for n in leaf.data.shape if n > 1}):
        for m in sorted({1, n - 1}):
            yield p.with_leaves([cut(leaf, n, m) for leaf in leaves])
    for k, leaf in enumerate(leaves):
        for axis, n in enumerate(leaf.data.shape):
            if n > 1:
                less = np.ascontiguousarray(np.take(leaf.data, range(n - 1), axis))
                yield p.with_leaves([*leaves[:k], Leaf(less, leaf.layout), *leaves[k + 1 :]])


def cut(leaf: Leaf, n: int, m: int) -> Leaf:
    """Return a leaf whose axes of length n have length m."""
    at = tuple(slice(0, m) if k == n else slice(None) for k in leaf.data.shape)
    return Leaf(np.array(leaf.data[at]), leaf.layout)


STEPS = (
    fewer_results,
    fewer_statements,
    given_results,
    fewer_arguments,
    plainer_statements,
    smaller_shapes,
    plainer_leaves,
)
