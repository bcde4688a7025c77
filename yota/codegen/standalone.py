"""A tape as one plain function: NumPy and Python alone, nothing of this library in it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from yota.codegen.constants import constant_text
from yota.codegen.draft import merged_vars
from yota.codegen.expressions import Expressions
from yota.codegen.results import Results
from yota.codegen.runtime import PYTHON
from yota.codegen.scope import Scope
from yota.codegen.source import Line, Page, Source
from yota.codegen.structure import Arguments
from yota.shapes import may_vary
from yota.tape import (
    Call,
    Constant,
    Guard,
    Input,
    Tape,
    Var,
    comment_of,
)


def standalone_source(tape: Tape) -> Source:
    """Return the code of a function `(value, *gradients)` of the recorded arguments.

    What was assumed while recording (types, fixed values, branches) is checked in plain Python;
    ValueError says what differs.
    """
    return _Standalone(tape).run()


class _Standalone(Scope):
    def run(self) -> Source:
        body = [Line("# body"), *self.body()]
        start, constants = [Line("# prologue"), *self.unpack()], list(self.constants())
        end = [Line("# epilogue"), *self.returns()]
        helpers = self.helpers()
        page = Page()
        modules = sorted(self.write.imports.items(), key=lambda pair: pair[1])
        page.add([*(_import(name, path) for name, path in modules), Line("")])
        page.add([*(Line(x) for x in helpers), *constants, *([Line("")] if constants else [])])
        page.add([Line(self.signature(self.name))])
        first, second, third = (page.add(part, "    ") for part in (start, body, end))
        line_of, ops_of = page.numbers(merged_vars(self.tape))
        text, bound = page.text(), dict(self.names.bound)
        return Source(text, self.name, "standalone", first, second, third, line_of, ops_of, bound)

    def unpack(self) -> Iterator[Line]:
        """Write the checks of the arguments, then one line for each input."""
        entry, taken = self.tape.entry, Arguments(self.write)
        for name, structure in zip(self.positional, entry.args, strict=True):
            taken.take(structure, name)
        for name, (_, structure) in zip(self.keywords, entry.kwargs, strict=True):
            taken.take(structure, name)
        paths = [taken.paths[k] for k in sorted(taken.paths)]
        yield from (Line(x) for x in taken.checks)
        for var, path in zip(self.tape.inputs, [*paths, *self.seed], strict=True):
            op = self.tape[var]
            if isinstance(op, Input):
                yield from self.input(var, op, path)

    def input(self, var: Var, op: Input, path: str) -> Iterator[Line]:
        name, spec, np_ = self.local[var], op.spec, self.write.np
        if self.tape.entry.as_float:
            path = self.names.bind(_as_float, "as_float") + f"({path})"
        if name != path:
            yield Line(f"{name} = {path}", f"{var} {comment_of(op)}", var)
        if spec.kind == "array":
            test = (
                f"{self.names.builtin(type)}({name}) is {np_}.ndarray "
                f"and {name}.dtype == {self.write.dtype(spec.dtype)} "
                f"and {name}.shape == {spec.shape}"
            )
            yield from self.require(test, f"{op.name} was recorded as {spec}")
            yield from self.memory(op, name)
            if spec.order in "CF" and not op.pinned:
                yield Line(f"{name} = {np_}.asarray({name}, order={spec.order!r})")
        else:
            kind = spec.dtype.type if spec.kind == "scalar" else PYTHON[spec.dtype.kind]
            test = f"{self.names.builtin(type)}({name}) is not {self.write.function(kind)}"
            yield from self.refuse(test, f"{op.name} was recorded as {spec}")
        yield from self.guard_lines(var)

    def memory(self, op: Input, name: str) -> Iterator[Line]:
        """Write the checks of how an array that is pinned lies in memory."""
        message = f"{op.name} lies in memory otherwise than when this was recorded"
        if op.writeable is not None:
            yield from self.refuse(f"{name}.flags.writeable is not {op.writeable}", message)
        if op.pinned and op.strides is not None:
            yield from self.refuse(f"{name}.strides != {op.strides}", message)
        elif op.pinned:
            flag = "c_contiguous" if op.spec.order == "C" else "f_contiguous"
            yield from self.require(f"{name}.flags.{flag}", message)

    def require(self, test: str, message: str) -> Iterator[Line]:
        yield from self.refuse(f"not {test}" if test.isidentifier() else f"not ({test})", message)

    def refuse(self, test: str, message: str) -> Iterator[Line]:
        yield Line(f"if {test}:")
        yield Line(f"    raise {self.names.builtin(ValueError)}({message!r})")

    def constants(self) -> Iterator[Line]:
        """Write constants as text where that keeps every bit; others are bound by name."""
        for var, op in self.tape:
            if not isinstance(op, Constant):
                continue
            name, comment = self.local[var], f"{var} {comment_of(op)}".rstrip()
            text = constant_text(op.value, self.write)
            if text is None:
                self.names.bound[name] = op.value
                bound = f"# {name} is bound to {var}::{op.spec}  {comment_of(op)}"
                yield Line(bound.rstrip(), "", var)
            else:
                yield Line(f"{name} = {text}", comment, var)

    def body(self) -> Iterator[Line]:
        for var, op in self.tape:
            if not isinstance(op, Call):
                continue
            name = self.local[var]
            comment = f"{var} {comment_of(op)}".rstrip()
            yield Line(f"{name} = {self.write.call(op)}", comment, var)
            if may_vary(op, self.tape):
                message = f"{name} had shape {op.spec.shape} when this was recorded"
                yield from self.require(f"{name}.shape == {op.spec.shape}", message)
            yield from self.guard_lines(var)

    def guard_lines(self, var: Var) -> Iterator[Line]:
        for _, guard in self.guards.get(var, ()):
            name, place = self.local[var], guard.origin.place or "the function"
            message = f"{place} takes another branch for these arguments"
            if guard.how == "bool":
                yield from self.refuse(f"not {name}" if guard.expected else name, message)
                continue
            yield from self.require(self.guard_test(name, guard), message)

    def guard_test(self, name: str, guard: Guard) -> str:
        """Return what is true where Python reads the same of a value again."""
        np_ = self.write.np
        if guard.how == "type":
            kind, dtype = guard.expected.split()
            typed = self.names.builtin(type)
            if kind == "python":
                return f"{typed}({name}) is {self.write.function(PYTHON[np.dtype(dtype).kind])}"
            return f"{name}.dtype == {self.write.dtype(np.dtype(dtype))}"
        wanted = self.write.operand(guard.expected, numpy=False)
        if guard.how == "shape":
            return f"{name}.shape == {wanted}"
        if guard.how == "int":
            return f"{self.names.builtin(int)}({name}) == {wanted}"
        return f"{np_}.array_equal({name}, {wanted})"

    def returns(self) -> Iterator[Line]:
        results = Results(self.tape, None, self.write)
        value, gradients = results.parts()
        yield from (Line(s) for s in results.statements)
        yield Line(f"return {', '.join([value, *gradients])}")

    def helpers(self) -> list[str]:
        """Return the text of this library's own functions that the code calls, plain."""
        lines: list[str] = []
        waiting = list(self.names.bound)
        done = set()
        while waiting:
            name = waiting.pop(0)
            fn = self.names.bound.get(name)
            if name in done or not isinstance(fn, FunctionType) or not _is_ours(fn):
                continue
            done.add(name)
            try:
                text, needs = plain_text(fn, name, self.write)
            except OSError:
                # Without source files the function itself stays bound.
                continue
            del self.names.bound[name]
            waiting += needs
            lines = [*text.splitlines(), "", *lines]
        return lines


def _as_float(value):  # type: ignore[no-untyped-def]  # its text is copied into generated code
    """Return an int, or an array of ints, as float."""
    if isinstance(value, np.ndarray):
        return value.astype(float) if value.dtype.kind in "iu" else value
    if isinstance(value, np.integer):
        return np.float64(value)
    return float(value) if type(value) is int else value


def _import(name: str, path: str) -> Line:
    parent, _, last = path.rpartition(".")
    if parent:
        return Line(f"from {parent} import {last}" + (f" as {name}" if name != last else ""))
    return Line(f"import {path}" + (f" as {name}" if name != path else ""))


def _is_ours(fn: Callable[..., Any]) -> bool:
    return (fn.__module__ or "").partition(".")[0] == "yota"


class _Plain(ast.NodeTransformer):
    """Leave out annotations and rename what the generated module names differently."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renamed.get(node.id, node.id)
        return node


def plain_text(fn: FunctionType, name: str, write: Expressions) -> tuple[str, list[str]]:
    """Return the text of a function under `name`, and the names of the functions that it calls."""
    fn = inspect.unwrap(fn)
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{fn.__qualname__} is no plain function")
    tree.name, tree.decorator_list, tree.returns = name, [], None
    renamed, needs = {}, []
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for used in sorted(loaded.intersection(fn.__code__.co_names)):
        value = fn.__globals__.get(used)
        if value is np:
            renamed[used] = write.np
        elif isinstance(value, ModuleType):
            renamed[used] = write.module(value.__name__)
        elif isinstance(value, FunctionType) and _is_ours(value):
            renamed[used] = write.names.bind(inspect.unwrap(value), used)
            needs.append(renamed[used])
        elif used in fn.__globals__:
            renamed[used] = write.names.bind(value, used)
    return ast.unparse(_Plain(renamed).visit(tree)), needs
