"""What the ops of a saved session may ask for: a file is data, and data must not hang the reader.

Nothing is computed whose result would be far larger than the file says, and nothing further is
computed from a result that turns out to be of another type.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from yota.tape import Call, Spec, spec_of
from yotaview.model.bounds.sizes import result_size

LEAST_BYTES = 2 << 30
MAX_BITS = 1 << 16
MOST_ITEM = 10_000
MOST_STEPS = 1 << 24
SPARE_BYTES = 8 << 20
SLACK = 4
SMALL = 512
FLOATS = (float, np.float64, np.float32)
LONG_NUMBER = re.compile(r"\d{5}")
# functions that take a function and call it
CALLERS = ("raises",)
# functions whose large results take no memory
VIEWS = ("broadcast_to", "broadcast_arrays", "sliding_window_view")


class Refused(Exception):
    """An op of a file asks for more than its result is said to take; the text says what."""


class Bounds:
    """The bounds of one replay, with the bytes that its values take so far."""

    def __init__(self) -> None:
        self.used = 0

    def admit(self, op: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise Refused unless a call may run."""
        new = 0 if op.name in VIEWS else op.spec.nbytes
        if self.used + new > most_bytes():
            raise Refused(f"all values together take more than {most_bytes() / (1 << 30):.3g} GB")
        if not kwargs and _is_small(op.fn, args):
            return
        try:
            if op.name in CALLERS and len(args) > 2:
                _check(op.spec, args[0], args[2:], kwargs)
            else:
                _check(op.spec, op.fn, args, kwargs)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"how large {op.name} gets cannot be told: {error}") from error

    def accept(self, op: Call, args: tuple[Any, ...], value: Any) -> None:
        """Raise Refused unless a result is of the type that the file says."""
        have = spec_of(value)
        if not is_like(have, op.spec):
            raise Refused(f"gives {have.text(short=True)}, not {op.spec.text(short=True)}")
        self.used += _new_bytes(value, args)


def is_like(have: Spec, told: Spec) -> bool:
    """Tell whether two types are the same, whatever the layout and which kind of scalar."""
    scalars = ("python", "scalar")
    return (
        (have.kind == told.kind or (have.kind in scalars and told.kind in scalars))
        and have.dtype == told.dtype
        and have.shape == told.shape
        and len(have.items) == len(told.items)
        and all(map(is_like, have.items, told.items))
    )


def _is_small(fn: Any, args: tuple[Any, ...]) -> bool:
    """Tell of the calls that long tapes consist of, on few floats, that they ask for little."""
    if not isinstance(fn, np.ufunc) or fn.signature is not None:
        return False
    return all(x.nbytes <= SMALL if type(x) is np.ndarray else type(x) in FLOATS for x in args)


def _check(spec: Spec, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    name = str(getattr(fn, "__name__", ""))
    if getattr(operator, name, None) is fn or fn is round:
        _check_operator(name, args)
    else:
        _check_sequences((*args, *kwargs.values()))
    arrays = []
    for leaf in leaves_in((args, kwargs)):
        _check_leaf(leaf)
        if isinstance(leaf, np.ndarray | np.generic):
            arrays.append(leaf)
    room = spec.nbytes + sum(x.nbytes for x in arrays)
    each = sum(x.itemsize for x in arrays) or np.dtype(float).itemsize
    asked = each * result_size(name, fn, args, kwargs)
    if asked > SLACK * max(room, SPARE_BYTES):
        raise Refused(f"{name} asks for about {asked:,} B and gives {spec.text(short=True)}")


def _check_leaf(leaf: Any) -> None:
    """Refuse a type of very large elements, and functions that the op would call."""
    if isinstance(leaf, str) and LONG_NUMBER.search(leaf):
        raise Refused(f"an operand asks for too much: {leaf[:40]}")
    if isinstance(leaf, np.dtype) and leaf.itemsize > MOST_ITEM:
        raise Refused(f"elements of {leaf.itemsize:,} B")
    if isinstance(leaf, range) and len(leaf) > MOST_STEPS:
        raise Refused(f"a range of {len(leaf):,} numbers")
    if callable(leaf) and not isinstance(leaf, type | np.dtype):
        raise Refused("an operand is a function")


def _check_operator(name: str, args: tuple[Any, ...]) -> None:
    """Refuse an operator on a text or sequence, and on integers whose result is very long."""
    if name != "getitem" and any(isinstance(x, str | bytes | tuple | list | dict) for x in args):
        raise Refused(f"{name} of a text or a sequence")
    if len(args) == 2 and all(isinstance(x, int) for x in args):
        bits = _bits(name, *args)
        if bits > MAX_BITS:
            raise Refused(f"{name} gives an integer of {bits:,} bits")


def _bits(name: str, a: int, b: int) -> int:
    """Return at most how many bits an operator's result on integers has."""
    match name:
        case "pow":
            return a.bit_length() * max(b, 1) if abs(a) > 1 else 1
        case "lshift":
            return a.bit_length() + max(b, 0)
        case "round":
            return a.bit_length() + 4 * max(-b, 0)
        case "mul":
            return a.bit_length() + b.bit_length()
        case _:
            return max(a.bit_length(), b.bit_length()) + 1


def leaves_in(tree: Any) -> Iterator[Any]:
    """Yield what stands in an operand, without its containers."""
    stack = [tree]
    while stack:
        x = stack.pop()
        if isinstance(x, tuple | list):
            stack.extend(x)
        elif isinstance(x, dict):
            stack.extend(x.values())
        elif isinstance(x, slice):
            stack.extend((x.start, x.stop, x.step))
        elif x is not None and x is not Ellipsis:
            yield x


def _check_sequences(values: Iterable[Any]) -> None:
    """Refuse very long integers in a sequence: NumPy would compute with them as objects."""
    for x in values:
        inside = leaves_in(x) if isinstance(x, tuple | list | dict) else ()
        if any(isinstance(n, int) and n.bit_length() > 64 for n in inside):
            raise Refused("a sequence holds integers of more than 64 bits")


def _new_bytes(value: Any, args: tuple[Any, ...]) -> int:
    """Return the bytes of a result that do not lie in its operands."""
    if isinstance(value, tuple | list):
        return sum(_new_bytes(v, args) for v in value)
    if not isinstance(value, np.ndarray):
        return 0
    operands = (x for x in leaves_in(args) if isinstance(x, np.ndarray))
    is_view = value.base is not None and any(np.may_share_memory(value, x) for x in operands)
    return 0 if is_view else value.nbytes


@functools.lru_cache(maxsize=1)
def most_bytes() -> int:
    """Return how many bytes the values of a replay may take: half of what the machine has."""
    try:
        return max(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2, LEAST_BYTES)
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return LEAST_BYTES
