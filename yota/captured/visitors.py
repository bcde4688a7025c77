"""Which check fits a captured value, and what the checks call."""

from __future__ import annotations

import abc
import collections
import enum
import functools
import operator
import sys
import types
from typing import Any

import numpy as np

from yota.captured import functions, names, objects, values
from yota.captured.classes import klass, weak
from yota.captured.known import STATS, is_impure, is_library, is_named_library
from yota.captured.same import floats_of, same_value
from yota.captured.walk import Visitor, Walk
from yota.compiled import Compiled
from yota.rules.registry import PRIMITIVES


def compiled(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a function that its user declared pure."""
    walk.unless(f"{held} is {walk.constant(weak(x))}()")


def impure(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Refuse what does not answer alike each time."""
    raise walk.refuse(shown, "does not answer alike each time")


_VISITORS: dict[type, Visitor] = {
    np.ndarray: values.array,
    list: values.sequence,
    tuple: values.sequence,
    dict: values.mapping,
    collections.deque: values.queue,
    collections.OrderedDict: values.ordered,
    collections.defaultdict: values.ordered,
    set: values.texts,
    frozenset: values.texts,
    slice: values.piece,
    types.MethodType: functions.method,
    functools.partial: functions.partial,
    property: functions.descriptor,
    staticmethod: functions.descriptor,
    classmethod: functions.descriptor,
    functools.cached_property: functions.descriptor,
    types.BuiltinFunctionType: values.opaque,
    types.GeneratorType: values.opaque,
    Compiled: compiled,
}


def visitor_of(x: Any) -> Visitor | None:
    """Return what walks a value; None for one that is told by its identity alone."""
    # not isinstance, which asks the object itself
    cls = type(x)
    if issubclass(cls, types.ModuleType):
        return names.module
    if cls is types.FunctionType:
        return functions.function if _is_users(x) else (impure if is_impure(x) else None)
    if issubclass(cls, enum.Enum):
        return objects.member
    if is_named_library(x):
        return None
    if is_impure(x):
        return impure
    if cls.__module__ == STATS and cls.__name__ == "Distribution":
        return None  # made once, when SciPy's twin was
    if issubclass(cls, np.void):
        return values.record
    if issubclass(cls, np.dtype):
        return values.fields
    if issubclass(cls, type):
        return klass
    found: Visitor = _VISITORS.get(cls, objects.instance)
    return found


def _is_users(fn: Any) -> bool:
    """Tell whether a function, or primitive, is the user's."""
    if fn in PRIMITIVES:
        return not str(fn.__module__).startswith("yota.")
    return not is_library(fn) and not is_impure(fn)


NAMESPACE = {
    "same": same_value,
    "floats_of": floats_of,
    "rules_of": functions.rules_of,
    "function_type": types.FunctionType,
    "method_type": types.MethodType,
    "partial": functools.partial,
    "modules": sys.modules,
    "abc_token": abc.get_cache_token,
    "error_modes": np.geterr,
    "print_options": np.get_printoptions,
    "ndarray": np.ndarray,
    "is_": operator.is_,
    **{f.__name__: f for f in (vars, type, len, tuple, id, str, hasattr, all, map)},
}
