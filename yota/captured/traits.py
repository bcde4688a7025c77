"""Traits of functions: what they do that decides how closely captured state has to be compared."""

from __future__ import annotations

import copy
import dataclasses
import operator
import string
from typing import Any

import numpy as np

REFLECTS = "reaches attributes by computed names"
TEXTS = "makes texts of objects"
STORES = "writes into objects"
COMPARES = "compares identities, or objects that may have nothing else"
HASHES = "hashes objects, or orders them by their hash"
MODULO = "uses the operator %"
PERCENT = "holds a text with a %"
CATCHES = "asks for what may not be there"
MATCHES = "matches classes"
INSTANCES = "asks for classes"
CREATES = "uses classes as a whole, so that it may make objects"
ENUMS = "uses an enumeration as a whole"

_WRITERS = (
    "append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "popitem",
    "sort", "reverse", "add", "discard", "fill", "put", "resize", "partition", "itemset", "rotate",
    "appendleft", "popleft", "extendleft", "copyto", "place", "putmask", "put_along_axis",
    "fill_diagonal", "at", "nan_to_num", "setfield", "byteswap", "move_to_end", "subtract",
    "difference_update", "intersection_update", "symmetric_difference_update",
    "__setitem__", "__delitem__", "__setattr__", "__delattr__", "__iadd__", "__ior__", "__dict__",
)  # fmt: skip

# what the name of an attribute tells, whatever it is an attribute of
_ATTRIBUTES: list[tuple[set[str], tuple[str, ...]]] = [
    ({TEXTS, REFLECTS}, ("format", "format_map", "vformat", "substitute", "safe_substitute")),
    ({TEXTS}, ("__repr__", "__str__", "__format__")),
    ({REFLECTS}, ("__dict__", "__getattribute__", "__setattr__", "__delattr__", "__getattr__")),
    ({REFLECTS}, ("_asdict", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")),
    ({COMPARES}, ("index", "count", "remove", "__eq__", "__ne__", "__contains__")),
    ({HASHES}, ("__hash__",)),
    ({CREATES}, ("__class__", "_replace", "_make", "mro", "__mro__", "fromkeys")),
    ({STORES}, _WRITERS),
]

# what the functions of Python and its library tell, under whatever name they are known
_FUNCTIONS: list[tuple[set[str], tuple[Any, ...]]] = [
    ({REFLECTS}, (getattr, hasattr, vars, dir, operator.attrgetter, operator.methodcaller)),
    ({REFLECTS, STORES}, (setattr, delattr)),
    ({REFLECTS, CREATES}, (copy.copy, copy.deepcopy, dataclasses.replace, dataclasses.asdict)),
    ({REFLECTS, CREATES}, (dataclasses.fields, dataclasses.astuple)),
    ({CREATES}, (type,)),
    ({TEXTS}, (str, repr, format, ascii, np.array2string, np.array_repr, np.array_str)),
    ({TEXTS}, (np.format_float_positional, np.format_float_scientific)),
    ({TEXTS, REFLECTS}, (string.Formatter, string.Template)),
    ({HASHES}, (hash, set, frozenset)),
    ({INSTANCES}, (isinstance, issubclass)),
    ({COMPARES}, (operator.is_, operator.is_not, operator.eq, operator.ne, operator.contains)),
    ({COMPARES}, (operator.countOf, operator.indexOf)),
    ({STORES}, (operator.setitem, operator.delitem, np.copyto, np.put, np.place, np.putmask)),
    ({STORES}, (np.put_along_axis, np.fill_diagonal, np.nan_to_num)),
    ({STORES}, (operator.iadd, operator.isub, operator.imul, operator.imatmul, operator.ipow)),
    ({STORES}, (operator.itruediv, operator.ifloordiv, operator.imod, operator.iconcat)),
    ({STORES}, (operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift)),
]


def _table(rows: list[tuple[set[str], tuple[Any, ...]]]) -> dict[Any, frozenset[str]]:
    found: dict[Any, frozenset[str]] = {}
    for tells, keys in rows:
        for key in keys:
            found[key] = found.get(key, frozenset()) | tells
    return found


_OF_ATTRIBUTES, _OF_FUNCTIONS = _table(_ATTRIBUTES), _table(_FUNCTIONS)


# what Python itself, and its numbers, ask any object for
DUCKS = frozenset({
    "keys", "send", "throw", "close", "as_integer_ratio", "numerator", "denominator", "real",
    "imag", "conjugate", "is_integer",
})  # fmt: skip
# functions that ask their operand for an attribute of another name than their own
_ASKS = {
    "amax": "max",
    "amin": "min",
    "around": "round",
    "closing": "close",
    "iscomplexobj": "dtype",
}
_OPERATORS = frozenset({"shape", "dtype", "matvec", "rmatvec", "matmat", "rmatmat", "_matvec",
                        "_rmatvec", "_matmat", "_rmatmat", "_adjoint", "_transpose"})  # fmt: skip


def asks_for(x: Any) -> frozenset[str]:
    """Return the attributes that a function of the library may ask its operands for."""
    name = str(getattr(x, "__name__", ""))
    more = _OPERATORS if str(getattr(x, "__module__", "")).startswith("scipy.sparse") else ()
    return frozenset({name, _ASKS.get(name, name), *more})


def of_attribute(name: str) -> frozenset[str]:
    """Return what the name of an attribute tells."""
    return _OF_ATTRIBUTES.get(name, frozenset())


def of_function(x: Any) -> frozenset[str]:
    """Return what a function or class of a library tells."""
    try:
        found = _OF_FUNCTIONS.get(x, frozenset())
    except TypeError:
        found = frozenset()
    # SciPy asks functions for attributes that they need not have
    is_scipys = str(getattr(x, "__module__", "")).startswith("scipy.")
    return found | {CATCHES} if is_scipys else found
