"""A random program: the source of a function in plain NumPy, and the arguments of one call."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

IMPORTS = """\
import collections
import dataclasses
import operator

import numpy as np

import yota
from yota.rules import functional as fun
from yota.rules import linalg as rules
"""

DEFINITIONS = '''\
Pair = collections.namedtuple("Pair", ["a", "b"])


@dataclasses.dataclass
class Record:
    a: object
    b: object


def weigh(v):
    """Return one number that every element of `v` has its own part in."""
    k = np.reshape(np.arange(1.0, np.size(v) + 1), np.shape(v))
    total = np.sum(np.real(v) * np.cos(k))
    return total + np.sum(np.imag(v) * np.sin(k)) if np.iscomplexobj(v) else total
'''

LAYOUTS = {
    "C": "{}",
    "F": "np.asfortranarray({})",
    "strided": "np.repeat({}, 2, axis=-1)[..., ::2]",
    "reversed": "np.flip(np.flip({}).copy())",
    "moved": "np.moveaxis(np.moveaxis({}, 0, -1).copy(), -1, 0)",
    "scalar": "{}[()]",
    "python": "{}.item()",
}

WIDE = {"float16": "float64", "float32": "float64", "complex64": "complex128"}


@dataclass(frozen=True, eq=False)
class Leaf:
    """One array or number among the arguments, and how it lies in memory."""

    data: np.ndarray
    layout: str = "C"

    @property
    def is_float(self) -> bool:
        return self.data.dtype.kind in "fc"

    def make(self) -> Any:
        """Return a fresh value."""
        return eval(LAYOUTS[self.layout].format("x"), {"np": np, "x": self.data.copy()})

    def text(self) -> str:
        """Return Python source that makes the value."""
        if self.layout == "python":
            return repr(self.data.item())
        return LAYOUTS[self.layout].format(array_text(self.data))

    def widened(self) -> Leaf:
        """Return the leaf in double precision, in the machine's own byte order."""
        name = self.data.dtype.newbyteorder("=").name
        return replace(self, data=self.data.astype(WIDE.get(name, name)))


def array_text(x: np.ndarray) -> str:
    """Return Python source of an array in C order."""
    name = f"np.{x.dtype.name}" if x.dtype.isnative else repr(x.dtype.str)
    if x.size == 0:
        return f"np.zeros({x.shape}, {name})"
    plain = name in ("np.float64", "np.complex128", "np.int64", "np.bool")
    return f"np.array({x.tolist()!r})" if plain else f"np.array({x.tolist()!r}, {name})"


@dataclass(frozen=True, eq=False)
class Argument:
    """One argument: a pattern such as `Pair({0}, [{1}])` with the leaves in it."""

    name: str
    leaves: tuple[Leaf, ...]
    pattern: str = "{0}"

    def make(self, leaves: Sequence[Any] | None = None) -> Any:
        """Return a fresh value, of other values of the leaves where they are given."""
        values = [leaf.make() for leaf in self.leaves] if leaves is None else leaves
        names = [f"leaves[{k}]" for k in range(len(values))]
        return eval(self.pattern.format(*names), {**DEFINED, "leaves": values})

    def text(self) -> str:
        """Return Python source that makes the value."""
        return self.pattern.format(*(leaf.text() for leaf in self.leaves))


@dataclass(frozen=True, eq=False)
class Program:
    """Statements over named arguments; the result is the weighed sum of `results`."""

    seed: int
    arguments: tuple[Argument, ...]
    statements: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def source(self) -> str:
        """The source of the function."""
        lines = [line for s in self.statements for line in s.splitlines()]
        total = " + ".join(f"weigh({r})" for r in self.results) or "0.0"
        names = ", ".join(a.name for a in self.arguments)
        body = "".join(f"    {line}\n" for line in lines)
        return f"def f({names}):\n{body}    return {total}\n"

    def function(self, np: Any = np) -> Callable[..., Any]:
        """Return the function, compiled for NumPy or for a module that stands for it."""
        name = f"<program {self.seed}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        space = dict(DEFINED) if np is globals()["np"] else namespace(np)
        exec(compile(self.source, name, "exec", dont_inherit=True), space)
        return space["f"]

    @property
    def leaves(self) -> list[Leaf]:
        """All leaves, in order."""
        return [leaf for a in self.arguments for leaf in a.leaves]

    def args(self, leaves: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Return fresh arguments, of other values of the leaves where they are given."""
        values = iter([leaf.make() for leaf in self.leaves] if leaves is None else leaves)
        return tuple(a.make([next(values) for _ in a.leaves]) for a in self.arguments)

    def with_leaves(self, leaves: Sequence[Leaf]) -> Program:
        """Return the program with other leaves."""
        given = iter(leaves)
        arguments = [
            replace(a, leaves=tuple(next(given) for _ in a.leaves)) for a in self.arguments
        ]
        return replace(self, arguments=tuple(arguments))

    def widened(self) -> Program:
        """Return the program in double precision throughout, for differences."""
        statements = list(self.statements)
        for narrow, wide in WIDE.items():
            statements = [s.replace(narrow, wide) for s in statements]
        wide = self.with_leaves([leaf.widened() for leaf in self.leaves])
        return replace(wide, statements=tuple(statements))

    @property
    def eps(self) -> float:
        """The precision of the least precise type in the program."""
        text = self.source + " ".join(leaf.data.dtype.name for leaf in self.leaves)
        narrow = [name for name in WIDE if name in text]
        return float(max(np.finfo(name).eps for name in ["float64", *narrow]))

    @property
    def is_narrow(self) -> bool:
        """Tell whether anything in the program has less than double precision."""
        return self.eps > np.finfo(float).eps

    def listing(self, ending: str = "") -> str:
        """Return the whole as a Python script."""
        made = "".join(f"{a.name} = {a.text()}\n" for a in self.arguments)
        args = "".join(f"{a.name}, " for a in self.arguments)
        modules = re.findall(r"((?:yota|scipy)(?:\.\w+)+)\.\w+\(", self.source)
        imports = IMPORTS + "".join(f"import {m}\n" for m in sorted(set(modules)))
        return f"{imports}\n{DEFINITIONS}\n\n{self.source}\n\n{made}args = ({args})\n{ending}"


def namespace(numpy: Any = np) -> dict[str, Any]:
    """Return the names that programs use, for NumPy or for a module that stands for it."""
    space: dict[str, Any] = {"__name__": "program"}
    for text in (IMPORTS, DEFINITIONS):
        exec(compile(text, "<definitions>", "exec", dont_inherit=True), space)
        space["np"] = numpy
    if importlib.util.find_spec("scipy") is not None:
        space["scipy"] = importlib.import_module("scipy")
        for name in ("linalg", "special", "stats", "signal", "integrate"):
            importlib.import_module(f"yota.scipy.{name}")
    return space


DEFINED = namespace()
