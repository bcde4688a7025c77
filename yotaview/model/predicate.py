"""What a call may be asked: is something in it not finite, too large, or as a condition says.

What is counted for every call, kept or not, answers at once; anything else is a breakpoint, and a
call meets it where the breakpoint stops.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from yota.tape import Input, Var
from yotaview.capture import Row
from yotaview.model.breaks import FORMS, BreakError, UnreadBreak, parse_break
from yotaview.model.expressions import ExpressionError
from yotaview.model.hits import find_breaks
from yotaview.model.session import Session
from yotaview.model.summary import format_number, norm_of, numeric
from yotaview.model.values import check_names

COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf"
COUNTED = re.compile(rf"(value|norm(?:\s+(\S.*?))?)\s*(>=|<=|>|<)\s*({NUMBER})")
HELP = "nan, norm>1e3, norm W1>10, value<0, or a breakpoint"
OWN = ("nan", "norm>1e3")


class PredicateError(ValueError):
    """A condition that cannot be read, or that means nothing here; the text says what can be."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on a call: `kind` is nan, value, norm or break; `key` one gradient's input."""

    text: str
    kind: str
    key: str = ""
    sign: str = ""
    bound: float = 0.0

    @property
    def counted(self) -> bool:
        """Tell whether it is answered for every call, kept or not."""
        return self.kind != "break"

    def holds(self, number: float) -> bool:
        """Tell whether a number meets the condition; NaN meets none but `nan`."""
        return COMPARE[self.sign](number, self.bound)


def parse_predicate(text: str) -> Predicate:
    """Read a condition; raises PredicateError where it is none."""
    text = " ".join(text.split())
    if text == "nan":
        return Predicate(text, "nan")
    if match := COUNTED.fullmatch(text):
        kind = "value" if match[1] == "value" else "norm"
        return Predicate(text, kind, match[2] or "", match[3], float(match[4]))
    if not text:
        raise PredicateError(f"no condition: write {HELP}")
    return Predicate(text, "break")


def history_of(row: Row, test: Predicate) -> Sequence[float]:
    """Return the numbers of all calls that a condition is about; raises PredicateError for none."""
    if test.kind == "norm" and test.key:
        if test.key not in row.by_key:
            names = ", ".join(row.by_key) or "none"
            raise PredicateError(f"no gradient of {test.key!r} in {row.name}; there are: {names}")
        return row.by_key[test.key]
    found = row.values if test.kind == "value" else row.norms
    if not found:
        what = "no call gave a number" if test.kind == "value" else "its calls have no gradient"
        raise PredicateError(f"{test.text} cannot be asked of {row.name}: {what}")
    return found


def bad_calls(row: Row, test: Predicate) -> list[int]:
    """Return the numbers of all calls that meet a condition that is counted for every call."""
    if test.kind == "nan":
        return list(row.nonfinite)
    return [k for k, x in enumerate(history_of(row, test), 1) if test.holds(x)]


def stop_in(session: Session, test: Predicate) -> Var | None:
    """Return the op of the open call that meets a condition first, None if there is none.

    Raises PredicateError for a condition that cannot be read.
    """
    if test.kind == "nan":
        found = next(iter(session.alarms), None)
        return found.var if found is not None else None
    if test.kind == "value":
        return next(iter(session.tape.result_vars), None)
    if test.kind == "norm":
        return _largest_gradient(session, test.key)
    try:
        check_names(parse_break(test.text).names, session.tape)
        stops = find_breaks(test.text, session)
    except UnreadBreak as error:
        forms = ", ".join(f for f in FORMS.split(", ") if f not in OWN)
        raise PredicateError(f"cannot read {test.text!r}: write {HELP}: {forms}") from error
    except (BreakError, ExpressionError) as error:
        raise PredicateError(f"{error}; or {HELP}") from error
    return min(stops, key=session.stepper.positions.__getitem__) if stops else None


def _largest_gradient(session: Session, key: str) -> Var | None:
    """Return the op that completes the largest gradient, or that of one input."""
    sizes: dict[Var, float] = {}
    for var in session.tape.inputs:
        op, done = session.tape[var], session.tape.cotangents.get(var)
        x = numeric(session.opened.values.get(done)) if done is not None else None
        if x is not None and done is not None and isinstance(op, Input) and key in ("", op.name):
            size = norm_of(x)
            sizes[done] = math.inf if math.isnan(size) else size
    return max(sizes, key=sizes.__getitem__) if sizes else None


def told_at(session: Session, var: Var, test: Predicate) -> str:
    """Say what of an op meets a condition."""
    if test.kind == "nan":
        return next(a.text for a in session.alarms if a.var == var)
    if test.kind == "break":
        return f"meets {test.text}"
    x = numeric(session.opened.values.get(var))
    number = None if x is None else norm_of(x) if test.kind == "norm" else x.reshape(-1)[0]
    if test.kind == "value":
        return f"the value is {format_number(number)}"
    names = [
        op.name
        for v in session.tape.inputs
        if session.tape.cotangents.get(v) == var and isinstance(op := session.tape[v], Input)
    ]
    return f"the gradient of {', '.join(names)} has norm {format_number(number)}"
