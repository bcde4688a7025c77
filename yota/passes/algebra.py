"""Leave out operations that give back their operand bit for bit."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from yota.passes.cse import Seen
from yota.passes.rewrite import Rewrite
from yota.rules.functional import cast, getitem, halt, identity
from yota.tape import Call, Constant, Op, Spec, Tape, Var, format_call

# A rule returns the operand that a call gives back and why, or None.
Found = tuple[Var, str] | None
Rule = Callable[[Call, "Known"], Found]


def simplify(tape: Tape) -> Tape:
    """Merge an operation that keeps every bit of an operand, such as `x * 1.0`, into the operand.

    What becomes equal by that, or by folding, is merged at once, so that no second cse is needed.
    """
    new, seen = Rewrite(tape, "algebra"), Seen()
    known = Known(new.tape)
    for var, op in tape:
        moved = new.moved(op)
        found = same_value(moved, known) if isinstance(moved, Call) else None
        if found is None:
            found = seen.twin(var, moved)
        if found is None:
            new.keep(var, moved)
        else:
            new.put(var, *found)
    return new.done()


class Known:
    """What the new tape says of operands."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.uniform: dict[Var, Any] = {}

    def op(self, x: Any) -> Op | None:
        """Return the op under an operand, None for a literal."""
        return self.tape[x] if type(x) is Var else None

    def spec(self, x: Any) -> Spec:
        """Return the type of a var."""
        return self.tape[x].spec

    def number(self, x: Any) -> Any:
        """Return the one number that a literal or constant consists of, else None."""
        if type(x) is Var:
            if x not in self.uniform:
                op = self.tape[x]
                self.uniform[x] = _uniform(op.value) if isinstance(op, Constant) else None
            return self.uniform[x]
        return x if isinstance(x, bool | int | float | np.generic) else None


def _uniform(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.size == 0 or value.dtype.kind not in "biuf":
            return None
        first = value.flat[0]
        same = np.all((value == first) & (np.signbit(value) == np.signbit(first)))
        return first if same else None
    return value if isinstance(value, bool | int | float | np.generic) else None


def same_value(op: Call, known: Known) -> Found:
    """Return the operand whose value, type and layout a call gives back."""
    rule = _rule(op.fn)
    found = rule(op, known) if rule is not None and op.args else None
    if found is None or known.spec(found[0]) != op.spec:
        return None
    # Layout K says too little: equal values in other strides may be summed in another order.
    if op.spec.order == "K" and op.fn not in _VIEWS:
        return None
    return found


def _rule(fn: Any) -> Rule | None:
    try:
        return RULES.get(fn)
    except TypeError:
        return None


def _because(op: Call) -> str:
    return f"{format_call(op)} changes no bit"


def _neutral(x: Any, y: Any, op: Call, known: Known, test: Callable[[Any], bool]) -> Found:
    """Return `x` where `y` is the neutral element and the dtype is real."""
    if type(x) is not Var or op.kwargs or known.spec(x).dtype is None:
        return None
    number = known.number(y)
    # A complex product adds terms in the other part, which a signed zero or inf does not survive.
    if number is None or known.spec(x).dtype.kind not in "biuf" or not test(number):
        return None
    return x, _because(op)


def _is_one(y: Any) -> bool:
    return bool(y == 1)


def _is_zero_of(sign: float) -> Callable[[Any], bool]:
    def test(y: Any) -> bool:
        integral = isinstance(y, int | np.integer | np.bool_)
        return bool(y == 0) and (integral or math.copysign(1.0, y) == sign)

    return test


def _multiply(op: Call, known: Known) -> Found:
    x, y = op.args
    return _neutral(x, y, op, known, _is_one) or _neutral(y, x, op, known, _is_one)


def _divide(op: Call, known: Known) -> Found:
    return _neutral(op.args[0], op.args[1], op, known, _is_one)


def _subtract(op: Call, known: Known) -> Found:
    return _neutral(op.args[0], op.args[1], op, known, _is_zero_of(1.0))


def _add(op: Call, known: Known) -> Found:
    x, y = op.args
    return _plus(x, y, op, known) or _plus(y, x, op, known)


def _plus(x: Any, y: Any, op: Call, known: Known) -> Found:
    # -0.0 + 0.0 is 0.0, so only -0.0 is neutral among floats; an int zero becomes 0.0 there.
    if op.spec.dtype is not None and op.spec.dtype.kind in "iu":
        return _neutral(x, y, op, known, lambda n: bool(n == 0))
    integral = isinstance(known.number(y), int | np.integer | np.bool_)
    return None if integral else _neutral(x, y, op, known, _is_zero_of(-1.0))


def _power(op: Call, known: Known) -> Found:
    x, y = op.args
    if type(y) is Var or type(x) is not Var or not _power_is_exact(known.spec(x)):
        return None
    return _neutral(x, y, op, known, _is_one)


@functools.lru_cache(maxsize=32)
def _power_is_exact(spec: Spec) -> bool:
    """Tell whether this build of NumPy gives back `x` for `x ** 1`: vector libraries need not."""
    if spec.kind != "array" or spec.dtype.kind in "iu":
        return True
    bits = np.random.default_rng(0).standard_normal(4096).astype(spec.dtype)
    return spec.dtype.kind == "f" and bool(np.array_equal(np.power(bits, 1), bits))


def _operand(op: Call, known: Known) -> Found:
    x = op.args[0]
    return (x, _because(op)) if type(x) is Var else None


def _plain_operand(op: Call, known: Known) -> Found:
    return None if op.kwargs or len(op.args) != 1 else _operand(op, known)


def _real_operand(op: Call, known: Known) -> Found:
    x = op.args[0]
    if type(x) is not Var or known.spec(x).dtype is None or known.spec(x).dtype.kind == "c":
        return None
    return _plain_operand(op, known)


def _twice(op: Call, known: Known) -> Found:
    inner = known.op(op.args[0])
    if op.kwargs or not isinstance(inner, Call) or inner.fn is not op.fn or inner.kwargs:
        return None
    x = inner.args[0]
    return (x, f"negated twice: {op.args[0]} is {format_call(inner)}") if type(x) is Var else None


def _transpose(op: Call, known: Known) -> Found:
    x = op.args[0]
    if type(x) is not Var:
        return None
    outer = _axes(op, len(op.spec.shape))
    if outer == tuple(range(len(op.spec.shape))):
        return x, _because(op)
    inner = known.op(x)
    if outer is None or not isinstance(inner, Call) or inner.fn is not np.transpose:
        return None
    axes = _axes(inner, len(op.spec.shape))
    source = inner.args[0]
    if axes is None or type(source) is not Var:
        return None
    if any(axes[a] != k for k, a in enumerate(outer)):
        return None
    return source, f"transposed back: {x} is {format_call(inner)}"


def _axes(op: Call, ndim: int) -> tuple[int, ...] | None:
    given = op.args[1] if len(op.args) > 1 else dict(op.kwargs).get("axes")
    if given is None:
        return tuple(range(ndim))[::-1]
    if type(given) not in (tuple, list) or not all(type(a) is int for a in given):
        return None
    return tuple(a % ndim for a in given)


def _index(op: Call, known: Known) -> Found:
    index = op.args[1]
    steps = index if type(index) is tuple else (index,)
    whole = all(s is Ellipsis or (type(s) is slice and s == slice(None)) for s in steps)
    return _operand(op, known) if whole else None


def _where(op: Call, known: Known) -> Found:
    """Return the one branch that a constant condition takes everywhere."""
    if len(op.args) != 3 or op.kwargs:
        return None
    number = known.number(op.args[0])
    x = None if number is None else op.args[1 if number else 2]
    return (x, f"{op.args[0]} is {bool(number)} everywhere") if type(x) is Var else None


def _sum(op: Call, known: Known) -> Found:
    """Return `x` for an integer sum over no axis; a float one turns -0.0 into 0.0."""
    axis = op.args[1] if len(op.args) > 1 else dict(op.kwargs).get("axis")
    if axis != () or op.spec.dtype is None or op.spec.dtype.kind not in "iu":
        return None
    return None if {k for k, _ in op.kwargs} - {"axis", "keepdims"} else _operand(op, known)


_VIEWS = {identity, halt, np.transpose}

RULES: dict[Any, Rule] = {
    np.multiply: _multiply, operator.mul: _multiply,
    np.divide: _divide, operator.truediv: _divide,
    np.subtract: _subtract, operator.sub: _subtract,
    np.add: _add, operator.add: _add,
    np.power: _power, operator.pow: _power,
    np.positive: _plain_operand, operator.pos: _plain_operand,
    np.negative: _twice, operator.neg: _twice,
    np.conjugate: _real_operand, np.real: _real_operand,
    np.transpose: _transpose,
    # These move or copy elements, so an equal type and layout says that nothing was moved.
    np.reshape: _operand, np.broadcast_to: _operand, np.copy: _operand, np.ravel: _operand,
    np.ascontiguousarray: _operand, np.squeeze: _operand,
    identity: _operand, halt: _operand, cast: _operand, getitem: _index,
    np.sum: _sum, np.where: _where,
}  # fmt: skip
