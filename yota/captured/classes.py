"""The checks of classes: of their attributes and methods."""

from __future__ import annotations

import enum
import types
import weakref
from collections.abc import Callable
from typing import Any

from yota.captured import traits
from yota.captured.known import is_named_library
from yota.captured.walk import Walk

# what describes a function or class besides its attributes
_DESCRIPTIONS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")
# nothing that runs depends on these, unless code names them
_INERT = frozenset({
    "__doc__", "__module__", "__dict__", "__weakref__", "__qualname__", "__annotations__",
    "__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__",
    "__orig_bases__", "__parameters__", "__abstractmethods__", "__static_attributes__",
    "__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__",
    "__type_params__", "__protocol_attrs__", "__non_callable_proto_members__", "__orig_class__",
    "__classcell__", "__classdictcell__", "__final__", "__signature__", "__text_signature__",
})  # fmt: skip
_TEXTS = frozenset({"__repr__", "__str__", "__format__"})
_COPIES = frozenset({
    "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__",
    "__replace__", "__getnewargs__", "__getnewargs_ex__",
})  # fmt: skip
_CONSTRUCTORS = frozenset({
    "__init__", "__new__", "__post_init__", "__del__", "__init_subclass__", "__class_getitem__",
    "__set_name__", "__subclasshook__",
})  # fmt: skip
_STORERS = frozenset({
    "__setattr__", "__delattr__", "__setitem__", "__delitem__", "__set__", "__delete__", "__iadd__",
    "__isub__", "__imul__", "__imatmul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__",
    "__ilshift__", "__irshift__", "__iand__", "__ixor__", "__ior__",
})  # fmt: skip
# what the classes of collections.abc call besides special methods
_HOOKS = frozenset({"insert", "add", "discard", "pop", "clear", "_from_iterable", "_hash"})
# modules whose classes call no method by a name of one's own choosing
_PLAIN_MODULES = frozenset({"abc", "builtins", "collections.abc", "enum", "typing"})
_MEMBERS = 64


def kind(walk: Walk, cls: Any, shown: str) -> str:
    """Return the name of a class in the check, known by a weak reference; walk it as well."""
    if is_named_library(cls):
        return walk.constant(cls)
    if id(cls) not in walk.memo:
        held = walk.local(f"{walk.constant(weakref.ref(cls))}()")
        walk.memo[id(cls)] = (held, cls)
        bases(walk, held, cls, shown)
    return walk.memo[id(cls)][0]


def klass(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a class that is used as a value."""
    walk.unless(f"{held} is {walk.constant(weakref.ref(x))}()")
    walk.found_traits.add(traits.CREATES)
    if issubclass(type(x), enum.EnumMeta):
        walk.found_traits.add(traits.ENUMS)
    if traits.INSTANCES in walk.traits:
        walk.found_names |= protocol_members(x)
    bases(walk, held, x, shown)


def protocol_members(cls: Any) -> set[str]:
    """Return the names that `isinstance` looks for where a class is a protocol."""
    if not vars(cls).get("_is_protocol"):
        return set()
    spaces = [vars(b) for b in cls.__mro__ if vars(b).get("_is_protocol")]
    named = {n for s in spaces for n in (*s, *s.get("__annotations__", ()))}
    return {n for n in named - _INERT if not n.startswith(("_abc_", "_is_"))}


def bases(walk: Walk, held: str, cls: Any, shown: str) -> None:
    """Write the check of the attributes that a class, and the user's classes above it, have."""
    if type(cls) is not type and not is_named_library(type(cls)):
        raise walk.refuse(shown, f"is of a class with a metaclass of its own ({cls.__name__})")
    order = cls.__mro__
    mro = walk.local(f"{held}.__mro__")
    same = [f"{mro}[{k}] is {held_base(walk, order[k])}" for k in range(1, len(order) - 1)]
    walk.unless(" and ".join([f"len({mro}) == {len(order)}", *same]))
    for k, base in enumerate(order):
        if is_named_library(base):
            continue
        if is_of_c(base):
            raise walk.refuse(shown, f"is a {base.__name__}, whose state cannot be compared")
        space = f"vars({held})" if k == 0 else f"vars({mro}[{k}])"
        walk.attributes(space, vars(base), wanted(walk, cls, base), base.__name__)
    described(walk, held, cls, shown)
    members(walk, held, cls, shown)


def described(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a function's or class's name, docstring and the like, where asked for."""
    for name in _DESCRIPTIONS:
        if name in walk.names:
            walk.value(f"{held}.{name}", getattr(x, name), f"{shown}.{name}")


def held_base(walk: Walk, base: Any) -> str:
    """Return what a class in the order of bases is compared with."""
    if is_named_library(base):
        return walk.constant(base)
    return f"{walk.constant(weakref.ref(base))}()"


def wanted(walk: Walk, cls: Any, base: Any) -> frozenset[str]:
    """Return the names of the attributes of a class that may be read."""
    own = vars(base)
    inert = _INERT - walk.names
    quiet = set(inert)
    creates = traits.CREATES in walk.traits or is_made_by_library(cls)
    quiet |= {n for n in own if is_quiet(walk, n, own, creates)}
    if walk.reflects or calls_own_names(cls):
        return frozenset((walk.names | own.keys()) - quiet)
    special = {n for n in own if n.startswith("__") or n == "_missing_" or n in walk.ducks}
    if is_made_by_library(cls):
        special |= _HOOKS & own.keys()
    return frozenset((walk.names | special) - quiet)


def is_quiet(walk: Walk, name: str, own: Any, creates: bool) -> bool:
    """Tell whether a special method is one that nothing calls in this walk."""
    if name in walk.names:
        return False
    if name in _CONSTRUCTORS:
        return not creates or is_typings(own[name])
    if name in _STORERS:
        return walk.traits.isdisjoint((traits.STORES, traits.CREATES))
    if name in _TEXTS:
        return traits.TEXTS not in walk.traits
    if name in _COPIES:
        return not walk.reflects
    if name == "__hash__":
        # a dataclass's own does no more than read the fields
        made = own[name] is None or "__dataclass_params__" in own
        return made and traits.HASHES not in walk.traits
    return name == "_abc_impl"


def is_typings(x: Any) -> bool:
    """Tell whether a class attribute is one that the library puts into every class of a kind."""
    function = x.__func__ if type(x) is classmethod else x
    return type(function) is types.FunctionType and function.__module__ == "typing"


def calls_own_names(cls: Any) -> bool:
    """Tell whether a class of the library stands above, whose methods call others by name."""
    return any(is_named_library(b) and b.__module__ not in _PLAIN_MODULES for b in cls.__mro__)


def is_made_by_library(cls: Any) -> bool:
    """Tell whether a class of the library stands above that makes objects of the class's own."""
    return any(
        is_named_library(b) and b.__module__ in ("collections", "collections.abc", "fractions")
        for b in cls.__mro__
    )


def members(walk: Walk, held: str, cls: Any, shown: str) -> None:
    """Write the check of the members of an enumeration, where it is used as a whole."""
    if not issubclass(type(cls), enum.EnumMeta):
        return
    if walk.reflects or not walk.traits.isdisjoint((traits.ENUMS, traits.CREATES)):
        if len(cls._member_map_) > _MEMBERS:
            raise walk.refuse(shown, f"is an enumeration of more than {_MEMBERS} members")
        walk.value(f"{held}._member_map_", cls._member_map_, shown)


def is_of_c(cls: type) -> bool:
    """Tell whether a class is written in C: it has methods, or a constructor, of C's own."""
    return any(
        v.__objclass__ is cls
        if issubclass(type(v), types.MethodDescriptorType | types.WrapperDescriptorType)
        else issubclass(type(v), types.BuiltinFunctionType) and v.__self__ is cls
        for v in vars(cls).values()
    )


def weak(x: Any) -> Callable[[], Any]:
    """Return a weak reference, or for what takes none a function that returns `x`."""
    try:
        return weakref.ref(x)
    except TypeError:
        return lambda: x
