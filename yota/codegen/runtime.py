"""What generated code calls: argument checks, buffer sets and writing values back to the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from yota.buffers import Buffer
from yota.errors import GuardError
from yota.structs import Leaf
from yota.tape import Input, Tape, Var, check_guard, check_shape, conform


class Miss:
    """What an entry returns where arguments do not fit or Python takes another branch."""

    def __repr__(self) -> str:
        return "MISS"


MISS = Miss()

PYTHON = {"f": float, "c": complex, "i": int, "b": bool}
_LAYOUT = {"C": "c_contiguous", "F": "f_contiguous"}


class Unpack:
    """Turn arguments into the values of the inputs; raise GuardError for other types."""

    def __init__(self, tape: Tape) -> None:
        self.entry = tape.entry
        self.inputs = [op for v in tape.inputs if isinstance(op := tape[v], Input)]
        self.takes_seed = has_seed_input(tape)
        self.is_flat = self._takes_leaves_only()
        self.wanted = [_wanted(op) for op in self.inputs]

    def _takes_leaves_only(self) -> bool:
        flat = tuple(Leaf(k) for k in range(len(self.inputs)))
        return (
            self.entry.args == flat
            and not (self.entry.kwargs or self.entry.as_float)
            and not any(op.pinned or op.writeable is not None for op in self.inputs)
        )

    def __call__(self, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """Return the inputs' values in tape order."""
        if self.is_flat and len(args) == len(self.wanted) and all(map(_fits, args, self.wanted)):
            return args
        leaves = self.entry.leaves(args, kwargs)
        if self.takes_seed:
            if seed is None:
                raise GuardError("this tape was recorded with a seed array: give seed=")
            leaves.append(seed)
        return [conform(v, op) for v, op in zip(leaves, self.inputs, strict=True)]


def has_seed_input(tape: Tape) -> bool:
    """Tell whether the seed is an argument of its own."""
    return tape.seed is not None and isinstance(tape.ops.get(tape.seed), Input)


def _wanted(op: Input) -> tuple[Any, Any, Any, str]:
    spec = op.spec
    if spec.kind == "array":
        return np.ndarray, spec.dtype, spec.shape, _LAYOUT.get(spec.order, "")
    kind = spec.dtype.type if spec.kind == "scalar" else PYTHON[spec.dtype.kind]
    return kind, None, (), ""


def _fits(value: Any, wanted: tuple[Any, Any, Any, str]) -> bool:
    kind, dtype, shape, layout = wanted
    if type(value) is not kind:
        return False
    if dtype is None:
        return True
    same = value.dtype == dtype and value.shape == shape
    return bool(same and (not layout or getattr(value.flags, layout)))


class BufferPool:
    """Sets of buffers; each call takes its own, so that threads and nested calls may meet."""

    def __init__(self, buffers: tuple[Buffer, ...]) -> None:
        self.buffers = buffers
        self.idle: list[list[Any]] = []

    def take(self) -> list[Any]:
        """Return a set that nobody else uses."""
        try:
            return self.idle.pop()
        except IndexError:
            return [b.allocate() for b in self.buffers]

    def give_back(self, arrays: list[Any]) -> None:
        """Let the next call use a set."""
        self.idle.append(arrays)


class ByNumpy:
    """Answer one call by replaying the recorded tape: NumPy's own results and warnings."""

    def __init__(self, tape: Tape, misses: bool) -> None:
        self.tape, self.misses = tape, misses
        self.unpack = Unpack(tape)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what `play` does; MISS for another branch where that is an answer."""
        try:
            return self.tape.results_from(self.tape.replay(self.unpack(*args, **kwargs)))
        except GuardError:
            if self.misses:
                return MISS
            raise


class Values:
    """The values of one call, copied: the next call overwrites the buffers that they stood in."""

    def __init__(self) -> None:
        self.values: dict[Var, Any] = {}

    @staticmethod
    def writer(tape: Tape) -> Callable[[Values], None]:
        """Return a function that puts the values of a call on `tape`, all at once."""

        def write_back(values: Values) -> None:
            tape.values = values.values

        return write_back

    def __setitem__(self, number: int, value: Any) -> None:
        private = np.array(value, order="K") if isinstance(value, np.ndarray) else value
        self.values[Var(number)] = private


class Checks:
    """The guards and shapes that a tape was recorded under."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def guard(self, k: int, value: Any) -> None:
        """Raise GuardError where guard `k` does not hold."""
        check_guard(self.tape.guards[k], value)

    def shape(self, number: int, value: Any) -> None:
        """Raise GuardError where op `number` has another shape than the recorded one."""
        var = Var(number)
        check_shape(var, self.tape[var], value)  # type: ignore[arg-type]  # only calls are checked
