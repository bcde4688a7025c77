"""Which functions on a tape are NumPy's and ours, under a name that finds them again."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from yota.rules.lazily import is_scipys, learn_by_name
from yota.rules.registry import NONDIFF, PRIMITIVES, VJP
from yota.tape import Call, Tape, Var
from yota.tracing.foreign import is_foreign

OPERATORS = (
    "abs", "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "index", "inv", "invert", "le",
    "lshift", "lt", "matmul", "mod", "mul", "ne", "neg", "not_", "or_", "pos", "pow", "rshift",
    "sub", "truediv", "truth", "xor",
)  # fmt: skip
# what holds no code; asked of every operand of long tapes
_DATA = frozenset({Var, int, float, bool, complex, str, bytes, type(None), type(...), np.ndarray})
UFUNC_METHODS = ("reduce", "accumulate", "outer", "reduceat")
UNSAFE = frozenset({
    "DataSource", "apply_along_axis", "apply_over_axes", "frompyfunc", "fromfile", "fromfunction",
    "fromregex", "genfromtxt", "load", "loadtxt", "memmap", "piecewise", "save", "savetxt", "savez",
    "savez_compressed", "tofile", "vectorize",
})  # fmt: skip


@functools.lru_cache(maxsize=4)
def _table(version: int) -> tuple[dict[str, Callable[..., Any]], dict[int, str]]:
    by_name: dict[str, Callable[..., Any]] = {}
    for name, fn in _known():
        by_name.setdefault(name, fn)
    return by_name, {id(fn): name for name, fn in reversed(by_name.items())}


def _known() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in OPERATORS:
        yield f"operator.{name}", getattr(operator, name)
    for fn in {**VJP, **dict.fromkeys(NONDIFF), **dict.fromkeys(PRIMITIVES)}:
        known = _registered_name(fn)
        if known is not None:
            yield known, fn
            if isinstance(fn, np.ufunc):
                yield from ((f"{known}.{m}", getattr(fn, m)) for m in UFUNC_METHODS)


def _registered_name(fn: Callable[..., Any]) -> str | None:
    name = str(getattr(fn, "__name__", ""))
    if name in UNSAFE:
        return None
    if isinstance(fn, np.ufunc):
        return _ufunc_name(fn, name)
    module = getattr(fn, "__module__", None) or ""
    root = module.split(".")[0]
    if root not in ("numpy", "scipy", "yota", "builtins", "math"):
        return None
    # by identity: a function of the user's may bear a name of NumPy's
    is_there = getattr(sys.modules.get(module), name, None) is fn
    return f"{module}.{name}" if is_there else None


def _ufunc_name(fn: np.ufunc, name: str) -> str | None:
    for prefix, space in (("numpy", np), ("numpy.linalg", np.linalg)):
        if getattr(space, name, None) is fn:
            return f"{prefix}.{name}"
    module = getattr(fn, "__module__", None) or ""
    return f"scipy.special.{name}" if module.startswith("scipy") or is_scipys(fn) else None


def _tables() -> tuple[dict[str, Callable[..., Any]], dict[int, str]]:
    return _table(len(VJP) + len(NONDIFF) + len(PRIMITIVES))


def name_of(fn: Callable[..., Any]) -> str | None:
    """Return the name under which `resolve` finds `fn` again; None for a function of the user."""
    found = _tables()[1].get(id(fn))
    if found is not None:
        return found
    owner, method = getattr(fn, "__self__", None), getattr(fn, "__name__", "")
    if isinstance(owner, np.ufunc) and method in UFUNC_METHODS:
        base = name_of(owner)
        return None if base is None else f"{base}.{method}"
    return None


def resolve(name: str) -> Callable[..., Any] | None:
    """Return the function of a name that `name_of` gave; None for any other name."""
    found = _tables()[0].get(name)
    # what stands in a saved tape need not have been met in this process
    return _tables()[0].get(name) if found is None and learn_by_name(name) else found


def is_users(op: Call) -> bool:
    """Tell whether running `op` would run code that is neither NumPy's nor ours."""
    return name_of(op.fn) is None or any(map(_runs, _leaves((op.args, op.kwargs))))


def _runs(x: Any) -> bool:
    """Tell whether NumPy would call into `x`: the user's function, or an object's operators."""
    if callable(x) and not isinstance(x, type):
        return name_of(x) is None
    return is_foreign(x if isinstance(x, type) else type(x))


def _leaves(tree: Any) -> Iterator[Any]:
    stack = [tree]
    while stack:
        x = stack.pop()
        if isinstance(x, tuple | list):
            stack.extend(x)
        elif isinstance(x, dict):
            stack.extend(x.values())
        elif type(x) is slice:
            stack.extend((x.start, x.stop, x.step))
        elif type(x) not in _DATA:
            yield x


def users_ops(tape: Tape) -> list[Var]:
    """Return the ops that would run the user's own code."""
    return [v for v, op in tape if isinstance(op, Call) and is_users(op)]
