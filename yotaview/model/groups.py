"""Ops by source statement: each run of forward ops from one line, with its reverse ops."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from yota.tape import Call, Constant, Frame, Input, Tape, Var


@dataclass(slots=True)
class Group:
    """One statement of the user's code, in one of its runs."""

    number: int
    frame: Frame | None
    label: str
    forward: list[Var] = field(default_factory=list)
    reverse: list[Var] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a tape in the order of time, and where each op belongs."""

    groups: tuple[Group, ...]
    of: dict[Var, int]
    starts: tuple[int, ...]

    def run_at(self, index: int) -> int:
        """Return which run of ops from one statement a position on the tape lies in."""
        return bisect_right(self.starts, index) - 1


def group_ops(tape: Tape, sources: dict[str, tuple[str, ...]]) -> Groups:
    """Return the groups of a tape; inputs and constants belong to none."""
    groups: list[Group] = []
    of: dict[Var, int] = {}
    for var, op in tape:
        if tape.is_reverse(var) or isinstance(op, Input | Constant):
            continue
        frame = op.origin.frames[0] if op.origin.frames else None
        if not groups or _begins(groups[-1], frame, tape):
            groups.append(Group(len(groups), frame, _label(frame, sources, op)))
        groups[-1].forward.append(var)
        of[var] = groups[-1].number
    _add_reverse(tape, groups, of)
    return Groups(tuple(groups), of, _runs(tape, of))


def _begins(group: Group, frame: Frame | None, tape: Tape) -> bool:
    """Tell whether an op starts another run: on another line, or again at the start of this one."""
    if _line(group.frame) != _line(frame):
        return True
    last = tape[group.forward[-1]].origin.frames
    return frame is not None and frame == group.frame and last[:1] != (frame,)


def _add_reverse(tape: Tape, groups: list[Group], of: dict[Var, int]) -> None:
    for var, op in tape:
        if not tape.is_reverse(var) or not groups:
            continue
        cause = op.origin.of if op.origin.of in of else op.origin.wrt
        number = of.get(cause) if cause is not None else None
        if number is None:
            number = len(groups) - 1 if op.origin.role == "seed" else _nearest(op, of, len(groups))
        of[var] = number
        groups[number].reverse.append(var)


def _nearest(op: object, of: dict[Var, int], count: int) -> int:
    """Return the group of an op that names no cause: that of what it reads, else the last."""
    operands = op.operands if isinstance(op, Call) else []
    found = [of[v] for v in operands if v in of]
    return min(found) if found else count - 1


def _runs(tape: Tape, of: dict[Var, int]) -> tuple[int, ...]:
    starts: list[int] = []
    before: tuple[bool, int] | None = None
    for index, var in enumerate(tape.ops):
        now = (tape.is_reverse(var), of.get(var, -1))
        if now != before:
            starts.append(index)
        before = now
    return tuple(starts)


def _line(frame: Frame | None) -> tuple[str, int] | None:
    return None if frame is None else (frame.file, frame.line)


def _label(frame: Frame | None, sources: dict[str, tuple[str, ...]], op: object) -> str:
    lines = sources.get(frame.file, ()) if frame is not None else ()
    if frame is None or not 0 < frame.line <= len(lines):
        return getattr(op, "name", "")
    return lines[frame.line - 1].strip()
