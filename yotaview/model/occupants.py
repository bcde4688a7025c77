"""Who writes and reads each buffer of a plan, and when: what watches and keys walk along."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from yota.aliasing import may_alias
from yota.buffers import Plan
from yota.tape import Call, Tape, Var


@dataclass(frozen=True, slots=True)
class Access:
    """An op of the code that writes a buffer or reads what it holds; `of` is the value meant."""

    var: Var
    of: Var
    writes: bool


class Occupants:
    """The accesses to every buffer in the order of the code, each with its place on the tape."""

    def __init__(self, code: Tape, plan: Plan, recorded: dict[Var, int]) -> None:
        self.code, self.plan = code, plan
        self.order = {v: k for k, v in enumerate(code.ops)}
        self.places = dict(recorded)
        onward = len(recorded) - 1
        for var in reversed(code.ops):
            # an op that a pass made belongs to the next one that was recorded
            onward = self.places[var] = recorded.get(var, onward)
        self._accesses: dict[int, list[Access]] = {}

    @cached_property
    def users(self) -> dict[Var, list[Var]]:
        """The readers of each op of the code."""
        return self.code.users()

    @cached_property
    def parts(self) -> dict[int, list[int]]:
        """The buffers that lie within each buffer, at any depth."""
        found: dict[int, list[int]] = {}
        for k, buffer in enumerate(self.plan.buffers):
            while buffer.within is not None:
                found.setdefault(buffer.within[0], []).append(k)
                buffer = self.plan.buffers[buffer.within[0]]
        return found

    @cached_property
    def wholes(self) -> list[int]:
        """The buffers that are no part of another one."""
        return [k for k, b in enumerate(self.plan.buffers) if b.within is None]

    def whole(self, k: int) -> int:
        """Return the buffer that `k` is a part of, itself if it is none."""
        while (within := self.plan.buffers[k].within) is not None:
            k = within[0]
        return k

    def written_by(self, k: int) -> list[Var]:
        """Return the ops that are computed into a buffer or a part of it, in order."""
        found = [v for j in (k, *self.parts.get(k, ())) for v, _ in self.plan.occupants(j)]
        return sorted(found, key=self.order.__getitem__)

    def readers(self, var: Var) -> list[Var]:
        """Return the ops that read the memory of a value, through views and joins, too."""
        found: dict[Var, None] = {}
        stack = [var]
        while stack:
            for user in self.users.get(stack.pop(), ()):
                if user in found:
                    continue
                found[user] = None
                op = self.code[user]
                inside = user in self.plan.joins
                if inside or (
                    user not in self.plan.slot and isinstance(op, Call) and may_alias(op)
                ):
                    stack.append(user)
        return sorted(found, key=self.order.__getitem__)

    def accesses(self, k: int) -> list[Access]:
        """Return who writes and reads a buffer, in the order of the code."""
        if k not in self._accesses:
            found = [
                access
                for v in self.written_by(k)
                for access in (Access(v, v, True), *(Access(u, v, False) for u in self.readers(v)))
            ]
            # an op that reads and writes is there as its writing
            found.sort(key=lambda a: (self.order[a.var], not a.writes))
            self._accesses[k] = [
                a for n, a in enumerate(found) if not n or found[n - 1].var != a.var
            ]
        return self._accesses[k]

    def next_access(self, k: int, at: Var, step: int, *, writes: bool = False) -> Access | None:
        """Return the next or previous op that reads or writes a buffer, or writes it alone."""
        now = self.order.get(at, -1)
        found = [a for a in self.accesses(k) if a.writes or not writes]
        if step > 0:
            return next((a for a in found if self.order[a.var] > now), None)
        return next((a for a in reversed(found) if self.order[a.var] < now), None)

    def needed_by(self, var: Var, at: Var) -> list[Var]:
        """Return the ops behind `at` that still read the memory of a value."""
        now = self.order[at]
        return [v for v in self.readers(var) if self.order[v] > now]
