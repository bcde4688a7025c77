"""The checks of what names in a function's code stand for: globals, cells, builtins, modules."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Iterable
from typing import Any

from yota.captured import known, traits
from yota.captured.bytecode import ESCAPES, SUPER, Chain, Facts, facts_of
from yota.captured.classes import kind
from yota.captured.walk import Unprovable, Walk


def learn(walk: Walk, code: types.CodeType) -> Facts:
    """Note what a function's code does; raise Unprovable for what it does to the outside."""
    facts = facts_of(code)
    walk.found_names |= facts.free
    walk.found_traits |= facts.traits
    if walk.reflects:
        walk.found_names |= facts.texts
    if traits.MATCHES in facts.traits:
        walk.found_names.add("__match_args__")
    file = base_name(code.co_filename)
    for what, line in facts.writes.items():
        raise Unprovable(f"{file}:{line}: it {what}")
    for name, line in facts.attributes.items():
        if name in ESCAPES:
            raise Unprovable(f"{file}:{line}: it uses .{name}")
    for name, line in facts.imports.items():
        walk.place = f"{file}:{line}"
        imported(walk, name)
    return facts


def imported(walk: Walk, name: str) -> None:
    """Write the check of the modules that a function imports."""
    parts = name.split(".")
    for k in range(len(parts)):
        path = ".".join(parts[: k + 1])
        module = sys.modules.get(path)
        if type(module) is not types.ModuleType or not known.is_pure_module(module):
            raise Unprovable(f"{walk.place}: it imports {name}")
        through(walk, f"modules[{path!r}]", module, path, {()})


def globals_of(walk: Walk, held: str, x: Any, facts: Facts) -> None:
    """Write the check of the globals that a function names, and of what hides builtins."""
    if not facts.globals:
        return
    namespace = x.__globals__
    file = base_name(x.__code__.co_filename)
    if type(namespace) is not dict:
        raise Unprovable(f"{file}: its globals are a {type(namespace).__name__}")
    space, checked = walk.space(f"{held}.__globals__", namespace)
    absent = frozenset(n for n in facts.globals if n not in namespace)
    if absent:
        builtins_of(walk, space, x, absent, facts)
    for name, line in facts.globals.items():
        if name in namespace:
            walk.place = f"{file}:{line}"
            named(walk, f"{space}[{name!r}]", namespace[name], name, facts, checked)


def named(
    walk: Walk, path: str, x: Any, name: str, facts: Facts, checked: set[str] | None = None
) -> None:
    """Write the check of what one name stands for, and of what is read of it."""
    chains = facts.uses.get(name, {()})
    if not issubclass(type(x), types.ModuleType):
        walk.found_names.update(*chains)
    if issubclass(type(x), types.ModuleType):
        through(walk, path, x, name, chains)
    elif chains == {SUPER}:
        walk.unless(f"{path} is {kind(walk, x, name)}")
    elif checked is None or name not in checked:
        if checked is not None:
            checked.add(name)
        walk.reached(path, x, name)


def builtins_of(walk: Walk, space: str, x: Any, names: frozenset[str], facts: Facts) -> None:
    """Write the check that names are still Python's own functions, and hidden by no global."""
    file = base_name(x.__code__.co_filename)
    if x.__builtins__ is not known.BUILTINS:
        raise Unprovable(f"{file}: its builtins are not Python's own")
    walk.absent(space, x.__globals__, names)
    own, checked = walk.space(walk.constant(known.BUILTINS), known.BUILTINS)
    new = sorted(names - checked - (facts.own - known.BUILTINS.keys()))
    for name in new:
        place = f"{file}:{facts.globals[name]}"
        if name not in known.BUILTINS:
            raise Unprovable(f"{place}: {name} is not defined")
        if not known.is_pure_builtin(name):
            raise Unprovable(f"{place}: it calls {name}")
        walk.found_traits |= traits.of_function(known.BUILTINS[name])
    checked |= names
    walk.found_names.update(*(chain for name in names for chain in facts.uses.get(name, ())))
    for name in new:
        walk.unless(f"{own}[{name!r}] is {walk.constant(known.BUILTINS[name])}")


def cells_of(walk: Walk, held: str, x: Any, facts: Facts) -> None:
    """Write the check of the variables of the functions around a function."""
    for k, name in enumerate(x.__code__.co_freevars):
        if name not in facts.cells:
            continue
        walk.place = f"{base_name(x.__code__.co_filename)}:{facts.cells[name]}"
        try:
            content = x.__closure__[k].cell_contents
        except ValueError:
            raise Unprovable(f"{walk.place}: {name} has no value yet") from None
        named(walk, f"{held}.__closure__[{k}].cell_contents", content, name, facts)


def module(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a module that is a value, of which any attribute may be read."""
    through(walk, held, x, shown, {()})


def through(walk: Walk, path: str, x: Any, shown: str, chains: Iterable[Chain]) -> None:
    """Write the check of a module and of what is read of it, by chains of attributes."""
    if known.is_impure_module(x):
        raise walk.refuse(shown, "does not answer alike each time")
    if type(x) is not types.ModuleType:
        raise walk.refuse(shown, f"is a {type(x).__name__}, whose attributes may be computed")
    space, checked = space_of(walk, path, x)
    for chain in sorted(chains):
        for name, rest in [(chain[0], chain[1:])] if chain else loose_names(walk, x, shown):
            attribute(walk, space, x, name, rest, checked, shown)


def space_of(walk: Walk, path: str, x: types.ModuleType) -> tuple[str, set[str]]:
    """Write that a module stands at `path`; return a name for what it holds, and what is checked.

    Only modules of the library are known by more than a weak reference.
    """
    if id(x) in walk.modules:
        held = walk.modules[id(x)]
        walk.once(f"{path} is {held}")
    elif known.is_pure_module(x):
        held = walk.modules[id(x)] = walk.constant(x)
        walk.once(f"{path} is {held}")
    else:
        held = walk.modules[id(x)] = walk.local(path)
        walk.unless(f"{held} is {walk.constant(weakref.ref(x))}()")
    if id(vars(x)) in walk.spaces:
        return walk.spaces[id(vars(x))]
    return walk.space(
        walk.constant(vars(x)) if known.is_pure_module(x) else f"vars({held})", vars(x)
    )


def loose_names(walk: Walk, x: types.ModuleType, shown: str) -> list[tuple[str, Chain]]:
    """Return the names that may be read of a module that is used as a whole."""
    if known.is_pure_module(x):
        return [(n, ()) for n in sorted(walk.names & vars(x).keys())]
    if walk.reflects:
        raise walk.refuse(shown, "is a module whose attributes are reached by computed names")
    return [(n, ()) for n in sorted(walk.names)]


def attribute(
    walk: Walk, space: str, x: Any, name: str, rest: Chain, checked: set[str], shown: str
) -> None:
    """Write the check of one attribute of a module."""
    held = vars(x)
    if not issubclass(type(held.get(name)), types.ModuleType):
        walk.found_names.update(rest)
    if name not in held:
        missing(walk, space, x, name, checked, shown)
        return
    value = held[name]
    shown = f"{shown}.{name}"
    if known.is_impure(value):
        raise walk.refuse(shown, "does not answer alike each time")
    if issubclass(type(value), types.ModuleType):
        through(walk, f"{space}[{name!r}]", value, shown, {rest})
    elif name not in checked:
        checked.add(name)
        walk.value(f"{space}[{name!r}]", value, shown)


def missing(walk: Walk, space: str, x: Any, name: str, checked: set[str], shown: str) -> None:
    """Write the check that a module still has no such attribute; some compute them."""
    if name in checked:
        return
    checked.add(name)
    walk.add(f"if {name!r} in {space}: return False")
    if known.is_pure_module(x):
        raise walk.refuse(f"{shown}.{name}", "is not there")
    if "__getattr__" in vars(x) and "__getattr__" not in checked:
        checked.add("__getattr__")
        walk.value(f"{space}['__getattr__']", vars(x)["__getattr__"], f"{shown}.__getattr__")


def base_name(file: str) -> str:
    """Return a file's name without its folders."""
    return file.rpartition("/")[2].rpartition("\\")[2]
