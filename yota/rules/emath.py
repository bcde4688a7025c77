"""Rules of np.emath, whose functions of real numbers turn complex where they must."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.rules.elementwise import (
    LN2,
    LN10,
    every,
    power_base_vjp,
    power_exponent_vjp,
    root_of_rest,
)
from yota.rules.registry import is_complex

Array = Any


def as_result(x: Array, y: Array) -> Array:
    """Return an operand as the function took it: complex where the result is."""
    return x + 0j if is_complex(y) and not is_complex(x) else x


every((np.emath.sqrt,), lambda dy, y, x: dy * 0.5 / y)
every((np.emath.log,), lambda dy, y, x: dy / x)
every((np.emath.log2,), lambda dy, y, x: dy / (x * LN2))
every((np.emath.log10,), lambda dy, y, x: dy / (x * LN10))
every(
    (np.emath.logn,),
    lambda dy, y, n, x: -dy * y / (n * np.emath.log(n)),
    lambda dy, y, n, x: dy / (x * np.emath.log(n)),
)
every((np.emath.power,), power_base_vjp, power_exponent_vjp)
every((np.emath.arcsin,), lambda dy, y, x: dy / root_of_rest(as_result(x, y)))
every((np.emath.arccos,), lambda dy, y, x: -dy / root_of_rest(as_result(x, y)))
every((np.emath.arctanh,), lambda dy, y, x: dy / (1 - x * x))
