"""A what-if beside what was recorded: where they part, and results and gradients of both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from yota.tape import Guard, Input, Var
from yotaview.model.replay import quiet
from yotaview.model.summary import format_number, norm_of, numeric
from yotaview.model.whatif import Branch, Forks, Planned, changed
from yotaview.render.line import Line, Page, Span, clean, cut, line, wrap_line
from yotaview.render.text import ALERT, NOW, describe

if TYPE_CHECKING:
    from yotaview.model.session import Session

HOW = "e: a number switches, drop 2 discards, another edit goes on from here"


def whatif_page(session: Session, forks: Forks, width: int) -> Page:
    """Return the branch in sight beside the original, and all branches."""
    branch = forks.branch
    rows = [] if branch is None else branch_lines(session, forks, branch)
    rows += [(), *listed(forks), line(Span(HOW, "dim"))]
    broken = [part for row in rows for part in (wrap_line(row, width, 4) if row else [row])]
    title = "What-if" if branch is None else f"What-if {branch.number}: {clean(branch.text)}"
    return Page(broken, title, "esc closes")


def branch_lines(session: Session, forks: Forks, branch: Branch) -> list[Line]:
    """Return what was run, what broke, where values part, and the outcome before and after."""
    base = forks.base
    differ = changed(base, branch)
    total = len(base.tape)
    rows = [line(f"{len(branch.ran):,} of {total:,} ops depend on it and were run again")]
    rows += [_guard(g, branch) for g in branch.broken]
    new = {v: why for v, why in branch.problems.items() if v not in base.problems}
    for var, why in list(new.items())[:3]:
        rows.append(line(Span(f"{ALERT} {var} {clean(describe(base.tape[var]))}: {why}", "alert")))
    if len(new) > 3:
        rows.append(line(Span(f"  3 of {len(new)} ops without a value shown", "alert")))
    first = next((v for v in differ if v not in branch.edited), None)
    if first is not None:
        rows.append(_first(base, branch, first))
    elif not new:
        rows.append(line(Span("no op has another value to the last bit", "note")))
    rows += [(), line(Span(f"{'':<24}{'before':>14}{'after':>14}   change", "dim"))]
    return [*rows, *(_outcome(name, base, branch, v) for name, v in outcomes(session))]


def _guard(guard: Guard, branch: Branch) -> Line:
    place = guard.origin.place
    where = f"the branch at {place}" if place else "a branch of the function"
    told = f"{guard.var} was {guard.expected!r} there, now {branch.values[guard.var]!r}"
    what = "would go the other way" if guard.how == "bool" else "read another value"
    text = f"{ALERT} {where} {what} ({clean(told)}): the tape no longer tells what f does"
    return line(Span(text, "alert"))


def _first(base: Any, branch: Branch, var: Var) -> Line:
    op = base.tape[var]
    return line(
        "first to differ: ", Span(str(var), "number"), f" {clean(describe(op))}  ",
        Span(op.origin.place, "dim"), f"  {apart(base.values.get(var), branch.values.get(var))}",
    )  # fmt: skip


def apart(before: Any, after: Any) -> str:
    """Say how far two values are apart."""
    x, y = numeric(before), numeric(after)
    if x is None or y is None or x.shape != y.shape or not x.size:
        return "another value"
    with quiet():
        gap = np.abs(np.subtract(y, x, dtype=np.result_type(x, y, np.float64)))
    if x.ndim == 0:
        return f"{format_number(x[()])} → {format_number(y[()])}"
    at = np.unravel_index(int(np.argmax(np.where(np.isnan(gap), np.inf, gap))), gap.shape)
    index = ",".join(str(int(k)) for k in at)
    return f"most at [{index}]: {format_number(x[at])} → {format_number(y[at])}"


def outcomes(session: Session) -> list[tuple[str, Var]]:
    """Return the results and gradients of the open call with what they are called."""
    tape = session.tape
    results = tape.result_vars
    names = [(session.row.name if len(results) == 1 else f"result {v}", v) for v in results]
    gradients = [
        (f"‖∂{op.name}‖", tape.cotangents[v])
        for v, op in tape
        if isinstance(op, Input) and tape.cotangents.get(v) in tape.ops
    ]
    return [*dict.fromkeys(names), *gradients]


def _outcome(name: str, base: Any, branch: Branch, var: Var) -> Line:
    before, after = _size(base.values.get(var)), _size(branch.values.get(var))
    change, role = _change(before, after)
    shown = f"{cut(clean(name), 22):<24}{_text(before):>14}{_text(after):>14}"
    return line(shown, Span(f"   {change}", role))


def _size(value: Any) -> Any:
    """Return a number as it is, of an array the norm."""
    x = numeric(value)
    if x is None or x.size == 0:
        return None
    with quiet():
        return x.reshape(-1)[0] if x.size == 1 else norm_of(x)


def _text(x: Any) -> str:
    return "no value" if x is None else format_number(x)


def _change(before: Any, after: Any) -> tuple[str, str]:
    if before is None or after is None:
        return "no value", "alert"
    if before == after:
        return "the same", "dim"
    if not np.isfinite(after):
        return f"{ALERT} not finite now", "alert"
    if not np.isfinite(before):
        return "finite now", "ok"
    if np.iscomplexobj(after) or before == 0:
        return "another", "note"
    share = 100 * (float(after) - float(before)) / abs(float(before))
    return (f"{share:+.3g} %" if math.isfinite(share) else "another"), "note"


def listed(forks: Forks) -> list[Line]:
    """Return all branches, the one in sight marked."""
    rows = [_listed(0, "as recorded", forks)]
    return rows + [_listed(b.number, _told(b), forks) for b in forks.branches]


def _told(branch: Branch | Planned) -> str:
    later = "   not run yet: its number runs it" if isinstance(branch, Planned) else ""
    return f"{clean(branch.text)}{later}"


def _listed(number: int, text: str, forks: Forks) -> Line:
    mark = NOW if number == forks.current else " "
    return line(Span(f"{mark} ", "current"), Span(f"{number:<4}", "number"), text)
