"""From a function to everything outside its arguments that it may read, as a generated check.

The walk is a superset: it follows every name that the code of the function, and of all functions
found on the way, spells out.  What is found is written down as lines of a function
`fresh(f, args, kwargs)` which tells later whether all of it is still the same.  The cache keeps
numbers, texts and copies of arrays for that, and of classes weak references: no function and no
argument.  Neither the walk nor the check runs code of the user's.
"""

from __future__ import annotations

import abc
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from yota.captured import traits

MAX_LINES = 1500
_SCALARS = (int, float, complex, str, bytes, range, np.generic, np.dtype, type(None), type(...))
_STRUCTS = frozenset(type(x) for x in (sys.float_info, sys.int_info, sys.hash_info))
# where identities may matter, two objects must not have become one
_TOLD_APART = frozenset({traits.COMPARES, traits.STORES, traits.HASHES, traits.REFLECTS})

Visitor = Callable[["Walk", str, Any, str], None]


class Unprovable(Exception):
    """What a function reads or does cannot be told in advance; the text says what, and where.

    `through` is the name in the outermost function by which it is reached.
    """

    through = ""

    def __str__(self) -> str:
        text = super().__str__()
        near = not self.through or text.startswith(self.through.partition(" ")[0])
        return text if near else f"{self.through}: {text}"


class Walk:
    """The lines of one check, while the captured state is walked.

    `names` are the attributes that code spells out, `traits` what it does, and `ducks` what
    functions of the library ask their operands for, all as found by earlier walks; what this one
    finds is in `found_names`, `found_traits` and `found_ducks`.
    """

    def __init__(
        self,
        names: frozenset[str],
        known: frozenset[str],
        ducks: frozenset[str],
        copies: bool,
        visitor_of: Callable[[Any], Visitor | None],
    ) -> None:
        if {traits.MODULO, traits.PERCENT} <= known:
            known |= {traits.TEXTS}
        self.names, self.traits, self.ducks, self.copies = names, known, ducks, copies
        self.reflects = traits.REFLECTS in known
        self.visitor_of = visitor_of
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.memo: dict[int, tuple[str, Any]] = {}
        self.found_names: set[str] = set()
        self.found_traits: set[str] = set()
        self.found_ducks: set[str] = set()
        self.objects: list[str] = []
        self.found: list[tuple[str, Any]] = []
        self.arrays: list[tuple[str, Any]] = []
        self.spaces: dict[int, tuple[str, set[str]]] = {}
        self.modules: dict[int, str] = {}
        self.written: set[str] = set()
        self.nbytes = 0
        self.count = 0
        self.place = ""

    def add(self, line: str) -> None:
        """Write a line."""
        if len(self.lines) >= MAX_LINES:
            raise Unprovable(f"{self.place}: more state is captured than is worth comparing")
        self.lines.append(line)

    def unless(self, test: str) -> None:
        """Write that the state is another one unless `test` holds."""
        self.add(f"if not ({test}): return False")

    def once(self, test: str) -> None:
        """Write that the state is another one unless `test` holds, if that is not written yet."""
        if test not in self.written:
            self.written.add(test)
            self.unless(test)

    def constant(self, value: Any) -> str:
        """Return the name of a value that the check compares with."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def local(self, path: str) -> str:
        """Return a name for what stands at `path`."""
        if path.isidentifier():
            return path
        self.count += 1
        self.add(f"v{self.count} = {path}")
        return f"v{self.count}"

    def value(self, path: str, x: Any, shown: str) -> None:
        """Write the check of one captured value; `shown` is its path as the user knows it."""
        if is_plain(x):
            self.plain(path, x)
            return
        if id(x) in self.memo:
            self.unless(f"{path} is {self.memo[id(x)][0]}")
            return
        self.abstract(x)
        visit = self.visitor_of(x)
        if visit is None:
            self.found_traits |= traits.of_function(x)
            self.found_ducks |= traits.asks_for(x)
            self.unless(f"{path} is {self.constant(x)}")
            return
        held = self.local(path)
        self.memo[id(x)] = (held, x)
        self.found.append((held, x))
        if not issubclass(type(x), types.FunctionType | types.ModuleType | type):
            self.objects.append(held)
        visit(self, held, x, shown)

    def plain(self, path: str, x: Any) -> None:
        """Write the check of a number, a text or a tuple of them."""
        if isinstance(x, str):
            if "%" in x:
                self.found_traits.add(traits.PERCENT)
            if self.reflects and x.isidentifier():
                # it may be the name by which an attribute is reached
                self.found_names.add(x)
        k = self.constant(x)
        if x is None or type(x) is bool:
            self.unless(f"{path} is {x}")
            return
        held = self.local(path)
        self.add(f"if {held} is not {k} and not same({held}, {k}): return False")

    def abstract(self, x: Any) -> None:
        """Write that no class was registered since, where one may be asked for by `isinstance`."""
        if issubclass(type(x), abc.ABCMeta) and traits.INSTANCES in self.traits:
            self.once(f"abc_token() == {abc.get_cache_token()}")

    def reached(self, path: str, x: Any, name: str) -> None:
        """Write the check of what a name in a function's code stands for."""
        through = f"{self.place}: {name}"
        try:
            self.value(path, x, name)
        except Unprovable as why:
            why.through = through
            raise

    def distinct(self) -> None:
        """Write that no two of the objects found have become one: code may compare identities."""
        if len(self.objects) > 1 and not _TOLD_APART.isdisjoint(self.traits):
            ids = ", ".join(f"id({held})" for held in self.objects)
            self.unless(f"len({{{ids}}}) == {len(self.objects)}")

    def refuse(self, shown: str, why: str) -> Unprovable:
        """Return why what stands under this name cannot be compared."""
        return Unprovable(f"{self.place}: {shown} {why}" if self.place else f"{shown} {why}")

    def attributes(self, path: str, held: Any, names: Iterable[str], shown: str) -> None:
        """Write the check of what a namespace holds, and does not hold, under these names."""
        space = self.local(path)
        present = sorted(n for n in names if n in held)
        if len(present) == len(held) and present:
            # all that it holds is looked at below
            self.unless(f"len({space}) == {len(held)}")
        elif self.reflects:
            # a name may be computed
            self.unless(f"[*{space}] == {self.constant(list(held))}")
        else:
            self.absent(space, held, frozenset(n for n in names if n not in held))
        for name in present:
            self.value(f"{space}[{name!r}]", held[name], f"{shown}.{name}")

    def absent(self, space: str, held: Any, names: frozenset[str]) -> None:
        """Write that a namespace holds nothing under these names."""
        if not names:
            return
        if not held:
            self.add(f"if {space}: return False")
        elif len(held) < len(names):
            # no other keys than now, which takes fewer steps than to look for each name
            self.unless(f"[*{space}] == {self.constant(list(held))}")
        else:
            self.add(f"if {' or '.join(f'{n!r} in {space}' for n in sorted(names))}: return False")

    def space(self, path: str, namespace: Any) -> tuple[str, set[str]]:
        """Return a name for a function's or module's globals, and which of them are checked."""
        if id(namespace) not in self.spaces:
            self.spaces[id(namespace)] = (self.local(path), set())
        elif path != self.spaces[id(namespace)][0]:
            self.unless(f"{path} is {self.spaces[id(namespace)][0]}")
        return self.spaces[id(namespace)]


def is_plain(x: Any) -> bool:
    """Tell whether a value is a number, a text or a tuple of them: immutable, and told by value."""
    kind = type(x)
    if issubclass(kind, _SCALARS) and kind.__module__ in ("builtins", "numpy", "numpy.dtypes"):
        # records are views of memory, and the names of their fields can be set
        return not (issubclass(kind, np.void) or (issubclass(kind, np.dtype) and x.names))
    return kind in _STRUCTS or (kind is tuple and all(map(is_plain, x)))
