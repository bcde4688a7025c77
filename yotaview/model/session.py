"""What is open: one call of one row, and a position on its tape."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from yota.program import Program
from yota.tape import Call, Frame, Op, Tape, Var
from yotaview.capture import Capture, KeptCall, Row
from yotaview.model.branches import Branches
from yotaview.model.digits import whole
from yotaview.model.findings import Finding
from yotaview.model.folding import Folding
from yotaview.model.goto import GotoError, find_position
from yotaview.model.mapping import map_var
from yotaview.model.moves import Trail
from yotaview.model.occupants import Occupants
from yotaview.model.opened import Contribution, Opened
from yotaview.model.parts import parts_of
from yotaview.model.profile import Profile
from yotaview.model.savings import Savings, find_savings
from yotaview.model.stepper import Stepper
from yotaview.model.stops import Stops, known_hits
from yotaview.model.textbook import rule_text
from yotaview.model.whatif import Forks

if TYPE_CHECKING:
    from yotaview.model.kept import Lost

Phase = Literal["inputs", "forward", "seed", "reverse"]


@dataclass(frozen=True, slots=True)
class Place:
    """A position of a kept call, by its indices."""

    row: int
    call: int
    index: int
    todo: int = 0


class NotKnown(Exception):
    """A value is not computed at the position, or cannot be had; the text says why."""


class Session:
    """The open call and the position; values are computed when a call is opened."""

    def __init__(self, capture: Capture, row: int | None = None, call: int | None = None) -> None:
        self.capture = capture
        self.row_index = self.call_index = 0
        self._past: list[Place] = []
        self._future: list[Place] = []
        self._turns: dict[tuple[Var, bool], int] = {}
        self.stops, self.trail = Stops(), Trail()
        self.marks: dict[str, Place] = {}
        self.branches, self.folding = Branches(), Folding()
        self.lost: list[Lost] = []
        self._open(capture.opening_row() if row is None else row, call)

    def open(self, row: int, call: int | None = None) -> None:
        """Open kept call number `call` (an index) of a row, the alerting or last one by default.

        Raises GotoError for a row without ops.
        """
        here = self.place
        self._open(row, call)
        self._remember(here)

    def _open(self, row: int, call: int | None) -> None:
        if not self.capture.rows:
            raise GotoError("nothing was captured")
        row = max(0, min(row, len(self.capture.rows) - 1))
        chosen = self.capture.rows[row]
        if not len(chosen.tape):
            raise GotoError(f"{chosen.name} recorded no op before it raised")
        index = chosen.opening_call() if call is None else call
        self.row_index, self.call_index = row, max(0, min(index, len(chosen.calls) - 1))
        kept = chosen.calls[self.call_index] if chosen.calls else None
        self.opened = Opened(chosen, kept, self.capture.sources)
        raised = chosen.failure is not None
        stepper = Stepper.over(self.opened.tape, raised=raised)
        self.stepper = stepper.last() if raised else stepper

    @property
    def place(self) -> Place:
        """The open call and the position."""
        return Place(self.row_index, self.call_index, self.stepper.index, self.stepper.todo)

    def _remember(self, before: Place) -> None:
        if before != self.place:
            self._past.append(before)
            self._future.clear()

    @property
    def row(self) -> Row:
        """The open row."""
        return self.capture.rows[self.row_index]

    @property
    def call(self) -> KeptCall | None:
        """The open call; None where the row has none, as one that raised."""
        return self.opened.call

    @property
    def program(self) -> Program:
        """The stages of the open call."""
        return self.opened.program

    @property
    def tape(self) -> Tape:
        """The whole tape as recorded, with the values of the open call."""
        return self.opened.tape

    @property
    def at(self) -> Var:
        """The op at the position."""
        return self.stepper.at

    @property
    def op(self) -> Op:
        """What stands at the position."""
        return self.tape[self.at]

    @property
    def failed_here(self) -> bool:
        """Tell whether the position is the op that raised, behind all recorded ones."""
        return self.stepper.beyond

    @property
    def culprit(self) -> Var | None:
        """The op whose derivative raised; None where it was not a derivative."""
        failure = self.row.failure
        of = failure.origin.of if failure is not None else None
        return of if of is not None and of in self.tape else None

    @property
    def forks(self) -> Forks:
        """The what-ifs of the open call."""
        return self.branches.of((self.row_index, self.call_index), self.opened)

    @property
    def breakpoints(self) -> frozenset[Var]:
        """The ops at which breakpoints stop in the open call, as far as that is known."""
        return known_hits(self)

    def still(self) -> Session:
        """Return the session as it stands, which does not follow when this one moves on."""
        return copy.copy(self)

    def step(self, n: int) -> None:
        """Move `n` ops onward, back where negative; not recorded as a jump."""
        self.stepper = self.stepper.next(n)

    def move(self, stepper: Stepper) -> None:
        """Take a position of the open tape as a jump."""
        here = self.place
        self.stepper = stepper
        self._remember(here)

    def goto(self, var: Var) -> None:
        """Jump to an op of the tape, or to the one that took its place."""
        target = self.tape.survivor(var) if var not in self.tape else var
        if target is None:
            raise GotoError(f"no op {var} on this tape")
        self.move(self.stepper.goto(target))

    def back_in_history(self) -> bool:
        """Return to where the last jump began; tell whether there was one."""
        return self._travel(self._past, self._future)

    def forward_in_history(self) -> bool:
        """Repeat the jump that was taken back; tell whether there was one."""
        return self._travel(self._future, self._past)

    def _travel(self, source: list[Place], target: list[Place]) -> bool:
        if not source:
            return False
        here, there = self.place, source.pop()
        target.append(here)
        self.put(there)
        return True

    def put(self, place: Place) -> None:
        """Take a position of whatever call, not recorded as a jump."""
        if (place.row, place.call) != (self.row_index, self.call_index):
            self._open(place.row, place.call)
        self.stepper = self.stepper.to(place.index)
        ahead = () if self.stepper.beyond else parts_of(self.opened, self.at)
        if place.todo and any(todo == place.todo for _, todo in ahead):
            self.stepper = self.stepper.within(self.stepper.index, place.todo)

    def place_text(self, place: Place) -> str:
        """Return a position as `loss call 3, op 46: %46 multiply`."""
        row = self.capture.rows[place.row]
        number = row.calls[place.call].number if row.calls else 0
        call = f" call {number}" if row.count > 1 else ""
        var = list(row.tape.ops)[min(place.index, len(row.tape) - 1)]
        return f"{row.name}{call}, op {place.index + 1}: {var} {getattr(row.tape[var], 'name', '')}"

    def visit(self, place: Place) -> None:
        """Jump to a position that was noted, in whatever call; raises GotoError."""
        here = self.place
        self.put(place)
        self._remember(here)

    def phase(self, var: Var) -> Phase:
        """Return the phase of an op; constants of the function count as inputs."""
        if var == self.tape.seed or self._is_seed_const(var):
            return "seed"
        if self.tape.is_reverse(var):
            return "reverse"
        return "forward" if isinstance(self.tape[var], Call) else "inputs"

    def _is_seed_const(self, var: Var) -> bool:
        return self.tape[var].origin.role == "seed" and self.tape.is_reverse(var)

    def is_known(self, var: Var) -> bool:
        """Tell whether `var` is computed at or before the position."""
        return self.stepper.reached(var)

    def value(self, var: Var) -> Any:
        """Return the recorded value of an op; raises NotKnown for one that lies ahead."""
        if not self.is_known(var):
            raise NotKnown("not computed yet")
        return self.recorded(var)

    def recorded(self, var: Var) -> Any:
        """Return the value of an op wherever it lies; raises NotKnown if it cannot be had."""
        if var in self.opened.values:
            return self.opened.values[var]
        raise NotKnown(self.opened.problems.get(var, "this value was not kept"))

    def users(self, var: Var) -> list[Var]:
        """Return the ops that read `var`."""
        return self.opened.users.get(var, [])

    def neighbour(self, *, up: bool) -> tuple[Var, int, int] | None:
        """Return an op that the current one reads, or that reads it; each time the next of them.

        With it comes which of how many it is; None where there is none.
        """
        op = self.tape[self.at]
        found = list(dict.fromkeys(op.operands)) if up and isinstance(op, Call) else []
        found = found if up else self.users(self.at)
        if not found or self.failed_here:
            return None
        k = self._turns.get((self.at, up), 0) % len(found)
        self._turns[self.at, up] = k + 1
        return found[k], k + 1, len(found)

    def twin(self, var: Var) -> Var | None:
        """Return the op that completes the cotangent of `var`, or the op whose it is part of."""
        forward = self.tape.cotangents.get(var)
        if forward is not None and forward in self.tape:
            return forward
        wrt = self.tape[var].origin.wrt
        if wrt is not None and self.tape.cotangents.get(wrt) == var:
            return wrt
        found = self.opened.twins.get(var, wrt)
        return found if found is not None and found in self.tape else None

    def mapped(self, var: Var, stage: str) -> tuple[Var | None, str]:
        """Return the op that stands for `var` in a stage, with the reason where it is another."""
        if stage == "trace" and self.tape.is_reverse(var):
            return None, f"{var} belongs to the reverse pass, which is not on this stage"
        return self._on(self.program.stage(stage).tape, var)

    def in_code(self, var: Var, form: str) -> tuple[Var | None, str]:
        """Return the same for one form of the code."""
        return self._on(self.program.tape_of(form), var)

    def occupants(self, form: str = "lean") -> Occupants:
        """Return who writes and reads each buffer of one form of the code."""
        return self.opened.occupants(form)

    def _on(self, tape: Tape, var: Var) -> tuple[Var | None, str]:
        order, index = self.stepper.order, self.stepper.positions[var]
        return map_var(var, tape, self.opened.users, order, index)

    def source_line(self, frame: Frame) -> str | None:
        """Return a line of the user's code as it was at capture, None if it is not available."""
        lines = self.capture.sources.get(frame.file)
        return lines[frame.line - 1] if lines and 0 < frame.line <= len(lines) else None

    def source_window(self, frame: Frame, before: int, after: int) -> list[tuple[int, str, bool]]:
        """Return numbered lines around a frame, its own marked True; none if not available."""
        lines = self.capture.sources.get(frame.file, ())
        first, last = max(1, frame.line - before), min(len(lines), frame.line + after)
        end = max(frame.line, frame.end_line)
        return [(k, lines[k - 1], frame.line <= k <= end) for k in range(first, last + 1)]

    @property
    def alerts(self) -> list[Finding]:
        """Where NaN and infinity begin in the open call; masked ones are no alarms."""
        return self.opened.alerts

    @property
    def alarms(self) -> list[Finding]:
        """The alerts that reach a result or a gradient."""
        return [a for a in self.alerts if a.level == "alarm"]

    def next_alert(self) -> Finding | None:
        """Return the next alert behind the position, from the start again after the last."""
        faint = sorted([*self.alerts, *self.opened.faint], key=lambda a: a.var)
        found = self.alarms or faint
        ahead = (a for a in found if self.stepper.positions[a.var] > self.stepper.index)
        return next(ahead, found[0] if found else None)

    def profile(self) -> Profile:
        """Return the times and live bytes of the open call, measured once."""
        return self.opened.profile

    def savings(self, stopped: Callable[[], bool] = bool) -> Savings:
        """Measure what the passes and the buffers save of the open call."""
        return find_savings(self.program, self.opened, stopped=stopped)

    def jump(self, text: str) -> None:
        """Go to `:46`, `:+10`, `:%46`, `:50%`, `:line 9`, `:seed`, `:nan` or `:call 7`.

        Raises GotoError with the reason.
        """
        plain = text.strip().removeprefix(":").strip()
        if match := re.fullmatch(r"call\s+([\d,]+)", plain):
            self.open_call(whole(match[1].replace(",", "")))
        elif plain == "nan":
            found = self.next_alert()
            if found is None:
                raise GotoError("no NaN or infinity in this call")
            self.goto(found.var)
        else:
            self.move(find_position(plain, self.tape, self.stepper))

    def open_call(self, number: int) -> None:
        """Open the call of this number; raises GotoError with the nearest if it is not kept."""
        numbers = [c.number for c in self.row.calls]
        if number not in numbers:
            if not numbers:
                raise GotoError("no call of this row is kept")
            near = min(numbers, key=lambda n: abs(n - number))
            why = f"{self.row.kept_text}; " if self.row.kept_text else ""
            raise GotoError(f"call {number} is not kept: {why}the nearest is {near}")
        here = self.place
        self._open(self.row_index, numbers.index(number))
        self.stepper = self.stepper.to(here.index)
        self._remember(here)

    def break_at(self, spec: str) -> None:
        """Set a breakpoint as `%46`, `op:log`, `line:9 if nan` or `norm>1e3`; raises BreakError."""
        self.stops.add_break(spec, self)

    def contributions(self, var: Var) -> list[Contribution]:
        """Return the terms whose sum is the cotangent of `var`."""
        return self.opened.contributions.get(var, [])

    def rule_text(self, var: Var) -> str:
        """Return the derivative that explains `var`, as a textbook writes it."""
        return rule_text(self.tape, var)
