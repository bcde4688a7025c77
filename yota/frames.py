"""Where in the user's code an operation happens."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from array import array
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

import numpy as np

from yota.errors import TapeError, YotaError
from yota.tape import Frame

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_VIEWER = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "yotaview") + os.sep
_LESSONS = _VIEWER + "lessons" + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_SCIPY = os.path.join(os.path.dirname(os.path.dirname(_NUMPY)), "scipy") + os.sep
_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
_SCRIPTS = sysconfig.get_paths()["scripts"] + os.sep
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_LIMIT = 20_000
_NUMBERS = 50_000

# by identity: equal code of two files is equal; kept alive, so that their ids stay theirs
_interned: dict[tuple[tuple[int, int], ...], tuple[tuple[Frame, ...], list[CodeType]]] = {}
_read: dict[int, tuple[CodeType, array[int]]] = {}


@functools.lru_cache(maxsize=4096)
def is_user_file(name: str) -> bool:
    """Tell whether a file is the user's: not this library, NumPy, SciPy or the standard library."""
    if name.startswith("<"):
        return not name.startswith(("<frozen ", "<__array_function__", "<yota "))
    if name.startswith(_LESSONS):
        return True
    if name.startswith((_HERE, _VIEWER, _NUMPY, _SCIPY, _SCRIPTS)):
        return False
    return not name.startswith(_STDLIB) or any(p in name for p in _PACKAGES)


def user_frames(base: Any = None) -> tuple[Frame, ...]:
    """Return the user's frames from the innermost down to `base`, exclusive."""
    key, codes = [], []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not base:
        code = frame.f_code
        if is_user_file(code.co_filename):
            key.append((id(code), frame.f_lasti))
            codes.append(code)
        frame = frame.f_back
    place = tuple(key)
    known = _interned.get(place)
    if known is None:
        if len(_interned) > _LIMIT:
            _interned.clear()
        found = tuple(_frame(code, at) for code, (_, at) in zip(codes, key, strict=True))
        known = _interned[place] = (found, codes)
    return known[0]


def _frame(code: CodeType, at: int) -> Frame:
    line, end_line, col, end_col = _positions(code)[2 * at : 2 * at + 4] if at >= 0 else (0,) * 4
    line = line or code.co_firstlineno
    return Frame(code.co_filename, line, end_line or line, col, end_col, code.co_qualname)


def _positions(code: CodeType) -> array[int]:
    """Return four numbers for each instruction: read once for all that a function records."""
    known = _read.get(id(code))
    if known is None:
        if sum(len(found) for _, found in dict(_read).values()) > _NUMBERS:
            _read.clear()
        found = array("i", (n or 0 for place in code.co_positions() for n in place))
        known = _read[id(code)] = (code, found)
    return known[1]


def innermost(base: Any = None) -> FrameType | None:
    """Return the innermost frame of the user's code above `base`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not base:
        if is_user_file(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def traceback_frames(error: BaseException) -> tuple[Frame, ...]:
    """Return the user's frames of an error's traceback, innermost first."""
    steps = [(s.tb_frame.f_code, s.tb_lasti) for s in _steps(error.__traceback__)]
    return tuple(_frame(*s) for s in reversed(steps) if is_user_file(s[0].co_filename))


def users_first(error: BaseException) -> BaseException:
    """Return the error with a traceback of the user's frames alone.

    All frames stay in an error of Python's or NumPy's that no frame of the user's is part of, and
    where the environment has YOTA_TRACEBACK.
    """
    if os.environ.get("YOTA_TRACEBACK") or isinstance(error, TapeError):
        return error
    kept: TracebackType | None = None
    for step in reversed(list(_steps(error.__traceback__))):
        if is_user_file(step.tb_frame.f_code.co_filename):
            kept = TracebackType(kept, step.tb_frame, step.tb_lasti, step.tb_lineno)
    explained = kept is not None or isinstance(error, YotaError)
    return error.with_traceback(kept) if explained else error


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next
