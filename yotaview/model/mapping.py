"""Where an op of the recorded tape stands in a later stage, and why there."""

from __future__ import annotations

from yota.tape import Tape, Var


def map_var(var: Var, recorded: Tape, stage: Tape) -> tuple[Var | None, str]:
    """Return the op of `stage` that stands for `var`, with the reason where it is not itself."""
    if var in stage:
        fate = stage.fates.get(var)
        return var, f"{var} {fate.kind}: {fate.why}" if fate is not None and fate.why else ""
    fate = stage.fates.get(var)
    if fate is None:
        return None, f"{var} is not on this stage"
    fate = stage.where(var)
    if fate.into is not None and fate.into in stage:
        sign = "≡" if fate.kind == "merged" else "→"
        text = f"{var} {sign} {fate.into}"
        return fate.into, text if fate.kind == "merged" else f"{text}, {fate.kind}: {fate.why}"
    if fate.kind == "inlined":
        user = _first_user(var, recorded, stage)
        if user is not None:
            return user, f"{var} is inlined at {user}: {fate.why}"
    onward = _next_live(var, recorded, stage)
    return onward, f"{var} dropped: {fate.why}" + (f"; next is {onward}" if onward else "")


def _first_user(var: Var, recorded: Tape, stage: Tape) -> Var | None:
    return next((u for u in recorded.users().get(var, ()) if u in stage), None)


def _next_live(var: Var, recorded: Tape, stage: Tape) -> Var | None:
    order = list(recorded.ops)
    if var not in recorded.ops:
        return None
    return next((v for v in order[order.index(var) + 1 :] if v in stage), None)
