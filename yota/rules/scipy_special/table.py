"""Register rules of scipy.special's ufuncs by name; what the installed SciPy lacks is left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from yota.errors import RuleError
from yota.rules.elementwise import every
from yota.rules.registry import NONDIFF, VJP, Rule, is_complex, is_unused, zero

Array = Any
Slope = Callable[..., Any]


def named(name: str) -> Any:
    """Return the ufunc of that name, None where there is none; `_zeta` and the like lie deeper."""
    found = (getattr(space, name, None) for space in (special, special._ufuncs))
    return next((fn for fn in found if isinstance(fn, np.ufunc)), None)


def pulls(names: str, *rules: Rule | None) -> None:
    """Register the rules `rule(dy, y, *args)` of functions; what the user registered stays."""
    for fn in map(named, names.split()):
        if fn is not None and fn not in VJP and fn not in NONDIFF:
            every((fn,), *rules)


def slopes(names: str, *found: Slope | None) -> None:
    """Register functions by their partial derivatives `slope(y, *args)`; None: not known."""
    pulls(names, *(s if s is None or s is zero else _times(s) for s in found))


def _times(slope: Slope) -> Rule:
    return lambda dy, y, *args: dy * slope(y, *args)


def parts(dy: Any, *found: Callable[[], Array]) -> Array:
    """Return the sum of cotangents times slopes, one of each for each output.

    Outputs that nothing was made of are left out: their slope need not be finite.
    """
    terms = [d * slope() for d, slope in zip(dy, found, strict=True) if not is_unused(d)]
    return sum(terms[1:], terms[0])


def defined(y: Array, slope: Array) -> Array:
    """Return `slope`, NaN where the function itself is not defined."""
    return np.where(np.isnan(y), math.nan, slope)


def real_only(fn: str, *args: Array) -> None:
    """Raise RuleError for complex operands, whose derivative SciPy has no function for."""
    if any(map(is_complex, args)):
        raise RuleError(f"no derivative of {fn} is known for complex operands; real ones have one")


def real_part(x: Array) -> Array:
    """Return the real part; what is real costs nothing."""
    return np.real(x) if is_complex(x) else x


def ratio(x: Array, y: Array) -> Array:
    """Return x / y, 0 where both are 0."""
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return x / np.where(both, 1, y)
