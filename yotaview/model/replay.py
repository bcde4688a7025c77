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


def seed_of(tape: Tape) -> Var | None:
    """Return the op that the reverse pass starts from, None if there is no reverse pass."""
    start = tape.reverse_start
    if tape.seed is not None or start is None or start not in tape:
        return tape.seed
    return start if tape[start].origin.role == "seed" else None


def replay(
    tape: Tape, inputs: Sequence[Any], known: Mapping[Var, Any] | None = None
) -> tuple[dict[Var, Any], dict[Var, str]]:
    """Return values, and for each op without one the reason; the user's functions do not run."""
    given = dict(zip(tape.inputs, inputs, strict=False))
    known = known or {}
    values: dict[Var, Any] = {}
    problems: dict[Var, str] = {}
    with quiet():
        for var, op in tape:
            if var in known:
                values[var] = known[var]
                continue
            try:
                values[var] = _compute(var, op, values, given)
            except Exception as error:  # shown in the op's own cell
                problems[var] = _reason(op, error, values)
    return values, problems


class Unavailable(Exception):  # noqa: N818 - what it says
    """A value cannot be had; the text says why."""


def _compute(var: Var, op: Op, values: dict[Var, Any], given: Mapping[Var, Any]) -> Any:
    match op:
        case Input():
            if var not in given:
                raise Unavailable("this input was not kept")
            return given[var]
        case Constant():
            return op.value
        case Call():
            if is_users(op):
                raise Unavailable(f"{op.name} is not NumPy's: it is not run again")
            args = map_vars(op.args, values.__getitem__)
            kwargs = {k: map_vars(v, values.__getitem__) for k, v in op.kwargs}
            return op.fn(*args, **kwargs)
    raise Unavailable("not an op")


def _reason(op: Op, error: Exception, values: Mapping[Var, Any]) -> str:
    if isinstance(error, KeyError) and isinstance(op, Call):
        missing = next((v for v in op.operands if v not in values), None)
        if missing is not None:
            return f"needs {missing}, which has no value"
    return str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
