"""Forms that move signs and constant factors to where they cost nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from yota.passes.forms.exact import axes_of, is_real_array, times
from yota.passes.work import Work
from yota.tape import Call, Var

_PRODUCTS = (np.multiply, np.divide)
_LINEAR = (np.add, np.subtract, *_PRODUCTS, np.negative, np.sum)


def absorb_signs(work: Work) -> None:
    """Subtract instead of adding what was negated; let a sign wait until something takes it up."""
    for var, op in work.calls(np.multiply):
        x = times(work, op, -1.0) if work.is_free(var) else None
        if x is not None:
            work.exchange(var, "signs: a product with -1 is a negation", np.negative, x)
    has_moved = True
    while has_moved:
        # what was made on the way may take up a sign, too
        has_moved = sum(_move_on(work, var) for var, _ in work.calls(*_LINEAR)) > 0


def _move_on(work: Work, var: Var) -> bool:
    """Let signs move from an op downwards as far as they can; tell whether one has moved."""
    before, user = work.ops[var], var
    while _absorb(work, user) and (below := work.only_user(user)) is not None:
        user = below
    return work.ops[var] is not before


def _absorb(work: Work, var: Var) -> bool:
    """Take up the sign of an operand; tell whether the op is a negation now."""
    op = work.call_of(var, *_LINEAR)
    if op is None or not work.is_free(var) or (op.kwargs and op.fn is not np.sum):
        return False
    if op.fn in (np.add, np.subtract):
        _into_sum(work, var, op)
    elif op.fn in _PRODUCTS:
        _through_product(work, var, op)
    elif op.fn is np.sum:
        _through_sum(work, var, op)
    return work.ops[var] is not op and work.call_of(var, np.negative) is not None


def negated(work: Work, x: Any) -> Var | None:
    """Return what a var is the negative of, if it is an array that only one op reads."""
    op = work.call_of(x, np.negative)
    if op is None or op.kwargs or not is_real_array(op.spec) or not work.is_free(x):
        return None
    source = op.args[0]
    return source if type(source) is Var and _is_taken_up(work, x) else None


def _is_taken_up(work: Work, x: Var) -> bool:
    """Tell whether one op alone reads a var, or sums alone do."""
    return work.only_user(x) is not None or _is_summed(work, x)


def _is_summed(work: Work, x: Var) -> bool:
    """Tell whether sums alone read a var, once each."""
    sums = (work.call_of(u, np.add, np.subtract) for u in work.users[x])
    alike = all(op is not None and op.args[0] != op.args[1] for op in sums)
    return alike and x not in work.kept and work.is_free(*work.users[x])


def _into_sum(work: Work, var: Var, op: Call) -> None:
    x, y = op.args
    if (source := negated(work, y)) is not None and _shares_type(work, op, x):
        fn = np.subtract if op.fn is np.add else np.add
        work.exchange(var, f"signs: {y} is the negative of {source}", fn, x, source)
        _taken(work, y, var)
    elif op.fn is np.add and (source := negated(work, x)) is not None and _shares_type(work, op, y):
        work.exchange(var, f"signs: {x} is the negative of {source}", np.subtract, y, source)
        _taken(work, x, var)


def _taken(work: Work, x: Var, var: Var) -> None:
    work.swallow(x, var, f"signs: {var} takes the sign up")
    work.bury(x)


def _shares_type(work: Work, op: Call, x: Any) -> bool:
    """Tell whether an operand keeps its type where the order of operands changes."""
    return isinstance(x, int | float) or (
        work.spec(x) is not None and work.ops[x].spec.dtype == op.spec.dtype
    )


def _through_product(work: Work, var: Var, op: Call) -> None:
    user = work.only_user(var)
    one = user is not None and work.call_of(user, *_LINEAR) is not None and work.is_free(user)
    if not (one or _is_summed(work, var)):
        return
    for at, x in enumerate(op.args):
        source = negated(work, x)
        if source is not None and work.only_user(x) is not None:
            args = (*op.args[:at], source, *op.args[at + 1 :])
            product = work.call(var, op.spec, op.fn, *args)
            work.exchange(var, f"signs: that of {x} moves on", np.negative, product)
            _taken(work, x, var)
            return


def _through_sum(work: Work, var: Var, op: Call) -> None:
    source = negated(work, op.args[0])
    if (
        source is None
        or work.only_user(op.args[0]) is None
        or axes_of(op, len(work.ops[source].spec.shape)) is None
    ):
        return
    x = op.args[0]
    total = work.call(var, op.spec, np.sum, source, *op.args[1:], **dict(op.kwargs))
    work.exchange(var, f"signs: that of {x} waits for the sum", np.negative, total)
    _taken(work, x, var)


def join_scales(work: Work) -> None:
    """Multiply by one constant instead of by several in turn, or by one and a sign."""
    for var, op in work.calls(*_PRODUCTS, np.negative):
        found = scale(op) if is_real_array(op.spec) and work.is_free(var) else None
        if found is None:
            continue
        x, factor = found
        inner = work.call_of(x, *_PRODUCTS, np.negative)
        below = scale(inner) if inner is not None and work.is_free(x) else None
        if below is None or work.only_user(x) is None or inner is None or inner.spec != op.spec:
            continue
        product = factor * below[1]
        if product == 1.0 and work.spec(below[0]) == op.spec:
            work.put(var, below[0], f"scales: {x}'s factor and its own are one together")
            continue
        if math.isfinite(product) and _is_normal(product, op.spec.dtype):
            why = f"scales: one factor {product!r} for {x}'s and its own"
            work.exchange(var, why, np.multiply, below[0], product)
            work.swallow(x, var, f"scales: its factor is part of {var}'s")


def scale(op: Call) -> tuple[Var, float] | None:
    """Return what a call multiplies by a constant, and the constant."""
    if op.kwargs:
        return None
    if op.fn is np.negative:
        return (op.args[0], -1.0) if type(op.args[0]) is Var else None
    x, y = op.args
    if type(x) is Var and (number := _number(y)) is not None:
        if op.fn is np.divide:
            return (x, 1.0 / number) if number else None
        return x, number
    if op.fn is np.multiply and type(y) is Var and (number := _number(x)) is not None:
        return y, number
    return None


def _number(x: Any) -> float | None:
    if isinstance(x, bool) or not isinstance(x, int | float | np.floating):
        return None
    number = float(x)
    return number if abs(number) < 2.0**53 or not isinstance(x, int) else None


def _is_normal(x: float, dtype: Any) -> bool:
    info = np.finfo(dtype)
    return float(info.smallest_normal) <= abs(x) <= float(info.max)


def expand_powers(work: Work) -> None:
    """Multiply instead of calling the power function for small whole exponents."""
    for var, op in work.calls(np.power):
        if not is_real_array(op.spec) or not work.is_free(var) or op.kwargs:
            continue
        x, n = op.args
        spec = work.spec(x)
        if spec != op.spec or not _is_small(n):
            continue
        base, n = x, int(n)
        if n < 0:
            base, n = work.call(var, op.spec, np.divide, 1.0, x) if n < -1 else x, -n
        _power(work, var, base, n, f"powers: products for the power {op.args[1]!r}")


def _is_small(n: Any) -> bool:
    number = _number(n)
    return number is not None and number == int(number) and (2 <= abs(number) <= 8 or number == -1)


def _power(work: Work, var: Var, x: Var, n: int, why: str) -> None:
    """Give `var` the value x ** n, or 1 / x for n = 1; the last product stands under its number."""
    if n == 1:
        work.exchange(var, why, np.divide, 1.0, x)
    elif n % 2:
        work.exchange(var, why, np.multiply, _powered(work, var, x, n - 1), x)
    else:
        work.exchange(var, why, np.square, _powered(work, var, x, n // 2))


def _powered(work: Work, var: Var, x: Var, n: int) -> Var:
    if n == 1:
        return x
    spec = work.ops[var].spec
    if n % 2:
        return work.call(var, spec, np.multiply, _powered(work, var, x, n - 1), x)
    return work.call(var, spec, np.square, _powered(work, var, x, n // 2))
