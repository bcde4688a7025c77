"""At which ops of an open call a breakpoint stops: asked op by op, each once, in either direction.

Whether an op is hit does not depend on the way that leads there, so that what stops the run onward
stops the run back.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Call, Frame, Op, Var, base_name
from yotaview.capture.functions import is_users
from yotaview.model.breaks import Break, When, Where, parse_break
from yotaview.model.expressions import ExpressionError, truth
from yotaview.model.summary import numeric
from yotaview.model.values import op_lookup

if TYPE_CHECKING:
    from yotaview.model.opened import Opened
    from yotaview.model.session import Session


class Hits:
    """The places that a breakpoint may stop at, and what is known of each so far."""

    def __init__(self, opened: Opened, test: Break) -> None:
        self.opened, self.when = opened, test.when
        self.order = tuple(opened.tape.ops)
        self.places: Sequence[int] = find_places(opened, test.where, each=bool(test.when.test))
        self.answers: dict[int, bool] = {}
        self.found: list[int] = list(self.places) if not test.when.test else []
        self.problem = ""
        self.asked_to = 0
        self._lock = threading.Lock()

    @property
    def complete(self) -> bool:
        """Tell whether every place was asked."""
        return not self.when.test or len(self.answers) == len(self.places)

    @property
    def asked(self) -> int:
        """How many places were asked."""
        return len(self.answers) if self.when.test else len(self.places)

    def holds(self, index: int) -> bool:
        """Tell whether the op at a place of `places` is hit."""
        if not self.when.test:
            return True
        found = self.answers.get(index)
        if found is None:
            found = self._ask(index)
            with self._lock:
                if found and index not in self.answers:
                    insort(self.found, index)
                self.answers[index] = found
        return found

    def _ask(self, index: int) -> bool:
        var = self.order[index]
        try:
            return meets(self.opened, var, self.when)
        except ExpressionError as error:
            self.problem = self.problem or f"at {var} {error}"
            return False

    def from_here(self, index: int, *, forward: bool) -> Iterator[int]:
        """Yield the places beyond a position, the nearest first."""
        if forward:
            yield from self.places[bisect_right(self.places, index) :]
        else:
            yield from reversed(self.places[: bisect_left(self.places, index)])

    def look(self, seconds: float) -> bool:
        """Ask the places in their order for a while; tell whether all were asked."""
        end = time.monotonic() + seconds
        for at in range(self.asked_to, 0 if self.complete else len(self.places)):
            self.holds(self.places[at])
            self.asked_to = at + 1  # set, not counted: two threads must not pass over a place
            if time.monotonic() > end:
                break
        return self.complete

    def upto(self, index: int) -> int:
        """Count the hits known at or before a position."""
        return bisect_right(self.found, index)


def hits_of(opened: Opened, test: Break) -> Hits:
    """Return what is known of a breakpoint in an open call, kept as long as that is open."""
    found: Hits | None = opened.memo.get(("hits", test.text))
    if found is None:
        found = opened.memo[("hits", test.text)] = Hits(opened, test)
    return found


def find_hits(opened: Opened, test: Break) -> set[Var]:
    """Return every op of an open call at which a breakpoint stops."""
    hits = hits_of(opened, test)
    while not hits.look(1.0):
        continue
    return {hits.order[k] for k in hits.found}


def find_breaks(text: str, session: Session) -> set[Var]:
    """Return the ops of the open tape at which what is written stops; raises BreakError."""
    return find_hits(session.opened, parse_break(text))


def meets(opened: Opened, var: Var, when: When) -> bool:
    """Tell whether an op's value meets a condition; raises ExpressionError if it cannot be told."""
    if when.test == "shape":
        return _shape_meets(opened, var, when.shape)
    if var not in opened.values:
        return False
    value = opened.values[var]
    if when.test in ("nan", "inf"):
        return _holds(value, np.isnan if when.test == "nan" else np.isinf)
    assert when.expression is not None
    return truth(when.expression.compute(op_lookup(opened, var)))


def _holds(value: Any, test: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_holds(v, test) for v in value)
    x = numeric(value)
    return x is not None and x.dtype.kind in "fc" and bool(test(x).any())


def _shape_meets(opened: Opened, var: Var, shape: tuple[int, ...] | None) -> bool:
    op = opened.tape[var]
    if shape is not None:
        return op.spec.kind != "tuple" and op.spec.shape == shape
    operands = op.operands if isinstance(op, Call) else []
    return bool(operands) and all(opened.tape[v].spec.shape != op.spec.shape for v in operands)


def find_places(opened: Opened, where: Where, *, each: bool = False) -> Sequence[int]:
    """Return the positions on the tape that a breakpoint means, whatever its condition.

    A line or a function of the user's is met once for each time that it runs, in either pass; at
    `each` of its ops where there is a condition, which any of them may meet.
    """
    tape = opened.tape
    match where.kind:
        case "every":
            return range(len(tape))
        case "number":
            index = opened.positions.get(Var(where.number))
            return [] if index is None else [index]
        case "op":
            return [
                k
                for k, (_, op) in enumerate(tape)
                if isinstance(op, Call) and op.name == where.name
            ]
    if each:
        return [
            k
            for k, (_, op) in enumerate(tape)
            if isinstance(op, Call) and _depth(op, where) is not None
        ]
    return _entries(opened, where)


def _entries(opened: Opened, where: Where) -> list[int]:
    """Return where each run of ops begins that a line or function of the user's caused."""
    found: list[int] = []
    run: tuple[Any, ...] | None = None
    first: tuple[Frame, ...] = ()
    last: tuple[Frame, ...] = ()
    for index, (var, op) in enumerate(opened.tape):
        if not isinstance(op, Call):
            continue
        depth, frames = _depth(op, where), op.origin.frames
        if depth is None:
            run = None
            continue
        own_line = where.kind == "line" and depth == 0
        caller = opened.groups.of.get(var) if own_line else frames[depth + 1 :]
        now = (opened.tape.is_reverse(var), caller)
        again = not own_line and frames == first != last  # where the run began: another one
        if now != run or again:
            found.append(index)
            first = frames
        run, last = now, frames
    return found


def _depth(op: Op, where: Where) -> int | None:
    """Return at which depth of an op's frames the line or function stands."""
    for depth, frame in enumerate(op.origin.frames):
        if _is_at(frame, where):
            return depth
    if where.kind == "fn" and isinstance(op, Call) and op.name == where.name and is_users(op):
        return 0  # a primitive of theirs
    return None


def _is_at(frame: Frame, where: Where) -> bool:
    if where.kind == "fn":
        return where.name in (frame.qualname, frame.qualname.rpartition(".")[2])
    named = not where.name or where.name in (frame.file, base_name(frame.file))
    return named and frame.line <= where.number <= max(frame.line, frame.end_line)
