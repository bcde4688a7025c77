"""Nested arguments as flat lists of leaves, and back: containers, dataclasses and plain objects."""

from __future__ import annotations

import collections
import enum
import functools
import gc
import numbers
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# what is taken apart by position
SEQUENCES = (tuple, list, collections.deque)
_COMPARED_BYTES = 1 << 20
_SEARCHED = 1_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A numeric value: number `index` of the flat list."""

    index: int


@dataclass(frozen=True, slots=True)
class Static:
    """A value that is passed as it is and never differentiated; `seen` is what it held then."""

    value: Any
    seen: Any = None


@dataclass(frozen=True, slots=True)
class Attr:
    """The name of an attribute, among the keys of a container that also has attributes."""

    name: str


_MAXLEN = Attr("maxlen")


@dataclass(frozen=True, slots=True)
class Node:
    """A container: `number` lets `Again` name it, `keys` are its fields, keys or positions."""

    number: int
    type: type
    keys: tuple[Any, ...]
    children: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """A container met before: shared, or a cycle."""

    number: int


def is_float(x: Any) -> bool:
    """Tell whether `x` is a leaf of floating or complex type."""
    if isinstance(x, np.ndarray | np.generic):
        return bool(x.dtype.kind in "fc")
    return isinstance(x, float | complex)


def is_leaf(x: Any) -> bool:
    """Tell whether `x` is traced: a float or complex number, or a numeric array."""
    return is_float(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "biu")


def fields_of(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Return keys and values of a container or plain object, None for anything else."""
    if isinstance(x, dict):
        keys, values = tuple(x), tuple(x.values())
    elif isinstance(x, SEQUENCES):
        keys, values = tuple(range(len(x))), tuple(x)
    else:
        return _object_fields(x)
    if type(x) in (dict, list, tuple):
        return keys, values
    more = [n for n in _attributes(x) if not n.startswith("__")]
    if isinstance(x, collections.defaultdict):
        more.append("default_factory")
    if isinstance(x, collections.deque):
        more.append("maxlen")
    return (*keys, *map(Attr, more)), (*values, *(getattr(x, n) for n in more))


def _attributes(x: Any) -> list[str]:
    kind = type(x)
    names = [n for n in _slots(kind) if hasattr(x, n)]
    return names + [n for n in getattr(x, "__dict__", ()) if not _is_cached_property(kind, n)]


_WHOLE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    enum.Enum,
    numbers.Number,
)


def _object_fields(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    kind: Any = type(x)
    if isinstance(x, _WHOLE) or hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array__"):
        return None
    if kind.__module__ == "builtins" or not _can_be_rebuilt(kind):
        return None
    names = _attributes(x)
    return tuple(names), tuple(getattr(x, n) for n in names)


@functools.lru_cache(maxsize=512)
def _can_be_rebuilt(kind: type) -> bool:
    try:
        _empty(kind)
    except TypeError:
        return False
    return "__dict__" in dir(kind) or bool(_slots(kind))


def _slots(kind: type) -> list[str]:
    names: list[str] = []
    for base in kind.__mro__:
        own = base.__dict__.get("__slots__", ())
        own = (own,) if isinstance(own, str) else own
        names += [_mangled(base, n) for n in own if n not in ("__dict__", "__weakref__")]
    return names


def _mangled(base: type, name: str) -> str:
    hidden = name.startswith("__") and not name.endswith("__")
    return f"_{base.__name__.lstrip('_')}{name}" if hidden else name


def _is_cached_property(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


def flatten(
    tree: Any, first: int = 0, leaf: Callable[[Any], bool] = is_leaf
) -> tuple[list[Any], Any]:
    """Return the numeric leaves of `tree` and its structure.

    Leaves are numbered from `first`.  An array that stands at several places is one leaf; a
    container without any leaf is passed as it is.
    """
    walk = _Flatten(leaf, first)
    structure = walk.visit(tree)
    return walk.leaves, structure


class _Flatten:
    def __init__(self, leaf: Callable[[Any], bool], first: int) -> None:
        self.leaf, self.first = leaf, first
        self.leaves: list[Any] = []
        self.arrays: dict[int, Leaf] = {}
        self.numbers: dict[int, int] = {}
        self.fertile: set[int] = set()

    def visit(self, x: Any) -> Any:
        if self.leaf(x):
            return self.add(x)
        fields = fields_of(x)
        if fields is None or not self.has_leaf(x):
            return Static(x, snapshot(x))
        if id(x) in self.numbers:
            return Again(self.numbers[id(x)])
        number = self.numbers[id(x)] = len(self.numbers)
        keys, values = fields
        return Node(number, type(x), keys, tuple(self.visit(v) for v in values))

    def add(self, x: Any) -> Leaf:
        shared = isinstance(x, np.ndarray)
        if shared and id(x) in self.arrays:
            return self.arrays[id(x)]
        found = Leaf(self.first + len(self.leaves))
        self.leaves.append(x)
        if shared:
            self.arrays[id(x)] = found
        return found

    def has_leaf(self, x: Any) -> bool:
        if id(x) in self.fertile:
            return True
        seen, stack = set(), [x]
        while stack:
            y = stack.pop()
            if self.leaf(y) or id(y) in self.fertile:
                self.fertile.add(id(x))
                return True
            if id(y) not in seen and (fields := fields_of(y)) is not None:
                seen.add(id(y))
                stack.extend(fields[1])
        return False


def unflatten(structure: Any, leaves: Any) -> Any:
    """Rebuild a tree of the given structure; `leaves[i]` stands for leaf i."""
    return _build(structure, leaves, {})


def _build(s: Any, leaves: Any, made: dict[int, Any]) -> Any:
    # no inner function: one that calls itself is a cycle, and would keep the arrays alive
    match s:
        case Leaf(index):
            return leaves[index]
        case Static(value):
            return value
        case Again(number):
            return made[number]
    return _build_node(s, leaves, made)


def _build_node(node: Node, leaves: Any, made: dict[int, Any]) -> Any:
    kind: Any = node.type
    if issubclass(kind, tuple):
        items = [_build(c, leaves, made) for k, c in _pairs(node) if not isinstance(k, Attr)]
        whole = made[node.number] = tuple.__new__(kind, items)
    else:
        whole = made[node.number] = _empty(kind, node)
    for key, child in _pairs(node):
        if key == _MAXLEN:
            continue
        if isinstance(key, Attr) or not issubclass(kind, (*SEQUENCES, dict)):
            name = key.name if isinstance(key, Attr) else key
            object.__setattr__(whole, name, _build(child, leaves, made))
        elif issubclass(kind, list | collections.deque):
            whole.append(_build(child, leaves, made))
        elif issubclass(kind, dict):
            whole[key] = _build(child, leaves, made)
    return whole


def _empty(kind: Any, node: Node | None = None) -> Any:
    """Return an object of this class before anything is put into it."""
    if issubclass(kind, collections.deque):
        limit = [c.value for k, c in _pairs(node) if k == _MAXLEN] if node is not None else [None]
        return kind([], *limit)
    if issubclass(kind, list | dict | types.SimpleNamespace):
        return kind.__new__(kind)
    return object.__new__(kind)


def _pairs(node: Node) -> Iterator[tuple[Any, Any]]:
    return zip(node.keys, node.children, strict=True)


def snapshot(x: Any, seen: frozenset[int] = frozenset()) -> Any:
    """Return what a fixed value holds now, to tell later whether it was changed in place."""
    fields = fields_of(x)
    if fields is None:
        return _contents(x) if isinstance(x, np.ndarray) else x
    if id(x) in seen:
        return "..."
    inner = seen | {id(x)}
    return (type(x), fields[0], tuple(snapshot(v, inner) for v in fields[1]))


def statics(structure: Any) -> Iterator[Any]:
    """Yield the fixed values of a structure."""
    stack = [structure]
    while stack:
        s = stack.pop()
        if isinstance(s, Static):
            yield s.value
        elif isinstance(s, Node):
            stack.extend(s.children)


def parts(value: Any) -> Iterator[Any]:
    """Yield what a container or plain object is made of, itself if it is neither."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        x = stack.pop()
        fields = fields_of(x)
        if fields is None:
            yield x
        elif id(x) not in seen:
            seen.add(id(x))
            stack.extend(fields[1])


def hidden(value: Any, leaf: Callable[[Any], bool]) -> Any:
    """Return a leaf inside something that is not taken apart, as a set; None if there is none."""
    seen: set[int] = set()
    stack = [value]
    opaque = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, str, bytes)
    while stack and len(seen) < _SEARCHED:
        x = stack.pop()
        if leaf(x):
            return x
        if id(x) not in seen and not isinstance(x, opaque):
            seen.add(id(x))
            stack.extend(gc.get_referents(x))
    return None


def map_structure(structure: Any, leaf: Callable[[int], Any], static: Callable[[Any], Any]) -> Any:
    """Return the structure with `leaf(index)` for each leaf and `static(value)` for each static."""
    match structure:
        case Leaf(index):
            return leaf(index)
        case Static(value):
            return static(value)
        case Node(number, kind, keys, children):
            made = tuple(map_structure(c, leaf, static) for c in children)
            return Node(number, kind, keys, made)
    return structure


def pick_leaves(structure: Any, tree: Any) -> dict[int, Any]:
    """Return what stands in `tree` at each leaf of a structure, by the leaf's index.

    Raises TypeError, LookupError or AttributeError where `tree` has another structure.
    """
    found: dict[int, Any] = {}
    stack = [(structure, tree)]
    while stack:
        s, value = stack.pop()
        if isinstance(s, Leaf):
            found.setdefault(s.index, value)
        elif isinstance(s, Node):
            plain = issubclass(s.type, (*SEQUENCES, dict))
            own = [k for k in s.keys if not isinstance(k, Attr)]
            kinds = SEQUENCES if issubclass(s.type, SEQUENCES) else dict
            if plain and (not isinstance(value, kinds) or len(value) != len(own)):
                raise TypeError("another structure")
            items = (
                getattr(value, k.name)
                if isinstance(k, Attr)
                else value[k]
                if plain
                else getattr(value, k)
                for k in s.keys
            )
            stack.extend(zip(s.children, items, strict=True))
    return found


def _contents(x: Any) -> Any:
    if x.nbytes > _COMPARED_BYTES:
        return x
    return (x.dtype, x.shape, tuple(x.ravel().tolist()) if x.dtype.hasobject else x.tobytes())


def nothing_like(value: Any) -> Any:
    """Return the gradient of a value that is not differentiated: None, in its containers."""
    if type(value) in (tuple, list):
        return type(value)(nothing_like(v) for v in value)
    if type(value) is dict:
        return {k: nothing_like(v) for k, v in value.items()}
    return None


def paths(structure: Any, name: str) -> Iterator[tuple[int, str]]:
    """Yield each leaf's index with its path, such as `params['W1']`, at its first place."""
    seen: set[int] = set()
    stack = [(structure, name)]
    while stack:
        s, path = stack.pop()
        if isinstance(s, Leaf) and s.index not in seen:
            seen.add(s.index)
            yield s.index, path
        elif isinstance(s, Node):
            steps = [(c, path + _step(s, k)) for k, c in zip(s.keys, s.children, strict=True)]
            stack.extend(reversed(steps))


def _step(node: Node, key: Any) -> str:
    if isinstance(key, Attr):
        return f".{key.name}"
    if issubclass(node.type, dict):
        return f"[{key!r}]"
    if issubclass(node.type, tuple) and hasattr(node.type, "_fields"):
        return f".{node.type._fields[key]}"
    if issubclass(node.type, SEQUENCES):
        return f"[{key}]"
    return f".{key}"
