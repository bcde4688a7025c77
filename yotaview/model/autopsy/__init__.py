"""Where NaN and infinity begin on a tape: every origin, its cause by name, and what carried it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from yota.tape import Tape, Var
from yotaview.model.autopsy.case import Case, Element
from yotaview.model.autopsy.causes import Cause, cause_of
from yotaview.model.autopsy.masks import Mask, Spread, pushed


@dataclass(frozen=True)
class Root:
    """One origin of what is not finite, at one element.

    `through` tells whether it reaches a result or a gradient.  `carried` are the ops that hand it
    on, `vanished` those at which it ends, `echoes` the ops of the derivative that go wrong for the
    same reason, `because` the origin of the infinity that this NaN is made of, `into` the results
    and gradients that hold it.
    """

    case: Case
    cause: Cause
    through: bool
    count: int
    size: int
    carried: tuple[Var, ...] = ()
    vanished: tuple[Var, ...] = ()
    echoes: tuple[Var, ...] = ()
    because: Var | None = None
    into: tuple[Var, ...] = ()
    new: Mask = field(repr=False, compare=False, default_factory=lambda: np.array(True))

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


def find_roots(tape: Tape, values: Mapping[Var, Any]) -> list[Root]:
    """Return every independent origin in tape order, those that only follow in a derivative folded.

    An op of a derivative that goes wrong where the op it differentiates already did, is an echo.
    """
    spread = Spread(tape, values)
    if not spread.new:
        return []
    users = tape.users()
    echoes: dict[Var, list[Var]] = {}
    for var in spread.new:
        source = _echoed(tape, spread, var)
        if source is not None:
            echoes.setdefault(source, []).append(var)
    followers = {v for found in echoes.values() for v in found}
    with np.errstate(all="ignore"):
        roots = [
            _root(tape, values, spread, users, var, echoes.get(var, []))
            for var in spread.new
            if var not in followers
        ]
    return _folded(spread, roots)


def _folded(spread: Spread, roots: Sequence[Root]) -> list[Root]:
    """Give what only follows from an infinity to the origin of that infinity."""
    kept: dict[Var, Root] = {}
    for root in roots:
        because = _because(spread, root, list(kept.values()))
        source = kept.get(because) if because is not None else None
        follows = root.case.primal is not None or root.cause.follows or _zero(spread, root)
        if source is None or not follows:
            kept[root.var] = replace(root, because=because)
            continue
        echoes = tuple(sorted({*source.echoes, root.var, *root.echoes}))
        through = source.through or root.through
        kept[source.var] = replace(source, echoes=echoes, through=through)
    outputs = [v for v in spread.tape.outputs if v in spread.through]
    return [
        replace(r, into=tuple(v for v in outputs if r.through and v in _reached(spread, r)))
        for r in kept.values()
    ]


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


def _root(
    tape: Tape,
    values: Mapping[Var, Any],
    spread: Spread,
    users: Mapping[Var, Sequence[Var]],
    var: Var,
    echoes: Sequence[Var],
) -> Root:
    new = spread.new[var]
    guilty = new & spread.through[var] if var in spread.through else np.array(False)
    shown = guilty if guilty.any() else new
    element = tuple(int(k) for k in np.argwhere(shown)[0]) if shown.ndim else ()
    case = Case(tape, values, users, var, element, primal_of(tape, var))
    through = bool(guilty.any()) or any(
        bool(np.any(spread.new[v] & spread.through[v])) for v in echoes if v in spread.through
    )
    carried, ends = spread.carriers(var, users)
    return Root(
        case,
        cause_of(case),
        through,
        int(new.sum()),
        new.size,
        tuple(sorted(carried)),
        tuple(sorted(ends)),
        tuple(echoes),
        new=new,
    )


def _zero(spread: Spread, root: Root) -> bool:
    """Tell whether an origin only follows because an infinity became zero before it."""
    op = root.case.call
    return op is not None and not any(v in spread.bad for v in op.operands)


def _because(spread: Spread, root: Root, roots: Sequence[Root]) -> Var | None:
    """Return the origin of the infinity that an operand carries where this origin is new."""
    op, values = root.case.call, root.case.values
    if op is None:
        return None
    made = set(op.operands)
    operands = {
        v
        for v in made & set(spread.bad)
        if np.any(pushed(op, v, spread.bad[v], root.new.shape, values) & root.new)
    }
    for other in reversed(roots) if made and not operands else ():
        if made & set(other.vanished) and root.case.primal is None and other.case.primal is None:
            return other.var
    for other in reversed(roots) if operands else ():
        if other.var < root.var and operands & _reached(spread, other):
            return other.var
    return None


def _reached(spread: Spread, root: Root) -> set[Var]:
    seen, stack = {root.var, *root.echoes}, [root.var, *root.echoes]
    while stack:
        for user in root.case.users.get(stack.pop(), ()):
            if user in spread.bad and user not in seen:
                seen.add(user)
                stack.append(user)
    return seen


__all__ = ["Cause", "Root", "find_roots", "primal_of"]
