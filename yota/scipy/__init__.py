"""SciPy's functions for traced values: `from yota.scipy import linalg, special, stats`.

The ufuncs of `scipy.special` need none of this, NumPy shows them to the trace.  Of plain arguments
every function here gives SciPy's own answer.
"""

from __future__ import annotations

import importlib
from typing import Any

try:
    import scipy  # noqa: F401  # asked for here, so that its absence is explained
except ImportError as error:
    raise ImportError("yota.scipy needs SciPy: pip install 'yotaview[scipy]'") from error

_MODULES = ("integrate", "linalg", "signal", "special", "stats")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
