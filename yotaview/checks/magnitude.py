"""How far a named form may part from the call that it replaces, on the values at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from yota import floats
from yota.passes.forms import FORMS
from yota.rules.functional import add_at
from yota.tape import Call, Var, map_vars
from yotaview.model.summary import modulus

BY_NAME = {f.name: f for f in FORMS}
# the forms whose bound is one of the terms' magnitudes; the others state it in ulp of the result
_OF_TERMS = {"vectors", "cotangents", "stacks", "products", "sums", "dots", "batches", "parts"}
_OF_RESULT = {"scales": 3.0, "powers": 16.0, "floats": 4.0}
# what adds up signed terms, so that its magnitude is that of the terms
_ADDING = {np.add, np.subtract, floats.add, floats.subtract}
_LINEAR = {
    "multiply", "matmul", "dot", "sum", "mean", "negative", "inner", "outer", "tensordot", "square",
    "dot_in_chunks", "sum_in_chunks", "reshape", "transpose", "swapaxes", "moveaxis", "ravel",
    "expand_dims", "squeeze", "broadcast_to", "concatenate", "stack", "getitem", "place", "setitem",
    "add_at", "scatter", "divide", "cumsum", "power", "vdot", "einsum", "trace", "diagonal", "diag",
    "repeat", "tile", "flip", "roll", "tril", "triu", "take", "where",
}  # fmt: skip


def forms_in(why: str) -> list[str]:
    """Return the names of the forms that made a rewrite, as its reason gives them."""
    heads = (part.partition(":")[0].strip() for part in why.split(";"))
    return [name for name in heads if name in BY_NAME]


def is_exact(names: list[str]) -> bool:
    """Tell whether forms keep every bit."""
    return all(BY_NAME[name].exact for name in names)


def allowed(names: list[str], rounds: float) -> float:
    """Return by how many units a value may differ, for so many roundings on the way."""
    bound = 0.0
    for name in names:
        bound += rounds if name in _OF_TERMS else _OF_RESULT.get(name, 0.0)
    return bound


def is_product(op: Call) -> bool:
    """Tell whether a call adds up products in an order of its own."""
    return op.name in ("dot", "matmul", "dot_in_chunks", "sum_in_chunks")


def is_of_terms(names: list[str]) -> bool:
    """Tell whether a difference counts in units of the terms' magnitudes."""
    return any(name in _OF_TERMS for name in names)


def magnitude(op: Call, sizes: Callable[[Var], Any], value: Any) -> Any:
    """Return the sum of the magnitudes of the terms that a call adds up."""
    args = map_vars(op.args, sizes)
    kwargs = {k: map_vars(v, sizes) for k, v in op.kwargs}
    try:
        if op.fn in _ADDING:
            return np.abs(args[0]) + np.abs(args[1])
        if op.fn is add_at:
            return op.fn(args[0], args[1], np.abs(args[2]))
        if op.name in _LINEAR:
            return op.fn(*(_plain(x) for x in args), **kwargs)
    except Exception:  # the value's own size is a lower bound
        return absolute(value)
    return absolute(value)


def _plain(x: Any) -> Any:
    return modulus(x) if isinstance(x, float | complex) else x


def absolute(value: Any) -> Any:
    """Return the sizes of numbers, other values as they are."""
    if isinstance(value, tuple | list):
        return type(value)(map(absolute, value))
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc":
        return np.abs(value)
    return modulus(value) if isinstance(value, float | complex) else value


def roundings(op: Call, values: Mapping[Var, Any], value: Any) -> float:
    """Return how many roundings stand between an element of the result and its operands."""
    out = max(np.size(value), 1) if not isinstance(value, tuple | list) else 1
    if op.name in ("dot", "matmul", "dot_in_chunks", "sum_in_chunks", "inner", "tensordot"):
        sizes = [np.shape(values[v])[-1:] for v in op.operands if v in values]
        return 1.0 + max((s[0] for s in sizes if s), default=1)
    sizes = [np.size(values[v]) for v in op.operands if v in values and _is_number(values[v])]
    return 1.0 + max((s // out for s in sizes), default=0)


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | float | int)
