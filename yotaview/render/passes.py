"""The stages of a program, what each rewrote, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from yota.tape import Call, Op, Rewritten, Tape, Var, format_op
from yotaview.model.codemap import split
from yotaview.model.summary import format_number
from yotaview.render.line import Line, Page, Span, clean, cut, line, wrap_line
from yotaview.render.text import NOW, describe

if TYPE_CHECKING:
    from yota.program import Stage
    from yotaview.model.session import Session

GAP = "…"
HERE = "▸"


@dataclass(frozen=True)
class Change:
    """One op before and after a stage: `kind` is same, removed, changed, added or gap."""

    kind: str
    var: Var | None = None
    before: Op | None = None
    after: Op | None = None
    count: int = 0


def stage_page(session: Session, stages: Sequence[Stage], at: int, rewrite: int) -> Page:
    """Return the list of stages, with the rewrites of the current one."""
    rows: list[Line] = []
    cursor = 0
    for k, stage in enumerate(stages):
        here = k == at
        if here:
            cursor = len(rows)
        mark = Span(NOW, "current") if here else Span(" ")
        count = len(stage.rewrites)
        dots = "●" * count if count <= 3 else f"●×{count}"
        name = Span(stage.name.ljust(8), "title" if here else "")
        rows.append(line(mark, f" {k + 1} ", name, _delta(session, stages, k), Span(dots, "note")))
        if here and stage.rewrites:
            cursor += 1 + rewrite
            rows += [
                _short(r, n == rewrite, n == len(stage.rewrites) - 1)
                for n, r in enumerate(stage.rewrites)
            ]
    return Page(rows, "Passes", f"{len(stages)} stages", cursor)


def _delta(session: Session, stages: Sequence[Stage], k: int) -> str:
    stage = stages[k]
    if stage.name == "buffers":
        return f"{len(session.program.plan().buffers):>4} bufs"
    if stage.name == "code":
        return f"{len(split(session.program.source())):>4} lines"
    if k == 0:
        return f"{len(stage.tape):>4} ops"
    change = len(stage.tape) - len(stages[k - 1].tape)
    return (f"+{change}" if change > 0 else f"−{-change}" if change else "0").rjust(4).ljust(6)


def _short(rewrite: Rewritten, here: bool, last: bool) -> Line:
    branch = "└" if last else "├"
    mark = Span(NOW, "current") if here else Span(" ")
    return line(Span(f"   {branch}", "dim"), mark, rewrite_text(rewrite))


def rewrite_text(rewrite: Rewritten) -> str:
    """Return a rewrite as `tanh(%7) ≡ %8`."""
    old = describe(rewrite.before) if rewrite.before is not None else str(rewrite.var)
    if rewrite.kind == "merged":
        return f"{old} ≡ {rewrite.into}"
    if rewrite.kind == "dropped":
        return f"− {rewrite.var} {old}"
    if rewrite.into is not None and rewrite.into != rewrite.var:
        return f"{old} → {rewrite.into}"
    new = describe(rewrite.after) if rewrite.after is not None else ""
    return f"{old} → {new}" if new else f"{rewrite.kind} {rewrite.var} {old}"


def changes(before: Tape | None, after: Tape) -> list[Change]:
    """Return every op of two tapes in the order of their numbers, with what became of it."""
    old = before.ops if before is not None else {}
    found = []
    for var in sorted(old.keys() | after.ops.keys()):
        a, b = old.get(var), after.ops.get(var)
        if a is None:
            found.append(Change("same" if before is None else "added", var, None, b))
        elif b is None:
            found.append(Change("removed", var, a))
        else:
            same = a is b or format_op(var, a) == format_op(var, b)
            found.append(Change("same" if same else "changed", var, a, b))
    return found


class Effect:
    """All ops before and after a stage, and where the changed ones stand."""

    def __init__(self, before: Tape | None, after: Tape) -> None:
        self.changes = changes(before, after)
        self.live = [k for k, c in enumerate(self.changes) if c.kind != "same"]
        self.places = {c.var: k for k, c in enumerate(self.changes)}


def folded(effect: Effect, keep: set[Var], context: int) -> list[Change]:
    """Return changes with `context` same ops around each, and gaps that count what is left out."""
    found = effect.changes
    live = {*effect.live, *(effect.places[v] for v in keep if v in effect.places)}
    shown = sorted(
        {j for k in live for j in range(max(k - context, 0), min(k + context + 1, len(found)))}
    )
    if not live:
        return list(found)
    rows: list[Change] = []
    for before, index in pairwise([-1, *shown]):
        if index - before > 1:
            rows.append(Change("gap", count=index - before - 1))
        rows.append(found[index])
    if len(found) - 1 > shown[-1]:
        rows.append(Change("gap", count=len(found) - 1 - shown[-1]))
    return rows


@dataclass(frozen=True)
class Diff:
    """What both layouts of a stage's effect are drawn from."""

    rows: Sequence[Change]
    here: Var | None
    rewrite: Rewritten | None
    title: str = ""

    def mark(self, var: Var | None, sign: str) -> str:
        """Return the glyph of the current rewrite, or of the position where that is elsewhere."""
        rewritten = self.rewrite.var if self.rewrite is not None else None
        if var == rewritten and (sign == "-" or var != self.here):
            return NOW if sign == "-" else " "
        return HERE if var == self.here else " "

    @property
    def cursor(self) -> int:
        """The row of the current rewrite, else of the position."""
        wanted = self.rewrite.var if self.rewrite is not None else self.here
        return next((k for k, c in enumerate(self.rows) if c.var == wanted), 0)


def unified(diff: Diff, width: int) -> Page:
    """Return before and after in one column."""
    rows: list[Line] = []
    cursor = 0
    for k, change in enumerate(diff.rows):
        if k == diff.cursor:
            cursor = len(rows)
        rows += _unified_rows(change, diff, width)
    return Page(rows, diff.title, "before → after", cursor if diff.rows else None)


def _unified_rows(change: Change, diff: Diff, width: int) -> list[Line]:
    if change.kind == "gap":
        return [_gap(change)]
    if change.kind in ("same", "added"):
        return [_op_line(change, change.after, "+" if change.kind == "added" else " ", diff)]
    rows = [_op_line(change, change.before, "-", diff)]
    if change.after is not None:
        rows.append(_op_line(change, change.after, "+", diff))
    return rows


def _gap(change: Change) -> Line:
    plural = "" if change.count == 1 else "s"
    return line(Span(f"{GAP} {change.count} op{plural} unchanged  (+ shows more)", "dim"))


def _op_line(change: Change, op: Op | None, sign: str, diff: Diff) -> Line:
    if op is None:
        return ()
    role = {"-": "remove", "+": "add"}.get(sign, "")
    mark = Span(diff.mark(change.var, sign), "current")
    text = f"{str(change.var).ljust(4)} = {describe(op)}"
    kept = diff.rewrite is not None and diff.rewrite.into == change.var and sign != "-"
    tail = (
        Span("   ◀ kept", "note")
        if kept and diff.rewrite and diff.rewrite.kind == "merged"
        else Span("")
    )
    return line(Span(sign, role), mark, Span(text, role), tail)


def side_by_side(diff: Diff, width: int) -> tuple[Page, Page]:
    """Return before and after as two pages whose rows stand beside each other."""
    left: list[Line] = []
    right: list[Line] = []
    for change in diff.rows:
        if change.kind == "gap":
            left.append(_gap(change))
            right.append(_gap(change))
            continue
        changed = change.kind != "same"
        before = change.after if change.kind == "same" else change.before
        left.append(_op_line(change, before, "-" if changed and before else " ", diff))
        right.append(_op_line(change, change.after, "+" if changed and change.after else " ", diff))
    cursor = diff.cursor if diff.rows else None
    counts = [
        sum(c.count if c.kind == "gap" else has(c) for c in diff.rows) for has in (_old, _new)
    ]
    return (
        Page(left, f"before · {counts[0]} ops", cursor=cursor),
        Page(right, f"after · {counts[1]} ops", cursor=cursor),
    )


def _old(change: Change) -> bool:
    return change.before is not None or change.kind == "same"


def _new(change: Change) -> bool:
    return change.after is not None


def why_page(session: Session, stage: Stage, number: int, width: int) -> Page:
    """Return all that a rewrite says of itself."""
    here = session.mapped(session.at, stage.name)[1]
    position = [_fact("here", here)] if here else []
    if not stage.rewrites:
        text = line(clean(WHAT.get(stage.name, "this stage rewrote nothing")))
        rows = [part for row in (text, *position) for part in wrap_line(row, width, 8)]
        return Page(rows, f"Why: {stage.name}")
    rewrite = stage.rewrites[number]
    title = f"{stage.name} rewrite {number + 1}/{len(stage.rewrites)}: {rewrite_text(rewrite)}"
    rows = [_fact("why", rewrite.why), _fact("source", _source(session, rewrite.var))]
    rows.append(_fact("effect", _effect(session, rewrite)))
    if len(title) > width - 4:
        rows.insert(0, _fact("change", rewrite_text(rewrite)))
    if rewrite.into is not None and rewrite.kind == "merged":
        rows.append(_fact("values", _compare(session, rewrite)))
    rows += position
    return Page([p for row in rows for p in wrap_line(row, width, 8)], cut(title, width - 4))


WHAT = {
    "trace": "the ops that the function ran, in their order",
    "reverse": "the derivatives, appended to the same tape by each op's rule",
    "buffers": "which values share memory: view 3 shows every buffer over time",
    "code": "the generated function: view 3 shows it with the position",
}


def _fact(name: str, text: str) -> Line:
    return line(Span(name.ljust(8), "dim"), clean(text))


def _source(session: Session, var: Var) -> str:
    op = session.tape.ops.get(var)
    if op is None or not op.origin.frames:
        return "no line of the user's code"
    text = session.source_line(op.origin.frames[0])
    return f"{op.origin.place}  {text.strip() if text else ''}"


def _effect(session: Session, rewrite: Rewritten) -> str:
    readers = session.users(rewrite.var) if rewrite.var in session.tape else []
    named = ", ".join(map(str, readers[:6])) + ("…" if len(readers) > 6 else "")
    if rewrite.kind == "merged":
        saved = rewrite.before.spec.nbytes if rewrite.before is not None else 0
        return f"{rewrite.var} removed, {saved:,} B less; {named or 'nothing'} reads {rewrite.into}"
    if rewrite.kind == "dropped":
        return f"{rewrite.var} removed; read by {named or 'nothing'}"
    new = f", now {describe(rewrite.after)}" if isinstance(rewrite.after, Call) else ""
    return f"{rewrite.var} {rewrite.kind}{new}"


def _compare(session: Session, rewrite: Rewritten) -> str:
    values = session.opened.values
    if rewrite.var not in values or rewrite.into is None or rewrite.into not in values:
        return "not recorded"
    a, b = values[rewrite.var], values[rewrite.into]
    same = getattr(a, "tobytes", lambda: repr(a))() == getattr(b, "tobytes", lambda: repr(b))()
    kind = session.tape[rewrite.var].spec.text(short=True)
    outcome = "bit-identical ✓" if same else "different"
    return f"{outcome}: recorded {kind} of {rewrite.var} and {rewrite.into}"


def seconds_text(seconds: float) -> str:
    """Return a duration in the unit that reads best."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * scale:  # what three digits round up to the unit
            return f"{format_number(float(f'{seconds / scale:.3g}'))} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
