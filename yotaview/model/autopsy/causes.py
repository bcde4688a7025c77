"""Why NaN or infinity begins at an op: a table of causes by name, each with its cure."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.tape import Constant, Input
from yotaview.model.autopsy import cures
from yotaview.model.autopsy.case import (
    ADD,
    DIVIDE,
    LOGS,
    MULTIPLY,
    POWER,
    SUBTRACT,
    Case,
    is_norm,
    is_square,
    is_std,
    is_variance,
)
from yotaview.model.autopsy.conditions import (
    EXPS,
    When,
    all_of,
    any_of,
    argument,
    both_infinite,
    called,
    dead,
    flagged,
    followed,
    has_infinity,
    is_nan,
    literal,
    normalised,
    of_dtype,
    overflows,
    slope_of,
    with_respect_to,
    zero_times_inf,
)
from yotaview.model.autopsy.cures import Patch, at_forward


@dataclass(frozen=True)
class Cause:
    """A cause: its name, when it holds, what to write instead, and the op that tries it.

    One that `follows` is no mistake of its own: what made the infinity is.  One that a `wider`
    dtype cures is tried in float64.
    """

    name: str
    when: When
    cure: str = ""
    patch: Callable[[Case], Patch] | None = None
    follows: bool = False
    wider: bool = False


DOUBLE_WHERE = "double where: np.where(ok, f(np.where(ok, x, 1.0)), 0.0)"
NORM = "np.linalg.norm(x), whose gradient is 0 at 0, or eps inside: np.sqrt(np.sum(x**2) + eps)"
LOGADDEXP = "np.logaddexp(0, x) for log(1 + exp(x)); for a sum, subtract the maximum first"
WIDER = "compute in a wider dtype: x.astype(np.float64), or scale x down"
LOG_FNS = {*LOGS, np.log1p}
STEEP = {
    np.sqrt, *LOG_FNS, *DIVIDE, *POWER, np.reciprocal, np.arccos, np.arcsin, np.arctan2, *EXPS,
    *MULTIPLY,
}  # fmt: skip
TOTALS = {np.sum, np.mean, np.cumsum, np.prod}
CONTRACTS = {np.matmul, operator.matmul, np.dot, np.inner, np.vdot, np.einsum, np.tensordot}

CAUSES: tuple[Cause, ...] = (
    Cause(
        "NaN in the input",
        lambda c: isinstance(c.op, Input) and is_nan(c),
        "clean the input first: np.nan_to_num, or leave the element out",
        cures.finite_only,
    ),
    Cause(
        "infinity in the input",
        lambda c: isinstance(c.op, Input),
        "clean the input first: np.nan_to_num, or leave the element out",
        cures.finite_only,
    ),
    Cause(
        "NaN in the data",
        lambda c: isinstance(c.op, Constant) and is_nan(c),
        "clean the data first: np.nan_to_num, np.nanmean, or leave the row out",
        cures.finite_only,
    ),
    Cause(
        "infinity in the data",
        lambda c: isinstance(c.op, Constant),
        "clean the data first, or mask it by np.where",
        cures.finite_only,
    ),
    Cause(
        "infinity in the code",
        lambda c: c.call is not None and literal(c, np.isinf),
        "np.finfo(dtype).min in place of -inf keeps differences finite",
    ),
    Cause(
        "NaN in the code",
        lambda c: c.call is not None and literal(c, np.isnan),
        "mask by np.where what is not known",
    ),
    # the derivative of something that a selection leaves out
    Cause(
        "where-trap",
        all_of(
            dead,
            slope_of(STEEP),
        ),
        DOUBLE_WHERE,
        at_forward(lambda op: _guard_of(op)),
    ),
    # derivatives that are infinite at one point
    Cause(
        "std' at 0",
        all_of(slope_of({np.sqrt}, lambda x: x == 0), argument(0, is_variance)),
        "eps inside the root: np.sqrt(np.var(x) + eps)",
        at_forward(cures.rooted),
    ),
    Cause(
        "norm' at 0",
        all_of(slope_of({np.sqrt}, lambda x: x == 0), argument(0, is_square)),
        NORM,
        at_forward(cures.rooted),
    ),
    Cause(
        "sqrt' at 0",
        slope_of({np.sqrt}, lambda x: x == 0),
        "eps inside the root: np.sqrt(x + eps)",
        at_forward(cures.rooted),
    ),
    Cause(
        "arccos' at ±1",
        slope_of({np.arccos}, lambda x: abs(x) == 1),
        "keep the argument inside: np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause(
        "arcsin' at ±1",
        slope_of({np.arcsin}, lambda x: abs(x) == 1),
        "keep the argument inside: np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause(
        "arccosh' at 1",
        slope_of({np.arccosh}, lambda x: x == 1),
        "keep the argument above 1: np.maximum(x, 1 + eps)",
    ),
    Cause(
        "arctan2' at the origin",
        slope_of({np.arctan2}, lambda y, x: x == 0 and y == 0),
        "double where: give arctan2 a point away from the origin there",
        at_forward(cures.angle_guarded),
    ),
    Cause(
        "derivative by the exponent of a negative base",
        all_of(slope_of(POWER, lambda x, p: x < 0), with_respect_to(1)),
        "keep the exponent constant, or raise np.abs(x)",
    ),
    Cause(
        "power' at 0",
        slope_of(POWER, lambda x, p: x == 0),
        "eps inside: (x + eps)**p, or write sqrt products as one power",
        at_forward(cures.shifted_power),
    ),
    Cause(
        "cbrt' at 0",
        slope_of({np.cbrt}, lambda x: x == 0),
        "eps inside: np.cbrt(x + eps)",
        at_forward(lambda op: lambda x, **_: np.cbrt(x + cures.EPS)),
    ),
    Cause(
        "exp overflow in a sigmoid",
        all_of(slope_of(EXPS), followed(*DIVIDE, np.reciprocal)),
        "0.5 * (1 + np.tanh(x / 2))",
        cures.sigmoid,
    ),
    # values outside of the domain
    Cause(
        "log of 0",
        any_of(called(LOGS, lambda x: x == 0), called({np.log1p}, lambda x: x == -1)),
        "eps inside, np.log(x + eps), or where 0·log 0 is meant to be 0 a double where",
        cures.log_of_zero,
    ),
    Cause(
        "log of a negative number",
        any_of(called(LOGS, lambda x: x < 0), called({np.log1p}, lambda x: x < -1)),
        f"keep the argument positive; where a mask removes it: {DOUBLE_WHERE}",
        at_forward(cures.log_guarded),
    ),
    Cause(
        "square root of a negative number",
        called({np.sqrt}, lambda x: x < 0),
        f"keep the argument positive, np.maximum(x, 0); where a mask removes it: {DOUBLE_WHERE}",
        at_forward(cures.root_guarded),
    ),
    Cause(
        "outside of [-1, 1]",
        called({np.arccos, np.arcsin}, lambda x: abs(x) > 1),
        "np.clip(x, -1 + eps, 1 - eps): rounding leaves the domain",
        at_forward(cures.clipped),
    ),
    Cause(
        "arctanh at ±1 or beyond",
        called({np.arctanh}, lambda x: abs(x) >= 1),
        "np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause("arccosh below 1", called({np.arccosh}, lambda x: x < 1), "np.maximum(x, 1 + eps)"),
    Cause(
        "broken power of a negative base",
        called(POWER, lambda x, p: x < 0 and p != round(p)),
        "np.sign(x) * np.abs(x)**p, if that is meant",
        at_forward(cures.signed_power),
    ),
    Cause(
        "0 to a negative power",
        called(POWER, lambda x, p: x == 0 and p < 0),
        "eps inside: (x + eps)**p",
        at_forward(cures.shifted_power),
    ),
    # quotients
    Cause(
        "x/‖x‖ at 0",
        all_of(called(DIVIDE, lambda x, y: y == 0), argument(1, is_norm)),
        "eps inside the root: x / np.sqrt(np.sum(x**2) + eps)",
        cures.root_of,
    ),
    Cause(
        "x/std at 0",
        all_of(called(DIVIDE, lambda x, y: y == 0), argument(1, is_std)),
        "eps beside the variance: (x - mean) / np.sqrt(var + eps)",
        cures.root_of,
    ),
    Cause(
        "0/0",
        called(DIVIDE, lambda x, y: x == 0 and y == 0),
        "double where: np.where(y != 0, x / np.where(y != 0, y, 1.0), 0.0)",
        at_forward(cures.quotient_guarded),
    ),
    Cause(
        "x/0",
        any_of(called(DIVIDE, lambda x, y: y == 0), called({np.reciprocal}, lambda x: x == 0)),
        "double where: np.where(y != 0, x / np.where(y != 0, y, 1.0), 0.0)",
        at_forward(lambda op: _guard_of(op)),
    ),
    Cause(
        "inf/inf",
        called(DIVIDE, both_infinite),
        "divide the logarithms, or scale both first",
        follows=True,
    ),
    # exponentials
    Cause(
        "softmax overflow",
        all_of(called(EXPS), normalised),
        "subtract the maximum first: np.exp(x - x.max())",
        cures.softmax,
    ),
    Cause("exp then log", all_of(called(EXPS), followed(*LOG_FNS)), LOGADDEXP, cures.softplus),
    Cause(
        "exp overflow in a sigmoid",
        all_of(called(EXPS), followed(*DIVIDE, np.reciprocal)),
        "0.5 * (1 + np.tanh(x / 2))",
        cures.sigmoid,
    ),
    Cause(
        "exp overflow",
        any_of(called({*EXPS, np.sinh, np.cosh}), slope_of({*EXPS, np.sinh, np.cosh})),
        "work with the logarithm, or scale the argument down: exp(x) is finite up to 709 "
        "(float32: 88)",
    ),
    # products, sums, differences
    Cause(
        "mask by product",
        all_of(called(MULTIPLY, zero_times_inf), flagged),
        "np.where(mask, x, 0.0) in place of mask * x: 0·inf is NaN",
        at_forward(cures.product_guarded),
    ),
    Cause(
        "0·inf",
        any_of(called(MULTIPLY, zero_times_inf), slope_of(MULTIPLY, zero_times_inf)),
        "a double where: 0·inf is NaN, not 0",
        at_forward(cures.product_guarded),
        follows=True,
    ),
    Cause(
        "log-sum-exp of -inf",
        all_of(called(SUBTRACT, both_infinite), followed(*EXPS)),
        "subtract the maximum only where it is finite",
        cures.finite_maximum,
    ),
    Cause(
        "inf - inf",
        all_of(is_nan, has_infinity, any_of(called({*SUBTRACT, *ADD}), called(TOTALS))),
        "keep the terms finite: what made the infinity is the cause",
        follows=True,
    ),
    Cause(
        "0·inf in a product of matrices",
        all_of(is_nan, has_infinity, called(CONTRACTS)),
        "a mask does not work by a product: np.where(mask, x, 0.0) before it",
    ),
    Cause(
        "variance of too few values",
        all_of(is_nan, called({np.std, np.var})),
        "ddof must be below the number of values",
    ),
    Cause("mean of nothing", all_of(is_nan, called({np.mean})), "leave out what is empty"),
    # the range of the dtype
    *(
        Cause(f"overflow of {name}", all_of(overflows, of_dtype(name)), cure, wider=cure == WIDER)
        for name, cure in (
            ("float16", WIDER),
            ("float32", WIDER),
            ("complex64", WIDER),
            ("float64", "scale the values down, or work with logarithms"),
        )
    ),
)
UNKNOWN = Cause("no cause that the table knows", lambda case: True)


def cause_of(case: Case) -> Cause:
    """Return the first cause of the table that holds."""
    return next((c for c in CAUSES if c.when(case)), UNKNOWN)


def _guard_of(op: Any) -> Callable[..., Any]:
    """Return the double where that fits a function."""
    if op.fn in LOG_FNS:
        return cures.log_guarded(op)
    if op.fn in DIVIDE:
        return cures.quotient_guarded(op)
    if op.fn is np.reciprocal:
        return cures.guarded(op.fn, 1.0, lambda x: np.equal(x, 0.0))
    if op.fn in POWER:
        return cures.shifted_power(op)
    if op.fn in (np.arccos, np.arcsin):
        return cures.clipped(op)
    if op.fn is np.arctan2:
        return cures.angle_guarded(op)
    if op.fn in MULTIPLY:
        return cures.product_guarded(op)
    return cures.root_guarded(op)
