"""The checks of plain values and containers."""

from __future__ import annotations

import weakref
from typing import Any

from yota.captured import traits
from yota.captured.classes import kind
from yota.captured.same import floats_of
from yota.captured.walk import Walk, is_plain

MAX_BYTES = 1 << 26
_LONG = 16
_TOLD_AT_ONCE = {int, bool, str, float}
_KINDS = "biufcSUMmV"


def array(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of an array: type, layout, content, and whether it may be written to."""
    walk.nbytes += x.nbytes
    if x.dtype.hasobject or x.dtype.kind not in _KINDS:
        raise walk.refuse(shown, f"is an array of {'objects' if x.dtype.hasobject else x.dtype}")
    if walk.nbytes > MAX_BYTES:
        raise walk.refuse(shown, "is too large to be compared at each call")
    if "base" in walk.names and x.base is not None:
        raise walk.refuse(shown, "is a view of which the whole may be read")
    dtype = walk.constant(x.dtype)
    same_dtype = f"{held}.dtype is {dtype} or {held}.dtype == {dtype}"
    if x.dtype.names:
        same_dtype = f"str({held}.dtype) == {str(x.dtype)!r}"
    tests = [f"type({held}) is ndarray", f"{held}.shape == {x.shape}", f"({same_dtype})"]
    if traits.STORES in walk.traits or "flags" in walk.names:
        tests.append(f"{held}.flags.num == {x.flags.num}")
    walk.unless(" and ".join([*tests, content(walk, held, x)]))
    walk.arrays.append((held, x))


def content(walk: Walk, held: str, x: Any) -> str:
    """Return what is true of an array with these bytes: without a copy where they lie in a row.

    Of what does not lie in a row as it did, `startswith` raises ValueError.
    """
    if x.flags.c_contiguous or x.flags.f_contiguous:
        row = "" if x.flags.c_contiguous else ".T"
        held_bytes = (x.T if row else x).tobytes() if walk.copies else b""
        return f"{walk.constant(held_bytes)}.startswith({held}{row})"
    held_bytes = x.tobytes() if walk.copies else b""
    return f"{held}.strides == {x.strides} and {held}.tobytes() == {walk.constant(held_bytes)}"


def memory(walk: Walk) -> None:
    """Write that arrays are the very same, where one may share memory with what is written."""
    if len(walk.arrays) > 1 and (traits.STORES in walk.traits or overlap(walk)):
        for held, x in walk.arrays:
            walk.unless(f"{held} is {walk.constant(weakref.ref(x))}()")


def overlap(walk: Walk) -> bool:
    """Tell whether two of the arrays found are views of one memory."""
    owners = [id(x if x.base is None else x.base) for _, x in walk.arrays]
    return len(set(owners)) < len(owners)


def record(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a scalar of a structured dtype, which may be a view of an array."""
    if x.dtype.hasobject:
        raise walk.refuse(shown, "is a record of objects")
    walk.unless(
        f"type({held}) is {walk.constant(type(x))} and str({held}.dtype) == {str(x.dtype)!r}"
        f" and {held}.tobytes() == {walk.constant(x.tobytes())}"
    )


def fields(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a structured dtype, whose names can be set."""
    walk.unless(f"type({held}) is {walk.constant(type(x))} and str({held}) == {str(x)!r}")


def sequence(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a list, tuple or deque, item by item."""
    walk.unless(f"type({held}) is {kind(walk, type(x), shown)} and len({held}) == {len(x)}")
    if len(x) > _LONG and {*map(type, x)} <= _TOLD_AT_ONCE:
        at_once(walk, held, x)
        return
    for k, item in enumerate(x):
        walk.value(f"{held}[{k}]", item, f"{shown}[{k}]")


def at_once(walk: Walk, held: str, x: Any) -> None:
    """Write the check of many plain values: by type, and floats to the last bit."""
    walk.unless(f"[*map(type, {held})] == {walk.constant([*map(type, x)])}")
    others = [k for k, item in enumerate(x) if type(item) is not float]
    if len(others) < len(x):
        walk.unless(f"floats_of({held}) == {walk.constant(floats_of(x))}")
    if others:
        walk.unless(f"[*{held}] == {walk.constant([*x])}")


def queue(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a deque."""
    sequence(walk, held, x, shown)
    walk.value(f"{held}.maxlen", x.maxlen, f"{shown}.maxlen")


def piece(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a slice."""
    walk.unless(f"type({held}) is {walk.constant(slice)}")
    for part in ("start", "stop", "step"):
        walk.value(f"{held}.{part}", getattr(x, part), f"{shown}.{part}")


def mapping(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a dict: its keys in order, and what they stand for."""
    if not all(map(is_plain, x)):
        raise walk.refuse(shown, "is a dict with keys that are no numbers or texts")
    walk.unless(f"type({held}) is {kind(walk, type(x), shown)}")
    if all(type(key) is str for key in x):
        walk.unless(f"[*{held}] == {walk.constant(list(x))}")
        paths = [f"{held}[{key!r}]" for key in x]
    else:
        keys = walk.constant(tuple(x))
        walk.unless(f"same(tuple({held}), {keys})")
        paths = [f"{held}[{keys}[{k}]]" for k in range(len(x))]
    for path, key in zip(paths, x, strict=True):
        walk.value(path, dict.__getitem__(x, key), f"{shown}[{key!r}]")


def ordered(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of an OrderedDict or defaultdict, which have attributes too."""
    mapping(walk, held, x, shown)
    if hasattr(x, "default_factory"):
        walk.value(f"{held}.default_factory", x.default_factory, f"{shown}.default_factory")
    else:
        walk.attributes(f"{held}.__dict__", vars(x), walk.names | vars(x).keys(), shown)


def texts(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Write the check of a set, in the order in which it is run through: of plain values alone."""
    if not all(map(is_plain, x)):
        raise walk.refuse(shown, "is a set of more than numbers and texts")
    kind_of = walk.constant(type(x))
    walk.unless(f"type({held}) is {kind_of} and same(tuple({held}), {walk.constant(tuple(x))})")


def opaque(walk: Walk, held: str, x: Any, shown: str) -> None:
    """Refuse what Python cannot look into."""
    raise walk.refuse(shown, f"is a {type(x).__name__}, whose state cannot be compared")
