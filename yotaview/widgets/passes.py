"""View 2: the stages of the program and what each rewrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from yota.tape import Var
from yotaview.checks.passes import verified
from yotaview.checks.rewrites import TRIALS
from yotaview.model.mapping import short
from yotaview.render.difference import Diff, Effect, side_by_side, unified
from yotaview.render.header import Place
from yotaview.render.line import Page, plain
from yotaview.render.passes import (
    StageRows,
    has_effect,
    pipeline_page,
    rewrite_text,
    stage_page,
    why_page,
)
from yotaview.render.text import describe
from yotaview.widgets.background import Background
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import HUGE, WIDE, Box, View

if TYPE_CHECKING:
    from yota.program import Stage
    from yota.tape import Rewritten
    from yotaview.checks.rewrites import StageCheck

FIRST = "cse"
# so many ops are replayed unasked: a budget that does not depend on the machine
OPS = 200_000


class PassesView(Background, View):
    """The list of stages, the tape before and after one, and the reason for each rewrite."""

    why_pane = "reason"
    main_pane = "stages"
    unit: ClassVar[str] = "rewrite"
    flush: ClassVar[set[str]] = {"stages", "before", "after"}
    needs_program: ClassVar[bool] = True

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.stage_name = FIRST
        self.rewrite_at, self.context = 0, 1
        self.unified: bool | None = None
        self.all_stages = False
        self._effects: tuple[object, dict[str, Effect]] | None = None
        self._checks: tuple[object, dict[str, StageCheck]] | None = None
        self._begun: object = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {
            "stages": self.stages_page,
            "before": self.before,
            "after": self.after,
            "reason": self.reason,
            "pipeline": self.pipeline,
        }

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out the list at the left; the difference over its reason at the right."""
        left = 30 if width >= 100 else 28
        low = min(13 if width >= WIDE else 7, height // 2)
        rest, top = width - left, height - low
        found: dict[str, Box] = {"stages": (0, 0, left, height), "reason": (left, top, rest, low)}
        if width >= HUGE:
            wide = rest * 3 // 5
            found["reason"] = (left, top, wide, low)
            found["pipeline"] = (left + wide, top, rest - wide, low)
        if self.in_one(width):
            return found | {"before": (left, 0, rest, top)}
        half = rest // 2
        return found | {"before": (left, 0, half, top), "after": (left + half, 0, rest - half, top)}

    def in_one(self, width: int) -> bool:
        """Tell whether before and after stand in one column."""
        return width < WIDE if self.unified is None else self.unified

    def situation(self) -> tuple[object, ...]:
        """Return what a key can change here."""
        own = (self.stage_name, self.rewrite_at, self.context, self.unified, self.all_stages)
        return (*super().situation(), *own, self.busy)

    @property
    def stages(self) -> list[Stage]:
        """The stages in sight: without those that changed nothing, unless all are wanted."""
        found = self.session.program.stages
        return [s for s in found if self.all_stages or has_effect(s)]

    @property
    def at(self) -> int:
        """The current stage among those in sight: it, or the last one before it."""
        names = [s.name for s in self.stages]
        if self.stage_name in names:
            return names.index(self.stage_name)
        every = [s.name for s in self.session.program.stages]
        ahead = every[: every.index(self.stage_name)] if self.stage_name in every else every[:1]
        return max((names.index(n) for n in ahead if n in names), default=0)

    @property
    def stage(self) -> Stage:
        """The current stage."""
        return self.stages[self.at]

    def rewrite(self) -> int:
        """Return the number of the current rewrite, within those of the stage."""
        return max(0, min(self.rewrite_at, len(self.stage.rewrites) - 1))

    def effect(self) -> Effect:
        """Return all ops before and after the stage, found once for each."""
        opened, name = self.session.opened, self.stage.name
        if self._effects is None or self._effects[0] is not opened:
            self._effects = (opened, {})
        known = self._effects[1]
        if name not in known:
            stages = self.session.program.stages
            k = [s.name for s in stages].index(name)
            known[name] = Effect(stages[k - 1].tape if k else None, self.stage.tape, self.stage)
        return known[name]

    @property
    def checks(self) -> dict[str, StageCheck]:
        """What is known of the rewrites of the open call, by stage."""
        if self._checks is None or self._checks[0] is not self.session.opened:
            return {}
        return self._checks[1]

    def take(self, checks: list[StageCheck]) -> None:
        """Show what is known of the rewrites."""
        self._checks = (self.session.opened, {c.stage.name: c for c in checks})
        self.moved()

    def redraw(self) -> None:
        """Draw, and begin to verify the rewrites of a call that is shown for the first time."""
        super().redraw()
        opened = self.session.opened
        if self.display and not self.lacks and self._begun is not opened and not self.busy:
            self._begun = opened
            self.verify(min(TRIALS, max(OPS // max(len(self.session.tape), 1), 1)), self.take)

    def verify(
        self, trials: int, done: Callable[[list[StageCheck]], None], *, told: bool = False
    ) -> None:
        """Replay all rewrites in the background."""
        session = self.session.still()
        self.work(
            "verifying rewrites",
            lambda: verified(session, trials, float("inf"), self.stopper()),
            done,
            told=told,
        )

    def do_verify(self) -> None:
        """Verify the rewrites now and say what is known of the current one."""
        self.stop_quietly()
        self.verify(TRIALS, self.verified_now, told=True)

    def verified_now(self, checks: list[StageCheck]) -> None:
        """Say what the replay found for the current rewrite."""
        self.take(checks)
        check = self.checks.get(self.stage.name)
        if check is None or not check.verdicts:
            wrong = sum(bool(v.wrong) for c in checks for v in c.verdicts)
            total = sum(len(c.verdicts) for c in checks)
            self.tell(f"{total:,} rewrites verified, {wrong} wrong: this stage has none")
        else:
            self.tell(f"rewrite {self.rewrite() + 1}: {check.verdicts[self.rewrite()].text}")

    def chosen_rewrite(self) -> Rewritten | None:
        """Return the current rewrite, None for a stage without any."""
        rewrites = self.stage.rewrites
        return rewrites[self.rewrite()] if rewrites else None

    def diff(self) -> Diff:
        """Return what the panes of the tape are drawn from."""
        here, _ = self.session.mapped(self.session.at, self.stage.name)
        rewrite, count = self.chosen_rewrite(), len(self.stage.rewrites)
        title = (
            f"{self.stage.name} {self.rewrite() + 1:,}/{count:,}: {rewrite_text(rewrite)}"
            if rewrite
            else self.stage.name
        )
        about = f"{self.session.capture.name} › {self.session.row.name}"
        return Diff(self.effect(), self.context, here, rewrite, title, about)

    def stages_page(self, width: int, height: int) -> Page:
        """Return the list of stages."""
        return stage_page(self.session, self.stages, self.at, self.rewrite(), self.checks)

    def before(self, width: int, height: int) -> Page:
        """Return the tape before the stage, or both in one."""
        if self.in_one(self.size.width):
            return unified(self.session, self.diff())
        return side_by_side(self.session, self.diff())[0]

    def after(self, width: int, height: int) -> Page:
        """Return the tape after the stage."""
        return side_by_side(self.session, self.diff())[1]

    def reason(self, width: int, height: int) -> Page:
        """Return why the rewrite was made."""
        check = self.checks.get(self.stage.name)
        return why_page(
            self.session, self.stage, self.rewrite(), width, self.effect(), check, self.busy
        )

    def pipeline(self, width: int, height: int) -> Page:
        """Return all stages with their time."""
        return pipeline_page(self.session, self.stages, self.at, width)

    def header_place(self) -> Place:
        """Return stage, rewrite and op counts."""
        count = len(self.stage.rewrites)
        every = [s.name for s in self.session.program.stages]
        k = every.index(self.stage.name)
        before = len(self.session.program.stages[k - 1].tape) if k else 0
        place: Place = [(f"pass {k + 1}/{len(every)} {self.stage.name}", 0)]
        if count:
            place.append((f"rewrite {self.rewrite() + 1:,}/{count:,}", 1))
        _, why = self.session.mapped(self.session.at, self.stage.name)
        place.append(
            (f"{before}→{len(self.stage.tape)} ops" if k else f"{len(self.stage.tape)} ops", 2)
        )
        return [*place, (short(why) or str(self.session.at), 3)]

    def select(self, stage: int, rewrite: int) -> None:
        """Make a rewrite of a stage the current one."""
        stages = self.stages
        self.stage_name = stages[max(0, min(stage, len(stages) - 1))].name
        self.rewrite_at = rewrite
        self.moved()

    def walk(self, step: int) -> None:
        """Go to the next rewrite, into the next stage that has one after the last."""
        there = self.rewrite() + step
        if 0 <= there < len(self.stage.rewrites):
            self.select(self.at, there)
            return
        stage, stages = self.at + step, self.stages
        while 0 <= stage < len(stages) and not stages[stage].rewrites:
            stage += step
        if not 0 <= stage < len(stages):
            self.tell("no further rewrite")
            return
        self.select(stage, 0 if step > 0 else len(stages[stage].rewrites) - 1)

    def do_next(self) -> None:
        """Go to the next rewrite."""
        self.walk(1)

    def do_previous(self) -> None:
        """Go to the previous rewrite."""
        self.walk(-1)

    def do_first(self) -> None:
        """Go to the first stage."""
        self.select(0, 0)

    def do_last(self) -> None:
        """Go to the last stage."""
        self.select(len(self.stages) - 1, 0)

    def do_layout(self) -> None:
        """Show before and after beside each other, or in one column."""
        self.unified = not self.in_one(self.size.width)
        self.place()

    def do_hidden(self) -> None:
        """Show the passes that changed nothing, or not."""
        name = self.stage.name
        self.all_stages = not self.all_stages
        self.stage_name = name
        self.moved()
        every = self.session.program.stages
        hidden = [s.name for s in every if not has_effect(s)]
        what = ", ".join(hidden) or "no pass"
        self.tell(f"{'shown' if self.all_stages else 'hidden'}: {what}, which changed nothing")

    def do_group(self) -> None:
        """Show the passes that changed nothing, or not."""
        self.do_hidden()

    def do_more(self) -> None:
        """Show more unchanged ops around each change."""
        self.context = min(self.context * 2 + 1, 1023)
        self.redraw()

    def do_less(self) -> None:
        """Show fewer unchanged ops around each change."""
        self.context = max(self.context // 2, 0)
        self.redraw()

    def row_moved(self, pane: str, delta: int) -> None:
        """Go to another row of the list, a stage or a rewrite, or scroll."""
        if pane == "stages":
            self.choose_row(self.panes["stages"].page, delta)
        else:
            for name in ("before", "after"):
                self.panes[name].scroll_rows(delta)

    def choose_row(self, page: Page, delta: int) -> None:
        """Go by rows of the list: a step is a rewrite where the stage is unfolded."""
        rows = page.lines
        if not isinstance(rows, StageRows):
            return
        row = rows.cursor + delta
        if rows.rewrites and row == rows.at:
            row -= 1  # the stage's own row stands for its first rewrite
        row = max(0, min(row, len(rows) - 1))
        stage, rewrite = rows.place(row)
        back = rewrite is None and delta < 0
        last = len(self.stages[stage].rewrites) - 1 if back and abs(delta) == 1 else 0
        self.select(stage, rewrite if rewrite is not None else max(last, 0))

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Select what was clicked; open the op of the rewrite in Step."""
        rows = self.panes[pane].page.lines
        if isinstance(rows, StageRows) and not enter:
            stage, rewrite = rows.place(row)
            self.select(stage, rewrite or 0)
        if enter and (rewrite_here := self.chosen_rewrite()) is not None:
            var = rewrite_here.var
            if var in self.session.tape:
                self.goto(var)
                self.ask_view("step")
            else:
                self.tell(f"{var} was made by a pass: it is not on the recorded tape")

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in stages and rewrites, hidden ones too, then in the ops of the stage in sight."""
        every = self.session.program.stages
        found: list[tuple[Stage, int | None]] = [
            row for s in every for row in ((s, None), *((s, k) for k in range(len(s.rewrites))))
        ]
        ops = self.effect().changes
        here = (self.stage, self.rewrite() if self.stage.rewrites else None)
        at = next((k for k, (s, r) in enumerate(found) if s is here[0] and r == here[1]), 0)

        def text(k: int) -> str:
            if k >= len(found):
                change = ops[k - len(found)]
                op = change.after if change.after is not None else change.before
                return f"{change.var} = {describe(op)}" if op is not None else ""
            stage, rewrite = found[k]
            if rewrite is None:
                return stage.name
            record = stage.rewrites[rewrite]
            return f"{record.var} {rewrite_text(record)} {record.why}"

        def go(k: int) -> None:
            if k < len(found):
                stage, rewrite = found[k]
                self.all_stages = self.all_stages or not has_effect(stage)
                self.stage_name, self.rewrite_at = stage.name, rewrite or 0
                self.moved()
            else:
                self.show_op(ops[k - len(found)].var)

        return len(found) + len(ops), at, text, go

    def show_op(self, var: Var | None) -> None:
        """Go to an op of the stage, unfolding what hides it."""
        if var is not None and var in self.session.tape:
            self.session.goto(var)
        while var not in self.effect().shown(self.context).at and self.context < 1023:
            self.context = self.context * 2 + 1
        self.moved()

    def copy_text(self) -> str:
        """Return the difference as text."""
        return plain(unified(self.session, self.diff()).lines)
