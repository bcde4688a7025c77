"""The checks of objects of users' classes."""

from __future__ import annotations

import types
from typing import Any

from yota.captured import known, traits
from yota.captured.classes import calls_own_names, is_of_c, kind, weak
from yota.captured.known import is_named_library
from yota.captured.values import mapping, sequence
from yota.captured.walk import Walk

_OWN = frozenset({"__getitem__", "__len__", "__iter__"})
_PLAIN = (object, dict, list, tuple, types.SimpleNamespace)


def member(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a member of an enumeration."""
    walk.unless(f"{held} is {walk.constant(weak(x))}()")
    kind(walk, type(x), shown)
    held_by = vars(x)
    # what the methods of enumerations read
    names = walk.names | {"_value_", "_name_"}
    walk.attributes(f"{held}.__dict__", held_by, names & held_by.keys(), shown)
    if traits.CATCHES in walk.traits:
        walk.unless(f"len({held}.__dict__) == {len(held_by)}")


def instance(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of an object: of its class and of the attributes that code names."""
    cls = type(x)
    if why := what_hides_state(cls):
        raise walk.refuse(shown, why)
    walk.unless(f"type({held}) is {kind(walk, cls, shown)}")
    if traits.HASHES in walk.traits:
        walk.unless(f"{held} is {walk.constant(weak(x))}()")
    if issubclass(cls, list | tuple):
        sequence(walk, held, x, shown)
    elif issubclass(cls, dict):
        mapping(walk, held, x, shown)
    # what methods of the library read of it has names that are not looked at
    whole = walk.reflects or is_named_library(cls) or calls_own_names(cls)
    for name in slots_of(cls):
        if whole or name in walk.names:
            slot(walk, held, x, name, shown)
    if cls.__dictoffset__:
        space = x.__dict__
        names = space.keys() if whole else walk.ducks & space.keys()
        walk.attributes(f"{held}.__dict__", space, walk.names | names, shown)


def slot(walk: Walk, held: str, x: Any, name: str, shown: str) -> None:
    """Write the check of one slot, which may be empty."""
    if hasattr(x, name):
        walk.value(f"{held}.{name}", getattr(x, name), f"{shown}.{name}")
    else:
        walk.unless(f"not hasattr({held}, {name!r})")


def what_hides_state(cls: type) -> str:
    """Return why the state of objects of this class does not show, '' if it does."""
    if any(known.is_impure(b) for b in cls.__mro__):
        return f"is a {cls.__name__}, which does not answer alike each time"
    if any(is_of_c(b) and b not in _PLAIN for b in cls.__mro__):
        return f"is a {cls.__name__}, whose state cannot be compared"
    if any(b.__module__.startswith("yota.") and b.__module__ != known.STATS for b in cls.__mro__):
        return f"is a {cls.__name__}, of an earlier call"
    for base in cls.__mro__:
        own = vars(base) if base not in _PLAIN else {}
        dictionary = own.get("__dict__")
        computed = "__getattribute__" in own or "__class__" in own
        if computed or type(dictionary) not in (type(None), types.GetSetDescriptorType):
            return f"is a {cls.__name__}, whose attributes are computed"
        if issubclass(cls, dict | list | tuple) and not _OWN.isdisjoint(own):
            return f"is a {cls.__name__}, whose items are computed"
    if slots_of(cls) and hasattr(cls, "__getattr__"):
        return f"is a {cls.__name__}, whose attributes are computed"
    return ""


def slots_of(cls: type) -> list[str]:
    """Return the names of all slots of a class, as they are kept."""
    found: list[str] = []
    for base in cls.__mro__:
        own = vars(base).get("__slots__", ())
        names = [own] if isinstance(own, str) else list(own)
        found += [mangled(base, n) for n in names if n not in ("__dict__", "__weakref__")]
    return found


def mangled(base: type, name: str) -> str:
    """Return the name under which a class keeps a slot: a private one bears the class's."""
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{base.__name__.lstrip('_')}{name}" if is_private else name
