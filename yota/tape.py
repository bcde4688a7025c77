"""The language: a tape is a straight line of numbered ops; it prints, replays and verifies itself.

    tape ::= op*
    op   ::= inp %n::spec              an argument's leaf, or the seed
           | const %n = value::spec    a captured array, or the seed of a scalar
           | %n = fn(arg, ...)::spec   a call
    arg  ::= %n | literal | (arg, ...) | [arg, ...] | {key: arg, ...} | arg:arg:arg

A number names one op for good: passes keep it, never reuse it, and `Tape.where` answers for every
number that was ever given.

This is the public module: what stands on a tape comes from `ops`, how it prints from `text`, how
it replays from `replay`, how arguments go in and results come out from `entry`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from yota.arrays import own
from yota.entry import Entry, Structured, as_kind, hand_out, ints_to_floats, tree_vars
from yota.errors import GuardError, TapeError, YotaError
from yota.ops import (
    Call,
    Constant,
    Frame,
    Input,
    Op,
    Origin,
    Role,
    Spec,
    Var,
    base_name,
    fn_name,
    kind_text,
    map_vars,
    spec_of,
    vars_in,
)
from yota.replay import Guard, Replay, check_guard, check_shape, conform
from yota.text import comment_of, format_arg, format_call, format_op, format_value

__all__ = [
    "Call",
    "Constant",
    "Entry",
    "Fate",
    "Frame",
    "Guard",
    "Input",
    "Op",
    "Origin",
    "Rewritten",
    "Role",
    "Spec",
    "Structured",
    "Tape",
    "Var",
    "as_kind",
    "base_name",
    "check_guard",
    "check_shape",
    "comment_of",
    "conform",
    "fn_name",
    "format_arg",
    "format_call",
    "format_op",
    "format_value",
    "hand_out",
    "ints_to_floats",
    "kind_text",
    "map_vars",
    "spec_of",
    "tree_vars",
    "vars_in",
]

COMMENT_COLUMN = 38


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a number: `kind` is itself, changed, merged, inside, inlined or dropped."""

    kind: str
    var: Var
    into: Var | None = None
    why: str = ""
    stage: str = ""
    iteration: int | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One rewrite of a pass: which op it dropped, merged or changed, into what and why."""

    stage: str
    kind: str
    var: Var
    into: Var | None
    why: str
    before: Op | None = None
    after: Op | None = None


class Tape:
    """A straight line of ops, with what it was recorded from and what it hands back."""

    def __init__(self, entry: Entry | None = None) -> None:
        self.entry = entry or Entry()
        self.ops: dict[Var, Op] = {}
        self.inputs: list[Var] = []
        self.guards: list[Guard] = []
        self.result: Any = None
        self.gradients: tuple[Any, ...] | None = None
        self.seed: Var | None = None
        self.reverse_start: Var | None = None
        self.cotangents: dict[Var, Var] = {}
        self.fates: dict[Var, Fate] = {}
        self.rewrites: tuple[Rewritten, ...] = ()
        self.values: dict[Var, Any] | None = None
        self.next_id = 1

    def push(self, op: Op, var: Var | None = None) -> Var:
        """Append an op under `var`, or under the next fresh number."""
        if var is None:
            var = Var(self.next_id)
        if var in self.ops:
            raise TapeError(f"{var} is on the tape already")
        self.next_id = max(self.next_id, var.id + 1)
        self.ops[var] = op
        if isinstance(op, Input):
            self.inputs.append(var)
        return var

    def __getitem__(self, var: Var | int) -> Op:
        return self.ops[var if isinstance(var, Var) else Var(var)]

    def __contains__(self, var: object) -> bool:
        return var in self.ops

    def __iter__(self) -> Iterator[tuple[Var, Op]]:
        return iter(self.ops.items())

    def __len__(self) -> int:
        return len(self.ops)

    def __str__(self) -> str:
        return self.pretty()

    def __repr__(self) -> str:
        return f"<Tape of {self.entry.name}: {len(self)} ops>"

    @property
    def outputs(self) -> list[Var]:
        """The vars handed back, results first, then gradients, each once."""
        return list(dict.fromkeys((*self.result_vars, *self.gradient_vars)))

    @property
    def result_vars(self) -> list[Var]:
        """The vars in the function's result."""
        return list(tree_vars(self.result))

    @property
    def gradient_vars(self) -> list[Var]:
        """The vars of the gradients, one per differentiated leaf, in the order of the leaves."""
        return list(tree_vars(self.gradients))

    def is_reverse(self, var: Var) -> bool:
        """Tell whether `var` belongs to the reverse pass, the seed included."""
        return self.reverse_start is not None and var.id >= self.reverse_start.id

    def users(self) -> dict[Var, list[Var]]:
        """Return for each var the ops that read it, in tape order."""
        found: dict[Var, list[Var]] = {v: [] for v in self.ops}
        for var, op in self:
            if isinstance(op, Call):
                for operand in dict.fromkeys(op.operands):
                    found[operand].append(var)
        return found

    def where(self, number: Var | int) -> Fate:
        """Say what became of op `number`: itself, merged, changed, inlined or dropped; and why."""
        var = number if isinstance(number, Var) else Var(number)
        fate = self.fates.get(var)
        if fate is None:
            if var not in self.ops:
                raise KeyError(f"no op was ever numbered {var}")
            return Fate("itself", var)
        into, why, seen, kind = fate.into, [fate.why], {var}, fate.kind
        while into is not None and into not in self.ops and into not in seen:
            seen.add(into)
            onward = self.fates.get(into)
            if onward is None:
                break
            if onward.kind == "dropped":
                return replace(onward, var=var, why="; ".join([*why, onward.why]))
            why.append(onward.why)
            into, kind = onward.into, "inside" if onward.kind == "inside" else kind
        return replace(fate, kind=kind, into=into, why="; ".join(why))

    def survivor(self, number: Var | int) -> Var | None:
        """Return the op that holds the value of `number` now, None if it was dropped."""
        fate = self.where(number)
        if fate.kind in ("itself", "changed"):
            return fate.var
        return fate.into if fate.kind == "merged" and fate.into in self.ops else None

    def value(self, number: Var | int) -> Any:
        """Return the value of an op; a merged one reads through to the op that took its place."""
        if self.values is None:
            raise YotaError(
                "this tape carries no values: fill them with tape.play(*args), "
                "or record with yota.gradtape or yota.trace"
            )
        var = self.survivor(number)
        if var is None or var not in self.values:
            raise YotaError(
                f"%{getattr(number, 'id', number)} has no value: {self.where(number).why}"
            )
        return self.values[var]

    def pretty(self, origins: bool = False, short: bool = False) -> str:
        """Return the tape as text, an op a line; `origins` adds where each op comes from."""
        rows = [
            (f"  {format_op(v, op, short)}", comment_of(op) if origins else "") for v, op in self
        ]
        column = max(COMMENT_COLUMN, *(len(text) + 2 for text, _ in rows if len(text) < 72), 0)
        lines = [f"{text.ljust(column)}# {note}" if note else text for text, note in rows]
        return "\n".join(["Tape", *lines])

    def fingerprint(self) -> str:
        """Return a digest of the structure: functions, operands and types, without values."""
        digest = hashlib.sha256()
        for var, op in self:
            head = format_op(var, op) if not isinstance(op, Constant) else f"const {var}::{op.spec}"
            module = getattr(op.fn, "__module__", "") if isinstance(op, Call) else ""
            digest.update(f"{head} {module} {op.origin.frames[:1]}\n".encode())
        return digest.hexdigest()[:16]

    def verify(self) -> None:
        """Raise TapeError unless operands stand before their users and outputs on the tape."""
        seen: set[Var] = set()
        for var, op in self:
            for operand in op.operands if isinstance(op, Call) else ():
                if operand not in seen:
                    raise TapeError(
                        f"{var} = {format_op(var, op)} reads {operand} before it is defined"
                    )
            seen.add(var)
        for var in (*self.outputs, *(g.var for g in self.guards)):
            if var not in seen:
                raise TapeError(f"{var} is handed back or guarded but is not on the tape")

    def replay(self, leaves: Sequence[Any]) -> dict[Var, Any]:
        """Compute every value from the inputs' values, checking guards; nothing is kept."""
        return Replay(self.ops, self.inputs, self.guards).run(leaves)

    def play(self, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """Replay the tape for arguments structured as those it was recorded with.

        Returns the function's value, with the gradients, one per argument, where the tape has a
        reverse pass; leaves every value on the tape.  Raises GuardError where these arguments would
        take another way through the function.
        """
        leaves = self.entry.leaves(args, kwargs)
        if self.seed is not None and isinstance(self.ops.get(self.seed), Input):
            if seed is None:
                raise GuardError("this tape was recorded with a seed array: give play(..., seed=)")
            leaves.append(seed)
        leaves = [own(v) for v in leaves]  # the caller may write into his arrays later
        self.values = self.replay(leaves)
        return self.results_from(self.values)

    def results_from(self, values: dict[Var, Any]) -> Any:
        """Return value, or value and gradients, as the user's structures of fresh arrays."""
        value = hand_out(self.result, values)
        if self.gradients is None:
            return value
        return value, tuple(hand_out(g, values) for g in self.gradients)

    def compile(
        self, passes: Sequence[str] | None = None, form: str = "lean", exact: bool = False
    ) -> Callable[..., Any]:
        """Return a generated function of the same arguments; see `yota.generate_source`.

        Form `lean` returns fresh arrays; `bound` also leaves every value on this tape.  With
        `exact` the lean form, too, gives the bits of `play`.
        """
        from yota import program  # the one upward call: a method that users expect on the tape

        return program.compile_tape(self, passes, form, exact)

    def shell(self) -> Tape:
        """Return a tape without ops that shares everything else: what a pass starts from."""
        new = Tape(self.entry)
        new.result, new.gradients, new.seed = self.result, self.gradients, self.seed
        new.reverse_start, new.cotangents = self.reverse_start, dict(self.cotangents)
        new.fates, new.next_id = dict(self.fates), self.next_id
        return new
