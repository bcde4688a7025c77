"""The checks of functions: of their code, and of what it captures."""

from __future__ import annotations

import weakref
from typing import Any

from yota.captured import traits
from yota.captured.classes import described
from yota.captured.names import base_name, cells_of, globals_of, learn
from yota.captured.walk import Walk, is_plain
from yota.rules.registry import PRIMITIVES, VJP


def function(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a function of the user's, with all that it captures."""
    if x in PRIMITIVES:
        return primitive(walk, held, x, shown)
    if is_recursive_repr(x):
        return walk.value(f"{held}.__wrapped__", x.__wrapped__, shown)
    if is_of_this_library(x):
        return made_here(walk, held, x, shown)
    code = x.__code__
    walk.unless(f"type({held}) is function_type and {held}.__code__ is {walk.constant(code)}")
    before, walk.place = walk.place, f"{base_name(code.co_filename)}:{code.co_firstlineno}"
    facts = learn(walk, code)
    defaults(walk, held, x, shown)
    globals_of(walk, held, x, facts)
    cells_of(walk, held, x, facts)
    own_attributes(walk, held, x, shown)
    walk.place = before
    return None


def own_attributes(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of what is read of a function itself."""
    described(walk, held, x, shown)
    whole = walk.reflects or traits.CATCHES in walk.traits
    if x.__dict__:
        names = walk.names | x.__dict__.keys() if whole else walk.names
        walk.attributes(f"{held}.__dict__", x.__dict__, names, shown)
    elif whole:
        # else whoever asked for an attribute that is not there would have raised
        walk.add(f"if {held}.__dict__: return False")


def is_recursive_repr(x: Any) -> bool:
    """Tell whether a function is what guards a dataclass's text against cycles."""
    module = x.__globals__.get("__name__")
    return module in ("dataclasses", "reprlib") and "recursive_repr" in x.__code__.co_qualname


def is_of_this_library(x: Any) -> bool:
    """Tell whether a function was made by this library around one of the user's."""
    return str(x.__globals__.get("__name__")).startswith("yota.")


def made_here(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of such as `yota.value_and_grad(f)`: of the user's function inside."""
    code = x.__code__
    walk.unless(f"type({held}) is function_type and {held}.__code__ is {walk.constant(code)}")
    for k, cell in enumerate(x.__closure__ or ()):
        content = cell.cell_contents
        if callable(content) or is_plain(content):
            walk.value(f"{held}.__closure__[{k}].cell_contents", content, shown)
        elif type(content).__name__ != "Slot":
            raise walk.refuse(shown, f"holds a {type(content).__name__} of an earlier call")


def defaults(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a function's default arguments."""
    if x.__defaults__:
        walk.value(f"{held}.__defaults__", x.__defaults__, f"the defaults of {shown}")
    if x.__kwdefaults__:
        walk.value(f"{held}.__kwdefaults__", x.__kwdefaults__, f"the defaults of {shown}")


def primitive(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a primitive: of its rules, and of what it runs on plain values."""
    walk.unless(f"{held} is {walk.constant(weakref.ref(x))}()")
    inner = x.__wrapped__
    walk.value(f"{held}.__wrapped__", inner, shown)
    rules(walk, f"rules_of({held})", VJP.get(x), shown)


def rules(walk: Walk, path: str, vjp: Any, shown: str) -> None:
    """Write the check of the derivatives that a user gave to a function."""
    if vjp is None:
        return walk.unless(f"{path} is None")
    if vjp.rest is not None or vjp.sees is not None:
        raise walk.refuse(shown, "makes its rules anew for each operand")
    held = walk.local(path)
    walk.unless(f"len({held}.rules) == {len(vjp.rules)}")
    for k, rule in enumerate(vjp.rules):
        walk.value(f"{held}.rules[{k}]", rule, f"rule {k} of {shown}")
    return None


def method(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a bound method."""
    walk.unless(f"type({held}) is method_type")
    walk.value(f"{held}.__func__", x.__func__, shown)
    walk.value(f"{held}.__self__", x.__self__, f"the object of {shown}")


def partial(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a functools.partial."""
    walk.unless(f"type({held}) is partial")
    for part in ("func", "args", "keywords"):
        walk.value(f"{held}.{part}", getattr(x, part), shown)
    if x.__dict__:
        walk.attributes(f"{held}.__dict__", x.__dict__, walk.names | x.__dict__.keys(), shown)


def descriptor(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a property, or of a method of a class or of none."""
    walk.unless(f"type({held}) is {walk.constant(type(x))}")
    if type(x) is classmethod:
        walk.found_traits.add(traits.CREATES)
    for part in ("fget", "fset", "fdel", "func", "__func__", "attrname"):
        if getattr(x, part, None) is not None:
            walk.value(f"{held}.{part}", getattr(x, part), shown)


def rules_of(fn: Any) -> Any:
    """Return the derivatives of a function as they are now."""
    return VJP.get(fn)
