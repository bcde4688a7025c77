"""Gradients of which nothing may warn."""

from __future__ import annotations

import warnings
from typing import Any

import yota


def slope(f: Any, *args: Any) -> Any:
    """Return the gradient of one or several arguments; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = yota.grad(f, *args)[1]
    return g[0] if len(args) == 1 else tuple(g)
