"""Names for generated code: none collides with the user's, and equal objects get one name."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from typing import Any

from yota.tape import Input, Tape, Var

_RESERVED = {*keyword.kwlist, "__debug__"}


class Names:
    """The names in use in one generated module, and the objects that stand behind global ones."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {*taken, *_RESERVED}
        self.bound: dict[str, Any] = {}
        self._known: dict[int, str] = {}

    def unique(self, wanted: str) -> str:
        """Return `wanted`, with underscores behind it where it is in use, and take it."""
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def prefix(self, letter: str) -> str:
        """Return a prefix of numbered names of which none is in use."""
        while any(x.startswith(letter) and x[len(letter) :].isdecimal() for x in self.taken):
            letter += "_"
        return letter

    def bind(self, value: Any, wanted: str) -> str:
        """Return the global name of an object, binding it where it has none."""
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = self.unique(identifier(wanted, "k"))
            self.bound[known] = value
        return known

    def builtin(self, value: Any) -> str:
        """Return the name of a builtin, another one where the user's names hide it."""
        name = value.__name__
        return self.bind(value, name) if name in self.taken or not hasattr(builtins, name) else name


def identifier(text: str, fallback: str) -> str:
    """Return `text` if it can be a name, else the fallback."""
    return text if text.isidentifier() and text not in _RESERVED else fallback


def parameters(tape: Tape) -> tuple[list[str], list[str]]:
    """Return the names of positional and keyword arguments as generated code takes them."""
    entry, seen = tape.entry, {*_RESERVED, *(k for k, _ in tape.entry.kwargs)}
    positional = []
    for k in range(len(entry.args)):
        name = entry.names[k] if k < len(entry.names) else ""
        name = name if name.isidentifier() and name not in seen else f"arg{k}"
        while name in seen:
            name += "_"
        seen.add(name)
        positional.append(name)
    return positional, [k for k, _ in entry.kwargs]


def input_names(tape: Tape, names: Names, own: Iterable[str]) -> dict[Var, str]:
    """Name inputs as the user does: `W1` for `params['W1']`, longer where that is ambiguous."""
    parameters = set(own)
    inputs = [(v, op.name) for v, op in tape if isinstance(op, Input)]
    short = {v: _last_word(name) for v, name in inputs}
    counts: dict[str, int] = {}
    for word in short.values():
        counts[word] = counts.get(word, 0) + 1
    found: dict[Var, str] = {}
    for var, full in inputs:
        word = short[var]
        if word == full and word in parameters and counts[word] == 1:
            found[var] = word
            continue
        if not word or counts[word] > 1 or word in names.taken:
            word = "_".join(re.findall(r"\w+", full))
        word = identifier(word, f"v{var.id}")
        found[var] = names.unique(word)
    return found


def _last_word(path: str) -> str:
    words = re.findall(r"\w+", path)
    return words[-1] if words and words[-1].isidentifier() else "_".join(words[-2:])
