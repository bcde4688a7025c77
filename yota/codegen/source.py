"""Generated code as data: its text, which line computes what, and how to compile it."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from yota.tape import Var

_COMMENT_COLUMN = 56
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """Text of a generated module, and the objects that its global names stand for.

    Ranges count lines from 1.  `line_of` maps a var to the line that computes it, a merged one to
    its survivor's line; `ops_of` is the reverse.
    """

    text: str
    name: str
    form: str
    prologue: range
    body: range
    epilogue: range
    line_of: dict[Var, int]
    ops_of: dict[int, tuple[Var, ...]]
    namespace: dict[str, Any] = field(repr=False)

    def compile(self) -> Callable[..., Any]:
        """Return the function; tracebacks and debuggers show its lines."""
        filename = f"<yota {self.name} {self.form} {next(_numbers)}>"
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(True), filename)
        space = dict(self.namespace)
        exec(compile(self.text, filename, "exec"), space)
        # Taken out of its own globals, the function is freed with its last user.
        function: Callable[..., Any] = space.pop(self.name)
        weakref.finalize(function, _forget, filename, space).atexit = False
        return function


def _forget(filename: str, space: dict[str, Any]) -> None:
    """Free what a function leaves behind; its helpers and their globals hold each other."""
    linecache.cache.pop(filename, None)
    space.clear()


@dataclass(frozen=True, slots=True)
class Line:
    """A statement with the comment behind it and the op that it computes, in a loop several."""

    code: str
    comment: str = ""
    var: Var | None = None
    more: tuple[Var, ...] = ()

    def indented(self, indent: str = "    ") -> Line:
        """Return the line further to the right."""
        return Line(indent + self.code, self.comment, self.var, self.more)


class Page:
    """Lines of a module under construction; comments are aligned at the end."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, lines: Iterable[Line], indent: str = "") -> range:
        """Append lines and return the range of their numbers."""
        first = len(self.lines) + 1
        self.lines += [x.indented(indent) for x in lines]
        return range(first, len(self.lines) + 1)

    def text(self) -> str:
        """Return the text with comments in one column."""
        widths = [len(x.code) for x in self.lines if x.comment and len(x.code) < _COMMENT_COLUMN]
        column = max(widths, default=0) + 2
        rows = (
            f"{x.code.ljust(column - 2)}  # {x.comment}" if x.comment else x.code
            for x in self.lines
        )
        return "\n".join(rows) + "\n"

    def numbers(self, merged: dict[Var, Var]) -> tuple[dict[Var, int], dict[int, tuple[Var, ...]]]:
        """Return the maps between ops and lines; `merged` maps a var to its survivor."""
        line_of = {x.var: k for k, x in enumerate(self.lines, 1) if x.var is not None}
        line_of |= {v: k for k, x in enumerate(self.lines, 1) for v in x.more}
        line_of |= {v: line_of[s] for v, s in merged.items() if s in line_of}
        ops_of: dict[int, list[Var]] = {}
        for var, line in line_of.items():
            ops_of.setdefault(line, []).append(var)
        return line_of, {line: tuple(vars_) for line, vars_ in ops_of.items()}
