"""Breakpoints as one writes them: which ops of a tape they mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yota.tape import Call, Var
from yotaview.model.nonfinite import nonfinite_vars

if TYPE_CHECKING:
    from yotaview.model.session import Session

FORMS = "%46, op:log, line:9, nan"


class BreakError(ValueError):
    """A breakpoint that cannot be read; the text says what can."""


def find_breaks(spec: str, session: Session) -> set[Var]:
    """Return the ops of the open tape that a breakpoint means; raises BreakError."""
    tape = session.tape
    if match := re.fullmatch(r"%?(\d+)", spec):
        return {Var(int(match[1]))} & set(tape.ops)
    if match := re.fullmatch(r"line:(\d+)", spec):
        line = int(match[1])
        return {v for v, op in tape if any(f.line == line for f in op.origin.frames[:1])}
    if match := re.fullmatch(r"op:(\w+)", spec):
        return {v for v, op in tape if isinstance(op, Call) and op.name == match[1]}
    if spec in ("nan", "inf"):
        return nonfinite_vars(session.opened.values)
    raise BreakError(f"cannot read breakpoint {spec!r}: write {FORMS}")
