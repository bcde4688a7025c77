"""Functions of matrices: exponential, logarithm, root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as _linalg

from yota.rules.functional import halt
from yota.rules.products import t
from yota.rules.registry import refuse
from yota.scipy.linalg.systems import solve_sylvester
from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper("yota.scipy.linalg", "scipy.linalg")


def along(fn: Callable[[Array], Array], a: Array, e: Array) -> Array:
    """Return the derivative of a function of matrices at `a` in direction `e`.

    It stands in the corner of f([[a, e], [0, a]]) (Higham 2008, Functions of Matrices, 3.6); `e` is
    scaled, so that it does not spoil the precision of the rest.
    """
    size = halt(np.max(np.absolute(e)))
    size = np.where(np.equal(size, 0), 1, size)
    n = np.shape(a)[-1]
    top = np.concatenate([a, e / size], axis=-1)
    bottom = np.concatenate([np.zeros_like(a), a], axis=-1)
    return fn(np.concatenate([top, bottom], axis=-2))[..., :n, n:] * size


def expm_vjp(dy: Array, y: Array, a: Array) -> Array:
    """Pull back through the exponential."""
    return along(expm, t(a), dy)


def logm_vjp(dy: Array, y: Array, a: Array, **options: Any) -> Array:
    """Pull back through the principal logarithm."""
    refuse("logm", "leave it away", disp=options.get("disp") is False)
    return along(logm, t(a), dy)


def sqrtm_vjp(dy: Array, y: Array, a: Array, **options: Any) -> Array:
    """Pull back through the principal root: S dS + dS S = dA (Higham 2008, 6.1)."""
    refuse("sqrtm", "leave it away", disp=options.get("disp") is False)
    return solve_sylvester(t(y), t(y), dy)


expm = wrap(_linalg.expm, expm_vjp)
logm = wrap(_linalg.logm, logm_vjp, typed_by_values=True)
sqrtm = wrap(_linalg.sqrtm, sqrtm_vjp, typed_by_values=True)
