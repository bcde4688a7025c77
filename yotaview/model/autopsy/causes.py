"""Why NaN or infinity begins at an op: a table of causes by name, each with its cure."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.rules.functional import getitem, setitem
from yota.tape import Call, Constant, Input
from yotaview.model.autopsy import cures
from yotaview.model.autopsy.case import (
    ADD,
    DIVIDE,
    LOGS,
    MULTIPLY,
    POWER,
    SUBTRACT,
    Case,
    is_flag,
    is_norm,
    is_square,
    is_std,
    is_variance,
)
from yotaview.model.autopsy.cures import Patch, at_forward
from yotaview.model.summary import numeric

EXPS = {np.exp, np.exp2, np.expm1}
SELECTS = {np.where, np.select, np.choose, np.compress, np.extract, setitem, getitem}
When = Callable[[Case], bool]


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


def _is(fns: Any, test: Callable[..., Any] | None = None) -> When:
    """Hold for an op of the user's whose function is one of `fns`, and whose operands pass."""

    def holds(case: Case) -> bool:
        op = case.call
        return op is not None and op.fn in fns and _passes(test, case.operands)

    return holds


def _slope(fns: Any, test: Callable[..., Any] | None = None) -> When:
    """Hold in the derivative of an op whose function is one of `fns`, and whose operands pass."""

    def holds(case: Case) -> bool:
        op = case.forward
        if case.primal is None or op is None or op.fn not in fns:
            return False
        return _passes(test, case.forward_operands)

    return holds


def _passes(test: Callable[..., Any] | None, operands: list[Any]) -> bool:
    if test is None:
        return True
    try:
        with np.errstate(all="ignore"):
            return bool(test(*operands))
    except (TypeError, AttributeError):  # an operand that has no such element
        return False


def _all(*whens: When) -> When:
    return lambda case: all(w(case) for w in whens)


def _any(*whens: When) -> When:
    return lambda case: any(w(case) for w in whens)


def _nan(case: Case) -> bool:
    value = case.value
    return value is not None and bool(np.isnan(value))


def _arg(position: int, test: Callable[[Case, Any], bool]) -> When:
    """Hold where an argument of the op of the user's passes a test of how it came about."""

    def holds(case: Case) -> bool:
        op = case.forward
        return op is not None and len(op.args) > position and test(case, op.args[position])

    return holds


def _wrt(position: int) -> When:
    def holds(case: Case) -> bool:
        op, wrt = case.forward, case.op.origin.wrt
        return op is not None and len(op.args) > position and op.args[position] == wrt

    return holds


def selected(case: Case) -> bool:
    """Tell whether the user's function takes only some elements of what the op makes."""
    return any(selects(op) for op in case.followed_by(case.forward_var))


def selects(op: Call) -> bool:
    """Tell whether a call takes some elements by a condition, and leaves out others."""
    return op.fn in SELECTS and (op.fn is not getitem or len(op.args) > 1)


def dead(case: Case) -> bool:
    """Tell whether the op's cotangent is zero at the element, and a selection follows it."""
    if case.primal is None or not selected(case):
        return False
    cotangent = case.tape.cotangents.get(case.primal)
    arrived = case.at(cotangent) if cotangent is not None else 0.0
    return arrived is None or arrived == 0


def _followed(*fns: Any) -> When:
    return lambda case: any(op.fn in fns for op in case.followed_by(case.forward_var, 4))


def _flagged(case: Case) -> bool:
    op = case.call
    return op is not None and any(is_flag(case, a) for a in op.args)


def _of_dtype(name: str) -> When:
    return lambda case: str(getattr(case.op.spec, "dtype", "")) == name


def _overflows(case: Case) -> bool:
    """Hold where finite operands gave an infinity."""
    value = case.value
    return value is not None and bool(np.isinf(value)) and not _infinite(case)


def _infinite(case: Case) -> bool:
    """Hold where an operand holds an infinity."""
    op = case.call
    found = (numeric(case.of(v)) for v in op.operands) if op is not None else ()
    return any(x is not None and x.dtype.kind in "fc" and np.isinf(x).any() for x in found)


def _literal(case: Case, test: Callable[[float], Any]) -> bool:
    """Tell whether a number written into the call passes a test."""
    op = case.call
    literals = [a for a in op.args if type(a) in (int, float)] if op is not None else []
    return any(bool(test(float(a))) for a in literals)


def _normalised(case: Case) -> bool:
    """Hold for an exponential that is divided by the sum of exponentials."""
    for op in case.followed_by(case.forward_var, 4):
        total = case.made_by(op.args[1]) if op.fn in DIVIDE else None
        summand = case.made_by(total.args[0]) if total is not None and total.fn is np.sum else None
        if summand is not None and summand.fn in EXPS:
            return True
    return False


def _zero_times_inf(x: Any, y: Any) -> bool:
    return bool((x == 0 and np.isinf(y)) or (y == 0 and np.isinf(x)))


def _opposite(x: Any, y: Any) -> bool:
    return bool(np.isinf(x) and np.isinf(y))


DOUBLE_WHERE = "double where: np.where(ok, f(np.where(ok, x, 1.0)), 0.0)"
NORM = "np.linalg.norm(x), whose gradient is 0 at 0, or eps inside: np.sqrt(np.sum(x**2) + eps)"
LOGADDEXP = "np.logaddexp(0, x) for log(1 + exp(x)); for a sum, subtract the maximum first"
WIDER = "compute in a wider dtype: x.astype(np.float64), or scale x down"
LOG_FNS = {*LOGS, np.log1p}
TOTALS = {np.sum, np.mean, np.cumsum, np.prod}
CONTRACTS = {np.matmul, operator.matmul, np.dot, np.inner, np.vdot, np.einsum, np.tensordot}

CAUSES: tuple[Cause, ...] = (
    Cause(
        "NaN in the input",
        lambda c: isinstance(c.op, Input) and _nan(c),
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
        lambda c: isinstance(c.op, Constant) and _nan(c),
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
        lambda c: c.call is not None and _literal(c, np.isinf),
        "np.finfo(dtype).min in place of -inf keeps differences finite",
    ),
    Cause(
        "NaN in the code",
        lambda c: c.call is not None and _literal(c, np.isnan),
        "mask by np.where what is not known",
    ),
    # the derivative of something that a selection leaves out
    Cause(
        "where-trap",
        _all(
            dead,
            _slope(
                {
                    np.sqrt,
                    *LOG_FNS,
                    *DIVIDE,
                    *POWER,
                    np.reciprocal,
                    np.arccos,
                    np.arcsin,
                    np.arctan2,
                    *EXPS,
                    *MULTIPLY,
                }
            ),
        ),
        DOUBLE_WHERE,
        at_forward(lambda op: _guard_of(op)),
    ),
    # derivatives that are infinite at one point
    Cause(
        "std' at 0",
        _all(_slope({np.sqrt}, lambda x: x == 0), _arg(0, is_variance)),
        "eps inside the root: np.sqrt(np.var(x) + eps)",
        at_forward(cures.rooted),
    ),
    Cause(
        "norm' at 0",
        _all(_slope({np.sqrt}, lambda x: x == 0), _arg(0, is_square)),
        NORM,
        at_forward(cures.rooted),
    ),
    Cause(
        "sqrt' at 0",
        _slope({np.sqrt}, lambda x: x == 0),
        "eps inside the root: np.sqrt(x + eps)",
        at_forward(cures.rooted),
    ),
    Cause(
        "arccos' at ±1",
        _slope({np.arccos}, lambda x: abs(x) == 1),
        "keep the argument inside: np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause(
        "arcsin' at ±1",
        _slope({np.arcsin}, lambda x: abs(x) == 1),
        "keep the argument inside: np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause(
        "arccosh' at 1",
        _slope({np.arccosh}, lambda x: x == 1),
        "keep the argument above 1: np.maximum(x, 1 + eps)",
    ),
    Cause(
        "arctan2' at the origin",
        _slope({np.arctan2}, lambda y, x: x == 0 and y == 0),
        "double where: give arctan2 a point away from the origin there",
        at_forward(cures.angle_guarded),
    ),
    Cause(
        "derivative by the exponent of a negative base",
        _all(_slope(POWER, lambda x, p: x < 0), _wrt(1)),
        "keep the exponent constant, or raise np.abs(x)",
    ),
    Cause(
        "power' at 0",
        _slope(POWER, lambda x, p: x == 0),
        "eps inside: (x + eps)**p, or write sqrt products as one power",
        at_forward(cures.shifted_power),
    ),
    Cause(
        "cbrt' at 0",
        _slope({np.cbrt}, lambda x: x == 0),
        "eps inside: np.cbrt(x + eps)",
        at_forward(lambda op: lambda x, **_: np.cbrt(x + cures.EPS)),
    ),
    Cause(
        "exp overflow in a sigmoid",
        _all(_slope(EXPS), _followed(*DIVIDE, np.reciprocal)),
        "0.5 * (1 + np.tanh(x / 2))",
        cures.sigmoid,
    ),
    # values outside of the domain
    Cause(
        "log of 0",
        _any(_is(LOGS, lambda x: x == 0), _is({np.log1p}, lambda x: x == -1)),
        "eps inside, np.log(x + eps), or where 0·log 0 is meant to be 0 a double where",
        cures.log_of_zero,
    ),
    Cause(
        "log of a negative number",
        _any(_is(LOGS, lambda x: x < 0), _is({np.log1p}, lambda x: x < -1)),
        f"keep the argument positive; where a mask removes it: {DOUBLE_WHERE}",
        at_forward(cures.log_guarded),
    ),
    Cause(
        "square root of a negative number",
        _is({np.sqrt}, lambda x: x < 0),
        f"keep the argument positive, np.maximum(x, 0); where a mask removes it: {DOUBLE_WHERE}",
        at_forward(cures.root_guarded),
    ),
    Cause(
        "outside of [-1, 1]",
        _is({np.arccos, np.arcsin}, lambda x: abs(x) > 1),
        "np.clip(x, -1 + eps, 1 - eps): rounding leaves the domain",
        at_forward(cures.clipped),
    ),
    Cause(
        "arctanh at ±1 or beyond",
        _is({np.arctanh}, lambda x: abs(x) >= 1),
        "np.clip(x, -1 + eps, 1 - eps)",
        at_forward(cures.clipped),
    ),
    Cause("arccosh below 1", _is({np.arccosh}, lambda x: x < 1), "np.maximum(x, 1 + eps)"),
    Cause(
        "broken power of a negative base",
        _is(POWER, lambda x, p: x < 0 and p != round(p)),
        "np.sign(x) * np.abs(x)**p, if that is meant",
        at_forward(cures.signed_power),
    ),
    Cause(
        "0 to a negative power",
        _is(POWER, lambda x, p: x == 0 and p < 0),
        "eps inside: (x + eps)**p",
        at_forward(cures.shifted_power),
    ),
    # quotients
    Cause(
        "x/‖x‖ at 0",
        _all(_is(DIVIDE, lambda x, y: y == 0), _arg(1, is_norm)),
        "eps inside the root: x / np.sqrt(np.sum(x**2) + eps)",
        cures.root_of,
    ),
    Cause(
        "x/std at 0",
        _all(_is(DIVIDE, lambda x, y: y == 0), _arg(1, is_std)),
        "eps beside the variance: (x - mean) / np.sqrt(var + eps)",
        cures.root_of,
    ),
    Cause(
        "0/0",
        _is(DIVIDE, lambda x, y: x == 0 and y == 0),
        "double where: np.where(y != 0, x / np.where(y != 0, y, 1.0), 0.0)",
        at_forward(cures.quotient_guarded),
    ),
    Cause(
        "x/0",
        _any(_is(DIVIDE, lambda x, y: y == 0), _is({np.reciprocal}, lambda x: x == 0)),
        "double where: np.where(y != 0, x / np.where(y != 0, y, 1.0), 0.0)",
        at_forward(lambda op: _guard_of(op)),
    ),
    Cause(
        "inf/inf",
        _is(DIVIDE, _opposite),
        "divide the logarithms, or scale both first",
        follows=True,
    ),
    # exponentials
    Cause(
        "softmax overflow",
        _all(_is(EXPS), _normalised),
        "subtract the maximum first: np.exp(x - x.max())",
        cures.softmax,
    ),
    Cause("exp then log", _all(_is(EXPS), _followed(*LOG_FNS)), LOGADDEXP, cures.softplus),
    Cause(
        "exp overflow in a sigmoid",
        _all(_is(EXPS), _followed(*DIVIDE, np.reciprocal)),
        "0.5 * (1 + np.tanh(x / 2))",
        cures.sigmoid,
    ),
    Cause(
        "exp overflow",
        _any(_is({*EXPS, np.sinh, np.cosh}), _slope({*EXPS, np.sinh, np.cosh})),
        "work with the logarithm, or scale the argument down: exp(x) is finite up to 709 "
        "(float32: 88)",
    ),
    # products, sums, differences
    Cause(
        "mask by product",
        _all(_is(MULTIPLY, _zero_times_inf), _flagged),
        "np.where(mask, x, 0.0) in place of mask * x: 0·inf is NaN",
        at_forward(cures.product_guarded),
    ),
    Cause(
        "0·inf",
        _any(_is(MULTIPLY, _zero_times_inf), _slope(MULTIPLY, _zero_times_inf)),
        "a double where: 0·inf is NaN, not 0",
        at_forward(cures.product_guarded),
        follows=True,
    ),
    Cause(
        "log-sum-exp of -inf",
        _all(_is(SUBTRACT, _opposite), _followed(*EXPS)),
        "subtract the maximum only where it is finite",
        cures.finite_maximum,
    ),
    Cause(
        "inf - inf",
        _all(_nan, _infinite, _any(_is({*SUBTRACT, *ADD}), _is(TOTALS))),
        "keep the terms finite: what made the infinity is the cause",
        follows=True,
    ),
    Cause(
        "0·inf in a product of matrices",
        _all(_nan, _infinite, _is(CONTRACTS)),
        "a mask does not work by a product: np.where(mask, x, 0.0) before it",
    ),
    Cause(
        "variance of too few values",
        _all(_nan, _is({np.std, np.var})),
        "ddof must be below the number of values",
    ),
    Cause("mean of nothing", _all(_nan, _is({np.mean})), "leave out what is empty"),
    # the range of the dtype
    *(
        Cause(f"overflow of {name}", _all(_overflows, _of_dtype(name)), cure, wider=cure == WIDER)
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
