"""What to use instead of a function of NumPy's or SciPy's that cannot take a traced value."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from itertools import takewhile
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from yota.frames import is_user_file
from yota.rules.namespace import UNSEEN


def cure_of_call(base: Any) -> tuple[str, str] | None:
    """Return the function that the user called, and its cure; None where neither is known."""
    return scipy_cure(base) or numpy_cure(base)


def numpy_cure(base: Any) -> tuple[str, str] | None:
    """Return the function of NumPy's that cannot see traced values, and its cure."""
    names = [name for f in _inner_frames(base) if (name := _numpy_name(f)) in UNSEEN]
    return (f"np.{names[-1]}", UNSEEN[names[-1]]) if names else None


def _numpy_name(frame: FrameType) -> str:
    """Return the name of NumPy's function, or of the class whose method it is."""
    if not str(frame.f_globals.get("__name__", "")).startswith("numpy."):
        return ""
    kept = frame.f_locals
    owner = type(kept["self"]) if "self" in kept else kept.get("subtype")
    return str(frame.f_code.co_name if owner is None else owner.__name__)


def scipy_cure(base: Any) -> tuple[str, str] | None:
    """Return the function of SciPy's that the user called, and its cure; None for no such call."""
    outermost_first = reversed(list(_inner_frames(base)))
    path = next((p for f in outermost_first if (p := _public_path(f))), None)
    if path is None:
        return None
    if _is_offered(path):
        return f"scipy.{path}", f"use yota.scipy.{path}"
    module, _, name = path.rpartition(".")
    if module == "fft" and hasattr(np.fft, name):
        return f"scipy.{path}", f"use np.fft.{name}"
    own = "write it in NumPy, or make it an op of its own with yota.primitive and yota.defvjp"
    return f"scipy.{path}", f"yota.scipy has no function for it: {own}"


def _inner_frames(base: Any) -> Iterator[FrameType]:
    """Yield the frames from here out to the user's line, exclusive."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not base and not is_user_file(frame.f_code.co_filename):
        yield frame
        frame = frame.f_back


def _public_path(frame: FrameType) -> str | None:
    """Return `linalg.expm` for a frame of that function of SciPy's, None for any other frame."""
    module = str(frame.f_globals.get("__name__", ""))
    if not module.startswith("scipy."):
        return None
    name, owner = frame.f_code.co_name, frame.f_locals.get("self")
    if owner is not None:
        return _method_path(module, name, owner)
    if (found := _exported(module, name)) is not None:
        return found
    # a decorator's frame holds the function that it stands for
    inner = (v for v in frame.f_locals.values() if isinstance(v, FunctionType))
    found_inner = (_exported(v.__module__ or "", v.__name__) for v in inner)
    return next(filter(None, found_inner), None)


def _exported(module: str, name: str) -> str | None:
    """Return the public path of a function of this name, None where SciPy exports none."""
    package = _package(module)
    public = sys.modules.get(f"scipy.{package}")
    known = not name.startswith("_") and callable(getattr(public, name, None))
    return f"{package}.{name}" if package and known else None


def _package(module: str) -> str:
    """Return `linalg` for `scipy.linalg._matfuncs`."""
    parts = module.split(".")
    return (
        ".".join(takewhile(lambda p: not p.startswith("_"), parts[1:]))
        if parts[0] == "scipy"
        else ""
    )


def _method_path(module: str, name: str, owner: Any) -> str | None:
    """Return `stats.norm.logpdf` for a method; for a special one the object or its class."""
    package = _package(module)
    public = sys.modules.get(f"scipy.{package}")
    known = _name_of(owner, public)
    if name.startswith("__"):
        known = known or _exported(module, type(owner).__name__)
        return f"{package}.{known}" if known and "." not in known else known
    return f"{package}.{known}.{name}" if known and not name.startswith("_") else None


def _name_of(owner: Any, public: Any) -> str | None:
    """Return the name under which a module holds a distribution, also of one with parameters."""
    named = getattr(getattr(owner, "dist", owner), "name", None)
    if isinstance(named, str) and hasattr(public, named):
        return named
    return next((k for k, v in vars(public).items() if v is owner), None) if public else None


def _is_offered(path: str) -> bool:
    """Tell whether `yota.scipy` has a function of that path itself."""
    module, name, *method = path.split(".")
    try:
        holder = vars(importlib.import_module(f"yota.scipy.{module}"))
    except ImportError:
        return False
    found = holder.get(name)
    return found is not None and (not method or method[0] in getattr(found, "ops", ()))
