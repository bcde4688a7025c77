"""How large cotangents are from the result back to the inputs, and what is wrong with one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from yota.tape import Call, Tape, Var, format_call
from yotaview.model.findings import Finding
from yotaview.model.flow import Lost, Paths
from yotaview.model.passing import find_saturated, why_nothing_passes
from yotaview.model.summary import format_number, norm_of, numeric
from yotaview.model.unused import find_unused

CHECK = "flow"
LOW, HIGH = 1e-8, 1e8
TOLD = f"dead: exactly 0; vanishing: below {LOW:g} × ‖seed‖; exploding: above {HIGH:g} × ‖seed‖"

State = Literal["", "dead", "vanishing", "exploding", "not finite"]
Users = Callable[[Var], Sequence[Var]]


def size_of(value: Any) -> float | None:
    """Return the Euclidean norm of a value, NaN where it is not finite, None where it has none."""
    x = numeric(value)
    if x is None or x.dtype.kind not in "fc" or x.size == 0:
        return None
    if not np.isfinite(x).all():
        return math.nan
    with np.errstate(all="ignore"):
        return norm_of(
            x if x.dtype == np.longdouble else x.astype(complex if x.dtype.kind == "c" else float)
        )


def short_number(size: float | None) -> str:
    """Return a norm with three significant digits."""
    if size is None:
        return "none"
    return format_number(float(f"{size:.3g}")) if math.isfinite(size) else "not finite"


def judged(size: float | None, seed: float) -> State:
    """Return what is wrong with a cotangent of this norm, '' if nothing is."""
    if size is None:
        return ""
    if not math.isfinite(size):
        return "not finite"
    if size == 0:
        return "dead"
    if size < LOW * seed:
        return "vanishing"
    return "exploding" if size > HIGH * seed else ""


def seed_size(tape: Tape, values: Mapping[Var, Any]) -> float:
    """Return the norm of the result's own cotangent, 1 where it is not known or not of use."""
    found = [tape.seed] if tape.seed is not None else []
    found += [c for v in tape.result_vars if (c := tape.cotangents.get(v)) is not None]
    sizes = (size_of(values.get(v)) for v in found)
    return next((s for s in sizes if s is not None and 0 < s < math.inf), 1.0)


@dataclass(frozen=True, slots=True)
class Turn:
    """Where on the way to an input the cotangent changes most: the op whose rule does it."""

    var: Var
    before: float
    after: float


def turn(
    tape: Tape, values: Mapping[Var, Any], users: Users, var: Var, *, rising: bool = False
) -> Turn | None:
    """Return where the cotangent falls most, or rises, on the strongest way from an input."""
    at, own = var, _cotangent(tape, values, var)
    best, found = 0.0, None
    while own is not None:
        sizes = {u: _cotangent(tape, values, u) for u in users(at) if u in tape.cotangents}
        known = {u: s for u, s in sizes.items() if s is not None and math.isfinite(s)}
        if not known:
            return found
        reader = max(known, key=lambda u: known[u])
        change = _change(known[reader], own, rising)
        if change > best:
            best, found = change, Turn(reader, known[reader], own)
        at, own = reader, known[reader]
    return found


def _change(before: float, after: float, rising: bool) -> float:
    """Return how many powers of ten a cotangent falls, or rises."""
    if before == 0 or after == 0:
        return math.inf if after == 0 != before and not rising else 0.0
    return (math.log10(after) - math.log10(before)) * (1 if rising else -1)


def _cotangent(tape: Tape, values: Mapping[Var, Any], var: Var) -> float | None:
    made = tape.cotangents.get(var)
    return size_of(values[made]) if made is not None and made in values else None


@dataclass(frozen=True, slots=True)
class Arrival:
    """What arrives at an input: the norm of its gradient, and what is wrong with it."""

    var: Var
    name: str
    cotangent: Var | None
    size: float | None
    state: State
    cut: str = ""


def arrivals(tape: Tape, values: Mapping[Var, Any], lost: Lost | None = None) -> list[Arrival]:
    """Return every floating input that is differentiated, in the order of the arguments.

    `lost` are the inputs without a path, where they are known already.
    """
    lost, seed = Paths(tape).lost() if lost is None else lost, seed_size(tape, values)
    found = []
    for var in tape.inputs:
        made = tape.cotangents.get(var)
        if (made is None and var not in lost) or var == tape.seed:
            continue
        name = str(getattr(tape[var], "name", var))
        if var in lost:
            found.append(Arrival(var, name, made, None, "", lost[var][0].text))
            continue
        size = _cotangent(tape, values, var)
        found.append(Arrival(var, name, made, size, judged(size, seed)))
    return found


def find_flow(tape: Tape, values: Mapping[Var, Any], users: Users, name: str = "") -> list[Finding]:
    """Return an alarm for each input whose gradient is dead, vanishes or explodes.

    An input without a path is a note, as is an op that is saturated.  What is not finite is the
    business of another check.
    """
    if tape.gradients is None:
        return []
    seed, lost = seed_size(tape, values), Paths(tape).lost()
    found = [replace(f, check=CHECK) for f in find_unused(tape, lost)]
    for arrival in arrivals(tape, values, lost):
        if arrival.state and arrival.state != "not finite":
            found.append(_judgement(tape, values, users, arrival, seed, name))
    return [*found, *find_saturated(tape, values, name)]


def _judgement(
    tape: Tape, values: Mapping[Var, Any], users: Users, a: Arrival, seed: float, name: str
) -> Finding:
    at = turn(tape, values, users, a.var, rising=a.state == "exploding")
    size = short_number(a.size)
    bound = {"vanishing": LOW, "exploding": HIGH}.get(a.state)
    limit = "" if bound is None else f", {'below' if bound == LOW else 'above'} {bound:g} × ‖seed‖"
    if bound is not None and seed != 1:
        limit += f" = {short_number(bound * seed)}"
    where = "" if at is None else _where(tape, at, a.state)
    stopped = at is not None and a.state == "dead"
    why, cure = why_nothing_passes(tape, values, at.var) if at and stopped else ("", "")
    text = f"input {a.name}: gradient is {a.state}, norm {size}{limit}{where}"
    text = f"{text}: {why}" if why else text
    var = a.var if at is None else at.var
    op = tape[var]
    function = op.origin.frames[0].qualname if op.origin.frames else name
    return Finding(CHECK, "alarm", var, text, op.origin.place, function, a.state, cure=cure)


def _where(tape: Tape, at: Turn, state: State) -> str:
    op = tape[at.var]
    word = "rises" if state == "exploding" else "falls"
    call = format_call(op) if isinstance(op, Call) else ""
    change = (
        f"{format_number(float(f'{at.before:.3g}'))} to {format_number(float(f'{at.after:.3g}'))}"
    )
    return f"; it {word} most through {at.var} {call}, from {change}"
