"""`scipy.special` for traced values: reductions and other functions that are no ufuncs.

Every other name is SciPy's own; its ufuncs take traced values as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as _special

from yota.rules import scipy_special  # noqa: F401  # the rules of the ufuncs
from yota.rules.registry import conj, is_complex, refuse, unbroadcast
from yota.rules.scipy_special.bessels import spherical
from yota.scipy.wrapping import Wrapper

Array = Any
wrap = Wrapper(__name__, "scipy.special")


def spread(r: Array, ndim: int, axis: Any, keepdims: bool) -> Array:
    """Give a reduction's result, or its cotangent, its reduced axes back as length 1."""
    if keepdims or ndim == 0:
        return r
    return np.expand_dims(r, tuple(range(ndim)) if axis is None else axis)


def logsumexp_share(
    dy: Any, y: Any, a: Array, b: Any, axis: Any, keepdims: bool, return_sign: bool
) -> Array:
    """Return the cotangent of b exp(a), times exp(a): what an element has of the sum.

    A sum of nothing but zeros has slope 0, as in logaddexp.
    """
    ndim = max(np.ndim(a), np.ndim(b))
    if return_sign:
        (dy, dsign), (y, sign) = dy, y
        if is_complex(sign):
            dy = dy - 1j * np.real(1j * dsign * sign)
        dy = dy * conj(sign)
    empty = np.equal(y, -np.inf)
    level = spread(np.where(empty, 0, y), ndim, axis, keepdims)
    return spread(dy, ndim, axis, keepdims) * np.exp(a - level)


def logsumexp_vjp(
    dy: Any, y: Any, a: Array, axis: Any = None, b: Any = None, keepdims: bool = False,
    return_sign: bool = False,
) -> Array:  # fmt: skip
    """Pull back to the exponents."""
    share = logsumexp_share(dy, y, a, b, axis, keepdims, return_sign)
    return unbroadcast(share if b is None else share * b, np.shape(a))


def logsumexp_weights_vjp(
    dy: Any, y: Any, a: Array, axis: Any, b: Array, keepdims: bool = False,
    return_sign: bool = False,
) -> Array:  # fmt: skip
    """Pull back to the weights."""
    share = logsumexp_share(dy, y, a, b, axis, keepdims, return_sign)
    return unbroadcast(share, np.shape(b))


def softmax_vjp(dy: Array, y: Array, x: Array, axis: Any = None) -> Array:
    """Pull back through exp(x) / sum(exp(x))."""
    g = dy * y
    return g - y * np.sum(g, axis=axis, keepdims=True)


def log_softmax_vjp(dy: Array, y: Array, x: Array, axis: Any = None) -> Array:
    """Pull back through x - logsumexp(x)."""
    return dy - np.exp(y) * np.sum(dy, axis=axis, keepdims=True)


def multigammaln_vjp(dy: Array, y: Array, a: Array, d: Any) -> Array:
    """Pull back through the sum of log Gamma(a - j/2) over j < d (DLMF 35.3.4)."""
    steps = np.expand_dims(a, -1) - 0.5 * np.arange(d)
    return dy * np.sum(_special.psi(steps), axis=-1)


def spherical_rule(name: str, below: float, above: float) -> Callable[..., Array]:
    """Return the rule of a spherical Bessel function, by its neighbours (DLMF 10.51.2)."""

    def pulled(dy: Array, y: Array, n: Any, z: Array, derivative: bool = False) -> Array:
        refuse(name, "differentiate the function itself", derivative=derivative)
        return dy * spherical(globals()[name], below, above)(y, n, z)

    return pulled


def polygamma_vjp(dy: Array, y: Array, n: Any, x: Array) -> Array:
    """Pull back through a derivative of psi: the next one."""
    return dy * polygamma(n + 1, x)


logsumexp = wrap(_special.logsumexp, logsumexp_vjp, None, logsumexp_weights_vjp)
softmax = wrap(_special.softmax, softmax_vjp)
log_softmax = wrap(_special.log_softmax, log_softmax_vjp)
multigammaln = wrap(_special.multigammaln, multigammaln_vjp)
for _name, _below, _above in (
    ("spherical_jn", 1.0, -1.0),
    ("spherical_yn", 1.0, -1.0),
    ("spherical_in", 1.0, 1.0),
    ("spherical_kn", -1.0, -1.0),
):
    _rule = spherical_rule(_name, _below, _above)
    wrap(getattr(_special, _name), None, _rule, spreads=True)
polygamma = wrap(_special.polygamma, None, polygamma_vjp, spreads=True)


def __getattr__(name: str) -> Any:
    return getattr(_special, name)


def __dir__() -> list[str]:
    return dir(_special)
