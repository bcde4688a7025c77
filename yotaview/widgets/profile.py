"""View 5: time and live memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from yota.tape import Var
from yotaview.render.header import Place
from yotaview.render.line import Page, plain
from yotaview.render.passes import seconds_text
from yotaview.render.profile import by_line, by_op, by_phase, live_page
from yotaview.render.savings import savings_page
from yotaview.render.text import describe
from yotaview.widgets.background import Background
from yotaview.widgets.pane import Draw
from yotaview.widgets.state import State, Times
from yotaview.widgets.view import HUGE, WIDE, Box, View

GROUPINGS = ("op", "line", "phase", "stage")
MEASURING = "measuring the times of the ops: every other view works meanwhile, esc stops it"
GIVEN_UP = "not measured: = measures the times of the ops"


class ProfileView(Background, View):
    """Ops by time beside the bytes alive, source lines, and what passes and buffers save."""

    why_pane = "live"
    main_pane = "times"
    unit: ClassVar[str] = "row"
    flush: ClassVar[set[str]] = {"times"}
    needs_program: ClassVar[bool] = True
    always: ClassVar[set[str]] = {"verify"}

    def __init__(self, name: str, state: State) -> None:
        super().__init__(name, state)
        self.row, self.by, self.slowest_first = 0, GROUPINGS[0], True
        self.chart = 7
        self.given_up: object = None

    def draws(self) -> dict[str, Draw]:
        """Return the panes."""
        return {
            "times": self.times,
            "live": self.live,
            "lines": self.lines,
            "savings": self.savings,
        }

    @property
    def lacks(self) -> str:
        """Why the view has nothing to show: no program, or no times yet."""
        if (why := super().lacks) or self.state.derived.measured is not None:
            return why
        return GIVEN_UP if self.given_up is self.session.opened else MEASURING

    def redraw(self) -> None:
        """Draw the panes; the first time of a call, measure it in the background."""
        if self.lacks == MEASURING and not self.busy:
            self.measure()
        super().redraw()

    def measure(self) -> None:
        """Measure the open call in the background."""
        derived, opened = self.state.derived, self.session.opened
        self.given_up = None

        def done(times: Times) -> None:
            derived.measured = times
            self.moved()
            if self.display:
                self.tell(f"measured: median of {times.profile.runs} runs; = measures again")

        self.work("measuring", lambda: derived.measure(lambda: self.given_up is opened), done)

    def stop(self) -> bool:
        """Give up measuring; tell whether that was under way."""
        if not super().stop():
            return False
        self.given_up = self.session.opened
        self.redraw()
        return True

    def do_verify(self) -> None:
        """Measure again."""
        if super().lacks:
            self.tell(self.lacks)
            return
        if self.busy:
            self.tell("measuring: esc stops it")
            return
        self.session.opened.forget_profile()
        self.measure()

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Lay out times over the chart; beside chart and lines where it is wide."""
        if width < WIDE:
            low = min(self.chart, height // 2)
            return {"times": (0, 0, width, height - low), "live": (0, height - low, width, low)}
        left = round(width * (0.567 if width < HUGE else 0.43))
        low = min(11, height // 3)
        top = min(self.chart + 7, height - low - 6)
        rest = width - left
        found = {
            "times": (0, 0, left, height),
            "live": (left, 0, rest, top),
            "lines": (left, top, rest, height - top - low),
            "savings": (left, height - low, rest, low),
        }
        if height - top - low < 6:
            found["savings"] = (left, top, rest, height - top)
            del found["lines"]
        return found

    @property
    def order(self) -> list[Var]:
        """The ops in the order in sight."""
        times = self.state.derived.times
        return times.slowest if self.slowest_first else times.as_recorded

    def count(self) -> int:
        """Return how many rows the list has."""
        if self.by == "op":
            return len(self.order)
        lines = len(self.state.derived.times.lines)
        return {"line": lines, "phase": 2, "stage": 3}[self.by]

    def times(self, width: int, height: int) -> Page:
        """Return the list of times."""
        times = self.state.derived.times
        self.row = max(0, min(self.row, self.count() - 1))
        if self.by == "op":
            return by_op(self.session, times.profile, self.order, times.top, self.row, width)
        if self.by == "line":
            return by_line(self.session, times.lines, self.row, width)
        if self.by == "stage":
            return savings_page(times.savings, self.row, width)
        return by_phase(self.session, times.profile, self.row, width)

    def live(self, width: int, height: int) -> Page:
        """Return the chart of live bytes."""
        return live_page(self.session, self.state.derived.times.profile, width, height)

    def lines(self, width: int, height: int) -> Page:
        """Return the times of source lines."""
        return by_line(self.session, self.state.derived.times.lines, None, width)

    def savings(self, width: int, height: int) -> Page:
        """Return what passes and buffers save."""
        return savings_page(self.state.derived.times.savings, None, width)

    def header_place(self) -> Place:
        """Return the row, the total and how it was measured."""
        profile = self.state.derived.times.profile
        place: Place = [(f"row {self.row + 1}/{self.count()} by {self.by}", 0)]
        place.append((seconds_text(profile.total), 1))
        return [*place, (f"median of {profile.runs}", 2), (str(self.session.at), 3)]

    def select(self, row: int) -> None:
        """Make a row the current one."""
        self.row = max(0, min(row, self.count() - 1))
        self.moved()

    def do_next(self) -> None:
        """Go to the next row."""
        self.select(self.row + 1)

    def do_previous(self) -> None:
        """Go to the previous row."""
        self.select(self.row - 1)

    def do_first(self) -> None:
        """Go to the first row."""
        self.select(0)

    def do_last(self) -> None:
        """Go to the last row."""
        self.select(self.count() - 1)

    def do_layout(self) -> None:
        """Sort the ops by time, or in the order of the tape."""
        if self.by != "op":
            self.tell(f"a list by {self.by} has one order; t leads back to the ops")
            return
        self.slowest_first = not self.slowest_first
        self.moved()
        self.tell("slowest first" if self.slowest_first else "in the order of the tape")

    def do_group(self) -> None:
        """Add the times up by op, source line, phase or stage, in turn."""
        self.by = GROUPINGS[(GROUPINGS.index(self.by) + 1) % len(GROUPINGS)]
        self.moved()

    def do_more(self) -> None:
        """Draw the chart taller."""
        self.chart = min(self.chart + 2, 13)
        self.place()

    def do_less(self) -> None:
        """Draw the chart lower."""
        self.chart = max(self.chart - 2, 5)
        self.place()

    def row_moved(self, pane: str, delta: int) -> None:
        """Go by rows."""
        self.select(self.row + delta)

    def row_chosen(self, pane: str, row: int, enter: bool) -> None:
        """Make the clicked row the current one; open its op in Step."""
        if pane != "times":
            return
        heads = self.by in ("op", "stage")
        self.select(row - 1 if heads else row // 2 if self.by == "line" else row)
        var = self.var()
        if enter and var is not None:
            self.goto(var)
            self.ask_view("step")

    def var(self) -> Var | None:
        """Return the op of the current row."""
        if self.by == "op":
            return self.order[self.row]
        if self.by == "line":
            return self.state.derived.times.lines[self.row][-1]
        return None

    def find_rows(self) -> tuple[int, int, Callable[[int], str], Callable[[int], None]]:
        """Look in the ops in the order in sight."""
        if self.by != "op":
            return super().find_rows()
        order, tape = self.order, self.session.tape
        return len(order), self.row, lambda k: f"{order[k]} {describe(tape[order[k]])}", self.select

    def copy_text(self) -> str:
        """Return the list as text."""
        return plain(self.times(100, 40).lines)
