"""Where the walk of captured state starts: at the function, and at what arguments bring along."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.captured.known import is_named_library
from yota.captured.objects import slots_of, what_hides_state
from yota.captured.walk import Unprovable
from yota.entry import Entry
from yota.structs import Attr, Node, Static

# attributes of the containers of collections
_OF_C = ("default_factory", "maxlen")
# an expression in `f`, `args` and `kwargs`; what stands there, or its class; its name
Root = tuple[str, Any, str]


class OfClass:
    """Stand for an object in an argument: its class is walked, its attributes are inputs."""

    def __init__(self, cls: type) -> None:
        self.cls = cls


def roots_of(f: Any, entry: Entry) -> list[Root]:
    """Return what the walk starts from: `f`, and what its arguments bring."""
    roots: list[Root] = [("f", f, name_of(f))]
    for k, structure in enumerate(entry.args):
        name = entry.names[k] if k < len(entry.names) else f"argument {k}"
        roots += parts_of(structure, f"args[{k}]", name)
    for name, structure in entry.kwargs:
        roots += parts_of(structure, f"kwargs[{name!r}]", name)
    return roots


def name_of(f: Any) -> str:
    """Return a callable's name, without asking the object itself."""
    return str(f.__name__) if type(f).__module__ == "builtins" else type(f).__name__


def parts_of(structure: Any, path: str, name: str) -> list[Root]:
    """Return the objects in an argument that are no inputs, each before what it holds."""
    found: list[Root] = []
    stack = [(structure, path, name)]
    while stack:
        s, path, shown = stack.pop()
        if isinstance(s, Static) and not is_fixed(s.value):
            found.append((path, s.value, shown))
        elif isinstance(s, Node):
            found.append((path, OfClass(s.type), shown))
            steps = [step_of(s, key, shown) for key in s.keys]
            stack += [
                (c, path + step, shown + step.replace(".__dict__", ""))
                for c, step in zip(s.children, steps, strict=True)
            ]
    return found


def step_of(node: Node, key: Any, shown: str) -> str:
    """Return how a part of a container is reached; raise Unprovable where code would run."""
    kind = node.type
    if not isinstance(key, Attr) and issubclass(kind, dict | list | tuple):
        if type(key) not in (int, str, bool, float, type(None)):
            raise Unprovable(f"{shown} has keys that are no numbers or texts")
        return f"[{key!r}]"
    if kind.__module__ != "collections" and (why := what_hides_state(kind)):
        raise Unprovable(f"{shown} {why}")
    attribute = key.name if isinstance(key, Attr) else key
    if isinstance(attribute, int):
        return f"[{attribute}]"
    is_field = attribute in _OF_C or attribute in slots_of(kind)
    return f".{attribute}" if is_field else f".__dict__[{attribute!r}]"


def is_fixed(value: Any) -> bool:
    """Tell whether a value is immutable and compared by value when arguments are checked."""
    if type(value) is tuple:
        return all(map(is_fixed, value))
    return (
        value is None
        or type(value) in (bool, int, str, bytes, float, complex)
        or (isinstance(value, np.generic) and not isinstance(value, np.void))
        or (isinstance(value, np.dtype) and not value.names)
        or is_named_library(value)
    )
