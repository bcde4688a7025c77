"""Text that takes nested arguments apart and puts results together, in plain Python."""

from __future__ import annotations

import keyword
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from yota.codegen.expressions import Expressions
from yota.structs import SEQUENCES, Again, Attr, Leaf, Node, Static


class Builder:
    """Expressions that rebuild a structure; what cannot be one expression becomes statements."""

    def __init__(self, write: Expressions, statements: list[str]) -> None:
        self.write, self.statements = write, statements
        self.made: dict[int, str] = {}
        self.shared: set[int] = set()

    def build(self, structure: Any, leaf: Callable[[int], str]) -> str:
        """Return an expression for `structure`; `leaf` gives the text of each leaf."""
        self.made, self.shared = {}, {s.number for s in walk(structure) if isinstance(s, Again)}
        return self._visit(structure, leaf)

    def _visit(self, s: Any, leaf: Callable[[int], str]) -> str:
        match s:
            case Leaf(index):
                return leaf(index)
            case Static(value):
                return fixed(value, self.write)
            case Again(number):
                return self.made[number]
        if s.type in (tuple, list, dict) and s.number not in self.shared:
            return self._inline(s, [self._visit(c, leaf) for c in s.children])
        name = self.made[s.number] = self.write.names.unique(f"n{s.number}")
        if issubclass(s.type, tuple):
            self.statements.append(f"{name} = {self._tuple(s, leaf)}")
            self._attributes(s, name, leaf)
        else:
            self._fill(s, name, leaf)
        return name

    def _inline(self, s: Node, parts: list[str]) -> str:
        if s.type is dict:
            keys = [self.write.operand(k, numpy=False) for k in s.keys]
            return "{" + ", ".join(f"{k}: {p}" for k, p in zip(keys, parts, strict=True)) + "}"
        if s.type is list:
            return f"[{', '.join(parts)}]"
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"

    def _tuple(self, s: Node, leaf: Callable[[int], str]) -> str:
        pairs = zip(s.keys, s.children, strict=True)
        parts = [self._visit(c, leaf) for k, c in pairs if not isinstance(k, Attr)]
        if s.type is tuple:
            return self._inline(s, parts)
        kind = self.write.function(s.type)
        named = hasattr(s.type, "_fields")
        return f"{kind}({', '.join(parts)})" if named else f"{kind}([{', '.join(parts)}])"

    def _fill(self, s: Node, name: str, leaf: Callable[[int], str]) -> None:
        """Make an empty container first, so that what it holds can refer to it."""
        self.statements.append(f"{name} = {self._empty(s)}")
        for key, child in zip(s.keys, s.children, strict=True):
            if isinstance(key, Attr):
                continue
            value = self._visit(child, leaf)
            if issubclass(s.type, list | deque):
                self.statements.append(f"{name}.append({value})")
            elif issubclass(s.type, dict):
                key = self.write.operand(key, numpy=False)
                self.statements.append(f"{name}[{key}] = {value}")
            elif _is_settable(s.type, key):
                self.statements.append(f"{name}.{key} = {value}")
            else:
                kind = self.write.names.builtin(object)
                self.statements.append(f"{kind}.__setattr__({name}, {key!r}, {value})")

        self._attributes(s, name, leaf)

    def _attributes(self, s: Node, name: str, leaf: Callable[[int], str]) -> None:
        """Set the attributes that a container has besides its items."""
        for key, child in zip(s.keys, s.children, strict=True):
            if isinstance(key, Attr) and key.name != "maxlen":
                self.statements.append(f"{name}.{key.name} = {self._visit(child, leaf)}")

    def _empty(self, s: Node) -> str:
        if issubclass(s.type, list):
            return "[]" if s.type is list else f"{self.write.function(s.type)}()"
        if issubclass(s.type, dict):
            return f"{self.write.function(s.type)}()" if _is_empty_made(s.type) else "{}"
        kind = self.write.function(s.type)
        if issubclass(s.type, deque | SimpleNamespace):
            return f"{kind}()"
        return f"{self.write.names.builtin(object)}.__new__({kind})"


def fixed(value: Any, write: Expressions) -> str:
    """Return a value that no op computes: as text if that is short, else bound to a name."""
    parts: list[Any] = [value]
    if type(value) in (tuple, list):
        parts = list(value)
    elif type(value) is dict:
        parts = [*value.keys(), *value.values()]
    short = len(parts) <= _SHORT and all(type(p) in _PLAIN for p in parts)
    if short or isinstance(value, type) or callable(value):
        return write.operand(value, numpy=False)
    return write.names.bind(value, "k")


def _held(value: Any) -> Any:
    if type(value) in (list, tuple, set):
        return type(value)(_held(v) for v in value)
    return {k: _held(v) for k, v in value.items()} if type(value) is dict else value


_SHORT = 16
_PLAIN = (type(None), bool, int, float, complex, str)


def _is_empty_made(kind: type) -> bool:
    try:
        kind()
    except TypeError:
        return False
    return kind is not dict


def _is_settable(kind: type, key: str) -> bool:
    plain = getattr(kind, "__setattr__", None) is getattr(object, "__setattr__", None)
    return plain and key.isidentifier() and not keyword.iskeyword(key)


def walk(structure: Any) -> Iterator[Any]:
    """Yield every part of a structure."""
    stack = [structure]
    while stack:
        s = stack.pop()
        yield s
        stack.extend(getattr(s, "children", ()))


class Arguments:
    """Plain Python that checks the structure of arguments and names the path of every leaf."""

    def __init__(self, write: Expressions) -> None:
        self.write = write
        self.checks: list[str] = []
        self.paths: dict[int, str] = {}
        self.nodes: dict[int, str] = {}

    def take(self, structure: Any, name: str) -> None:
        """Check one argument."""
        self.nodes = {}
        self._visit(structure, name, name)

    def _visit(self, s: Any, path: str, root: str) -> None:
        match s:
            case Leaf(index):
                if index in self.paths:
                    self._require(f"{path} is {self.paths[index]}", f"{path} was the same array")
                self.paths.setdefault(index, path)
            case Static(value):
                self.static(value, path)
            case Again(number):
                self._require(f"{path} is {self.nodes[number]}", f"{path} was the same object")
            case Node():
                self._node(s, path, root)

    def static(self, value: Any, path: str) -> None:
        """Check a value that is no input: by type and equality, other objects by identity too."""
        if value is None or type(value) is bool:
            test = f"{path} is {value}"
        elif type(value) in (int, str, float):
            kind = self.write.names.builtin(type)
            text = fixed(value, self.write)
            test = f"{kind}({path}) is {self.write.function(type(value))} and {path} == {text}"
        else:
            # a copy of what a container holds: it may be changed in place later
            text = self.write.names.bind(_held(value), "k")
            kind = self.write.names.builtin(type)
            test = f"{kind}({path}) is {self.write.function(type(value))} and {path} == {text}"
            if type(value) not in (list, dict, set, tuple) and hasattr(value, "__dict__"):
                held = self.write.names.bind(_held(vars(value)), "k")
                owned = f"{self.write.names.builtin(vars)}({path}) == {held}"
                test = f"{path} is {text} and {owned}"
        self._require(test, f"{path} was another fixed value when this was recorded")

    def _node(self, s: Node, path: str, root: str) -> None:
        kind = self.write.names.builtin(type)
        self.nodes[s.number] = path
        test = f"{kind}({path}) is {self.write.function(s.type)}"
        own = tuple(k for k in s.keys if not isinstance(k, Attr))
        if issubclass(s.type, dict):
            keys = self.write.operand(own, numpy=False)
            test += f" and {self.write.names.builtin(tuple)}({path}) == {keys}"
        elif issubclass(s.type, SEQUENCES):
            test += f" and {self.write.names.builtin(len)}({path}) == {len(own)}"
        self._require(test, f"{path} had another structure when this was recorded")
        for key, child in zip(s.keys, s.children, strict=True):
            self._visit(child, self._step(s, path, key), root)

    def _step(self, s: Node, path: str, key: Any) -> str:
        if isinstance(key, Attr):
            return f"{path}.{key.name}"
        if issubclass(s.type, (dict, *SEQUENCES)):
            return f"{path}[{self.write.operand(key, numpy=False)}]"
        if key.isidentifier() and not keyword.iskeyword(key):
            return f"{path}.{key}"
        return f"{self.write.names.builtin(getattr)}({path}, {key!r})"

    def _require(self, test: str, message: str) -> None:
        error = self.write.names.builtin(ValueError)
        self.checks += [f"if not ({test}):", f"    raise {error}({message!r})"]
