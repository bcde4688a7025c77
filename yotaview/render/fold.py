"""Which ops of a tape a drawing shows as one node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from yota.tape import Constant, Input, Tape, Var

FOLD_ABOVE = 500


@dataclass(frozen=True, slots=True)
class Group:
    """Ops drawn as one node: one op, all of one phase and source line, or the rest of a long tape.

    `phase` is input, constant, forward, seed or reverse; or rest.
    """

    ops: list[Var]
    phase: str
    place: str = ""

    @property
    def element(self) -> str:
        """The id of the node in a drawing."""
        first, last = self.ops[0].id, self.ops[-1].id
        return f"op-{first}" if len(self.ops) == 1 else f"ops-{first}-{last}"


def is_folded(tape: Tape) -> bool:
    """Tell whether a drawing of `tape` has to fold."""
    return len(tape) > FOLD_ABOVE


def each_alone(tape: Tape) -> list[Group]:
    """Return a group for each op."""
    return [Group([v], phase_of(tape, v)) for v in tape.ops]


def by_line(tape: Tape, at: Var | None = None) -> tuple[list[Group], str]:
    """Return the ops grouped by phase and source line, and a note that says so.

    Every op is in one group.  Where there are too many groups, those around `at` stay and what lies
    before and behind is a group each.
    """
    groups = _groups(tape)
    note = f"{len(tape):,} ops, folded by source line to {len(groups):,} nodes"
    if len(groups) <= FOLD_ABOVE:
        return groups, note
    note = f"{note}; {FOLD_ABOVE} of them apart, the rest before and behind"
    return _window(groups, at), note


def phase_of(tape: Tape, var: Var) -> str:
    """Return the style of an op: input, constant, forward, seed or reverse."""
    op = tape[var]
    if var == tape.seed or (op.origin.role == "seed" and tape.is_reverse(var)):
        return "seed"
    if tape.is_reverse(var):
        return "reverse"
    return {Input: "input", Constant: "constant"}.get(type(op), "forward")


def _groups(tape: Tape) -> list[Group]:
    found: dict[tuple[str, ...], Group] = {}
    handed_back = set(tape.outputs) | set(tape.inputs)
    for var, op in tape:
        phase, place = phase_of(tape, var), op.origin.place
        alone = var in handed_back or phase == "seed" or not place
        key = (repr(var),) if alone else (phase, place, op.origin.frames[0].file)
        if key in found:
            found[key].ops.append(var)
        else:
            found[key] = Group([var], phase, place)
    return list(found.values())


def _window(groups: list[Group], at: Var | None) -> list[Group]:
    middle = next((k for k, g in enumerate(groups) if at in g.ops), 0)
    start = max(0, min(middle - FOLD_ABOVE // 2, len(groups) - FOLD_ABOVE))
    end = start + FOLD_ABOVE
    rests = (groups[:start], groups[end:])
    before, behind = ([_rest(part)] if part else [] for part in rests)
    return [*before, *groups[start:end], *behind]


def _rest(groups: Iterable[Group]) -> Group:
    return Group(sorted(v for g in groups for v in g.ops), "rest")
