"""Rules of the functions that work element by element: ufuncs, their kin, Python's operators."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from yota.rules.functional import cast
from yota.rules.registry import (
    Live,
    Rule,
    conj,
    elementwise,
    is_complex,
    real_dtype,
    refuse,
    refuse_real,
    zero,
)

Array = Any
LN2, LN10 = math.log(2.0), math.log(10.0)


def every(fns: tuple[Any, ...], *rules: Rule | None, live: Live = Live.POINTWISE) -> None:
    """Register the same rules for functions that differ in nothing but their name."""
    for fn in fns:
        elementwise(fn, *(_without_options(r) for r in rules), live=live)


def _without_options(rule: Rule | None) -> Rule | None:
    """Let a rule of operands only be called with a ufunc's options (`dtype`, ...)."""
    if rule is None or rule is zero:
        return rule

    def pulled(dy: Array, y: Array, *args: Array, dtype: Any = None, **options: Any) -> Array:
        refuse_options("a ufunc", options)
        if dtype is not None:
            args = tuple(as_computed(a, dtype) for a in args)
        return rule(dy, y, *args)

    return pulled


def refuse_options(fn: str, options: dict[str, Any]) -> None:
    """Raise RuleError for a ufunc's options other than those of layout and of allowed casts."""
    known = ("casting", "order", "subok")
    refuse(fn, "leave it away", **{k: v for k, v in options.items() if k not in known})


def as_computed(x: Array, dtype: Any) -> Array:
    """Return an operand in the dtype that a ufunc was told to compute in, if it is complex."""
    refuse_real("a ufunc", dtype, x)
    return x if is_complex(x) or np.dtype(dtype).kind != "c" else cast(x, dtype)


def slope_of_abs(x: Array) -> Array:
    """Return d|x|/dx, 0 at 0; for complex x `conj(x) / |x|`."""
    if not is_complex(x):
        return np.sign(x)
    size = np.absolute(x)
    return np.conjugate(x) / np.where(np.equal(size, 0), 1, size)


def abs_vjp(dy: Array, y: Array, x: Array) -> Array:
    """Pull back through |x|; at 0 the slope is taken as 0."""
    return dy * slope_of_abs(x)


def sign_vjp(dy: Array, y: Array, x: Array) -> Array | None:
    """Pull back through `x / |x|` of a complex x, 0 at 0; a real sign has no slope."""
    if not is_complex(x):
        return None
    size = np.absolute(x)
    still = np.equal(size, 0)
    dx = (dy - np.real(dy * y) * np.conjugate(y)) / np.where(still, 1, size)
    return np.where(still, 0, dx)


def power_base_vjp(dy: Array, y: Array, x: Array, p: Array) -> Array:
    """Pull back to the base of x**p; at x = 0: 0 for p = 0, 1 for p = 1, 0 for p > 1."""
    # Python's (-2.0)**0.5 is complex; numpy's power of a real base is not.
    base = x + 0j if is_complex(y) and not (is_complex(x) or is_complex(p)) else x
    if type(p) not in (int, float):
        return dy * (p * np.power(base, np.where(np.equal(p, 0), 1, p - 1)))
    if p == 0:
        return np.zeros_like(x)
    if p == 1:
        return dy
    if p == 2:
        return dy * (2 * x)
    return dy * (p * (base ** (p - 1) if np.ndim(base) else np.power(base, float(p - 1))))


def power_exponent_vjp(dy: Array, y: Array, x: Array, p: Array) -> Array:
    """Pull back to the exponent of x**p; at x = 0 the slope is 0 wherever p > 0."""
    still = np.logical_and(np.equal(x, 0), np.greater(np.real(p) if is_complex(p) else p, 0))
    base = np.where(still, 1, x)
    if is_complex(y) and not is_complex(base):
        base = base + 0j
    return dy * (y * np.log(base))


def hypot_vjp(dy: Array, y: Array, this: Array) -> Array:
    """Pull back to one leg; at the origin the slope is taken as 0."""
    return dy * (this / np.where(np.equal(y, 0), 1, y))


def softmax_weight(y: Array, this: Array) -> Array:
    """Return `this - y`, -inf where both operands of logaddexp are -inf."""
    return this - np.where(np.equal(y, -math.inf), 0, y)


def sinc_slope(x: Array) -> Array:
    """Return d sinc(x)/dx, near 0 by the power series (7 terms, |x| < 0.1)."""
    near = np.less(np.absolute(x), 0.1)
    far = np.where(near, 1, x)
    t = np.where(near, x, 0) * math.pi
    square, series = t * t, 0.0
    for k in range(7, 0, -1):
        series = series * square + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    quotient = (np.cos(far * math.pi) - np.sinc(far)) / far
    return np.where(near, (math.pi * t) * series, quotient)


def bessel_i1(x: Array) -> Array:
    """Return the modified Bessel function of order 1, the slope of np.i0.

    The mean of sinh(x cos t) cos t over the circle: the trapezoid rule converges with exp(-n^2/2x),
    to full precision wherever np.i0 is finite.
    """
    cosines = np.cos((np.arange(64) + 0.5) * (math.pi / 128)).astype(real_dtype(x))
    return np.sum(np.sinh(np.expand_dims(x, -1) * cosines) * cosines, axis=-1) / 64


def root_of_rest(x: Array) -> Array:
    """Return sqrt(1 - x**2), for complex x on the side of the cut that the sign of its 0 says."""
    if not is_complex(x):
        return np.sqrt(1 - x * x)
    # To subtract keeps the sign of a zero, to add does not.
    return np.sqrt(-(x - 1.0)) * np.sqrt(x - -1.0)


def root_of_sum(x: Array) -> Array:
    """Return sqrt(1 + x**2), for complex x on the side of the cut that the sign of its 0 says."""
    return np.sqrt(x * x - -1.0 if is_complex(x) else 1 + x * x)


def angle_vjp(dy: Array, y: Array, z: Array, deg: bool = False) -> Array:
    """Pull back through the argument of z: d angle = Im(dz / z)."""
    if not is_complex(z):
        return np.zeros_like(z)
    return dy * (-1j * (180 / math.pi if deg else 1.0)) / z


def imag_vjp(dy: Array, y: Array, x: Array) -> Array | None:
    """Pull back through the imaginary part."""
    return dy * -1j if is_complex(x) else None


def unwrap_vjp(dy: Array, y: Array, p: Array, *_: Any, **__: Any) -> Array:
    """Pull back through the addition of whole periods."""
    return dy


# Arithmetic: NumPy's and, for Python scalars, Python's.
every((np.add, operator.add), lambda dy, y, a, b: dy, lambda dy, y, a, b: dy, live=Live.SMOOTH)
every(
    (np.subtract, operator.sub), lambda dy, y, a, b: dy, lambda dy, y, a, b: -dy, live=Live.SMOOTH
)
every((np.multiply, operator.mul), lambda dy, y, a, b: dy * b, lambda dy, y, a, b: dy * a)
every((np.divide, operator.truediv), lambda dy, y, a, b: dy / b, lambda dy, y, a, b: -dy * (y / b))
# The quotient as it was taken: a / b may round to the next integer.
every(
    (np.remainder, operator.mod, np.fmod),
    lambda dy, y, a, b: dy,
    lambda dy, y, a, b: -dy * np.rint((a - y) / b),
)
every((np.divmod,), lambda dy, y, a, b: dy[1], lambda dy, y, a, b: -dy[1] * y[0])
every((np.power, np.float_power, operator.pow), power_base_vjp, power_exponent_vjp)
every((np.negative, operator.neg), lambda dy, y, x: -dy, live=Live.SMOOTH)
every((np.positive, operator.pos), lambda dy, y, x: dy, live=Live.SMOOTH)
every((np.absolute, np.fabs, operator.abs), abs_vjp)
every((np.reciprocal,), lambda dy, y, x: -dy * (y * y))
every((np.square,), lambda dy, y, x: dy * (2 * x))
every((np.sqrt,), lambda dy, y, x: dy * 0.5 / y)
every((np.cbrt,), lambda dy, y, x: dy / (3 * (y * y)))
every((np.sign,), sign_vjp, live=Live.SMOOTH)
every((np.copysign,), lambda dy, y, a, b: dy * (np.sign(a) * np.copysign(1.0, b)), zero)
every((np.hypot,), lambda dy, y, a, b: hypot_vjp(dy, y, a), lambda dy, y, a, b: hypot_vjp(dy, y, b))
every((np.nextafter,), lambda dy, y, a, b: dy, zero, live=Live.SMOOTH)
every((np.ldexp,), lambda dy, y, x, n: np.ldexp(dy, n), zero)
every((np.modf,), lambda dy, y, x: dy[0], live=Live.SMOOTH)
every((np.frexp,), lambda dy, y, x: np.ldexp(dy[0], -y[1]), live=Live.SMOOTH)

# Exponentials and logarithms.
every((np.exp,), lambda dy, y, x: np.exp(x) * dy)
every((np.exp2,), lambda dy, y, x: dy * (y * LN2))
every((np.expm1,), lambda dy, y, x: dy * np.exp(x))
every((np.log,), lambda dy, y, x: dy / x)
every((np.log2,), lambda dy, y, x: dy / (x * LN2))
every((np.log10,), lambda dy, y, x: dy / (x * LN10))
every((np.log1p,), lambda dy, y, x: dy / (1 + x))
every(
    (np.logaddexp,),
    lambda dy, y, a, b: dy * np.exp(softmax_weight(y, a)),
    lambda dy, y, a, b: dy * np.exp(softmax_weight(y, b)),
)
every(
    (np.logaddexp2,),
    lambda dy, y, a, b: dy * np.exp2(softmax_weight(y, a)),
    lambda dy, y, a, b: dy * np.exp2(softmax_weight(y, b)),
)

# Circular and hyperbolic functions.
every((np.sin,), lambda dy, y, x: dy * np.cos(x))
every((np.cos,), lambda dy, y, x: -dy * np.sin(x))
every((np.tan,), lambda dy, y, x: dy * (1 + y * y))
every((np.arcsin,), lambda dy, y, x: dy / root_of_rest(x))
every((np.arccos,), lambda dy, y, x: -dy / root_of_rest(x))
every((np.arctan,), lambda dy, y, x: dy / (1 + x * x))
every((np.sinh,), lambda dy, y, x: dy * np.cosh(x))
every((np.cosh,), lambda dy, y, x: dy * np.sinh(x))
every((np.tanh,), lambda dy, y, x: dy * (1 - y * y))
every((np.arcsinh,), lambda dy, y, x: dy / root_of_sum(x))
every((np.arccosh,), lambda dy, y, x: dy / (np.sqrt(x - 1.0) * np.sqrt(x - -1.0)))
every((np.arctanh,), lambda dy, y, x: dy / (1 - x * x))
every(
    (np.arctan2,),
    lambda dy, y, a, b: dy * (b / (a * a + b * b)),
    lambda dy, y, a, b: -dy * (a / (a * a + b * b)),
)
every((np.deg2rad, np.radians), lambda dy, y, x: dy * (math.pi / 180), live=Live.SMOOTH)
every((np.rad2deg, np.degrees), lambda dy, y, x: dy * (180 / math.pi), live=Live.SMOOTH)
every((np.i0,), lambda dy, y, x: dy * bessel_i1(x))
every((np.sinc,), lambda dy, y, x: dy * sinc_slope(x))
elementwise(np.unwrap, unwrap_vjp, live=Live.SMOOTH)

# Complex numbers.
every((np.conjugate,), lambda dy, y, x: conj(dy), live=Live.SMOOTH)
every((np.real,), lambda dy, y, x: dy, live=Live.SMOOTH)
elementwise(np.real_if_close, lambda dy, y, a, tol=100: dy, live=Live.SMOOTH)
every((np.imag,), imag_vjp, live=Live.SMOOTH)
elementwise(np.angle, angle_vjp)
