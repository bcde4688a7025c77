"""The forms that values take in a saved session; what has none is saved as its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from yota.tape import format_value, spec_of

Json = Any
CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict}
ROLES = ("", "rule", "accumulate", "unbroadcast", "seed")
LITERAL_KINDS = "biufcSUMmV"
MAX_DIGITS = 4_300
MAX_BITS = 14_000
MAX_HEX_BITS = 1 << 20
MAX_OPAQUE = 200
LOOSEST = 8
MAX_LAID_OUT = 1 << 28
Array = np.ndarray[Any, Any]


class CodecError(ValueError):
    """The text is not of this format."""


class Opaque:
    """A value or a function of the saved program that is only shown, as text."""

    def __init__(self, text: str) -> None:
        self.__name__ = text  # what a tape prints for whatever can be called
        self.__module__ = "saved"

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise CodecError."""
        raise CodecError(f"{self.__name__} is not in the table of functions: it is not run")


def text_of(value: Any) -> str:
    """Return a value without a form as text; nothing of the user's is run for it."""
    if isinstance(value, int):
        return f"an integer of {int.bit_length(value):,} bits"
    if isinstance(value, np.ndarray):  # of objects, whose own text would run code of theirs
        return f"{type(value).__name__} {spec_of(value).text(short=True)}"
    if isinstance(value, range):  # of long integers
        return "range"
    if isinstance(value, set | frozenset):  # the elements may be the user's
        return f"{type(value).__name__} of {len(value)}"
    return format_value(value)[:MAX_OPAQUE] or "nothing"


def dtype_text(dtype: np.dtype[Any]) -> str | None:
    """Return the text that stands for a dtype, None where no text does, as for fields."""
    if dtype.kind not in LITERAL_KINDS + "O":
        return None
    return dtype.str if np.dtype(dtype.str) == dtype else None


def extent(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return how far before and behind its first element the others of an array begin, in bytes."""
    ends = [s * (n - 1) for s, n in zip(strides, shape, strict=True)]
    return sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)


def is_laid_out(x: Array) -> bool:
    """Tell whether the elements of an array lie apart, but not so far that memory is wasted."""
    if x.flags.c_contiguous or x.flags.f_contiguous:
        return False
    low, high = extent(x.shape, x.strides)
    return high - low <= LOOSEST * x.nbytes


def laid_out(x: Array, strides: Sequence[int]) -> Array:
    """Return a copy of an array whose elements lie `strides` bytes apart: sums round alike.

    Raises CodecError where that takes far more memory than the elements do.
    """
    if len(strides) != x.ndim or not all(type(s) is int for s in strides) or not x.size:
        raise CodecError("strides of another array")
    low, high = extent(x.shape, strides)
    if high - low > LOOSEST * x.nbytes:
        raise CodecError("an array that takes far more memory than its elements do")
    memory = np.empty(high - low + x.itemsize, np.uint8)
    new: Array = np.ndarray(x.shape, x.dtype, memory, -low, strides)
    new[...] = x
    new.flags.writeable = False
    return new
