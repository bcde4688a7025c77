"""One op at which NaN or infinity begins, and what stands around it on the tape."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.rules.functional import getitem
from yota.tape import Call, Constant, Input, Op, Tape, Var
from yotaview.model.summary import numeric

Element = tuple[int, ...]
MULTIPLY = {np.multiply, operator.mul}
DIVIDE = {np.divide, operator.truediv}
SUBTRACT = {np.subtract, operator.sub}
ADD = {np.add, operator.add}
POWER = {np.power, operator.pow, np.float_power}
SUMS = {np.sum, np.mean}
LOGS = {np.log, np.log2, np.log10}
PASSES_ON = {
    getitem, np.reshape, np.expand_dims, np.broadcast_to, np.squeeze, np.transpose, np.ravel,
}  # fmt: skip
NEAR = 6


def element_of(value: Any, index: Element) -> Any:
    """Return the element of an operand that broadcasting puts at `index`, None if there is none."""
    x = numeric(value)
    if x is None or x.ndim > len(index):
        return None
    own = index[len(index) - x.ndim :]
    clipped = tuple(0 if n == 1 else k for k, n in zip(own, x.shape, strict=True))
    if any(k >= n for k, n in zip(clipped, x.shape, strict=True)):
        return None
    return x[clipped][()]


@dataclass(frozen=True)
class Case:
    """An op, the element looked at, and the tape with its values.

    `primal` is the op whose derivative this one belongs to; of a derivative of one the first.
    """

    tape: Tape
    values: Mapping[Var, Any]
    users: Mapping[Var, Sequence[Var]]
    var: Var
    element: Element
    primal: Var | None = None

    @property
    def op(self) -> Op:
        """What stands under the number."""
        return self.tape[self.var]

    @property
    def call(self) -> Call | None:
        """The op, if it is a call."""
        return self.op if isinstance(self.op, Call) else None

    @property
    def value(self) -> Any:
        """The element that is not finite."""
        return element_of(self.values[self.var], self.element)

    @property
    def operands(self) -> list[Any]:
        """The elements of the op's arguments, None for what has none there."""
        return [] if self.call is None else [self.at(a) for a in self.call.args]

    def at(self, arg: Any) -> Any:
        """Return the element of an argument that belongs to the case's."""
        return element_of(self.of(arg), self.element)

    def of(self, arg: Any) -> Any:
        """Return the value of an argument."""
        return self.values.get(arg) if isinstance(arg, Var) else arg

    @property
    def forward(self) -> Call | None:
        """The op of the user's that is at fault: this one, or the one it is a derivative of."""
        op = self.tape[self.primal] if self.primal is not None else self.op
        return op if isinstance(op, Call) else None

    @property
    def forward_var(self) -> Var:
        """The number of that op."""
        return self.var if self.primal is None else self.primal

    @property
    def forward_operands(self) -> list[Any]:
        """The elements of that op's arguments."""
        return [] if self.forward is None else [self.at(a) for a in self.forward.args]

    def made_by(self, arg: Any) -> Call | None:
        """Return the call that an argument comes from, looking through what only moves elements."""
        for _ in range(NEAR):
            op = self.tape[arg] if isinstance(arg, Var) and arg in self.tape else None
            if not isinstance(op, Call):
                return None
            if op.fn not in PASSES_ON:
                return op
            arg = op.args[0]
        return None

    def followed_by(self, var: Var, steps: int = NEAR) -> Iterator[Call]:
        """Yield the calls that read a value, and those that read these, nearest first."""
        row, seen = [var], {var}
        for _ in range(steps):
            nearest: list[Var] = []
            for v in row:
                for user in self.users.get(v, ()):
                    op = self.tape[user]
                    if user not in seen and isinstance(op, Call) and op.origin.wrt is None:
                        seen.add(user)
                        nearest.append(user)
                        yield op
            row = nearest


def is_square(case: Case, arg: Any) -> bool:
    """Tell whether an argument is a square, or a sum of squares and small constants."""
    op = case.made_by(arg)
    if op is None:
        return False
    if op.fn in SUMS or op.fn in ADD:
        return any(is_square(case, a) for a in op.args[: 2 if op.fn in ADD else 1])
    if op.fn in MULTIPLY or op.fn in (np.matmul, np.dot, np.vdot, np.inner, operator.matmul):
        return bool(op.args[0] == op.args[1])
    if op.fn in POWER:
        return bool(op.args[1] == 2) if not isinstance(op.args[1], Var) else False
    return op.fn is np.square


def is_variance(case: Case, arg: Any) -> bool:
    """Tell whether an argument is a variance, by name or written out."""
    op = case.made_by(arg)
    if op is None:
        return False
    if op.fn is np.var:
        return True
    if op.fn in ADD:
        return any(is_variance(case, a) for a in op.args)
    if op.fn not in SUMS or not is_square(case, arg):
        return False
    square = case.made_by(op.args[0])
    centred = case.made_by(square.args[0]) if square is not None else None
    if centred is None or centred.fn not in SUBTRACT:
        return False
    centre = case.made_by(centred.args[1])
    return centre is not None and centre.fn in (*SUMS, np.median)


def is_norm(case: Case, arg: Any) -> bool:
    """Tell whether an argument is a Euclidean norm, by name or written out."""
    op = case.made_by(arg)
    if op is None:
        return False
    if op.fn in (np.linalg.norm, np.hypot):
        return True
    return op.fn is np.sqrt and is_square(case, op.args[0]) and not is_variance(case, op.args[0])


def is_std(case: Case, arg: Any) -> bool:
    """Tell whether an argument is a standard deviation, by name or written out."""
    op = case.made_by(arg)
    if op is None:
        return False
    return op.fn is np.std or (op.fn is np.sqrt and is_variance(case, op.args[0]))


def is_flag(case: Case, arg: Any) -> bool:
    """Tell whether an argument holds nothing but 0 and 1, and both, as a mask does."""
    x = numeric(case.of(arg))
    if x is None or not x.size:
        return False
    zeros, ones = np.count_nonzero(x == 0), np.count_nonzero(x == 1)
    return x.dtype.kind == "b" or bool(zeros and ones and zeros + ones == x.size)


def named(op: Op, var: Var) -> str:
    """Return a number with the name of its function, input or constant."""
    match op:
        case Call():
            return f"{var} {op.name}"
        case Input():
            return f"input {op.name}"
        case Constant():
            return f"constant {op.name or var}"
    return str(var)
