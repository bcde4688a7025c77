"""What a function reads outside its arguments, and whether it is still the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from yota.captured import traits
from yota.captured.classes import kind
from yota.captured.roots import OfClass, Root
from yota.captured.values import memory
from yota.captured.visitors import NAMESPACE, visitor_of
from yota.captured.walk import Unprovable, Walk
from yota.codegen import Check

__all__ = ["Captured", "Unprovable", "capture"]

_ROUNDS = 12


@dataclass(frozen=True)
class Captured:
    """The captured state of one function: `fresh(f, args, kwargs)` tells if it is still the same.

    `found` is all that was met: as a fourth argument it asks besides whether it still stands where
    it stood.
    """

    fresh: Callable[..., bool]
    check: Check
    nbytes: int
    found: tuple[Any, ...] = ()


def capture(roots: Sequence[Root]) -> Captured:
    """Walk everything that can be reached from `roots` and return its check.

    Raises Unprovable, naming place and reason, where state cannot be told in advance.
    """
    names: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    ducks = traits.DUCKS
    for _ in range(_ROUNDS):
        walk = walked(roots, names, known, ducks, False)
        if walk.found_names <= names and walk.found_traits <= known and walk.found_ducks <= ducks:
            return compiled(walked(roots, names, known, ducks, True))
        names, known = names | walk.found_names, known | walk.found_traits
        ducks |= walk.found_ducks
    raise Unprovable("the functions that it calls name more and more attributes")


def walked(
    roots: Sequence[Root],
    names: frozenset[str],
    known: frozenset[str],
    ducks: frozenset[str],
    copies: bool,
) -> Walk:
    """Return the lines of the check."""
    walk = Walk(names, known, ducks, copies, visitor_of)
    for path, value, shown in roots:
        if isinstance(value, OfClass):
            walk.unless(f"type({path}) is {kind(walk, value.cls, shown)}")
        else:
            walk.value(path, value, shown)
    memory(walk)
    walk.distinct()
    settings(walk)
    return walk


def settings(walk: Walk) -> None:
    """Write the check of NumPy's own settings, where the answer may depend on them."""
    if traits.TEXTS in walk.traits:
        walk.unless(f"print_options() == {walk.constant(np.get_printoptions())}")
    modes = {mode for kind, mode in np.geterr().items() if kind != "under"}
    if modes - {"warn", "ignore", "raise"}:
        raise Unprovable("NumPy's errors are handed to a function or a file")
    if modes != {"warn"}:
        # an error that warns would have been heard while the function was traced
        walk.unless(f"error_modes() == {walk.constant(np.geterr())}")


def compiled(walk: Walk) -> Captured:
    """Return the check as a function."""
    body = "".join(f"        {line}\n" for line in walk.lines)
    found = "".join(f"{held}, " for held, _ in walk.found)
    text = (
        "def fresh(f, args, kwargs=None, found=None):\n    try:\n"
        f"{body}"
        "        if found is not None:\n"
        f"            return all(map(is_, ({found}), found))\n"
        "        return True\n"
        "    except Exception:\n        return False\n"
    )
    space = {**NAMESPACE, **walk.constants}
    exec(code_of(text), space)
    check = Check(tuple(walk.lines), {**NAMESPACE, **walk.constants})
    return Captured(space["fresh"], check, walk.nbytes, tuple(x for _, x in walk.found))


@functools.lru_cache(maxsize=256)
def code_of(text: str) -> CodeType:
    """Return the code of a check: text of ours, with names as reprs."""
    return compile(text, "<yota captured>", "exec")
