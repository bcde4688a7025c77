"""Lines that see whether arguments are of the recorded kind and name their leaves, without calls.

What is too exotic for lines of its own is left to `Fits`.
"""

from __future__ import annotations

import functools
import keyword
from collections import deque
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from yota.codegen.fits import Fits, Same, Seed, as_floats
from yota.codegen.runtime import PYTHON
from yota.codegen.scope import Scope
from yota.codegen.source import Line
from yota.codegen.structure import fixed, walk
from yota.structs import Again, Attr, Leaf, Node, Static
from yota.tape import Var, comment_of

_FLAGS = {"C": "c_contiguous", "F": "f_contiguous"}
_PAIRWISE = 6


class Fitting:
    """The lines for the arguments of one tape; `miss` is what runs where one does not fit."""

    def __init__(self, scope: Scope, miss: str, laid_out: set[Var]) -> None:
        self.scope, self.miss, self.laid_out = scope, miss, laid_out
        self.names, self.write = scope.names, scope.write
        self.is_type = self.names.builtin(type)
        self.ndarray = self.write.function(np.ndarray)
        self.arrays: dict[Any, list[str]] = {}
        self.nodes: dict[Any, list[str]] = {}

    def lines(self) -> Iterator[Line]:
        """Yield the lines for all arguments, keywords and the seed."""
        entry, scope = self.scope.tape.entry, self.scope
        for name, structure in zip(scope.positional, entry.args, strict=True):
            yield from self.argument(name, structure, entry.as_float)
        for name, (_, structure) in zip(scope.keywords, entry.kwargs, strict=True):
            yield from self.argument(name, structure, False)
        for name in scope.seed:
            yield from self.seed(name, scope.tape.inputs[-1])

    def argument(self, name: str, structure: Any, as_float: bool) -> Iterator[Line]:
        """Yield the lines for one argument."""
        self.arrays, self.nodes = {}, {}
        if as_float and not isinstance(structure, Static):
            yield Line(f"{name} = {self.names.bind(as_floats, 'as_floats')}({name})")
        if is_inline(structure):
            yield from self.visit(structure, name)
            yield from self.distinct()
            return
        found = self.names.unique(f"{name}_leaves")
        indices = leaf_indices(structure)
        fits = self.names.bind(Fits(structure, indices[0]), f"fits_{name}")
        yield Line(f"{found} = {fits}({name})")
        yield from self.require(f"{found} is None")
        for at, index in enumerate(indices):
            yield from self.leaf(index, f"{found}[{at}]")

    def visit(self, s: Any, path: str) -> Iterator[Line]:
        """Yield the lines for one part of an argument."""
        match s:
            case Leaf(index):
                yield from self.leaf(index, path)
            case Static(value):
                yield from self.require(self.differs(s, value, path))
            case Node():
                yield from self.node(s, path)

    def node(self, s: Node, path: str) -> Iterator[Line]:
        """Yield the lines for a container or object, and for what it holds."""
        if not path.isidentifier():
            name = self.names.unique("part")
            yield Line(f"{name} = {path}")
            path = name
        test = f"{self.is_type}({path}) is not {self.write.function(s.type)}"
        if issubclass(s.type, list | tuple):
            test += f" or {self.names.builtin(len)}({path}) != {len(s.keys)}"
        else:
            keys = self.names.bind(list(s.keys), "keys")
            test += f" or [*{path}{'' if s.type is dict else '.__dict__'}] != {keys}"
        yield from self.require(test)
        if not any(self.is_array(x) for x in walk(s)):
            self.nodes.setdefault((s.type, s.keys), []).append(path)
        for key, child in zip(s.keys, s.children, strict=True):
            item = issubclass(s.type, list | tuple | dict)
            yield from self.visit(child, f"{path}[{key!r}]" if item else f"{path}.{key}")

    def is_array(self, s: Any) -> bool:
        """Tell whether a part of a structure is the leaf of an array."""
        tape = self.scope.tape
        return isinstance(s, Leaf) and tape[tape.inputs[s.index]].spec.kind == "array"

    def leaf(self, index: int, path: str) -> Iterator[Line]:
        """Yield the lines that name a leaf and check its type."""
        var = self.scope.tape.inputs[index]
        op, name = self.scope.tape[var], self.scope.local[var]
        comment = f"{var} {comment_of(op)}"
        if name != path:
            yield Line(f"{name} = {path}", comment, var)
        test = self.another_type(var, op, name)
        place = ("", None) if name != path else (comment, var)
        yield Line(f"if {test}:", *place)
        yield Line(f"    {self.miss}")
        if op.spec.kind == "array":
            key = (op.spec.dtype, op.spec.shape)
            self.arrays.setdefault(key, []).append(name)

    def another_type(self, var: Var, op: Any, name: str) -> str:
        """Return what is true where a leaf is of another type than the recorded one."""
        spec = op.spec
        if spec.kind != "array":
            kind = spec.dtype.type if spec.kind == "scalar" else PYTHON.get(spec.dtype.kind)
            wanted = self.write.function(kind) if kind else "None"
            return f"{self.is_type}({name}) is not {wanted}"
        dtype = self.names.bind(spec.dtype, f"dtype_{spec.dtype.name}")
        test = (
            f"{self.is_type}({name}) is not {self.ndarray}"
            f" or {name}.dtype is not {dtype} and {name}.dtype != {dtype}"
            f" or {name}.shape != {spec.shape}"
        )
        if op.writeable is not None:
            test += f" or {name}.flags.writeable is not {op.writeable}"
        if var not in self.laid_out or not spec.shape:
            return test
        if spec.order in _FLAGS:
            return f"{test} or not {name}.flags.{_FLAGS[spec.order]}"
        # elements may be summed in the order in which they lie
        return f"{test} or {name}.flags.forc or {name}.strides != {op.strides}"

    def differs(self, s: Static, value: Any, path: str) -> str:
        """Return what is true where a fixed value is another one than the recorded one."""
        if value is None or type(value) is bool:
            return f"{path} is not {value}"
        if type(value) in (int, str):
            kind = self.write.function(type(value))
            test = f"{self.is_type}({path}) is not {kind}"
            return f"{test} or {path} != {fixed(value, self.write)}"
        return f"not {self.names.bind(Same(s), 'same')}({path})"

    def distinct(self) -> Iterator[Line]:
        """Yield checks that no array, and no container without one, stands at two places."""
        for group in (*self.arrays.values(), *self.nodes.values()):
            if len(group) > _PAIRWISE:
                ids = ", ".join(f"{self.names.builtin(id)}({x})" for x in group)
                length = self.names.builtin(len)
                yield from self.require(f"{length}({{{ids}}}) != {len(group)}")
            elif len(group) > 1:
                pairs = (f"{x} is {y}" for x, y in combinations(group, 2))
                yield from self.require(" or ".join(pairs))

    def seed(self, name: str, var: Var) -> Iterator[Line]:
        """Yield the lines for the seed, which may come in another type."""
        op, taken = self.scope.tape[var], self.names.bind(Seed(self.scope.tape, var), "as_seed")
        test = self.another_type(var, op, name)
        yield Line(f"if {test}:", f"{var} {comment_of(op)}", var)
        yield Line(f"    {name} = {taken}({name})")
        yield Line(f"    if {test}:")
        yield Line(f"        {self.miss}")
        if self.scope.local[var] != name:
            yield Line(f"{self.scope.local[var]} = {name}")

    def require(self, unless: str) -> Iterator[Line]:
        """Yield the lines that leave the function where a test is true."""
        yield Line(f"if {unless}:")
        yield Line(f"    {self.miss}")


def is_inline(structure: Any) -> bool:
    """Tell whether a structure is a tree of plain containers and objects."""
    seen: set[int] = set()
    for s in walk(structure):
        if isinstance(s, Again) or (isinstance(s, Node) and not _is_plain(s)):
            return False
        if isinstance(s, Leaf):
            if s.index in seen:
                return False
            seen.add(s.index)
    return True


def _is_plain(s: Node) -> bool:
    if any(isinstance(k, Attr) for k in s.keys) or issubclass(s.type, deque):
        return False
    if issubclass(s.type, list | tuple):
        return s.type in (list, tuple) or not getattr(s.type, "__dictoffset__", 1)
    if not all(type(k) is str for k in s.keys):
        return False
    if issubclass(s.type, dict):
        return s.type is dict
    kind: Any = s.type
    return _is_plain_class(kind) and all(map(_is_attribute, s.keys))


@functools.lru_cache(maxsize=512)
def _is_plain_class(kind: Any) -> bool:
    """Tell whether the instance's `__dict__`, and nothing else, holds its attributes."""
    if kind.__getattribute__ is not object.__getattribute__:
        return False
    spaces = [vars(base) for base in kind.__mro__]
    if any(isinstance(x, functools.cached_property) for space in spaces for x in space.values()):
        return False
    slots = [name for space in spaces for name in space.get("__slots__", ())]
    return not slots and bool(getattr(kind, "__dictoffset__", 0))


def _is_attribute(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


def leaf_indices(structure: Any) -> list[int]:
    """Return the numbers of the leaves of a structure, each once, in order."""
    return sorted({s.index for s in walk(structure) if isinstance(s, Leaf)})
