"""Rules of an optional package, registered when one of its functions is first met."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from yota.rules.registry import NONDIFF, VJP

_UFUNCS = "yota.rules.scipy_special"
_OWN = tuple(f"yota.scipy.{m}" for m in ("integrate", "linalg", "signal", "special", "stats"))


def learn(ufunc: Any) -> None:
    """Register the rules of scipy.special if `ufunc` is of it and they are not registered yet."""
    if ufunc in VJP or ufunc in NONDIFF or _UFUNCS in sys.modules:
        return
    if is_scipys(ufunc):
        importlib.import_module(_UFUNCS)


def is_scipys(ufunc: Any) -> bool:
    """Tell whether a ufunc is one of scipy.special's; `_zeta` and the like lie deeper."""
    spaces = map(sys.modules.get, ("scipy.special", "scipy.special._ufuncs"))
    return any(getattr(s, ufunc.__name__, None) is ufunc for s in spaces)


def learn_by_name(name: str) -> bool:
    """Register the rules of the part of SciPy that a function's full name says; False for none.

    Modules of a fixed list are imported, and nothing else.
    """
    own = next((m for m in _OWN if name.startswith(f"{m}.")), "")
    wanted = _UFUNCS if name.startswith("scipy.special.") else own
    if not wanted or wanted in sys.modules:
        return False
    try:
        importlib.import_module(wanted)
    except ImportError:
        return False
    return True
