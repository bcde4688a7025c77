"""Where an op of the recorded tape stands in a later stage, and why there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from yota.tape import Tape, Var


def map_var(
    var: Var, stage: Tape, users: Mapping[Var, Sequence[Var]], order: Sequence[Var], index: int
) -> tuple[Var | None, str]:
    """Return the op of `stage` that stands for `var`, with the reason where it is not itself.

    `users` and `order` are those of the recorded tape, on which `var` is number `index`.
    """
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
        user = next((u for u in users.get(var, ()) if u in stage), None)
        if user is not None:
            return user, f"{var} is inlined at {user}: {fate.why}"
    onward = next((order[k] for k in range(index + 1, len(order)) if order[k] in stage), None)
    return onward, f"{var} dropped: {fate.why}" + (f"; next is {onward}" if onward else "")
