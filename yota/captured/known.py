"""Which of other people's functions and modules answer alike each time, and touch nothing else."""

from __future__ import annotations

import builtins
import collections
import os
import sys
import types
from typing import Any

import numpy as np

PURE_MODULES = frozenset({
    "__future__", "_collections_abc", "_functools", "_operator", "abc", "builtins", "cmath",
    "collections", "contextlib", "copy", "copyreg", "dataclasses", "enum", "fractions",
    "functools", "itertools", "math", "numbers", "numpy", "operator", "scipy", "statistics",
    "string", "types", "typing", "yota",
})  # fmt: skip

# of these modules what draws numbers, keeps settings, reads or writes files, shows addresses
IMPURE_NAMES = frozenset({
    "random", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap",
    "save", "savez", "savez_compressed", "savetxt", "DataSource", "seterr", "geterr", "seterrcall",
    "geterrcall", "errstate", "set_printoptions", "get_printoptions", "printoptions", "setbufsize",
    "getbufsize", "show_config", "show_runtime", "test", "info", "ctypeslib", "f2py", "testing",
    "datetime64", "busdaycalendar", "singledispatch", "lru_cache", "cache", "getcontext",
    "setcontext", "localcontext", "stats", "optimize", "io", "datasets", "observe", "reset",
    "cache_info", "defvjp", "nondiff", "primitive", "shares_memory", "may_share_memory",
    "byte_bounds", "set_numeric_ops", "kmeans", "kmeans2", "eigs", "eigsh", "svds", "onenormest",
    "expm_multiply", "interpolative", "random_array", "rand", "redirect_stdout", "redirect_stderr",
    "chdir", "get_cache_token", "lsmr_random", "lobpcg",
})  # fmt: skip
_IMPURE_BUILTINS = frozenset({
    "__import__", "breakpoint", "compile", "eval", "exec", "globals", "id", "input", "locals",
    "open", "print", "object.__reduce__",
})  # fmt: skip

# where yota.scipy's distributions are made
STATS = "yota.scipy.stats.distribution"

BUILTINS = vars(builtins)
# as they were at first: whoever replaces one of them is noticed
_GENUINE = {
    name: value
    for name, value in BUILTINS.items()
    if (isinstance(value, type | types.BuiltinFunctionType) and value.__module__ == "builtins")
    or value in (None, True, False, Ellipsis, NotImplemented)
}
_PACKAGES = ("numpy", "scipy", "yota")
_STANDARD = os.path.dirname(os.__file__) + os.sep
_VECTORIZED = "(vectorized)"
# the flag of classes that are made while Python runs, as all of the user's are
_MADE_BY_PYTHON = 1 << 9


def is_known(module: types.ModuleType) -> bool:
    """Tell whether a module is one of `PURE_MODULES`, and no file of the user's of that name."""
    name = str(module.__name__)
    if name.partition(".")[0] not in PURE_MODULES or sys.modules.get(name) is not module:
        return False
    file = getattr(module, "__file__", None) or _STANDARD
    return file.startswith(_STANDARD) or name.partition(".")[0] in _PACKAGES


def is_pure_module(module: types.ModuleType) -> bool:
    """Tell whether a module's functions answer alike, but for `IMPURE_NAMES`."""
    return is_known(module) and IMPURE_NAMES.isdisjoint(parts_of(module))


def is_impure_module(module: types.ModuleType) -> bool:
    """Tell whether a module is a part of a known one that does not answer alike."""
    return is_known(module) and not IMPURE_NAMES.isdisjoint(parts_of(module))


def parts_of(module: types.ModuleType) -> list[str]:
    """Return the parts of a module's name that tell something: not those of this library's own."""
    root, *rest = module.__name__.split(".")
    return rest if root != "yota" else []


def is_pure_builtin(name: str) -> bool:
    """Tell whether a name is one of Python's own functions, and one that answers alike."""
    held = BUILTINS.get(name)
    return name in _GENUINE and _GENUINE[name] is held and name not in _IMPURE_BUILTINS


def is_impure(x: Any) -> bool:
    """Tell whether `x` is a function or class of a known module that does not answer alike."""
    if not issubclass(type(x), _FUNCTIONS):
        return False
    module = module_of(x)
    name = str(getattr(x, "__name__", ""))
    if module is None:
        return False
    if module is builtins:
        return name in _IMPURE_BUILTINS
    return not IMPURE_NAMES.isdisjoint((*parts_of(module), name))


def is_library(x: Any) -> bool:
    """Tell whether a function or class is of a module whose functions answer alike."""
    if isinstance(x, np.ufunc):
        # what np.frompyfunc makes runs a function of the user's
        return not x.__name__.endswith(_VECTORIZED)
    if isinstance(x, types.BuiltinFunctionType) and not isinstance(x.__self__, types.ModuleType):
        # a method of a value of C's, such as of a random generator, or of a class, as tuple.__new__
        return isinstance(x.__self__, type | np.ufunc) and is_library(x.__self__)
    if module_of(x) is None or is_impure(x):
        return False
    if isinstance(x, types.FunctionType) and x.__closure__:
        # such as contextlib makes around a function of the user's
        return is_named_so(x)
    return not isinstance(x, type) or not x.__flags__ & _MADE_BY_PYTHON or is_named_so(x)


def is_named_so(x: Any) -> bool:
    """Tell whether a function or class stands in a known module under its own name."""
    held: Any = sys.modules.get(str(x.__module__))
    if held is None or not is_known(held):
        return False
    for part in str(x.__qualname__).split("."):
        held = getattr(held, "__dict__", {}).get(part)
    return held is x


def module_of(x: Any) -> types.ModuleType | None:
    """Return the known module that a function or class was made in, None for all others."""
    if isinstance(x, types.FunctionType):
        # functools.wraps lets a function of the user's bear the module of another
        name = x.__globals__.get("__name__")
    elif isinstance(x, type):
        name = type.__getattribute__(x, "__module__")
    else:
        name = getattr(x, "__module__", None)
    module = sys.modules.get(str(name))
    if module is None or not is_known(module):
        return None
    is_elsewhere = isinstance(x, types.FunctionType) and x.__globals__ is not vars(module)
    return None if is_elsewhere else module


# methods of C's classes, as they stand in class bodies: what they read is their operand's
_METHODS_OF_C = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
    type(vars(collections.namedtuple("_", "a"))["a"]),
)
_FUNCTIONS = (type, np.ufunc, types.FunctionType, types.BuiltinFunctionType, type(np.sum))


def is_named_library(x: Any) -> bool:
    """Tell whether `x` is a function or class, and one that answers alike each time."""
    return issubclass(type(x), _METHODS_OF_C) or (issubclass(type(x), _FUNCTIONS) and is_library(x))
