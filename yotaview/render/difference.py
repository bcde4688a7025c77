"""A tape before and after a stage: every op once, unchanged ones folded, drawn when in sight."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from yota.tape import Call, Op, Rewritten, Tape, Var, format_op
from yotaview.render.line import Line, Page, Span, line
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, describe

if TYPE_CHECKING:
    from yota.program import Stage
    from yotaview.model.session import Session

GAP = "…"
HERE = "▸"


@dataclass(frozen=True, slots=True)
class Change:
    """One op before and after a stage: `kind` is same, removed, changed, added or gap."""

    kind: str
    var: Var | None = None
    before: Op | None = None
    after: Op | None = None
    count: int = 0
    first: Var | None = None


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
            same = a is b or _alike(var, a, b)
            found.append(Change("same" if same else "changed", var, a, b))
    return found


def _alike(var: Var, a: Op, b: Op) -> bool:
    same = getattr(a, "fn", None) is getattr(b, "fn", None)
    return same and format_op(var, a) == format_op(var, b)


class Effect:
    """All ops before and after a stage; where each stands does not depend on the rewrite chosen."""

    def __init__(self, before: Tape | None, after: Tape, stage: Stage | None = None) -> None:
        self.before, self.after, self.stage = before, after, stage
        self.changes = changes(before, after)
        self.live = [k for k, c in enumerate(self.changes) if c.kind != "same"]
        self.places = {c.var: k for k, c in enumerate(self.changes)}
        self.counts = len(before or ()), len(after)
        # what others were merged into is in sight with them, whichever is the current one
        rewrites = stage.rewrites if stage is not None else ()
        self.kept = frozenset(r.into for r in rewrites if r.kind == "merged" and r.into)
        self._shown: dict[int, Shown] = {}
        self._users: dict[bool, dict[Var, list[Var]]] = {}

    def shown(self, context: int) -> Shown:
        """Return the rows with so many unchanged ops around each change, made once."""
        if context not in self._shown:
            self._shown = {context: Shown(folded(self, self.kept, context))}
        return self._shown[context]

    def users(self, *, after: bool) -> dict[Var, list[Var]]:
        """Return the readers of each op before or after the stage."""
        if after not in self._users:
            tape = self.after if after else self.before
            self._users[after] = tape.users() if tape is not None else {}
        return self._users[after]


def folded(effect: Effect, keep: Collection[Var], context: int) -> list[Change]:
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
            rows.append(_gap_of(found, before + 1, index))
        rows.append(found[index])
    if len(found) - 1 > shown[-1]:
        rows.append(_gap_of(found, shown[-1] + 1, len(found)))
    return rows


def _gap_of(found: Sequence[Change], start: int, stop: int) -> Change:
    return Change("gap", found[stop - 1].var, count=stop - start, first=found[start].var)


class Shown:
    """Rows of a stage's effect with the place of each op among them."""

    def __init__(self, rows: Sequence[Change]) -> None:
        self.rows = rows
        self.unified = [(k, sign) for k, c in enumerate(rows) for sign in _signs(c)]
        self.at: dict[Var | None, int] = {}
        self.gaps: list[int] = []
        for k, change in enumerate(rows):
            if change.kind == "gap":
                self.gaps.append(k)
            else:
                self.at[change.var] = k
        self.starts: dict[int, int] = {}
        for n, (k, _) in enumerate(self.unified):
            self.starts.setdefault(k, n)

    def row_of(self, var: Var | None) -> int | None:
        """Return the row in which an op stands, that of the gap in which it is folded."""
        if var in self.at or var is None:
            return self.at.get(var)
        return next((k for k in self.gaps if within(self.rows[k], var)), None)


def within(change: Change, var: Var | None) -> bool:
    """Tell whether an op is folded in a gap."""
    first, last = change.first, change.var
    return var is not None and first is not None and last is not None and first <= var <= last


def _signs(change: Change) -> str:
    if change.kind == "changed":
        return "-+"
    return {"removed": "-", "added": "+", "gap": "g"}.get(change.kind, " ")


@dataclass(frozen=True)
class Diff:
    """What both layouts of a stage's effect are drawn from."""

    effect: Effect
    context: int
    here: Var | None
    rewrite: Rewritten | None
    title: str = ""
    about: str = ""

    @property
    def shown(self) -> Shown:
        """The rows, which are the same for every rewrite of the stage."""
        return self.effect.shown(self.context)

    @property
    def cursor(self) -> int:
        """The row of the current rewrite, else of the position."""
        wanted = self.rewrite.var if self.rewrite is not None else self.here
        return self.shown.row_of(wanted) or 0

    def mark(self, var: Var | None, sign: str) -> str:
        """Return the glyph of the current rewrite, or of the position where that is elsewhere."""
        rewritten = self.rewrite.var if self.rewrite is not None else None
        if var == rewritten and (sign == "-" or var != self.here):
            return NOW if sign == "-" else " "
        return HERE if var == self.here else " "


class UnifiedRows(Rows):
    """Before and after in one column."""

    def __init__(self, session: Session, diff: Diff) -> None:
        super().__init__(session)
        self.diff = diff

    def __len__(self) -> int:
        return len(self.diff.shown.unified)

    def row(self, index: int) -> Line:
        """Draw one line."""
        k, sign = self.diff.shown.unified[index]
        change = self.diff.shown.rows[k]
        if sign == "g":
            return _gap(change, self.diff)
        return _op_line(change, change.before if sign == "-" else change.after, sign, self.diff)


class SideRows(Rows):
    """One of two sides whose rows stand beside each other."""

    def __init__(self, session: Session, diff: Diff, *, after: bool) -> None:
        super().__init__(session)
        self.diff, self.after = diff, after

    def __len__(self) -> int:
        return len(self.diff.shown.rows)

    def row(self, index: int) -> Line:
        """Draw one line."""
        change = self.diff.shown.rows[index]
        if change.kind == "gap":
            return _gap(change, self.diff)
        op = change.after if self.after or change.kind == "same" else change.before
        changed = change.kind != "same" and op is not None
        sign = ("+" if self.after else "-") if changed else " "
        return _op_line(change, op, sign, self.diff)


def unified(session: Session, diff: Diff) -> Page:
    """Return before and after in one column."""
    rows = UnifiedRows(session, diff)
    cursor = diff.shown.starts.get(diff.cursor) if len(rows) else None
    return Page(rows, diff.title, "before → after", cursor)


def side_by_side(session: Session, diff: Diff) -> tuple[Page, Page]:
    """Return before and after as two pages whose rows stand beside each other."""
    cursor = diff.cursor if diff.shown.rows else None
    name = diff.effect.stage.name if diff.effect.stage is not None else ""
    first, second = diff.effect.counts
    return (
        Page(
            SideRows(session, diff, after=False), f"before {name} · {first} ops", diff.about, cursor
        ),
        Page(
            SideRows(session, diff, after=True), f"after {name} · {second} ops", diff.about, cursor
        ),
    )


def _gap(change: Change, diff: Diff) -> Line:
    plural = "" if change.count == 1 else "s"
    inside = within(change, diff.here) and diff.here is not None
    mark = Span(HERE, "current") if inside else Span("")
    what = f", {diff.here} among them" if inside else ""
    return line(
        mark, Span(f"{GAP} {change.count:,} op{plural} unchanged{what}  (+ shows more)", "dim")
    )


def _op_line(change: Change, op: Op | None, sign: str, diff: Diff) -> Line:
    if op is None:
        return ()
    role = {"-": "remove", "+": "add"}.get(sign, "")
    mark = Span(diff.mark(change.var, sign), "current")
    head = Span(f"{str(change.var).ljust(4)} = ", role)
    rewrite = diff.rewrite
    kept = rewrite is not None and rewrite.into == change.var and sign != "-"
    tail = Span("   ◀ kept" if kept and rewrite and rewrite.kind == "merged" else "", "note")
    return line(Span(sign, role), mark, head, *_body(change, op, role), tail)


def _body(change: Change, op: Op, role: str) -> list[Span]:
    """Return an op, and set off what of it changed: its function or single operands."""
    text = describe(op)
    other = change.before if op is change.after else change.after
    if change.kind != "changed" or other is None or not isinstance(op, Call):
        return [Span(text, role)]
    parts, others = text.split(", "), describe(other).split(", ")
    if len(parts) != len(others) or sum(a != b for a, b in zip(parts, others, strict=True)) == 0:
        return [Span(text, role)]
    found: list[Span] = []
    for k, (part, old) in enumerate(zip(parts, others, strict=True)):
        found.append(Span(", " if k else "", ""))
        found.append(Span(part, role if part != old else ""))
    return found
