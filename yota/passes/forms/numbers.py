"""The form that computes with Python's floats instead of NumPy's numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from yota import floats
from yota.passes.cse import operand_key
from yota.passes.purity import is_foldable
from yota.passes.work import Work
from yota.tape import Call, Constant, Input, Op, Spec, Structured, Var

_FLOAT = Spec("python", np.dtype(np.float64))
_NUMBER = Spec("scalar", np.dtype(np.float64))
_BIGGEST = 2**53


def compute_with_floats(work: Work) -> None:
    """Let Python's arithmetic stand for NumPy's wherever a call has float64 numbers alone."""
    if work.tape.entry.as_float or not any(op.spec == _NUMBER for _, op in _candidates(work)):
        return
    if not all(_may_run_twice(op) for op in work.ops.values()):
        return
    form = _Floats(work)
    for var in list(work.order()):
        form.visit(var)
    form.finish()


def _candidates(work: Work) -> list[tuple[Var, Call]]:
    return work.calls(*floats.PYTHON, np.square)


def _may_run_twice(op: Op) -> bool:
    """Tell whether nothing else happens where a call is made."""
    if not isinstance(op, Call):
        return True
    module = getattr(op.fn, "__module__", None) or ""
    return is_foldable(op.fn) or module.partition(".")[0] in ("numpy", "scipy", "yota", "math")


class _Floats:
    def __init__(self, work: Work) -> None:
        self.work = work
        self.changed: dict[Var, None] = {}
        self.known: dict[Any, Var] = {}
        self.same: dict[Var, Var] = {}

    def visit(self, var: Var) -> None:
        op = self.work.ops[var]
        if not isinstance(op, Call) or not self.work.is_free(var):
            return
        if op.fn is operator.pow and op.spec == _FLOAT:
            self.power(var, op)
            return
        if op.spec != _NUMBER or op.kwargs or not all(map(self.is_float, op.args)):
            return
        fn = floats.PYTHON.get(op.fn) if isinstance(op.fn, np.ufunc) else None
        if op.fn is np.square:
            self.change(var, floats.multiply, *op.args * 2)
        elif fn is not None and not (op.fn is np.power and self.power(var, op)):
            self.change(var, fn, *op.args)

    def is_float(self, x: Any) -> bool:
        """Tell whether an operand is, or will be, a Python float."""
        if type(x) is not Var:
            return type(x) in (float, np.float64) or (type(x) is int and abs(x) <= _BIGGEST)
        op = self.work.ops[x]
        return x in self.changed or op.spec == _FLOAT or _is_number(op)

    def power(self, var: Var, op: Call) -> bool:
        """Write a small whole power as products."""
        x, n = op.args
        if op.kwargs or type(x) is not Var or not self.is_float(x) or n not in (2, 3, 4):
            return False
        square = self.number(var, floats.multiply, x, x) if n > 2 else x
        self.change(var, floats.multiply, square, square if n == 4 else x)
        return True

    def number(self, at: Var, fn: Any, *args: Any) -> Var:
        args = tuple(map(self.literal, args))
        key = (fn, operand_key(args))
        if key not in self.known:
            self.known[key] = var = self.work.call(at, _FLOAT, fn, *args)
            self.changed[var] = None
        return self.known[key]

    def change(self, var: Var, fn: Any, *args: Any) -> None:
        """Let a function of Python's give a value, of Python's kind."""
        op = self.work.ops[var]
        args = tuple(map(self.literal, args))
        twin = self.twin(fn, args)
        self.changed[var] = None
        if twin is not None and var not in self.work.kept:
            self.same[var] = twin
            self.work.merge(var, twin, f"floats: the same number as {twin}")
            return
        call = Call(spec=_FLOAT, origin=op.origin, fn=fn, args=args)
        self.work.change(var, call, "floats: Python's arithmetic on a number")
        self.known[fn, operand_key(args)] = var

    def twin(self, fn: Any, args: tuple[Any, ...]) -> Var | None:
        """Return what has the value of a call already: an earlier one, or `x` for `1.0 * x`."""
        if fn is floats.multiply and args[0] == 1.0 and type(args[1]) is Var:
            return args[1]
        if fn is floats.multiply and args[1] == 1.0 and type(args[0]) is Var:
            return args[0]
        return self.known.get((fn, operand_key(args)))

    def literal(self, x: Any) -> Any:
        """Return a number of NumPy's, or an int, as a float."""
        if type(x) is Var:
            x = self.same.get(x, x)
            op = self.work.ops[x]
            return op.value.item() if _is_number(op) and isinstance(op, Constant) else x
        return float(x)

    def finish(self) -> None:
        """Turn floats into numbers of NumPy's again where something else reads them."""
        place = self.work.positions()
        for var in self.changed:
            if var in self.work.tape.ops and self.work.tape[var].spec == _NUMBER:
                self.hand_over(var, place)
        for var in [v for v, op in self.work.ops.items() if _is_number(op)]:
            self.take_over(var, place)

    def hand_over(self, var: Var, place: dict[Var, int]) -> None:
        users = [u for u in self.work.users[var] if u not in self.changed]
        if users:
            source = self.same.get(var, var)
            first = min(users, key=place.__getitem__)
            number = self.work.call(first, _NUMBER, floats.float64, source)
            for user in users:
                self.work.reread(user, var, number)
        if var in self.work.kept and self.is_result(var):
            self.work.hand_out(var, self.work.append(_NUMBER, floats.float64, var))

    def is_result(self, var: Var) -> bool:
        """Tell whether the caller gets a number of NumPy's for a var."""
        trees = (self.work.tape.result, *(self.work.tape.gradients or ()))
        return any(
            v == var and kind in ("", "scalar")
            for t in trees
            if isinstance(t, Structured)
            for v, kind in zip(t.leaves, t.kinds, strict=True)
        )

    def take_over(self, var: Var, place: dict[Var, int]) -> None:
        """Turn an argument of NumPy's kind into a float once."""
        users = [u for u in self.work.users[var] if u in self.changed]
        if users and isinstance(self.work.ops[var], Input):
            number = self.work.call(min(users, key=place.__getitem__), _FLOAT, floats.plain, var)
            for user in users:
                self.work.reread(user, var, number)


def _is_number(op: Op) -> bool:
    return op.spec == _NUMBER and isinstance(op, Input | Constant)
