"""Inputs from which no path leads to the result."""

from __future__ import annotations

from yota.tape import Tape
from yotaview.model.findings import Finding
from yotaview.model.flow import Lost, Paths

CHECK = "unused"
NO_PATH = "no path"


def find_unused(tape: Tape, lost: Lost | None = None) -> list[Finding]:
    """Return a note for each float input that no derivative reaches, at the op where it is cut.

    `lost` are the inputs without a path, where they are known already.
    """
    if tape.gradients is None:
        return []
    found = []
    for var, cuts in (Paths(tape).lost() if lost is None else lost).items():
        cut, more = cuts[0], f"; {len(cuts) - 1} more" if len(cuts) > 1 else ""
        what = f"input {getattr(tape[var], 'name', var)}: no path to the result"
        text = f"{what}, its gradient is zero: {cut.why}{more}"
        found.append(Finding(CHECK, "note", cut.var, text, cut.place, cut.function, NO_PATH))
    return found
