"""One kept call of a row, with all that is found out about it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from yota.program import Program
from yota.tape import Call, Constant, Tape, Var, format_call
from yotaview.capture import KeptCall, Row
from yotaview.model.autopsy import Root, find_roots
from yotaview.model.autopsy.trial import Trials
from yotaview.model.bounds import Bounds
from yotaview.model.codemap import CodeMap
from yotaview.model.cotangents import Term, gather_terms
from yotaview.model.findings import Finding
from yotaview.model.gradients import find_flow
from yotaview.model.groups import Groups, group_ops
from yotaview.model.nonfinite import find_nonfinite
from yotaview.model.occupants import Occupants
from yotaview.model.passing import SATURATED
from yotaview.model.profile import Profile, measure
from yotaview.model.replay import barred, known_values, replay, with_constants
from yotaview.model.stages import replay_stage
from yotaview.model.values import named_ops

# what is looked for before the first paint must not be felt
MANY, LARGE = 5_000, 32 << 20


@dataclass(slots=True, eq=False)
class SavedRow(Row):
    """A row of a file: its ops are computed within bounds only."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """A term of a cotangent: the op that holds it, and the op whose derivative it is."""

    var: Var
    of: Var | None
    text: str


class Opened:
    """One kept call of a row, with its values; everything costly is computed on first use."""

    def __init__(
        self,
        row: Row,
        call: KeptCall | None,
        sources: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.row, self.call = row, call
        self._occupants: dict[str, Occupants] = {}
        self._code: dict[str, CodeMap] = {}
        self._on: dict[int, tuple[Tape, tuple[dict[Var, Any], dict[Var, str]]]] = {}
        constants = call.constants if call is not None else {}
        self.own_literals = call is None or repr(call.literals) == repr(row.literals)
        literals = None if self.own_literals or call is None else call.literals
        self.tape = with_constants(row.tape, constants, literals)
        self.positions = {v: k for k, v in enumerate(self.tape.ops)}
        self.sources = sources or {}
        self.memo: dict[Any, Any] = {}
        if call is None:
            self.tape.values, self.problems = known_values(row.tape)
        else:
            bounds = Bounds() if isinstance(row, SavedRow) else None
            self.tape.values, self.problems = replay(self.tape, call.inputs, call.known, bounds)

    @property
    def edited(self) -> frozenset[Var]:
        """The ops whose values are not the recorded ones but the user's: none here."""
        return frozenset()

    @property
    def recorded(self) -> Opened:
        """The call as it was recorded: itself."""
        return self

    @property
    def values(self) -> Mapping[Var, Any]:
        """The values of the tape."""
        return self.tape.values or {}

    def values_on(self, tape: Tape) -> tuple[dict[Var, Any], dict[Var, str]]:
        """Return the values of a later stage, and for each op without one the reason."""
        if id(tape) not in self._on:
            call = self.call
            given: tuple[Any, ...] = () if call is None else tuple(call.inputs)
            known = {} if call is None else call.known
            bounds = Bounds() if isinstance(self.row, SavedRow) else None
            # the tape is kept beside its values, so that no other one gets its identity
            self._on[id(tape)] = (tape, replay_stage(tape, given, known, bounds))
        return self._on[id(tape)][1]

    def occupants(self, form: str = "lean") -> Occupants:
        """Return who writes and reads each buffer of one form of the code."""
        if form not in self._occupants:
            code, plan = self.program.tape_of(form), self.program.plan(form)
            self._occupants[form] = Occupants(code, plan, self.positions)
        return self._occupants[form]

    def code_map(self, form: str = "lean") -> CodeMap:
        """Return which line computes which op in one form of the code."""
        if form not in self._code:
            self._code[form] = CodeMap(self.program.source(form), self.program.tape_of(form))
        return self._code[form]

    @property
    def unproven(self) -> set[Var]:
        """The ops of a file that were not computed within bounds: nothing else may run them."""
        if not isinstance(self.row, SavedRow):
            return set()
        return {*self.problems, *self.call.known} if self.call is not None else set(self.tape.ops)

    @cached_property
    def program(self) -> Program:
        """The stages, for the values that this call captured."""
        unproven = self.unproven
        if unproven:
            return Program(barred(self.tape, unproven), why_retraced=self.why_retraced)
        own = self.row.program
        if own is not None and self.own_literals and self._same_constants():
            return own
        return Program(self.tape, why_retraced=self.why_retraced)

    @property
    def why_retraced(self) -> str:
        """Why no program answers this row's calls, '' where one does."""
        return "" if self.row.program is None else self.row.program.why_retraced

    def _same_constants(self) -> bool:
        pairs = ((self.row.tape[v], op) for v, op in self.tape if isinstance(op, Constant))
        return all(getattr(a, "value", None) is b.value for a, b in pairs)

    @cached_property
    def users(self) -> dict[Var, list[Var]]:
        """The readers of every op."""
        return self.tape.users()

    @cached_property
    def groups(self) -> Groups:
        """The ops by source statement."""
        return group_ops(self.tape, dict(self.sources))

    @cached_property
    def named(self) -> dict[str, Var]:
        """Inputs and captured values by name."""
        return named_ops(self.tape)

    @cached_property
    def terms(self) -> dict[Var, tuple[Term, ...]]:
        """The terms of every cotangent in the order in which they are added."""
        return gather_terms(self.tape, self.users)

    @cached_property
    def twins(self) -> dict[Var, Var]:
        """From the op that completes a cotangent to the op whose cotangent it is."""
        found: dict[Var, Var] = {}
        for primal, cotangent in self.tape.cotangents.items():
            if cotangent in self.tape and cotangent not in found:
                found[cotangent] = primal
        return found

    @cached_property
    def alerts(self) -> list[Finding]:
        """Where NaN and infinity begin, inputs without a path."""
        return find_nonfinite(self.tape, self.values, self.row.name, self.roots)

    @cached_property
    def faint(self) -> list[Finding]:
        """What the flow of gradients lacks, but for inputs without a path, which are alerts.

        Inputs whose gradient is dead, vanishes or explodes, ops that are saturated; not looked for
        on a large tape.
        """
        size = sum(op.spec.nbytes for _, op in self.tape)
        if self.row.failure is not None or len(self.tape) > MANY or size > LARGE:
            return []
        found = find_flow(self.tape, self.values, lambda v: self.users.get(v, []), self.row.name)
        return [f for f in found if f.level == "alarm" or f.cause == SATURATED]

    @cached_property
    def roots(self) -> list[Root]:
        """Every origin of what is not finite, in the order of the tape."""
        return find_roots(self.tape, self.values)

    @cached_property
    def tried(self) -> Trials:
        """What the cure of each alarming origin gives; the user's functions do not run."""
        return Trials(self.tape, self.roots, trusted=not isinstance(self.row, SavedRow))

    @cached_property
    def profile(self) -> Profile:
        """The times of the ops and the bytes alive, measured here."""
        return measure(self.tape, self.values, self.unproven)

    def forget_profile(self) -> None:
        """Let the next one to ask have the times measured again."""
        self.__dict__.pop("profile", None)

    @cached_property
    def contributions(self) -> dict[Var, list[Contribution]]:
        """The terms of every cotangent."""
        last: dict[tuple[Var, Var | None], Var] = {}
        for var, op in self.tape:
            o = op.origin
            if o.wrt is not None and o.role not in ("accumulate", "seed"):
                last[o.wrt, o.of] = var
        found: dict[Var, list[Contribution]] = {}
        for (wrt, of), var in last.items():
            found.setdefault(wrt, []).append(Contribution(var, of, _term_text(self.tape, var, of)))
        return found


def _term_text(tape: Tape, var: Var, of: Var | None) -> str:
    op = tape[var]
    term = format_call(op) if isinstance(op, Call) else str(var)
    through = tape[of] if of is not None and of in tape else None
    return f"{var} = {term}" + (
        f"  through {of} {through.name}" if isinstance(through, Call) else ""
    )
