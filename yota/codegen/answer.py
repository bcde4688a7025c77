"""The code behind a cache, in one frame: it checks captured state, then arguments, then answers."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from yota.buffers import Plan
from yota.codegen.entry import EntryDraft
from yota.codegen.names import parameters
from yota.codegen.source import Line
from yota.tape import Tape

_REFUSAL = "return False"
_PLACES = ("f", "args", "kwargs")


@dataclass(frozen=True)
class Check:
    """Statements that leave with `return False` where captured state is another one.

    They read `f`, `args` and `kwargs`, and the global names in `namespace`.
    """

    lines: tuple[str, ...] = ()
    namespace: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> dict[str, Any]:
        """The global names that the statements read, with what they stand for."""
        used = {*re.findall(r"\w+", "\n".join(self.lines))}
        return {k: v for k, v in self.namespace.items() if k in used and not _is_builtin(k, v)}

    @property
    def locals(self) -> set[str]:
        """The names that the statements assign."""
        return {found[1] for text in self.lines if (found := re.match(r"(\w+) = ", text))}


def _is_builtin(name: str, value: Any) -> bool:
    return getattr(builtins, name, None) is value


class AnswerDraft(EntryDraft):
    """Code that takes the function, and its arguments as a tuple and a dict.

    It returns MISS where captured state, an argument or a guard is another one than recorded.
    """

    def __init__(self, tape: Tape, plan: Plan, target: Tape, exact: bool, check: Check) -> None:
        self.check = check
        super().__init__(tape, plan, target, exact)

    def reserved(self) -> set[str]:
        """Return the names that the check uses."""
        return {*_PLACES, *self.check.names, *self.check.locals}

    def parameters(self) -> tuple[list[str], list[str]]:
        """Return the names of the arguments, which are the function's own variables here."""
        return tuple(list(map(self.names.unique, p)) for p in parameters(self.tape))  # type: ignore[return-value]

    def namespace(self) -> dict[str, Any]:
        """Return what the global names of the code stand for."""
        return {**self.check.names, **super().namespace()}

    def head(self, name: str) -> Line:
        """Return the line that begins a function of the function and all its arguments."""
        seed = "".join(f", {x}=None" for x in self.seed)
        return Line(f"def {name}({', '.join(_PLACES)}{seed}):")

    def unpack(self) -> list[Line]:
        """Return the checks of captured state and of the arguments, with the leaves named."""
        error = self.names.builtin(Exception)
        tried = [x.indented() for x in (*self.captured(), *self.taken_apart())]
        return [Line("try:"), *tried, *self.refused(f"except {error}:"), *self.fitting()]

    def captured(self) -> Iterator[Line]:
        """Yield the check of captured state: what raises is another one."""
        for text in self.check.lines:
            if text.endswith(_REFUSAL):
                yield from self.refused(text.removesuffix(_REFUSAL).rstrip())
            else:
                yield Line(text)

    def taken_apart(self) -> Iterator[Line]:
        """Yield the lines that name the arguments; they raise where there are more or fewer."""
        if not self.positional or not self.keywords:
            empty = [p for p, n in (("args", self.positional), ("kwargs", self.keywords)) if not n]
            yield from self.refused(f"if {' or '.join(empty)}:")
        if self.positional:
            comma = "," if len(self.positional) == 1 else ""
            yield Line(f"{', '.join(self.positional)}{comma} = args")
        if self.keywords:
            yield from self.unless(f"{self.names.builtin(len)}(kwargs) != {len(self.keywords)}")
        for name, (key, _) in zip(self.keywords, self.tape.entry.kwargs, strict=True):
            yield Line(f"{name} = kwargs[{key!r}]")

    def arguments(self) -> str:
        """Return the arguments as the prologue of a long tape takes them."""
        return ", ".join([*_PLACES, *self.seed])

    def given(self) -> str:
        """Return the arguments as the function itself would be called."""
        return ", ".join(["*args", "**kwargs", *(f"{x}={x}" for x in self.seed)])
