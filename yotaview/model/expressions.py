"""Expressions that a user types about values: read once, computed by a walk over a white list.

Nothing but numbers and arrays of numbers comes in or goes out, no name, attribute or function is
looked up anywhere but in the tables of `functions`, and what a step would make is measured first.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yotaview.model.digits import whole
from yotaview.model.functions import (
    ATTRIBUTES,
    BARE,
    BINARY,
    COMPARE,
    CONSTANTS,
    FUNCTIONS,
    KEYWORDS,
    METHODS,
    UNARY,
    Refusal,
    checked,
    taken,
)
from yotaview.model.replay import quiet

MAX_TEXT, MAX_NODES = 300, 120
TOKEN = re.compile(r"\s+|(?:δ|\bd)%(\d+)|%(\d+)|[^\W\d]\w*|(?:\d|\.\d)[\w.]*|.", re.S)
WORDS = {"and", "or", "not", "if", "else", "in", "is", "lambda"}
Lookup = Callable[[str], Any]


class ExpressionError(ValueError):
    """An expression cannot be read or computed; the text says why in one line."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression with the names that it reads: `x`, `%7`, `δ%7`, or an input's as `W1`."""

    text: str
    names: tuple[str, ...]
    tree: ast.expr = field(compare=False, repr=False)

    def compute(self, lookup: Lookup) -> Any:
        """Return the value, with the names' values from `lookup`; raises ExpressionError."""
        try:
            with quiet():
                return _Run(lookup).value(self.tree)
        except ExpressionError:
            raise
        except Refusal as error:
            raise ExpressionError(f"{self.text}: {error}") from error
        except (Exception, RecursionError, MemoryError) as error:
            why = str(error).partition("\n")[0]
            raise ExpressionError(f"{self.text}: {type(error).__name__}: {why}") from error


def read_expression(text: str) -> Expression:
    """Read an expression; raises ExpressionError, which says what can be written."""
    text = text.strip()
    if not text:
        raise ExpressionError("no expression: write one as np.ptp(x) or %7.max() - %3.max()")
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"an expression of {len(text)} characters: {MAX_TEXT} are read")
    python, names = _as_python(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(python, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = getattr(error, "msg", None) or str(error)
        raise ExpressionError(f"cannot read {text!r}: {why}") from error
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        raise ExpressionError(f"{text[:40]!r}… has {len(nodes)} parts: {MAX_NODES} are read")
    _Check(names).visit(tree)
    called = {n.func for n in nodes if isinstance(n, ast.Call)}
    found = [n.id for n in nodes if isinstance(n, ast.Name) and n not in called]
    free = (n for n in found if n not in BARE and n != "np")
    return Expression(text, tuple(dict.fromkeys(free)), tree)


def _as_python(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with a name of Python's for each op, and what those names stand for.

    `%` is an op's number where an operand is due, the remainder elsewhere.
    """
    parts, names = [], {}
    for match, number in _words(text):
        word = match[0]
        if number:
            name = f"{'cotangent' if match[1] else 'op'}__{number}"
            names[name] = f"{'δ' if match[1] else ''}%{whole(number)}"
            word = name
        elif match[2]:
            word = f"% {match[2]}"
        elif "__" in word:
            raise ExpressionError(f"cannot read {text!r}: no name holds two underscores")
        parts.append(f" {word} " if number else word)
    return "".join(parts).strip(), names


def _words(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the words of a text, each with the number of the op that it names, or ''."""
    due = True
    for match in TOKEN.finditer(text):
        word = match[0]
        number = match[1] or (match[2] if due else None) or ""
        yield match, number
        if number:
            due = False
        elif not word.isspace():
            due = word in WORDS or not (word[-1].isalnum() or word[-1] in "_)].")


def op_numbers(text: str) -> list[int]:
    """Return the numbers of the ops that a text names, each once."""
    return list(dict.fromkeys(whole(number) for _, number in _words(text) if number))


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """Return a text with other numbers for the ops that it names."""
    parts = []
    for match, number in _words(text):
        new = numbers.get(whole(number)) if number else None
        parts.append(match[0] if new is None else f"{match[0].partition('%')[0]}%{new}")
    return "".join(parts)


class _Check(ast.NodeVisitor):
    """Refuses what is on no list before anything is computed."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, ALLOWED):
            what = type(node).__name__
            raise ExpressionError(f"{what} is not allowed in an expression: it only computes")
        super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, int | float | complex | type(None)):
            raise ExpressionError(f"{node.value!r} is no number")
        if isinstance(node.value, int):
            checked(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == "np":
            raise ExpressionError("np stands before a function only, as in np.ptp(x)")
        if node.id in self.names:
            node.id = self.names[node.id]

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (name := _numpy_name(node)) is not None:
            if name not in CONSTANTS and name not in FUNCTIONS:
                raise ExpressionError(_no_function(f"np.{name}"))
        elif node.attr in ATTRIBUTES or node.attr in METHODS:
            self.visit(node.value)
        else:
            known = " ".join((*ATTRIBUTES, *sorted(METHODS)))
            raise ExpressionError(f"no attribute {node.attr!r}; there are: {known}")

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name(id=name):
                if name not in FUNCTIONS:
                    raise ExpressionError(_no_function(name))
            case ast.Attribute(attr=name):
                self.visit(node.func)
                if name in ATTRIBUTES and name not in METHODS and _numpy_name(node.func) is None:
                    raise ExpressionError(f"{name} is not called: write it without ()")
            case _:
                raise ExpressionError("only a function by its name can be called")
        for keyword in node.keywords:
            if keyword.arg not in KEYWORDS:
                raise ExpressionError(
                    f"no keyword {keyword.arg!r}; there are: {' '.join(sorted(KEYWORDS))}"
                )
            self.visit(keyword.value)
        for arg in node.args:
            self.visit(arg)


def _no_function(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.removeprefix("np."), FUNCTIONS, 3)
    tail = f"; near it: {' '.join(near)}" if near else ", or it is not on the list of safe ones"
    return f"no function {name!r}{tail}"


def _numpy_name(node: ast.Attribute) -> str | None:
    """Return `ptp` of `np.ptp`, `linalg.norm` of `np.linalg.norm`; None of a value's attribute."""
    match node.value:
        case ast.Name(id="np"):
            return node.attr
        case ast.Attribute(value=ast.Name(id="np"), attr="linalg"):
            return f"linalg.{node.attr}"
    return None


ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Constant, ast.Name,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Load, ast.boolop,
    *BINARY, *UNARY, *COMPARE,
)  # fmt: skip


class _Run:
    """Computes a tree that was checked."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def value(self, node: ast.expr) -> Any:
        return checked(self._value(node))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return CONSTANTS[node.id] if node.id in BARE else taken(self.lookup(node.id))
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.item(node)
            case ast.Tuple() | ast.List():
                return tuple(map(self.value, node.elts))
            case _:
                return self.operation(node)

    def operation(self, node: ast.expr) -> Any:
        match node:
            case ast.UnaryOp():
                return UNARY[type(node.op)](self.value(node.operand))
            case ast.BinOp():
                return BINARY[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.BoolOp(op=ast.And()):
                return all(truth(self.value(v)) for v in node.values)
            case ast.BoolOp():
                return any(truth(self.value(v)) for v in node.values)
            case ast.IfExp():
                return self.value(node.body if truth(self.value(node.test)) else node.orelse)
            case ast.Compare():
                return self.compare(node)
        raise Refusal(f"{type(node).__name__} is not allowed in an expression")

    def compare(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            holds = COMPARE[type(op)](left, right)
            result = holds if result is None else BINARY[ast.BitAnd](result, holds)
            left = right
        return result

    def attribute(self, node: ast.Attribute) -> Any:
        name = _numpy_name(node)
        if name is None:
            if node.attr not in ATTRIBUTES:
                raise Refusal(f"{node.attr} is called: write {node.attr}()")
            return ATTRIBUTES[node.attr](self.value(node.value))
        if name not in CONSTANTS:
            raise Refusal(f"np.{name} is a function: write np.{name}(x)")
        return CONSTANTS[name]

    def call(self, node: ast.Call) -> Any:
        args = []
        if isinstance(node.func, ast.Name):
            name = node.func.id
        else:
            assert isinstance(node.func, ast.Attribute)
            name = _numpy_name(node.func) or node.func.attr
            if _numpy_name(node.func) is None:
                args.append(self.value(node.func.value))
        if name not in FUNCTIONS:
            raise Refusal(f"{name} is a number: it is not called")
        args += [self.value(a) for a in node.args]
        kwargs = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        return FUNCTIONS[name](*args, **kwargs)

    def item(self, node: ast.Subscript) -> Any:
        return FUNCTIONS["getitem"](self.value(node.value), self.index(node.slice))

    def index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice():
                ends = (node.lower, node.upper, node.step)
                return slice(*(None if e is None else self.value(e) for e in ends))
            case ast.Tuple():
                return tuple(map(self.index, node.elts))
        return self.value(node)


def truth(value: Any) -> bool:
    """Tell whether a condition holds; that of an array holds where that of any element does."""
    if isinstance(value, tuple):
        return bool(value)
    return bool(np.any(np.asarray(value)))
