"""Which calls of a row are kept, and every distinct array once."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from yotaview.capture.rows import KeptCall

ENDS = 8
OVERHEAD = 512
Key = tuple[Any, ...]


class Pool:
    """Arrays that kept calls share, each distinct content once, with a count of its holders."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._held: dict[Key, list[Any]] = {}
        self._keys: dict[int, Key] = {}

    def share(self, value: Any, like: Any = None) -> Any:
        """Return `value`, or the equal array that is held already, and count one more holder.

        `like` is a held array that is probably equal: comparing costs less than a digest.
        """
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            return value
        key = self._keys[id(like)] if _same_bytes(value, like) else _content_key(value)
        entry = self._held.setdefault(key, [value, 0])
        if entry[1] == 0:
            self.nbytes += value.nbytes
            self._keys[id(value)] = key
        entry[1] += 1
        return entry[0]

    def release(self, value: Any) -> None:
        """Count one holder less."""
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            return
        key = self._keys[id(value)]
        entry = self._held[key]
        entry[1] -= 1
        if entry[1] == 0:
            self.nbytes -= value.nbytes
            del self._held[key], self._keys[id(value)]


def _same_bytes(x: np.ndarray[Any, Any], like: Any) -> bool:
    if not isinstance(like, np.ndarray) or _head(x) != _head(like) or not x.flags.c_contiguous:
        return False
    return x is like or bool(np.array_equal(_bytes_of(x), _bytes_of(like)))


def _head(x: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return x.dtype.str, x.shape, x.strides


def _bytes_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.reshape(-1).view(np.uint8)


def _content_key(x: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    layout = "C" if x.flags.c_contiguous else "F" if x.flags.f_contiguous else "K"
    flat: Any = x.tobytes() if layout == "K" else x.reshape(-1, order="A").view(np.uint8)
    return (
        x.dtype.str,
        x.shape,
        x.strides,
        layout,
        hashlib.sha1(flat, usedforsecurity=False).digest(),
    )


class Keeper:
    """The kept calls of one row: the first and last, the first not finite, some between."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.first: list[KeptCall] = []
        self.bad: list[KeptCall] = []
        self.middle: list[KeptCall] = []
        self.last: deque[KeptCall] = deque()
        self.stride = 1
        self.ends = ENDS
        self.nbytes = 0

    def add(self, call: KeptCall, finite: bool) -> None:
        """Take a call in; what it pushes out of the last eight may stay in the middle."""
        call = self._hold(call)
        if len(self.first) < self.ends:
            self.first.append(call)
        elif not finite and len(self.bad) < ENDS:
            self.bad.append(call)
        else:
            self.last.append(call)
            if len(self.last) > self.ends:
                self._leave_last(self.last.popleft())

    def _leave_last(self, call: KeptCall) -> None:
        if call.number % self.stride == 0:
            self.middle.append(call)
        else:
            self._drop(call)

    def thin(self) -> bool:
        """Keep fewer calls, first between, then at the ends; tell whether it helped."""
        if self.middle:
            self.stride *= 2
            kept = [c for c in self.middle if c.number % self.stride == 0]
            for call in self.middle:
                if call.number % self.stride:
                    self._drop(call)
            self.middle = kept
            return True
        if self.ends == 1:
            return False
        self.ends //= 2
        while len(self.last) > self.ends:
            self._drop(self.last.popleft())
        for part in (self.first, self.bad):
            while len(part) > self.ends:
                self._drop(part.pop())
        return True

    def calls(self) -> list[KeptCall]:
        """Return the kept calls by number."""
        return sorted((*self.first, *self.bad, *self.middle, *self.last), key=lambda c: c.number)

    def _hold(self, call: KeptCall) -> KeptCall:
        share, before = self.pool.share, self.last[-1] if self.last else None
        like = before.inputs if before is not None else (None,) * len(call.inputs)
        consts = before.constants if before is not None else {}
        held = replace(
            call,
            inputs=tuple(map(share, call.inputs, like)),
            constants={v: share(x, consts.get(v)) for v, x in call.constants.items()},
            known={v: share(x) for v, x in call.known.items()},
            gradients=(),
            value=call.value if np.ndim(call.value) == 0 else None,
        )
        self.nbytes += _size(held)
        self.pool.nbytes += OVERHEAD
        return held

    def _drop(self, call: KeptCall) -> None:
        for value in _arrays(call):
            self.pool.release(value)
        self.nbytes -= _size(call)
        self.pool.nbytes -= OVERHEAD


def _arrays(call: KeptCall) -> Iterator[Any]:
    yield from call.inputs
    yield from call.constants.values()
    yield from call.known.values()


def _size(call: KeptCall) -> int:
    return OVERHEAD + sum(x.nbytes for x in _arrays(call) if isinstance(x, np.ndarray))
