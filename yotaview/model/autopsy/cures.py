"""Replacements for an op at fault: each takes the op's arguments and gives what the cure gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.tape import Call, Var
from yotaview.model.autopsy.case import ADD, DIVIDE, MULTIPLY, Case, is_norm, is_std
from yotaview.model.summary import numeric

EPS = 1e-12


class Ask:
    """A replacement that reads other values of the tape than its op: those of `wanted`."""

    def __init__(self, wanted: tuple[Any, ...], fn: Callable[..., Any]) -> None:
        self.wanted, self.fn = wanted, fn


Patch = dict[Var, Callable[..., Any] | Ask]


def eps_for(x: Any) -> float:
    """Return what is added under a root: small, but seen by the dtype."""
    found = numeric(getattr(x, "_value", x))
    small = found is not None and found.dtype == np.float16
    return 1e-4 if small else EPS


def guarded(fn: Callable[..., Any], safe: float, bad: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fn` by a double where: where `bad(x)`, it sees `safe` and its result is 0."""

    def cured(x: Any, *rest: Any, **options: Any) -> Any:
        out = bad(x, *rest)
        return np.where(out, 0.0, fn(np.where(out, safe, x), *rest, **options))

    return cured


def at_forward(make: Callable[[Call], Callable[..., Any]]) -> Callable[[Case], Patch]:
    """Return the patch that replaces the op at fault by what `make` gives for it."""

    def patch(case: Case) -> Patch:
        op = case.forward
        return {case.forward_var: make(op)} if op is not None else {}

    return patch


def rooted(op: Call) -> Callable[..., Any]:
    """Add a small number under the root."""
    return lambda x, **options: np.sqrt(x + eps_for(x), **options)


def log_guarded(op: Call) -> Callable[..., Any]:
    """Take the logarithm by a double where."""
    edge = -1.0 if op.fn is np.log1p else 0.0
    return guarded(op.fn, edge + 1.0, lambda x: np.less_equal(x, edge))


def log_of_zero(case: Case) -> Patch:
    """Take the logarithm by a double where if it is multiplied by 0, else add a small number."""
    for user in case.users.get(case.var, ()):
        op = case.tape[user]
        if isinstance(op, Call) and op.fn in MULTIPLY and any(case.at(a) == 0 for a in op.args):
            return at_forward(log_guarded)(case)
    return at_forward(lambda op: lambda x, **options: op.fn(x + eps_for(x), **options))(case)


def root_guarded(op: Call) -> Callable[..., Any]:
    """Take the root by a double where."""
    return guarded(op.fn, 1.0, lambda x: np.less_equal(x, 0.0))


def quotient_guarded(op: Call) -> Callable[..., Any]:
    """Divide by a double where."""

    def cured(x: Any, y: Any, **options: Any) -> Any:
        out = np.equal(y, 0.0)
        return np.where(out, 0.0, x / np.where(out, 1.0, y))

    return cured


def product_guarded(op: Call) -> Callable[..., Any]:
    """Select by where in place of a product: what 0 multiplies is left out."""

    def cured(x: Any, y: Any, **options: Any) -> Any:
        left = np.where(np.logical_and(np.equal(y, 0.0), np.isinf(x)), 0.0, x)
        right = np.where(np.logical_and(np.equal(x, 0.0), np.isinf(y)), 0.0, y)
        return left * right

    return cured


def clipped(op: Call) -> Callable[..., Any]:
    """Keep the argument inside of the domain by a small margin."""

    def cured(x: Any, **options: Any) -> Any:
        found = numeric(getattr(x, "_value", x))
        eps = 1e-12 if found is None or found.dtype.itemsize >= 8 else 1e-6
        return op.fn(np.clip(x, -1.0 + eps, 1.0 - eps), **options)

    return cured


def signed_power(op: Call) -> Callable[..., Any]:
    """Raise the magnitude and give it the sign back."""
    return lambda x, p, **options: np.sign(x) * np.power(np.abs(x) + EPS, p)


def shifted_power(op: Call) -> Callable[..., Any]:
    """Raise to the power away from zero."""
    return lambda x, p, **options: np.power(x + EPS, p)


def angle_guarded(op: Call) -> Callable[..., Any]:
    """Take the angle by a double where."""

    def cured(y: Any, x: Any, **options: Any) -> Any:
        out = np.logical_and(np.equal(y, 0.0), np.equal(x, 0.0))
        return np.where(out, 0.0, np.arctan2(np.where(out, 0.0, y), np.where(out, 1.0, x)))

    return cured


def finite_only(case: Case) -> Patch:
    """Put 0 in the place of what is not finite."""
    var = case.var

    def cured(x: Any) -> Any:
        return np.where(np.isfinite(x), x, 0.0)

    return {var: cured}


def root_of(case: Case) -> Patch:
    """Add a small number under the root of the norm or deviation that a quotient divides by."""
    op = case.forward
    made = case.made_by(op.args[1]) if op is not None else None
    if made is None or not (is_norm(case, op.args[1]) or is_std(case, op.args[1])):  # type: ignore[union-attr]  # not None where made is not
        return at_forward(quotient_guarded)(case)
    if made.fn is np.sqrt:
        return {_var_of(case, made): rooted(made)}

    def cured(x: Any, *rest: Any, **options: Any) -> Any:
        return made.fn(x, *rest, **options) + EPS

    return {_var_of(case, made): cured}


def _var_of(case: Case, op: Call) -> Var:
    return next(v for v, other in case.tape if other is op)


def softplus(case: Case) -> Patch:
    """Replace the logarithm of a sum with an exponential in it by logaddexp or log-sum-exp."""
    exp = case.forward
    if exp is None or exp.fn is not np.exp:
        return {}
    for op in case.followed_by(case.forward_var, 4):
        made = _log_of_sum(case, op, exp) if op.fn in (np.log, np.log1p) else None
        if made is not None:
            return {_var_of(case, op): made}
    return {}


def _log_of_sum(case: Case, log: Call, exp: Call) -> Ask | None:
    """Return what a logarithm is in terms of the exponent, None where it is of something else."""
    power, total = exp.args[0], case.made_by(log.args[0])
    if log.fn is np.log1p:
        return Ask((power,), lambda x: np.logaddexp(0.0, x)) if total is exp else None
    if total is None:
        return None
    if total.fn is np.sum and case.made_by(total.args[0]) is exp:
        return _log_sum_exp(exp, total)
    sign = 1.0
    if total.fn in DIVIDE and total.args[0] == 1:
        sign, total = -1.0, case.made_by(total.args[1])
    beside = _beside(case, total, exp)
    if not beside:
        return None
    return Ask((power, beside[0]), lambda x, c: sign * np.logaddexp(np.log(c), x))


def _beside(case: Case, total: Call | None, exp: Call) -> list[Any]:
    """Return the summand beside an exponential, nothing where there is no such sum."""
    if total is None or total.fn not in ADD:
        return []
    found = [a for a in total.args if case.made_by(a) is not exp]
    return found if len(found) == 1 else []


def _log_sum_exp(exp: Call, total: Call) -> Ask:
    options = dict(total.kwargs)
    axis = total.args[1] if len(total.args) > 1 else options.get("axis")
    keep = options.get("keepdims") is True

    def cured(x: Any) -> Any:
        top = np.max(x, axis=axis, keepdims=True)
        found = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return found if keep else np.reshape(found, np.shape(np.max(x, axis=axis)))

    return Ask((exp.args[0],), cured)


def softmax(case: Case) -> Patch:
    """Subtract the maximum before each exponential of the argument; the quotient stays the same."""
    exp = case.forward
    if exp is None or exp.fn is not np.exp:
        return {}
    same = [(v, op) for v, op in case.tape if isinstance(op, Call) and _equal(op, exp)]
    for _, one in same:
        for op in (case.tape[u] for u in case.users.get(_var_of(case, one), ())):
            if isinstance(op, Call) and op.fn is np.sum:
                axis = op.args[1] if len(op.args) > 1 else dict(op.kwargs).get("axis")
                return {v: _below_maximum(axis) for v, _ in same if not case.tape.is_reverse(v)}
    return {}


def _equal(one: Call, other: Call) -> bool:
    return one.fn is other.fn and one.args == other.args


def _below_maximum(axis: Any) -> Callable[..., Any]:
    return lambda x, **_: np.exp(x - np.max(x, axis=axis, keepdims=True))


def sigmoid(case: Case) -> Patch:
    """Replace a / (1 + exp(x)) by a hyperbolic tangent, which does not overflow."""
    exp = case.forward
    if exp is None or exp.fn is not np.exp:
        return {}
    for op in case.followed_by(case.forward_var, 2):
        over, under = _quotient(op)
        if _beside(case, case.made_by(under), exp) != [1]:
            continue
        power, made = exp.args[0], case.made_by(over)
        if made is not None and _equal(made, exp):
            return {_var_of(case, op): Ask((power,), lambda x: 0.5 * (1.0 + np.tanh(x / 2.0)))}
        halves = Ask((power, over), lambda x, a: a * 0.5 * (1.0 - np.tanh(x / 2.0)))
        return {_var_of(case, op): halves}
    return {}


def _quotient(op: Call) -> tuple[Any, Any]:
    """Return what a quotient divides by what, None twice for another function."""
    if op.fn is np.reciprocal:
        return 1.0, op.args[0]
    return op.args[:2] if op.fn in DIVIDE else (None, None)


def finite_maximum(case: Case) -> Patch:
    """Subtract the maximum only where it is finite."""
    op = case.forward
    if op is None or not isinstance(op.args[1], Var):
        return {}

    def cured(x: Any, top: Any, **options: Any) -> Any:
        return x - np.where(np.isfinite(top), top, 0.0)

    return {case.forward_var: cured}
