"""What-if: other values for some ops, and only what depends on them computed again."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from yota.tape import Call, Guard, Op, Tape, Var
from yotaview.capture.functions import is_users
from yotaview.model.bounds import Bounds
from yotaview.model.edits import Edit, EditError, edited_value, read_edit, vars_read
from yotaview.model.opened import Opened, SavedRow
from yotaview.model.replay import Replayed, quiet
from yotaview.model.same import same_bits


class Consent(EditError):
    """The edit would run functions of the user's; the text names them."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A call with some ops edited: the values that changed hands, and what no longer holds."""

    number: int
    edits: tuple[Edit, ...]
    edited: Mapping[Var, Any]
    values: Mapping[Var, Any]
    problems: Mapping[Var, str]
    ran: tuple[Var, ...]
    broken: tuple[Guard, ...] = ()

    @property
    def text(self) -> str:
        """The edits as they were written."""
        return "; ".join(e.text for e in self.edits)


@dataclass(frozen=True, slots=True)
class Planned:
    """A branch of which nothing was run yet on the open call."""

    number: int
    edits: tuple[Edit, ...]

    @property
    def text(self) -> str:
        """The edits as they were written."""
        return "; ".join(e.text for e in self.edits)


def fork(
    opened: Opened, edits: Sequence[Edit], number: int = 1, *, consent: bool = False
) -> Branch:
    """Make the edits one after the other, and compute what depends on them, where one is read.

    Raises EditError for a value that the op cannot have; Consent where functions of the user's
    would run, unless `consent` is given.
    """
    edited: dict[Var, Any] = {}
    values: dict[Var, Any] = dict(opened.values)
    problems: dict[Var, str] = dict(opened.problems)
    stale: set[Var] = set()
    for edit in edits:
        if not stale.isdisjoint(vars_read(edit, opened.tape)):
            values, problems, _ = _run(opened, edited, consent)
        values[edit.var] = edited[edit.var] = edited_value(edit, opened.tape, values)
        stale = set(cone(opened.tape, edited))
    values, problems, ran = _run(opened, edited, consent)
    broken = tuple(
        g for g in opened.tape.guards if g.var in values and not _holds(g, values, opened)
    )
    return Branch(number, tuple(edits), edited, values, problems, ran, broken)


class _Rerun(Replayed):
    """Computes the ops behind an edit; the user's own where he consented."""

    consent = False

    def refuses(self, op: Call) -> bool:
        """Tell whether an op is not to be run."""
        return not self.consent and super().refuses(op)

    def one(self, var: Var, op: Op, known: Mapping[Var, Any]) -> None:
        """Compute an op; one of another shape than was recorded is no longer this tape's."""
        super().one(var, op, known)
        if var not in self.values or op.spec.kind != "array":
            return
        shape = np.shape(self.values[var])
        if shape != op.spec.shape:
            del self.values[var]
            told = f"has shape {shape} now, {op.spec.shape} when recorded"
            self.problems[var] = f"{told}: the tape no longer tells what f does"

    def again(
        self, behind: Sequence[Var], known: Mapping[Var, Any], problems: Mapping[Var, str]
    ) -> None:
        """Compute some ops from the values of the others."""
        left = set(behind)
        self.values = {v: x for v, x in known.items() if v not in left}
        self.problems = {v: why for v, why in problems.items() if v not in left}
        with quiet():
            for var in behind:
                self.one(var, self.tape[var], {})


def cone(tape: Tape, edited: Mapping[Var, Any]) -> list[Var]:
    """Return the ops that depend on edited ones, these left out, in tape order."""
    touched = set(edited)
    found = []
    for var, op in tape:
        if var not in edited and isinstance(op, Call) and not touched.isdisjoint(op.operands):
            touched.add(var)
            found.append(var)
    return found


def _run(
    opened: Opened, edited: Mapping[Var, Any], consent: bool
) -> tuple[dict[Var, Any], dict[Var, str], tuple[Var, ...]]:
    tape, behind = opened.tape, cone(opened.tape, edited)
    theirs = [v for v in behind if isinstance(op := tape[v], Call) and is_users(op)]
    saved = isinstance(opened.row, SavedRow)
    if theirs and not consent and not saved:
        names = ", ".join(
            dict.fromkeys(f"{_name(tape, v)} ({tape[v].origin.place})" for v in theirs)
        )
        raise Consent(f"this runs your {names} again: enter once more to let it")
    rerun = _Rerun(tape, (), Bounds() if saved else None)
    rerun.consent = consent and not saved
    rerun.again(behind, {**opened.values, **edited}, opened.problems)
    return rerun.values, rerun.problems, tuple(behind)


def _name(tape: Tape, var: Var) -> str:
    op = tape[var]
    return op.name if isinstance(op, Call) else str(var)


def _holds(guard: Guard, values: Mapping[Var, Any], opened: Opened) -> bool:
    """Tell whether Python would go the same way; one that did not hold before says nothing."""
    value, before = values[guard.var], opened.values.get(guard.var)
    if value is before:
        return True
    try:
        return guard.holds(value)
    except Exception:  # a value that Python cannot ask leads nowhere
        return False


class Forked(Opened):
    """An open call as it would be with a branch's edits."""

    def __init__(self, base: Opened, branch: Branch) -> None:
        kept = {k: v for k, v in vars(base).items() if not _is_derived(k)}
        vars(self).update(kept)
        self.base, self.branch = base, branch
        self.tape = copy.copy(base.tape)
        self.tape.values, self.problems = dict(branch.values), dict(branch.problems)
        if self.call is not None:
            pairs = zip(self.tape.inputs, self.call.inputs, strict=False)
            inputs = tuple(branch.values.get(v, x) for v, x in pairs)
            self.call = replace(self.call, inputs=inputs)
        self._on, self.memo = {}, {}

    @property
    def recorded(self) -> Opened:
        """The call as it was recorded."""
        return self.base

    @property
    def edited(self) -> frozenset[Var]:
        """The ops that the branch sets."""
        return frozenset(self.branch.edited)

    def values_on(self, tape: Tape) -> tuple[dict[Var, Any], dict[Var, str]]:
        """Return the values that the ops of a later stage have here."""
        found = {v: self.branch.values[v] for v in tape.ops if v in self.branch.values}
        return found, {v: "not run in a what-if" for v in tape.ops if v not in found}


def _is_derived(name: str) -> bool:
    return isinstance(getattr(Opened, name, None), cached_property)


@dataclass
class Forks:
    """The branches of one open call; `current` is the number of the one in sight, 0 for none."""

    base: Opened
    branches: list[Branch | Planned] = field(default_factory=list)
    current: int = 0
    given: int = 0

    @property
    def branch(self) -> Branch | None:
        """The branch in sight."""
        found = (b for b in self.branches if b.number == self.current)
        return next((b for b in found if isinstance(b, Branch)), None)

    def opened(self) -> Opened:
        """Return the call as the branch in sight has it."""
        branch = self.branch
        return self.base if branch is None else Forked(self.base, branch)

    def on(self, base: Opened) -> Forks:
        """Return the branches on the same call opened anew: as recorded, nothing run."""
        planned = [Planned(b.number, b.edits) for b in self.branches]
        return Forks(base, [*planned], 0, self.given)

    def add(self, text: str, *, consent: bool = False) -> Branch:
        """Edit further from the branch in sight; raises EditError."""
        edit = read_edit(text, self.base.tape)
        before = self.branch.edits if self.branch is not None else ()
        branch = fork(self.base, (*before, edit), self.given + 1, consent=consent)
        self.given = self.current = branch.number
        self.branches.append(branch)
        return branch

    def switch(self, number: int, *, consent: bool = False) -> None:
        """Bring a branch into sight, 0 the original; raises EditError as `fork` does."""
        if number:
            k = self._index(number, f"no what-if {number}")
            found = self.branches[k]
            if isinstance(found, Planned):
                self.branches[k] = fork(self.base, found.edits, number, consent=consent)
        self.current = number

    def drop(self, number: int) -> None:
        """Discard a branch; raises EditError."""
        del self.branches[self._index(number, f"no what-if {number} to drop")]
        self.current = 0 if self.current == number else self.current

    def _index(self, number: int, otherwise: str) -> int:
        found = next((k for k, b in enumerate(self.branches) if b.number == number), None)
        if found is None:
            raise EditError(f"{otherwise}: there are {self.numbers}")
        return found

    @property
    def numbers(self) -> str:
        """The numbers one can switch to."""
        return ", ".join(["0 (as recorded)", *(str(b.number) for b in self.branches)])


def changed(opened: Opened, branch: Branch) -> list[Var]:
    """Return the ops whose value is another one than was recorded, in tape order."""
    touched = (*branch.edited, *branch.ran)
    found = {v for v in touched if not same_bits(opened.values.get(v), branch.values.get(v))}
    return sorted(found, key=lambda v: opened.positions[v])
