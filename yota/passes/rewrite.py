"""Build a new tape from an old one and remember where each value went."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from yota.errors import TapeError
from yota.tape import Call, Fate, Op, Rewritten, Structured, Tape, Var, map_vars, tree_vars


class Rewrite:
    """One run of a pass over a tape: every op is kept, changed, put in another's place or dropped.

    This is the one place where vars are renamed.  `origin`, `seed` and `reverse_start` hold numbers
    as they were recorded: `Tape.where` tells what became of them.
    """

    def __init__(self, tape: Tape, stage: str) -> None:
        self.old, self.stage = tape, stage
        self.tape = tape.shell()
        self.place: dict[Var, Var] = {}
        self.records: list[Rewritten] = []

    def at(self, var: Var) -> Var:
        """Return the op of the new tape that holds the value of `var`."""
        return self.place.get(var, var)

    def moved(self, op: Op) -> Op:
        """Return an op with its operands renamed."""
        if not self.place or not isinstance(op, Call):
            return op
        if not any(v in self.place for v in op.operands):
            return op
        kwargs = tuple((k, map_vars(v, self.at)) for k, v in op.kwargs)
        return replace(op, args=map_vars(op.args, self.at), kwargs=kwargs)

    def keep(self, var: Var, moved: Op | None = None) -> Var:
        """Append the op `var` under its own number; `moved` spares renaming its operands again."""
        return self.tape.push(moved or self.moved(self.old[var]), var)

    def change(self, var: Var, op: Op, why: str) -> Var:
        """Append another op of the same value under the number of `var`."""
        self.note("changed", var, None, why, op)
        return self.tape.push(op, var)

    def push(self, op: Op) -> Var:
        """Append an op that the old tape had not, under a fresh number."""
        return self.tape.push(op)

    def put(self, var: Var, into: Var, why: str) -> Var:
        """Let `into`, which is on the new tape, take the place of `var`."""
        if into not in self.tape:
            raise TapeError(f"{var} cannot be merged into {into}, which is not on the new tape")
        self.place[var] = into
        self.note("merged", var, into, why, self.tape[into])
        return into

    def drop(self, var: Var, why: str) -> None:
        """Leave out `var`, which nothing on the new tape reads."""
        self.note("dropped", var, None, why, None)

    def note(self, kind: str, var: Var, into: Var | None, why: str, after: Op | None) -> None:
        """Record what became of `var`."""
        self.tape.fates[var] = Fate(kind, var, into, why, self.stage)
        self.records.append(Rewritten(self.stage, kind, var, into, why, self.old[var], after))

    def done(self) -> Tape:
        """Return the new tape, with results, gradients and guards renamed."""
        new, old = self.tape, self.old
        new.result = self.renamed(old.result)
        if old.gradients is not None:
            new.gradients = tuple(self.renamed(g) for g in old.gradients)
        new.guards = [replace(g, var=self.at(g.var)) for g in old.guards]
        new.cotangents = {v: self.at(c) for v, c in old.cotangents.items() if self.at(c) in new}
        new.rewrites = tuple(self.records)
        return new

    def renamed(self, tree: Any) -> Any:
        """Return a result or gradient tree with its vars renamed."""
        if not isinstance(tree, Structured) or not any(v in self.place for v in tree_vars(tree)):
            return tree
        leaves = tuple(self.at(v) if isinstance(v, Var) else v for v in tree.leaves)
        return replace(tree, leaves=leaves)
