"""Which inputs a gradient can reach, and where the way from one that it cannot reach is cut."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from yota.rules.functional import cast, halt
from yota.rules.registry import NONDIFF, VJP, zero
from yota.tape import Call, Guard, Tape, Var, format_call, vars_in
from yotaview.capture.functions import is_users

Kind = Literal["stopped", "comparison", "integer", "zero", "read", "unread", "unused"]
ORDER: tuple[Kind, ...] = ("stopped", "comparison", "integer", "zero", "read", "unread", "unused")
Lost = dict[Var, tuple["Cut", ...]]
NO_PATH = "no path to the output"
SHAPE_ONLY = (np.zeros_like, np.ones_like, np.empty_like)
READ = {
    "bool": "an `if` or `bool()`",
    "int": "`int()` or an index",
    "shape": "its shape",
    "type": "its type",
}


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a way from an input ends: at which op, why, and on which line of the user's.

    `leads` tells whether the op's value does reach the result, only without a derivative.
    """

    var: Var
    kind: Kind
    why: str
    place: str
    function: str
    leads: bool = False

    @property
    def text(self) -> str:
        """The cut as `%13 cast(%3, int64): a cast to int64 has no derivative, demo.py:4`."""
        return f"{self.why}, {self.place}" if self.place else self.why


class Paths:
    """Which ops of a tape carry a derivative to its result: one walk for all inputs."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.needed = _needed(tape)
        reached = tape.cotangents.items()
        self.reached = {v for v, c in reached if c not in tape or tape[c].origin.note != NO_PATH}
        self.carrying = self._walk(smooth=True)

    def lost(self) -> Lost:
        """Return every floating input without a path, with its cuts; the seed is no input."""
        tape = self.tape
        dtypes = ((v, tape[v].spec.dtype) for v in tape.inputs if v != tape.seed)
        found = {v: self.cuts(v) for v, d in dtypes if d is not None and d.kind in "fc"}
        return {v: cuts for v, cuts in found.items() if cuts}

    def cuts(self, var: Var) -> tuple[Cut, ...]:
        """Return where each way from `var` ends, what matters most first; none if a path leads on.

        A path is one along which derivatives are carried to the tape's result.
        """
        if var in self.carrying:
            return ()
        found: dict[tuple[Var, Kind], Cut] = {}
        seen, stack = {var}, [var]
        while stack:
            for cut, onward in self._onward(stack.pop()):
                if cut is not None:
                    found.setdefault((cut.var, cut.kind), cut)
                elif onward not in seen:
                    seen.add(onward)
                    stack.append(onward)
        order = sorted(found.values(), key=lambda c: (not c.leads, ORDER.index(c.kind), c.var))
        return tuple(order)

    def _onward(self, at: Var) -> Iterator[tuple[Cut | None, Var]]:
        """Yield what follows an op without a path: a cut, or the next op that carries on."""
        guards, readers = self.guards.get(at, []), self.users.get(at, [])
        for guard in guards:
            yield _read(self.tape, guard), at
        for user in readers:
            found = self._between(user, at)
            if found is None:
                yield None, user
            else:
                yield self._cut(user, *found), user
        if not readers and not guards:
            yield self._end(at), at

    def _between(self, user: Var, operand: Var) -> tuple[Kind, str] | None:
        """Return why no derivative goes from an op to what it reads, None if one does.

        Where the reverse pass passed by, what it left without a cotangent got nothing.
        """
        op, reached = self.tape[user], self.reached
        if found := cut_of(self.tape, user, operand):
            return found
        passed_by = user in reached and operand in self.needed and operand not in reached
        if passed_by and self.tape[operand].spec.kind != "tuple" and isinstance(op, Call):
            return "zero", f"the derivative of {op.name} is zero here"
        return None

    def _cut(self, var: Var, kind: Kind, why: str) -> Cut:
        op = self.tape[var]
        call = format_call(op) if isinstance(op, Call) else ""
        return _at(self.tape, var, kind, f"{var} {call}: {why}", var in self.leading)

    def _end(self, var: Var) -> Cut:
        op = self.tape[var]
        if not isinstance(op, Call):
            return _at(self.tape, var, "unused", "no op reads it")
        return _at(self.tape, var, "unread", f"{var} {format_call(op)}: nothing reads its value")

    @functools.cached_property
    def leading(self) -> set[Var]:
        """The ops whose values reach the result, or decide a way through the function."""
        return self._walk(smooth=False)

    @functools.cached_property
    def users(self) -> dict[Var, list[Var]]:
        """The forward readers of every op."""
        tape = self.tape
        found = tape.users()
        return {v: [u for u in us if not tape.is_reverse(u)] for v, us in found.items()}

    @functools.cached_property
    def guards(self) -> dict[Var, list[Guard]]:
        """Where Python read the value of an op."""
        found = defaultdict(list)
        for guard in self.tape.guards:
            found[guard.var].append(guard)
        return found

    def _walk(self, *, smooth: bool) -> set[Var]:
        seen = {v for v in self.tape.result_vars if v in self.tape}
        if not smooth:
            seen |= {g.var for g in self.tape.guards if g.var in self.tape}
        stack = list(seen)
        while stack:
            var = stack.pop()
            op = self.tape[var]
            for operand in dict.fromkeys(op.operands) if isinstance(op, Call) else ():
                if operand not in seen and not (smooth and self._between(var, operand)):
                    seen.add(operand)
                    stack.append(operand)
        return seen


def _needed(tape: Tape) -> set[Var]:
    """Return what depends on an input whose gradient was asked for."""
    seen = {v for v in tape.inputs if v in tape.cotangents}
    for var, op in tape:
        if tape.is_reverse(var):
            break
        if isinstance(op, Call) and any(v in seen for v in op.operands):
            seen.add(var)
    return seen


def cut_of(tape: Tape, user: Var, operand: Var) -> tuple[Kind, str] | None:
    """Return why an op hands no derivative on to what it reads, None if its rules say it does."""
    op = tape[user]
    if not isinstance(op, Call):
        return None
    if op.fn in NONDIFF:
        return _without_derivative(op)
    dtype = op.spec.dtype
    if op.spec.kind != "tuple" and (dtype is None or dtype.kind not in "fc"):
        return _of_type(op)
    return None if _hands_all_on(op.fn) else _zero_rule(op, operand)


@functools.lru_cache(maxsize=512)
def _hands_all_on(fn: Any) -> bool:
    """Tell whether no rule of a function says that a derivative is zero."""
    vjp = VJP.get(fn)
    return vjp is None or (vjp.rest is None and zero not in (*vjp.rules, *vjp.keywords.values()))


def _zero_rule(op: Call, operand: Var) -> tuple[Kind, str] | None:
    vjp = VJP[op.fn]
    places = [k for k, a in enumerate(op.args) if any(v == operand for v in vars_in(a))]
    names = [k for k, a in op.kwargs if any(v == operand for v in vars_in(a))]
    where: tuple[int | str, ...] = (*places, *names)
    if any(vjp.rule(k) is not zero for k in where):
        return None
    which = "" if len(op.operands) == 1 else f" with respect to {operand}"
    return "zero", f"the derivative of {op.name}{which} is zero"


def _without_derivative(op: Call) -> tuple[Kind, str]:
    if op.fn is halt:
        return "stopped", "yota.stop_gradient makes it a constant"
    if op.fn in SHAPE_ONLY:
        return "zero", f"{op.name} looks at the shape alone"
    if is_users(op):
        return "stopped", f"{op.name} was registered without a derivative"
    dtype = op.spec.dtype
    if dtype is not None and dtype.kind in "fc":
        return "zero", f"{op.name} is constant between its steps, its derivative is zero"
    return _of_type(op)


def _of_type(op: Call) -> tuple[Kind, str]:
    dtype = op.spec.dtype
    if dtype is not None and dtype.kind == "b":
        return "comparison", "true or false has no derivative"
    if op.fn is cast:
        return "integer", f"a cast to {dtype} has no derivative"
    what = "whole numbers have" if dtype is not None and dtype.kind in "iu" else "its result has"
    return "integer", f"{what} no derivative"


def _read(tape: Tape, guard: Guard) -> Cut:
    by = READ.get(guard.how, "Python")
    why = f"{guard.var} is read by {by}, which takes it as {guard.expected!r}"
    frames = guard.origin.frames
    function = frames[0].qualname if frames else tape.entry.name
    return Cut(guard.var, "read", why, guard.origin.place, function, leads=True)


def _at(tape: Tape, var: Var, kind: Kind, why: str, leads: bool = False) -> Cut:
    origin = tape[var].origin
    function = origin.frames[0].qualname if origin.frames else tape.entry.name
    return Cut(var, kind, why, origin.place, function, leads)
