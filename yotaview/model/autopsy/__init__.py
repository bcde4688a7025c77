"""Where NaN and infinity begin on a tape: every origin, its cause by name, and what carried it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from yota.tape import Call, Tape, Var
from yotaview.model.autopsy.case import Case, Element
from yotaview.model.autopsy.causes import Cause, cause_of
from yotaview.model.autopsy.masks import Mask, Spread, pushed


@dataclass(frozen=True)
class Root:
    """One origin of what is not finite, at one element.

    `through` tells whether it reaches a result or a gradient.  `echoes` are the ops of the
    derivative that go wrong for the same reason, `because` is the origin of the infinity that this
    NaN is made of.
    """

    case: Case
    cause: Cause
    through: bool
    count: int
    size: int
    spread: Spread = field(repr=False, compare=False)
    echoes: tuple[Var, ...] = ()
    because: Var | None = None

    @property
    def var(self) -> Var:
        """The op at which it begins."""
        return self.case.var

    @property
    def element(self) -> Element:
        """The first element at which it begins."""
        return self.case.element

    @property
    def what(self) -> str:
        """NaN or infinity."""
        value = self.case.value
        return "infinity" if value is not None and not np.isnan(value) else "NaN"

    @cached_property
    def _carriers(self) -> tuple[set[Var], set[Var]]:
        within = self.spread.through if self.var in self.spread.through else self.spread.bad
        return self.spread.carriers([self.var], self.case.users, within)

    @property
    def carried(self) -> list[Var]:
        """The ops that hand it on."""
        return sorted(self._carriers[0])

    @property
    def vanished(self) -> list[Var]:
        """The ops at which it ends."""
        return sorted(self._carriers[1])

    @cached_property
    def into(self) -> set[Var]:
        """The results and gradients that hold it."""
        if not self.through:
            return set()
        begun = [self.var, *self.echoes]
        seen, _ = self.spread.carriers(begun, self.case.users, self.spread.through)
        return {v for v in self.case.tape.outputs if v in seen or v in begun}


class _Search:
    """One walk along the tape that finds the origins, and whose infinity each value carries.

    An op of a derivative that goes wrong where the op it differentiates already did is an echo of
    that; what only follows from an infinity belongs to the origin of the infinity.
    """

    def __init__(self, tape: Tape, values: Mapping[Var, Any], spread: Spread) -> None:
        self.tape, self.values, self.spread, self.users = tape, values, spread, tape.users()
        self.kept: dict[Var, Root] = {}
        self.owner: dict[Var, Var] = {}
        self.gone: dict[Var, Var] = {}
        self.echoes: dict[Var, list[Var]] = {}
        self.echo_of: dict[Var, Var] = {}
        for var in spread.new:
            source = _echoed(tape, spread, var)
            if source is not None:
                self.echo_of[var] = source
                self.echoes.setdefault(source, []).append(var)

    def run(self) -> list[Root]:
        """Return the origins in tape order."""
        for var, op in self.tape:
            made = self._latest(op.operands) if isinstance(op, Call) else None
            if var in self.spread.bad:
                self._take(var, made)
            elif made is not None:
                self.gone[var] = made
        return list(self.kept.values())

    def _latest(self, operands: Iterable[Var]) -> Var | None:
        return max((self.owner[v] for v in operands if v in self.owner), default=None)

    def _take(self, var: Var, made: Var | None) -> None:
        source = self.echo_of.get(var)
        if source is not None:
            made = self.owner.get(source, source)
        elif var in self.spread.new:
            made = self._origin(var)
        if made is not None:
            self.owner[var] = made

    def _origin(self, var: Var) -> Var:
        """Keep an origin, or give it to the one that it follows from; return which."""
        root = self._root(var)
        because = self._because(root)
        source = self.kept.get(because) if because is not None else None
        op = root.case.call
        of_zero = op is not None and not any(v in self.spread.bad for v in op.operands)
        follows = root.case.primal is not None or root.cause.follows or of_zero
        if source is None or not follows:
            self.kept[var] = replace(root, because=because)
            return var
        echoes = tuple(sorted({*source.echoes, var, *root.echoes}))
        through = source.through or root.through
        self.kept[source.var] = replace(source, echoes=echoes, through=through)
        return source.var

    def _root(self, var: Var) -> Root:
        spread, echoes = self.spread, self.echoes.get(var, [])
        new = spread.new[var]
        guilty = new & spread.through[var] if var in spread.through else np.array(False)
        shown = guilty if guilty.any() else new
        element = tuple(int(k) for k in np.argwhere(shown)[0]) if shown.ndim else ()
        case = Case(self.tape, self.values, self.users, var, element, primal_of(self.tape, var))
        through = bool(guilty.any()) or any(
            bool(np.any(spread.new[v] & spread.through[v])) for v in echoes if v in spread.through
        )
        size, count = new.size, int(new.sum())
        return Root(case, cause_of(case), through, count, size, spread, tuple(echoes))

    def _because(self, root: Root) -> Var | None:
        """Return the origin of the infinity that an operand carries where this origin is new."""
        op, spread = root.case.call, self.spread
        if op is None:
            return None
        new = spread.new[root.var]
        operands = [
            v
            for v in dict.fromkeys(op.operands)
            if v in spread.bad
            and np.any(pushed(op, v, spread.bad[v], new.shape, self.values) & new)
        ]
        if operands:
            return self._latest(operands)
        made = max((self.gone[v] for v in op.operands if v in self.gone), default=None)
        if made is None or root.case.primal is not None:
            return None
        return made if self.kept[made].case.primal is None else None


def find_roots(tape: Tape, values: Mapping[Var, Any]) -> list[Root]:
    """Return every independent origin in tape order."""
    spread = Spread(tape, values)
    if not spread.new:
        return []
    with np.errstate(all="ignore"):
        return _Search(tape, values, spread).run()


def primal_of(tape: Tape, var: Var) -> Var | None:
    """Return the op of the user's that an op is a derivative of, however often; None if of none."""
    found, at = None, tape[var].origin.of
    while at is not None and at in tape and at != found:
        found, at = at, tape[at].origin.of
    return found


def _echoed(tape: Tape, spread: Spread, var: Var) -> Var | None:
    """Return the origin that an op of a derivative repeats, None if it is one of its own."""
    at = tape[var].origin.of
    while at is not None and at in tape:
        if at in spread.new and _within(spread.new[var], spread.bad[at]):
            return _echoed(tape, spread, at) or at
        at = tape[at].origin.of
    return None


def _within(part: Mask, whole: Mask) -> bool:
    try:
        return not np.any(part & ~np.broadcast_to(whole, part.shape))
    except ValueError:  # shapes that do not belong together
        return True


__all__ = ["Cause", "Root", "find_roots", "primal_of"]
