"""Functions that have no slope anywhere, by decision: they answer in steps, or with no number."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from yota.rules.registry import nondiff

NO_SLOPE = [
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "isnan",
    "isinf",
    "isfinite",
    "isposinf",
    "isneginf",
    "isnat",
    "signbit",
    "iscomplex",
    "isreal",
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "round",
    "around",
    "fix",
    "floor_divide",
    "spacing",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "bitwise_not",
    "bitwise_invert",
    "left_shift",
    "right_shift",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_count",
    "gcd",
    "lcm",
]
NO_SLOPE_OPERATORS = [
    "floordiv",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and_",
    "or_",
    "xor",
    "not_",
    "invert",
    "lshift",
    "rshift",
    "index",
    "truth",
]

for _name in NO_SLOPE:
    if hasattr(np, _name):
        nondiff(getattr(np, _name))
for _name in NO_SLOPE_OPERATORS:
    nondiff(getattr(operator, _name))
for _fn in (builtins.round, math.floor, math.ceil, math.trunc):
    nondiff(_fn)
