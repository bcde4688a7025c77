"""The frame of the one screen: header, tabs, view, time, alerts and keys around the views."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from yotaview.keys import BY_ACTION, KEYS, VIEWS, footer_hints
from yotaview.messages import RowChosen, Told, ViewAsked
from yotaview.render.header import alert_line, footer, header, step_place, tabs
from yotaview.render.lane import LEAD, call_lane, lane
from yotaview.render.line import Line
from yotaview.widgets.code import CodeView
from yotaview.widgets.graph import GraphView
from yotaview.widgets.pane import Bar
from yotaview.widgets.passes import PassesView
from yotaview.widgets.profile import ProfileView
from yotaview.widgets.prompt import Prompt
from yotaview.widgets.state import State
from yotaview.widgets.step import StepView
from yotaview.widgets.tapes import TapesView
from yotaview.widgets.view import View

if TYPE_CHECKING:
    from yotaview.model.completion import Choices
    from yotaview.model.session import Session

MAKE: dict[str, Callable[[str, State], View]] = {
    "step": StepView,
    "passes": PassesView,
    "code": CodeView,
    "graph": GraphView,
    "profile": ProfileView,
    "tapes": TapesView,
}
SHORT = 16


ENDS = {
    "next": "this is the last {}",
    "previous": "this is the first {}",
    "into": "this is the last {}",
    "back_into": "this is the first {}",
    "finish": "this is the last group",
    "back_finish": "this is the first group",
    "first": "this is the first {}",
    "last": "this is the last {}",
    "next_phase": "no further edge of a phase",
    "previous_phase": "no earlier edge of a phase",
}


def nothing_to_do(action: str, unit: str) -> str:
    """Say why a key changed nothing."""
    if action.startswith("view_"):
        return f"view {BY_ACTION[action].label} is in sight already"
    text = ENDS.get(action)
    return text.format(unit) if text else f"{BY_ACTION[action].label}: nothing to do here"


def bindings() -> list[BindingType]:
    """Return the bindings of the screen; panes have their own, the palette's is Textual's."""
    own = (k for k in KEYS if k.scope != "pane" and k.action != "commands")
    return [
        Binding(",".join(k.usual), f"act('{k.action}')", k.label, show=False, id=k.action)
        for k in own
    ]


class Base(Screen[int]):
    """Holds the views and what surrounds them; finds who handles a key."""

    BINDINGS: ClassVar[list[BindingType]] = bindings()
    AUTO_FOCUS = ""

    def __init__(self, state: State, view: str) -> None:
        super().__init__()
        self.state = state
        self.views = {name: MAKE[name](name, state) for name in VIEWS}
        self.view_name = view
        self.told = ""
        self.bars = {
            "header": Bar("header", self.draw_header),
            "tabs": Bar("tabs", lambda w: tabs(self.view_name, VIEWS, w)),
            "lane": Bar("lane", self.draw_lane, 2),
            "alert": Bar(
                "alert", lambda w: alert_line(self.session, state.marks, self.told, w), grows=True
            ),
            "footer": Bar("footer", self.draw_footer),
        }
        self.bars["choices"] = Bar("choices", self.draw_choices, grows=True)
        self.bars["choices"].display = False
        self.prompt = Prompt(self.answer, self.choices, self.show_choices)

    @property
    def session(self) -> Session:
        """The open session."""
        return self.state.session

    @property
    def view(self) -> View:
        """The view in sight."""
        return self.views[self.view_name]

    def compose(self) -> ComposeResult:
        """Yield header, tabs, views, lane, alerts, prompt and footer."""
        yield self.bars["header"]
        yield self.bars["tabs"]
        with Container(id="body"):
            yield from self.views.values()
        yield self.bars["lane"]
        yield self.bars["alert"]
        yield self.bars["choices"]
        yield self.prompt
        yield self.bars["footer"]

    def on_mount(self) -> None:
        """Show the first view; find what CSE merges in the background where the tape is long."""
        for widget in (
            *self.bars.values(),
            *(p for v in self.views.values() for p in v.panes.values()),
        ):
            widget.ascii = self.state.ascii
        self.show(self.view_name)
        self.call_after_refresh(gc.freeze)  # a collection of all that is felt as a late step

    def on_unmount(self) -> None:
        """Let go of what was kept from collection."""
        gc.unfreeze()

    def build(self) -> None:
        """Make the stages, code and times of a long tape in the background."""
        if self.state.waiting or self.state.built:
            return
        self.state.waiting = True
        derived = self.state.derived

        def make() -> None:
            derived.prepare_graph()
            self.app.call_from_thread(self.redraw)
            derived.prepare()
            self.app.call_from_thread(self.made)

        self.run_worker(make, thread=True, exclusive=True)

    def made(self) -> None:
        """Show what was made in the background."""
        self.state.waiting = False
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        """Drop the second row of the lane where there is no room for it."""
        self.bars["lane"].styles.height = 1 if event.size.height < SHORT else 2

    def draw_header(self, width: int) -> list[Line]:
        """Return the top line: the view's own position, that in time while the view waits."""
        place = step_place(self.session) if self.view.lacks else self.view.header_place()
        return header(self.session, place, width)

    def draw_lane(self, width: int) -> list[Line]:
        """Return the lane of time, of calls in Tapes."""
        if self.view_name == "tapes":
            return call_lane(self.session, width)
        return lane(self.session, self.state.marks, width)

    def draw_footer(self, width: int) -> list[Line]:
        """Return the keys of the view."""
        lesson = bool(self.session.capture.lesson)
        return footer(footer_hints(self.view_name), width, lesson=lesson)

    def show(self, name: str) -> None:
        """Bring a view into sight."""
        self.view_name = name
        for view in self.views.values():
            view.display = view.name == name
        self.view.place()
        self.view.focus_current()
        self.redraw()

    def redraw(self) -> None:
        """Draw the view and the bars anew, once where a key is repeated."""
        if self.state.held:
            return
        self.build()
        self.view.redraw()
        for bar in self.bars.values():
            bar.redraw()

    def tell(self, text: str) -> None:
        """Say something in the line of alerts until the next key."""
        self.told = text
        self.bars["alert"].redraw()

    def on_stepped(self) -> None:
        """Draw anew."""
        self.redraw()

    def on_told(self, event: Told) -> None:
        """Say what a view has to say."""
        self.tell(event.text)

    def on_view_asked(self, event: ViewAsked) -> None:
        """Show the view that another asked for."""
        self.told = ""
        self.show(event.name)

    def on_row_chosen(self, event: RowChosen) -> None:
        """Go where the lane or the tabs were clicked."""
        width = self.size.width
        if event.pane == "lane" and self.view_name != "tapes":
            share = (event.row - LEAD) / max(width - LEAD - 8, 1)
            self.session.move(self.session.stepper.percent(100 * max(0.0, min(share, 1.0))))
            self.redraw()
        elif event.pane == "tabs":
            text = "".join(s.text for s in tabs(self.view_name, VIEWS, width)[0])[: event.row + 1]
            number = next((c for c in reversed(text) if c.isdigit()), "")
            if number:
                self.show(VIEWS[int(number) - 1])

    def action_act(self, action: str) -> None:
        """Do what a key stands for: the view's way, or the screen's."""
        self.told = ""
        waits = self.view.lacks and action not in self.view.always
        if waits and BY_ACTION[action].scope == "view":
            self.tell(self.view.lacks)
            return
        before = self.situation()
        handler = getattr(self.view, f"do_{action}", None) or getattr(self, f"do_{action}", None)
        if handler is None and action.startswith("view_"):
            self.show(action.removeprefix("view_"))
        elif handler is not None:
            handler()
        if not self.told and self.situation() == before:
            self.told = nothing_to_do(action, self.view.unit)
        if not self.told:
            self.tell_part()
        self.bars["alert"].redraw()

    def situation(self) -> tuple[object, ...]:
        """Return what a key can change: where one is, and what is in sight."""
        session = self.session
        marks = (*session.stops.entries, *session.marks.items())
        shown = (self.view_name, self.prompt.display, len(self.app.screen_stack), self.app.theme)
        return session.place, marks, *shown, self.state.shown, self.view.situation()

    def choices(self, kind: str, text: str) -> Choices:
        """Return what can be written at the prompt."""
        raise NotImplementedError

    def draw_choices(self, width: int) -> list[Line]:
        """Return what can be written, within a third of the screen."""
        return self.prompt.lines(width, max(self.size.height // 3, 2))

    def show_choices(self) -> None:
        """Show what can be written, as long as there is something."""
        bar, size = self.bars["choices"], self.size
        rows = len(self.draw_choices(size.width)) if self.prompt.display else 0
        bar.display = rows > 0
        if rows:
            bar.styles.offset = (0, size.height - 1 - rows)
            bar.redraw()

    def travel(self, moved: bool, otherwise: str) -> None:
        """Draw anew after a move, or say why there was none."""
        self.redraw()
        if not moved:
            self.tell(otherwise)

    def tell_part(self) -> None:
        """Say which part of an op was done, where the view does not show it."""

    def answer(self, kind: str, text: str) -> None:
        """Do what was typed at the prompt."""
        raise NotImplementedError
