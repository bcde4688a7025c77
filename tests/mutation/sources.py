"""Mutants of the rules' source: one node of the syntax tree changed, compiled, put in place."""

from __future__ import annotations
import __future__

import ast
import gc
import itertools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutant import Code, Mutant, number_of
from tests.mutation.operators import changes_of

FLAGS = __future__.annotations.compiler_flag


@dataclass
class Place:
    """A statement of a module."""

    file: Path
    imports: list[ast.stmt]
    statement: ast.stmt

    def compiled(self) -> Code:
        """Return the code of a module with this statement alone."""
        module = ast.fix_missing_locations(ast.Module([*self.imports, self.statement], []))
        return compile(module, str(self.file), "exec", flags=FLAGS, dont_inherit=True)


Live = dict[int, list[types.FunctionType]]


def source_mutants(files: list[Path], k: int = 0, shares: int = 1) -> Iterator[Mutant]:
    """Yield the mutants of all functions in these files, of many shares one."""
    live = live_functions({str(f) for f in files})
    numbers = itertools.count()
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        # The compiler calls attributes of imported names in another way: it has to see the imports.
        imports = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
        for statement in tree.body:
            if statement not in imports and not isinstance(statement, ast.ClassDef):
                place = Place(file, imports, statement)
                yield from statement_mutants(place, live, lambda: next(numbers) % shares == k)


def live_functions(files: set[str]) -> Live:
    """Return the functions that exist now, by their code."""
    found: Live = {}
    gc.unfreeze()  # pytest's settings freeze what was collected: it would not be listed
    for x in gc.get_objects():
        if isinstance(x, types.FunctionType) and x.__code__.co_filename in files:
            found.setdefault(number_of(x.__code__), []).append(x)
    return found


def statement_mutants(place: Place, live: Live, mine: Callable[[], bool]) -> Iterator[Mutant]:
    """Yield the mutants of one statement of a module."""
    original = place.compiled()
    for parent, slot, node in list(expressions(place.statement)):
        for change, other in list(changes_of(node, parent)):
            if not mine():
                continue
            put(parent, slot, kept_names(other, node))
            try:
                mutated = place.compiled()
            except (SyntaxError, ValueError):
                continue
            finally:
                put(parent, slot, node)
            swaps = list(swaps_of(original, mutated, live))
            if swaps:
                yield source_mutant(place.file, node, change, swaps)


def kept_names(other: ast.expr, node: ast.expr) -> ast.expr:
    """Return the new expression beside the old one, never run, so that no closure loses a name."""
    chosen = ast.IfExp(ast.Constant(True), other, node)
    return ast.copy_location(chosen, node)


def expressions(statement: ast.stmt) -> Iterator[tuple[ast.AST, tuple[str, int | None], ast.expr]]:
    """Yield each expression inside a function, with its parent and its place there."""
    for parent in walk_code(statement):
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "decorator_list", "args") and not (
                name == "args" and isinstance(parent, ast.Call)
            ):
                continue
            if isinstance(value, list):
                for k, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield parent, (name, k), item
            elif isinstance(value, ast.expr):
                yield parent, (name, None), value


def walk_code(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but not into what raises errors, nor into signatures."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise | ast.Assert | ast.arguments | ast.JoinedStr):
            continue
        if isinstance(child, ast.Expr) and (
            isinstance(child.value, ast.Constant) or refuses(child.value)
        ):
            continue
        yield from walk_code(child)


def refuses(call: ast.expr) -> bool:
    """Tell whether an expression is a call that raises where there is no answer."""
    func = call.func if isinstance(call, ast.Call) else None
    return isinstance(func, ast.Name) and func.id.startswith("refuse")


def put(parent: ast.AST, slot: tuple[str, int | None], node: ast.expr) -> None:
    name, k = slot
    if k is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[k] = node


def swaps_of(
    original: Code, mutated: Code, live: Live
) -> Iterator[tuple[types.FunctionType, Code]]:
    """Yield the living functions that differ, with their new code, the innermost first."""
    olds = [c for c in original.co_consts if isinstance(c, Code)]
    news = [c for c in mutated.co_consts if isinstance(c, Code)]
    for old, new in zip(olds, news, strict=False):
        if number_of(old) == number_of(new):
            continue
        inner = list(swaps_of(old, new, live))
        yield from inner
        # A function around it may yet make others of the kind.
        if old.co_freevars == new.co_freevars:
            for function in live.get(number_of(old), ()):
                yield function, new


def source_mutant(
    file: Path, node: ast.expr, change: str, swaps: list[tuple[types.FunctionType, Code]]
) -> Mutant:
    olds = [function.__code__ for function, _ in swaps]

    def put_in() -> None:
        for function, code in swaps:
            function.__code__ = code

    def take_out() -> None:
        for (function, _), code in zip(swaps, olds, strict=True):
            function.__code__ = code

    where = olds[0].co_qualname.replace(".<locals>", "")
    place = f"{file.stem}.{where} (line {node.lineno}, column {node.col_offset + 1})"
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    touched = frozenset((number_of(old), line) for old in olds for line in lines)
    return Mutant(place, change, touched, put_in, take_out)
