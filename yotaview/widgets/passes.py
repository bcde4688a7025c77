"""View 2: the stages of the program and what each rewrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from yotaview.model.mapping import short
from yotaview.render.header import Place
from yotaview.render.line import Page, plain
from yotaview.render.passes import (
    Diff,
    Effect,
    folded,
    rewrite_text,
    side_by_side,
    stage_page,
    unified,
    why_page,
)
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State
from yotaview.widgets.view import WIDE, Box, View

if TYPE_CHECKING:
    from yota.program import Stage

FIRST = "cse"


class PassesView(View):
    """The list of stages, the tape before and after one, and the reason for each rewrite."""

    why_pane = "reason"
    main_pane = "stages"
    unit: ClassVar[str] = "rewrite"
    flush: ClassVar[set[str]] = {"stages", "before", "after"}
    needs_program: ClassVar[bool] = True

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.stage_at: int | None = None
        self.rewrite_at, self.context = 0, 1
        self.unified: bool | None = None
        self.changed_only = False
        self._effect: tuple[object, str, Effect] | None = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {
            "stages": self.stages_page,
            "before": self.before,
            "after": self.after,
            "reason": self.reason,
        }

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out the list at the left; the difference over its reason at the right."""
        left = 30 if width >= 100 else 28
        low = min(12 if width >= WIDE else 7, height // 2)
        rest, top = width - left, height - low
        found: dict[str, Box] = {"stages": (0, 0, left, height), "reason": (left, top, rest, low)}
        if self.in_one(width):
            return found | {"before": (left, 0, rest, top)}
        half = rest // 2
        return found | {"before": (left, 0, half, top), "after": (left + half, 0, rest - half, top)}

    def in_one(self, width: int) -> bool:
        """Tell whether before and after stand in one column."""
        return width < WIDE if self.unified is None else self.unified

    @property
    def stages(self) -> list[Stage]:
        """The stages in sight."""
        found = self.session.program.stages
        return (
            [s for s in found if s.rewrites or s.name in ("trace", "reverse")]
            if self.changed_only
            else found
        )

    @property
    def at(self) -> int:
        """The current stage."""
        stages = self.stages
        if self.stage_at is None:
            self.stage_at = next((k for k, s in enumerate(stages) if s.name == FIRST), 0)
        return min(self.stage_at, len(stages) - 1)

    @property
    def stage(self) -> Stage:
        """The current stage."""
        return self.stages[self.at]

    def rewrite(self) -> int:
        """Return the number of the current rewrite, within those of the stage."""
        return max(0, min(self.rewrite_at, len(self.stage.rewrites) - 1))

    def effect(self) -> Effect:
        """Return all ops before and after the stage."""
        opened, name = self.session.opened, self.stage.name
        if self._effect is None or self._effect[:2] != (opened, name):
            stages = self.session.program.stages
            k = [s.name for s in stages].index(name)
            self._effect = (
                opened,
                name,
                Effect(stages[k - 1].tape if k else None, self.stage.tape),
            )
        return self._effect[2]

    def diff(self) -> Diff:
        """Return what the panes of the tape are drawn from."""
        here, _ = self.session.mapped(self.session.at, self.stage.name)
        rewrites = self.stage.rewrites
        rewrite = rewrites[self.rewrite()] if rewrites else None
        keep = {
            v
            for v in (here, rewrite.var if rewrite else None, rewrite.into if rewrite else None)
            if v is not None
        }
        rows = folded(self.effect(), keep, self.context)
        title = (
            f"{self.stage.name} {self.rewrite() + 1}/{len(rewrites)}: {rewrite_text(rewrite)}"
            if rewrite
            else self.stage.name
        )
        return Diff(rows, here, rewrite, title)

    def stages_page(self, width: int, height: int) -> Page:
        """Return the list of stages."""
        return stage_page(self.session, self.stages, self.at, self.rewrite())

    def before(self, width: int, height: int) -> Page:
        """Return the tape before the stage, or both in one."""
        if self.in_one(self.size.width):
            return unified(self.diff(), width)
        return side_by_side(self.diff(), width)[0]

    def after(self, width: int, height: int) -> Page:
        """Return the tape after the stage."""
        return side_by_side(self.diff(), width)[1]

    def reason(self, width: int, height: int) -> Page:
        """Return why the rewrite was made."""
        return why_page(self.session, self.stage, self.rewrite(), width)

    def header_place(self) -> Place:
        """Return stage, rewrite and op counts."""
        count = len(self.stage.rewrites)
        k = [s.name for s in self.session.program.stages].index(self.stage.name)
        before = len(self.session.program.stages[k - 1].tape) if k else 0
        place: Place = [(f"pass {self.at + 1}/{len(self.stages)} {self.stage.name}", 0)]
        if count:
            place.append((f"rewrite {self.rewrite() + 1}/{count}", 1))
        _, why = self.session.mapped(self.session.at, self.stage.name)
        place.append(
            (f"{before}→{len(self.stage.tape)} ops" if k else f"{len(self.stage.tape)} ops", 2)
        )
        return [*place, (short(why) or str(self.session.at), 3)]

    def select(self, stage: int, rewrite: int) -> None:
        """Make a rewrite of a stage the current one."""
        self.stage_at, self.rewrite_at = max(0, min(stage, len(self.stages) - 1)), rewrite
        self.moved()

    def walk(self, step: int) -> None:
        """Go to the next rewrite, into the next stage that has one after the last."""
        there = self.rewrite() + step
        if 0 <= there < len(self.stage.rewrites):
            self.select(self.at, there)
            return
        stage = self.at + step
        while 0 <= stage < len(self.stages) and not self.stages[stage].rewrites:
            stage += step
        if not 0 <= stage < len(self.stages):
            self.tell("no further rewrite")
            return
        self.select(stage, 0 if step > 0 else len(self.stages[stage].rewrites) - 1)

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

    def do_group(self) -> None:
        """Leave out the stages that rewrote nothing, or not."""
        name = self.stage.name
        self.changed_only = not self.changed_only
        self.stage_at = next((k for k, s in enumerate(self.stages) if s.name == name), 0)
        self.moved()

    def do_more(self) -> None:
        """Show more unchanged ops around each change."""
        self.context = min(self.context * 2 + 1, 1023)
        self.redraw()

    def do_less(self) -> None:
        """Show fewer unchanged ops around each change."""
        self.context = max(self.context // 2, 0)
        self.redraw()

    def row_moved(self, pane: str, delta: int) -> None:
        """Go to another stage, or scroll."""
        if pane == "stages":
            self.select(self.at + delta, 0)
        else:
            for name in ("before", "after"):
                self.panes[name].scroll_rows(delta)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Select what was clicked; open the op of the rewrite in Step."""
        if pane == "stages":
            self.choose_stage(row)
        if enter and self.stage.rewrites:
            rewrite = self.stage.rewrites[self.rewrite()]
            if rewrite.var in self.session.tape:
                self.goto(rewrite.var)
                self.ask_view("step")

    def choose_stage(self, row: int) -> None:
        """Select the stage or rewrite of a row of the list."""
        count = len(self.stage.rewrites)
        if self.at < row <= self.at + count:
            self.select(self.at, row - self.at - 1)
        else:
            self.select(row if row <= self.at else row - count, 0)

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in the rewrites of all stages."""
        found = [(s, r) for s, stage in enumerate(self.stages) for r in range(len(stage.rewrites))]
        if not found:
            return super().find_rows()
        here = (self.at, self.rewrite())
        return (
            len(found),
            found.index(here) if here in found else 0,
            lambda k: rewrite_text(self.stages[found[k][0]].rewrites[found[k][1]]),
            lambda k: self.select(*found[k]),
        )

    def copy_text(self) -> str:
        """Return the difference as text."""
        return plain(unified(self.diff(), 200).lines)
