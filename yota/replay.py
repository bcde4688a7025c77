"""Run ops once more for other inputs, and check what was assumed while they were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.errors import GuardError
from yota.ops import Call, Constant, Input, Op, Origin, Var, kind_text, map_vars, spec_of
from yota.text import format_op, int_text


@dataclass(frozen=True, slots=True)
class Guard:
    """Python read this value, as `how` says: bool, int, value, shape or type.

    The tape holds while what was read is `expected`.
    """

    var: Var
    expected: Any
    how: str
    origin: Origin = Origin()  # noqa: RUF009  # an Origin is frozen

    def holds(self, value: Any) -> bool:
        """Tell whether `value` leads Python the same way."""
        if self.how == "bool":
            return bool(bool(value) == self.expected)
        if self.how == "int":
            return bool(int(value) == self.expected)
        if self.how == "shape":
            return bool(np.shape(value) == tuple(self.expected))
        if self.how == "type":
            return bool(kind_text(value) == self.expected)
        return bool(np.array_equal(value, self.expected))


class Replay:
    """Ops run once more, in order, for other values of the inputs."""

    def __init__(
        self, ops: Mapping[Var, Op], inputs: Sequence[Var], guards: Iterable[Guard]
    ) -> None:
        self.ops, self.inputs = ops, inputs
        self.values: dict[Var, Any] = {}
        self.guards: dict[Var, list[Guard]] = {}
        for g in guards:
            self.guards.setdefault(g.var, []).append(g)

    def run(self, leaves: Sequence[Any]) -> dict[Var, Any]:
        """Return every value; raise GuardError where a guard or a recorded type does not hold."""
        if len(leaves) != len(self.inputs):
            raise GuardError(f"the tape has {len(self.inputs)} inputs, {len(leaves)} were given")
        given = dict(zip(self.inputs, leaves, strict=True))
        for var, op in self.ops.items():
            match op:
                case Input():
                    value = conform(given[var], op)
                case Constant():
                    value = op.value
                case Call():
                    value = self.call(var, op)
            self.values[var] = value
            for guard in self.guards.get(var, ()):
                check_guard(guard, value)
        return self.values

    def call(self, var: Var, op: Call) -> Any:
        """Run one call; an error says which op it was."""
        args = map_vars(op.args, self.values.__getitem__)
        kwargs = {k: map_vars(v, self.values.__getitem__) for k, v in op.kwargs}
        try:
            value = op.fn(*args, **kwargs)
        except Exception as error:
            error.add_note(f"while replaying {format_op(var, op)}  {op.origin.place}")
            raise
        check_shape(var, op, value)
        return value


def check_guard(guard: Guard, value: Any) -> None:
    """Raise GuardError where Python would now go another way."""
    if guard.holds(value):
        return
    place = guard.origin.place or "in the traced function"
    if guard.how in ("shape", "type"):
        now = np.shape(value) if guard.how == "shape" else kind_text(value)
        read = f"had {guard.how} {guard.expected} when the tape was recorded ({place}); it is {now}"
    else:
        read = (
            f"was {_brief(guard.expected)} when the tape was recorded and Python branched on it "
            f"({place}); it is {_brief(value)}"
        )
    raise GuardError(f"{guard.var} {read} now: trace the function again with these arguments")


def check_shape(var: Var, op: Call, value: Any) -> None:
    """Raise GuardError where a result has another shape than the recorded one."""
    if op.spec.kind == "array" and np.shape(value) != op.spec.shape:
        raise GuardError(
            f"{format_op(var, op)} has shape {np.shape(value)} for these arguments "
            f"({op.origin.place}): trace the function again with them"
        )


def _brief(value: Any) -> str:
    if type(value) is int:
        return int_text(value)
    return repr(value) if np.ndim(value) == 0 else f"an array of shape {np.shape(value)}"


def lies_alike(value: Any, op: Input) -> bool:
    """Tell whether an array has the memory layout that an input is pinned to."""
    if op.writeable is not None and value.flags.writeable != op.writeable:
        return False
    if not op.pinned:
        return True
    return spec_of(value).order == op.spec.order and op.strides in (None, value.strides)


def conform(value: Any, op: Input) -> Any:
    """Return an input's value in the recorded layout; raise GuardError for another type."""
    have = spec_of(value)
    if (have.kind, have.dtype, have.shape) != (op.spec.kind, op.spec.dtype, op.spec.shape):
        raise GuardError(
            f"{op.name} was recorded as {op.spec}, it is {have} now: trace the function again"
        )
    if have.kind == "array" and not lies_alike(value, op):
        raise GuardError(
            f"{op.name} lies in memory otherwise than when the tape was recorded, which decides "
            "where a write goes: trace the function again with these arguments"
        )
    if have.order != op.spec.order and op.spec.order in "CF":
        return np.array(value, order=op.spec.order)  # type: ignore[call-overload]  # C or F
    return value
