"""Rules of polynomials given by their coefficients, the highest power first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.errors import RuleError
from yota.rules.functional import place
from yota.rules.linalg import CUTS_RANK, cuts_rank, pinv_vjp
from yota.rules.products import column, t
from yota.rules.registry import Live, defvjp, refuse, unbroadcast, zero

Array = Any


def padded(g: Array, before: int, after: int) -> Array:
    """Return a vector with zeros in front and behind."""
    return place(g, slice(before, before + np.shape(g)[0]), (before + np.shape(g)[0] + after,))


def polyval_coefficients_vjp(dy: Array, y: Array, p: Array, x: Array) -> Array:
    """Sum the cotangent times each power."""
    n, shape = np.shape(p)[0], np.shape(p)[1:]
    if n == 0:
        return np.zeros_like(p)
    return np.stack([unbroadcast(dy * x ** (n - 1 - k), shape) for k in range(n)])


def polyval_point_vjp(dy: Array, y: Array, p: Array, x: Array) -> Array:
    """Multiply by the polynomial's derivative."""
    n = np.shape(p)[0]
    slope = 0.0 * x
    for k in range(n - 1):
        slope = slope * x + p[k] * (n - 1 - k)
    return unbroadcast(dy * slope, np.shape(x))


def polyadd_vjp(position: int, sign: int) -> Callable[..., Array]:
    """Return the rule of one operand of a sum: what its own powers get."""

    def pulled(dy: Array, y: Array, a: Array, b: Array) -> Array:
        own = (a, b)[position]
        if not np.size(own):
            return np.zeros_like(own)
        g = dy[np.size(dy) - np.size(own) :]
        return np.reshape(g if sign > 0 else -g, np.shape(own))

    return pulled


def polymul_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of one factor; powers that the product lost with leading zeros get 0."""

    def pulled(dy: Array, y: Array, a: Array, b: Array) -> Array:
        own, other = (a, b) if position == 0 else (b, a)
        n, m = np.size(own), np.size(other)
        if not n or not m:
            return np.zeros_like(own)
        full = padded(dy, n + m - 1 - np.size(dy), 0)
        dx = np.convolve(full, np.flip(other), "valid")
        return np.reshape(dx, np.shape(own))

    return pulled


def polydiv_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of dividend or divisor: u = v q + r, where r has no power as high as v.

    The leading coefficients of u determine q through a triangular system, which division solves.
    """

    def pulled(dy: Any, y: Any, u: Array, v: Array) -> Array:
        (dq, dr), q = dy, y[0]
        w, n, m = np.atleast_1d(v), np.size(u), np.size(v)
        if n < m:  # q is 0, r is u
            return (np.reshape(padded(dr, n - np.shape(dr)[0], 0), np.shape(u)), None)[position]
        du = padded(dr, n - np.shape(dr)[0], 0)
        dq = dq - np.convolve(du, np.flip(w), "valid")
        # the system's transpose is solved by division too, from the other end
        top = np.flip(np.polydiv(padded(np.flip(dq), 0, m - 1), w)[0])
        if position == 0:
            return np.reshape(du + padded(top, 0, m - 1), np.shape(u))
        direct = np.convolve(du, np.flip(q), "valid")
        through = np.convolve(padded(top, 0, m - 1), np.flip(q), "valid")
        return np.reshape(-direct - through, np.shape(v))

    return pulled


def polyder_vjp(dy: Array, y: Array, p: Array, m: int = 1) -> Array:
    """Multiply by the powers that came down; the lowest coefficients are gone."""
    n = np.size(p)
    weights = np.polyder(np.ones(n), m)
    return padded(dy * weights, 0, n - np.size(dy))


def polyint_vjp(dy: Array, y: Array, p: Array, m: int = 1, k: Any = None) -> Array:
    """Divide by the powers that went up."""
    n = np.size(p)
    return dy[:n] * np.polyint(np.ones(n), m)[:n] if m else dy


def polyint_constants_vjp(dy: Array, y: Array, p: Array, m: int, k: Array) -> Array:
    """Pull back to the constants: each is integrated as often as integrations follow."""
    grown = np.array([1 / math.factorial(m - 1 - i) for i in range(m)])
    dk = dy[np.size(p) :] * grown
    dk = np.sum(dk) if np.size(k) == 1 else padded(dk, 0, np.size(k) - m)
    return np.reshape(dk, np.shape(k))


def poly_vjp(dy: Array, y: Array, seq_of_zeros: Array) -> Array:
    """Pull back to the zeros, or to the matrix whose characteristic polynomial this is.

    Each coefficient's slope follows from the one before (Horner; Faddeev and LeVerrier).
    """
    x, total = seq_of_zeros, 0.0 * seq_of_zeros
    is_matrix = np.ndim(x) == 2
    unit = np.eye(np.shape(x)[0]) if is_matrix else np.ones(np.shape(x))
    rest = unit
    for k in range(1, np.size(y)):
        total = total - dy[k] * (t(rest) if is_matrix else rest)
        rest = (x @ rest if is_matrix else x * rest) + y[k] * unit
    return total


def roots_vjp(dy: Array, y: Array, p: Array) -> Array:
    """Pull back to the coefficients through p(r) = 0; not finite where a root is repeated."""
    n = np.shape(p)[0]
    slope = 0.0 * y
    for k in range(n - 1):
        slope = slope * y + p[k] * (n - 1 - k)
    powers = np.power(column(y), np.arange(n - 1, -1, -1))
    return -(dy / slope) @ powers


def vander_vjp(dy: Array, y: Array, x: Array, N: Any = None, increasing: bool = False) -> Array:  # noqa: N803  # NumPy's name
    """Sum the slopes of the powers."""
    powers = np.arange(np.shape(y)[-1])
    powers = powers if increasing else powers[::-1]
    slopes = powers * np.power(column(x), np.maximum(powers - 1, 0))
    return np.sum(dy * slopes, axis=-1)


def polyfit_vjp(position: int) -> Callable[..., Array]:
    """Return the rule of points, values (0, 1) or weights (5) of a least-squares fit.

    The fit is that of w * vander(x), so all follow from its pseudo-inverse.  RuleError where the
    points do not determine the coefficients.
    """

    def pulled(
        dy: Array, y: Array, x: Array, values: Array, deg: int, rcond: Any = None,
        full: bool = False, w: Array = None, cov: Any = False,
    ) -> Array:  # fmt: skip
        refuse("np.polyfit", "leave it away", full=full, cov=cov)
        refuse("np.polyfit", CUTS_RANK, rcond=rcond if cuts_rank(rcond) else None)
        vector = np.ndim(values) == 1
        rhs, g = (column(values), column(dy)) if vector else (values, dy)
        weight = np.ones((np.shape(x)[0], 1)) if w is None else column(w)
        powers = np.vander(x, deg + 1)
        matrix = powers * weight
        # as polyfit: columns of length 1, so that no power drowns in another
        scale = np.sqrt(np.sum(matrix * matrix, axis=0))
        if np.linalg.matrix_rank(matrix / scale) <= deg:
            raise RuleError(
                "no derivative is known of np.polyfit where the points do not determine the "
                "coefficients: use a lower degree"
            )
        inverse = np.linalg.pinv(matrix / scale)
        g = g / column(scale)
        d_rhs = t(inverse) @ g
        if position == 1:
            return np.reshape(d_rhs * weight, np.shape(values))
        d_matrix = pinv_vjp(g @ t(rhs * weight), inverse, matrix / scale) / scale
        if position == 0:
            return vander_vjp(d_matrix * weight, powers, x)
        return np.sum(d_rhs * rhs, axis=1) + np.sum(d_matrix * powers, axis=1)

    return pulled


defvjp(np.polyval, polyval_coefficients_vjp, polyval_point_vjp)
defvjp(np.polyadd, polyadd_vjp(0, 1), polyadd_vjp(1, 1))
defvjp(np.polysub, polyadd_vjp(0, 1), polyadd_vjp(1, -1))
defvjp(np.polymul, polymul_vjp(0), polymul_vjp(1))
defvjp(np.polydiv, polydiv_vjp(0), polydiv_vjp(1))
defvjp(np.polyder, polyder_vjp, live=Live.SELECTS)
defvjp(np.polyint, polyint_vjp, zero, polyint_constants_vjp, live=Live.MOVES)
defvjp(np.poly, poly_vjp)
defvjp(np.roots, roots_vjp)
defvjp(np.vander, vander_vjp)
defvjp(np.polyfit, polyfit_vjp(0), polyfit_vjp(1), zero, None, None, polyfit_vjp(5))
