"""The values of a kept call, computed again bit for bit."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from yota.tape import Call, Constant, Input, Op, Tape, Var, map_vars
from yotaview.capture.functions import is_users
from yotaview.capture.structure import with_literals
from yotaview.model.bounds import Bounds, Refused, leaves_in
from yotaview.model.forms import Opaque


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let no floating-point or other warning reach stderr."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def with_constants(
    tape: Tape, constants: Mapping[Var, Any], literals: Sequence[Any] | None = None
) -> Tape:
    """Return a tape of its own, with the values that one call captured."""
    new = tape.shell()
    new.guards = list(tape.guards)
    new.seed = seed_of(tape)
    for var, op in iter(tape) if literals is None else with_literals(iter(tape), literals):
        if isinstance(op, Constant) and var in constants:
            op = replace(op, value=constants[var])
        new.push(op, var)
    return new


def barred(tape: Tape, ops: set[Var]) -> Tape:
    """Return a tape on which some ops are names only, so that no pass computes them."""
    new = tape.shell()
    new.guards = list(tape.guards)
    for var, op in tape:
        if var in ops and isinstance(op, Call):
            op = replace(op, fn=Opaque(op.name))
        new.push(op, var)
    return new


def seed_of(tape: Tape) -> Var | None:
    """Return the op that the reverse pass starts from, None if there is no reverse pass."""
    start = tape.reverse_start
    if tape.seed is not None or start is None or start not in tape:
        return tape.seed
    return start if tape[start].origin.role == "seed" else None


def known_values(tape: Tape) -> tuple[dict[Var, Any], dict[Var, str]]:
    """Return the values that a tape has, and for each that was saved as text what that says."""
    values = tape.values or {}
    texts = {v: _as_text(x) for v, x in values.items() if isinstance(x, Opaque)}
    return {v: x for v, x in values.items() if v not in texts}, texts


def _as_text(value: Opaque) -> str:
    return f"saved as text only: {value}"


class Unavailable(Exception):
    """A value cannot be had; the text says why."""


class Replayed:
    """Values of a tape, and for each op without one the reason."""

    def __init__(self, tape: Tape, inputs: Sequence[Any], bounds: Bounds | None = None) -> None:
        self.tape, self.bounds = tape, bounds
        self.given = dict(zip(tape.inputs, inputs, strict=False))
        self.values: dict[Var, Any] = {}
        self.problems: dict[Var, str] = {}

    def run(self, known: Mapping[Var, Any]) -> None:
        """Compute every op but the known ones; the user's functions do not run."""
        with quiet():
            for var, op in self.tape:
                self.one(var, op, known)

    def one(self, var: Var, op: Op, known: Mapping[Var, Any]) -> None:
        """Compute an op that is not known, or note why it cannot be had."""
        try:
            value = known[var] if var in known else self._compute(var, op)
            if isinstance(value, Opaque):
                raise Unavailable(_as_text(value))
            self.values[var] = value
        except (Unavailable, Refused) as reason:
            self.problems[var] = str(reason)
        except Exception as error:  # shown in the op's own cell
            self.problems[var] = f"{type(error).__name__}: {error}"

    def _compute(self, var: Var, op: Op) -> Any:
        match op:
            case Input():
                if var not in self.given:
                    raise Unavailable("this input was not kept")
                return self.given[var]
            case Constant():
                return op.value
            case Call():
                return self._call(op)
        raise Unavailable("not an op")

    def refuses(self, op: Call) -> bool:
        """Tell whether an op is not to be run."""
        return is_users(op)

    def _call(self, op: Call) -> Any:
        if self.refuses(op):
            raise Unavailable(_not_run(op))
        missing = next((v for v in op.operands if v not in self.values), None)
        if missing is not None:
            raise Unavailable(f"needs {missing}, which has no value")
        args = map_vars(op.args, self.values.__getitem__)
        kwargs = {k: map_vars(v, self.values.__getitem__) for k, v in op.kwargs}
        if self.bounds is None:
            return op.fn(*args, **kwargs)
        self.bounds.admit(op, args, kwargs)
        value = op.fn(*args, **kwargs)
        self.bounds.accept(op, args, value)
        return value


def _not_run(op: Call) -> str:
    """Say why an op of the user's is not computed again."""
    leaves = leaves_in((op.args, [v for _, v in op.kwargs]))
    text = next((x for x in leaves if isinstance(x, Opaque)), None)
    if text is not None and not isinstance(op.fn, Opaque):
        return f"an operand was saved as text only: {text}"
    return f"{op.name} is not NumPy's: it is not run again"


def replay(
    tape: Tape,
    inputs: Sequence[Any],
    known: Mapping[Var, Any] | None = None,
    bounds: Bounds | None = None,
) -> tuple[dict[Var, Any], dict[Var, str]]:
    """Return values, and for each op without one the reason; the user's functions do not run.

    What comes from a file is computed within `bounds`.
    """
    replayed = Replayed(tape, inputs, bounds)
    replayed.run(known or {})
    return replayed.values, replayed.problems
