"""When a cause of NaN or infinity holds: conditions on an op, what it reads and what follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.rules.functional import getitem, setitem
from yota.tape import Call
from yotaview.model.autopsy.case import DIVIDE, Case, is_flag
from yotaview.model.summary import numeric

EXPS = {np.exp, np.exp2, np.expm1}
SELECTS = {np.where, np.select, np.choose, np.compress, np.extract, setitem, getitem}
When = Callable[[Case], bool]


def called(fns: Any, test: Callable[..., Any] | None = None) -> When:
    """Hold for an op of the user's whose function is one of `fns`, and whose operands pass."""

    def holds(case: Case) -> bool:
        op = case.call
        return op is not None and op.fn in fns and _passes(test, case.operands)

    return holds


def slope_of(fns: Any, test: Callable[..., Any] | None = None) -> When:
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


def all_of(*whens: When) -> When:
    """Hold where all conditions hold."""
    return lambda case: all(w(case) for w in whens)


def any_of(*whens: When) -> When:
    """Hold where one of the conditions holds."""
    return lambda case: any(w(case) for w in whens)


def is_nan(case: Case) -> bool:
    """Hold where the value is NaN."""
    value = case.value
    return value is not None and bool(np.isnan(value))


def argument(position: int, test: Callable[[Case, Any], bool]) -> When:
    """Hold where an argument of the op of the user's passes a test of how it came about."""

    def holds(case: Case) -> bool:
        op = case.forward
        return op is not None and len(op.args) > position and test(case, op.args[position])

    return holds


def with_respect_to(position: int) -> When:
    """Hold in the derivative by the argument at a position."""

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


def followed(*fns: Any) -> When:
    """Hold where one of `fns` stands up to four ops further on."""
    return lambda case: any(op.fn in fns for op in case.followed_by(case.forward_var, 4))


def flagged(case: Case) -> bool:
    """Hold where an operand is a mask of zeros and ones."""
    op = case.call
    return op is not None and any(is_flag(case, a) for a in op.args)


def of_dtype(name: str) -> When:
    """Hold where the value has a dtype."""
    return lambda case: str(getattr(case.op.spec, "dtype", "")) == name


def overflows(case: Case) -> bool:
    """Hold where finite operands gave an infinity."""
    value = case.value
    return value is not None and bool(np.isinf(value)) and not has_infinity(case)


def has_infinity(case: Case) -> bool:
    """Hold where an operand holds an infinity."""
    op = case.call
    found = (numeric(case.of(v)) for v in op.operands) if op is not None else ()
    return any(x is not None and x.dtype.kind in "fc" and np.isinf(x).any() for x in found)


def literal(case: Case, test: Callable[[float], Any]) -> bool:
    """Tell whether a number written into the call passes a test."""
    op = case.call
    literals = [a for a in op.args if type(a) in (int, float)] if op is not None else []
    return any(bool(test(float(a))) for a in literals)


def normalised(case: Case) -> bool:
    """Hold for an exponential that is divided by the sum of exponentials."""
    for op in case.followed_by(case.forward_var, 4):
        total = case.made_by(op.args[1]) if op.fn in DIVIDE else None
        summand = case.made_by(total.args[0]) if total is not None and total.fn is np.sum else None
        if summand is not None and summand.fn in EXPS:
            return True
    return False


def zero_times_inf(x: Any, y: Any) -> bool:
    """Tell whether one number is 0 and the other infinite."""
    return bool((x == 0 and np.isinf(y)) or (y == 0 and np.isinf(x)))


def both_infinite(x: Any, y: Any) -> bool:
    """Tell whether both numbers are infinite."""
    return bool(np.isinf(x) and np.isinf(y))
