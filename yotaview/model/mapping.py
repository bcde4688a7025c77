"""Where an op of the recorded tape stands in a later stage, and why there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from yota.tape import Fate, Tape, Var


def map_var(
    var: Var, stage: Tape, users: Mapping[Var, Sequence[Var]], order: Sequence[Var], index: int
) -> tuple[Var | None, str]:
    """Return the op of `stage` that stands for `var`, with the reason where it is not itself.

    The reason begins with what became of `var`; behind a colon stands why.  `users` and `order`
    are those of the recorded tape, on which `var` is number `index`.
    """
    fate = stage.fates.get(var)
    if var in stage:
        return var, f"{var} {fate.kind}: {fate.why}" if fate is not None and fate.why else ""
    if fate is None:
        return None, f"{var} is not on this stage"
    fate = stage.where(var)
    if fate.into is not None and fate.into in stage:
        if fate.kind == "merged":
            return fate.into, _told(f"{var} ≡ {fate.into}", fate.why)
        run = "" if fate.iteration is None else f", iteration {fate.iteration}"
        return fate.into, _told(f"{var} → {fate.into}", f"{fate.kind}{run}: {fate.why}")
    if fate.kind == "inlined":
        user = next((u for u in users.get(var, ()) if u in stage), None)
        if user is not None:
            return user, _told(f"{var} inlined at {user}", fate.why)
    why = _unread(users.get(var, ()), stage) or fate.why
    return _dropped(fate, why, stage, order, index)


def _unread(readers: Sequence[Var], stage: Tape) -> str:
    """Say what became of the op that read a dropped one; empty where no op did."""
    fates = {r: stage.where(r) for r in readers if r in stage.fates}
    for reader, fate in fates.items():
        if fate.kind != "dropped":
            into = f" into {fate.into}" if fate.into is not None else ""
            return _told(f"needed no more since its reader {reader} is {fate.kind}{into}", fate.why)
    gone = next(iter(fates), None)
    return f"needed no more since its reader {gone} is dropped, too" if gone is not None else ""


def _dropped(
    fate: Fate, why: str, stage: Tape, order: Sequence[Var], index: int
) -> tuple[Var | None, str]:
    onward = next((order[k] for k in range(index + 1, len(order)) if order[k] in stage), None)
    if onward is None:
        return None, f"{_told(f'{fate.var} {fate.kind}', why)}; no op behind it is computed"
    return onward, _told(f"{fate.var} {fate.kind}, next is {onward}", why)


def _told(what: str, why: str) -> str:
    return f"{what}: {why}" if why else what


def short(reason: str) -> str:
    """Return the first part of a reason: what became of an op, without why."""
    return reason.partition(": ")[0]
