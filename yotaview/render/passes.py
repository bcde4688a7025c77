"""The stages of a program, what each rewrote, why, and whether that keeps the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from yota.passes import PASSES
from yota.tape import Call, Rewritten, Var
from yotaview.model.codemap import split
from yotaview.model.summary import format_number
from yotaview.render.difference import Effect, changes, folded
from yotaview.render.line import Line, Page, Span, bar, clean, cut, line, wrap_line
from yotaview.render.rows import Rows
from yotaview.render.text import NOW, describe

if TYPE_CHECKING:
    from yota.program import Stage
    from yotaview.checks.rewrites import StageCheck, Verdict
    from yotaview.model.session import Session

__all__ = ["Effect", "StageRows", "changes", "folded", "has_effect", "stage_page", "why_page"]

Checks = Mapping[str, "StageCheck"]
ROLES = {"✓": "ok", "≈": "ok", "✗": "alert", "?": "dim"}


def has_effect(stage: Stage) -> bool:
    """Tell whether a stage is shown unless all are: a pass that rewrote nothing is not."""
    return bool(stage.rewrites) or stage.name not in PASSES


class StageRows(Rows):
    """The stages, with the rewrites of the current one below it, each drawn when in sight."""

    def __init__(
        self, session: Session, stages: Sequence[Stage], at: int, rewrite: int, checks: Checks
    ) -> None:
        super().__init__(session)
        self.stages, self.at, self.rewrite, self.checks = stages, at, rewrite, checks
        self.rewrites = stages[at].rewrites

    def __len__(self) -> int:
        return len(self.stages) + len(self.rewrites)

    @property
    def cursor(self) -> int:
        """The row of the current rewrite, else of the current stage."""
        return self.at + (1 + self.rewrite if self.rewrites else 0)

    def place(self, row: int) -> tuple[int, int | None]:
        """Return the stage of a row, and which of the current one's rewrites stands there."""
        if self.at < row <= self.at + len(self.rewrites):
            return self.at, row - self.at - 1
        return (row if row <= self.at else row - len(self.rewrites)), None

    def row(self, index: int) -> Line:
        """Draw one line."""
        k, n = self.place(index)
        return self.stage_row(k) if n is None else self.rewrite_row(n)

    def stage_row(self, k: int) -> Line:
        """Draw a stage: what it did to the count of ops, how many rewrites, and their check."""
        stage, here = self.stages[k], k == self.at
        mark = Span(NOW, "current") if here else Span(" ")
        count = len(stage.rewrites)
        dots = "●" * count if count <= 3 else f"●×{count:,}"
        number = [s.name for s in self.session.program.stages].index(stage.name) + 1
        name = Span(stage.name.ljust(8), "title" if here else "")
        return line(
            mark,
            f" {number} ",
            name,
            delta(self.session, stage),
            Span(dots + " ", "note"),
            *_sum(self.checks.get(stage.name)),
        )

    def rewrite_row(self, n: int) -> Line:
        """Draw a rewrite with its verdict."""
        here, last = n == self.rewrite, n == len(self.rewrites) - 1
        mark = Span(NOW, "current") if here else Span(" ")
        check = self.checks.get(self.stages[self.at].name)
        sign = check.verdicts[n].sign if check is not None else "·"
        return line(
            Span(f" {'└' if last else '├'}", "dim"),
            mark,
            Span(f"{sign} ", ROLES.get(sign, "dim")),
            rewrite_text(self.rewrites[n]),
        )


def _sum(check: StageCheck | None) -> list[Span]:
    """Return the worst verdict of a stage as a glyph, with how many are wrong."""
    if check is None or not (check.verdicts or check.faults):
        return []
    wrong = sum(bool(v.wrong) for v in check.verdicts) + len(check.faults)
    if wrong:
        return [Span(f"✗ {wrong}", "alert")]
    signs = {v.sign for v in check.verdicts}
    sign = next((s for s in "?≈✓" if s in signs), "✓")
    return [Span(sign, ROLES[sign])]


def stage_page(
    session: Session,
    stages: Sequence[Stage],
    at: int,
    rewrite: int,
    checks: Checks | None = None,
) -> Page:
    """Return the list of stages, with the rewrites of the current one."""
    rows = StageRows(session, stages, at, rewrite, checks or {})
    hidden = len(session.program.stages) - len(stages)
    note = f"{hidden} hidden (a)" if hidden else f"{len(stages)} stages"
    return Page(rows, "Passes", note, rows.cursor)


def delta(session: Session, stage: Stage) -> str:
    """Return what a stage did to the count of ops, of the last two what they made."""
    stages = session.program.stages
    k = [s.name for s in stages].index(stage.name)
    if stage.name == "buffers":
        return f"{len(session.occupants().wholes):>4} bufs "
    if stage.name == "code":
        return f"{len(split(session.program.source())):>4} lines"
    if k == 0:
        return f"{len(stage.tape):>4} ops "
    change = len(stage.tape) - len(stages[k - 1].tape)
    return (f"+{change}" if change > 0 else f"−{-change}" if change else "0").rjust(4).ljust(6)


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


def why_page(
    session: Session,
    stage: Stage,
    number: int,
    width: int,
    effect: Effect | None = None,
    check: StageCheck | None = None,
    busy: str = "",
) -> Page:
    """Return all that a rewrite says of itself, and whether it keeps the value."""
    here = session.mapped(session.at, stage.name)[1]
    position = [_fact("here", here)] if here else []
    faults = (
        [_fact("fault", f"✗ {v}: {text}", "alert") for v, text in check.faults] if check else []
    )
    if not stage.rewrites:
        text = line(clean(WHAT.get(stage.name, "this stage rewrote nothing")))
        rows = [text, *faults, _fact("cost", _cost(session, stage)), *position]
        return Page(_wrapped(rows, width), f"Why: {stage.name}")
    rewrite = stage.rewrites[number]
    title = f"{stage.name} rewrite {number + 1:,}/{len(stage.rewrites):,}: {rewrite_text(rewrite)}"
    verdict = check.verdicts[number] if check is not None else None
    rows = [_fact("why", rewrite.why), _verdict(verdict, busy), *faults]
    if len(title) > width - 4:
        rows.insert(0, _fact("change", rewrite_text(rewrite)))
    rows += [
        _fact("effect", _effect(session, rewrite)),
        *(_users(effect, rewrite) if effect is not None else ()),
        _fact("source", _source(session, rewrite.var)),
        _fact("pass", _cost(session, stage)),
        *position,
    ]
    return Page(_wrapped(rows, width), cut(title, width - 4), "= verify")


WHAT = {
    "trace": "the ops that the function ran, in their order",
    "reverse": "the derivatives, appended to the same tape by each op's rule",
    "buffers": "which values share memory: view 3 shows every buffer over time",
    "code": "the generated function: view 3 shows it with the position",
}


def _wrapped(rows: Sequence[Line], width: int) -> list[Line]:
    return [p for row in rows for p in wrap_line(row, width, 8)]


def _fact(name: str, text: str, role: str = "") -> Line:
    return line(Span(name.ljust(8), "dim"), Span(clean(text), role))


def _verdict(verdict: Verdict | None, busy: str) -> Line:
    if verdict is None:
        return _fact("verify", f"{busy} …" if busy else "not yet: = replays it", "dim")
    return _fact("verify", verdict.text, ROLES.get(verdict.sign, ""))


def _source(session: Session, var: Var) -> str:
    op = session.tape.ops.get(var)
    if op is None or not op.origin.frames:
        return "no line of your code"
    text = session.source_line(op.origin.frames[0])
    return f"{op.origin.place}  {text.strip() if text else ''}"


def _cost(session: Session, stage: Stage) -> str:
    """Return op counts and time of a stage."""
    stages = session.program.stages
    k = [s.name for s in stages].index(stage.name)
    before = f"{len(stages[k - 1].tape):,} → " if k else ""
    count = len(stage.rewrites)
    many = f", {count:,} rewrite{'' if count == 1 else 's'}" if stage.name in PASSES else ""
    took = f", {seconds_text(stage.seconds)}" if stage.seconds else ""
    return f"{stage.name}: {before}{len(stage.tape):,} ops{many}{took}"


def _effect(session: Session, rewrite: Rewritten) -> str:
    readers = session.users(rewrite.var) if rewrite.var in session.tape else []
    named = _named(readers)
    saved = rewrite.before.spec.nbytes if isinstance(rewrite.before, Call) else 0
    if rewrite.kind == "merged":
        return f"{rewrite.var} removed, {saved:,} B less; {named or 'nothing'} reads {rewrite.into}"
    if rewrite.kind in ("dropped", "inside"):
        where = f"computed inside {rewrite.into}" if rewrite.into is not None else "removed"
        return f"{rewrite.var} {where}, {saved:,} B less; read by {named or 'nothing'}"
    new = f", now {describe(rewrite.after)}" if isinstance(rewrite.after, Call) else ""
    return f"{rewrite.var} {rewrite.kind}{new}"


def _named(vars_: Sequence[Var]) -> str:
    return ", ".join(map(str, vars_[:6])) + (f" … {len(vars_) - 6} more" if len(vars_) > 6 else "")


def _users(effect: Effect, rewrite: Rewritten) -> list[Line]:
    """Return who reads the op that stays, and how long it lives, before and after."""
    var = rewrite.into if rewrite.into is not None else rewrite.var
    before, after = (effect.users(after=side).get(var) for side in (False, True))
    if after is None:
        return []
    was = _named(before) or "nothing" if before is not None else "not there"
    users = f"of {var}: before {was} · after {_named(after) or 'nothing'}"
    until = [str(max(readers)) if readers else "the end" for readers in (before or (), after)]
    lives = f"{var} is read until {until[0]} before, until {until[1]} after"
    return [_fact("users", users), _fact("lives", lives)]


def pipeline_page(session: Session, stages: Sequence[Stage], at: int, width: int) -> Page:
    """Return op counts, rewrites and time of every stage, hidden ones included."""
    whole = session.program.stages
    top = max((s.seconds for s in whole), default=0.0)
    here = stages[at].name
    rows = []
    for stage in whole:
        head = f"{stage.name:<8} {len(stage.tape):>7,} ops {delta(session, stage)} "
        many = f"{len(stage.rewrites):>6,} rewrites " if stage.name in PASSES else " " * 16
        took = seconds_text(stage.seconds) if stage.seconds else ""
        room = max(width - len(head) - len(many) - 11, 0)
        share = bar(stage.seconds / top, room) if top else ""
        mark = "current" if stage.name == here else "" if has_effect(stage) else "dim"
        rows.append(line(Span(head, mark), Span(many, "note"), f"{took:>9} ", Span(share, "dim")))
    return Page(rows, "Pipeline", "ops, rewrites and time of each stage")


def stage_objects(session: Session) -> list[dict[str, object]]:
    """Return name, count of ops, change of it, rewrites and seconds of every stage."""
    stages = session.program.stages
    sizes = [len(s.tape) for s in stages]
    return [
        {
            "stage": s.name,
            "ops": sizes[k],
            "delta": sizes[k] - sizes[k - 1] if k else 0,
            "rewrites": len(s.rewrites),
            "seconds": s.seconds,
        }
        for k, s in enumerate(stages)
    ]


def seconds_text(seconds: float) -> str:
    """Return a duration in the unit that reads best."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * scale:  # what three digits round up to the unit
            return f"{format_number(float(f'{seconds / scale:.3g}'))} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
