"""The one screen: header, tabs, the view, time, alerts, keys; every key ends here or in the view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input

from yotaview.export import ExportError, Selection, export
from yotaview.keys import BY_ACTION, FOOTERS, KEYS, VIEWS, footer_hints
from yotaview.messages import RowChosen, Stepped, Told, ViewAsked
from yotaview.model.goto import GotoError
from yotaview.render.header import alert_line, footer, header, step_place, tabs
from yotaview.render.lane import LEAD, call_lane, lane
from yotaview.render.line import Line
from yotaview.render.tapes import output_page
from yotaview.screens.text import TextScreen, help_page
from yotaview.widgets.code import CodeView
from yotaview.widgets.graph import GraphView
from yotaview.widgets.pane import Bar
from yotaview.widgets.passes import PassesView
from yotaview.widgets.profile import ProfileView
from yotaview.widgets.prompt import Prompt
from yotaview.widgets.state import State
from yotaview.widgets.step import StepView
from yotaview.widgets.tapes import TapesView
from yotaview.widgets.view import WAIT, View

if TYPE_CHECKING:
    from yotaview.model.session import Session

MAKE: dict[str, Callable[[str, State], View]] = {
    "step": StepView,
    "passes": PassesView,
    "code": CodeView,
    "graph": GraphView,
    "profile": ProfileView,
    "tapes": TapesView,
}
PROMPTS = {
    "goto": (":", "46, +10, 10n, %46, 50%, line 9, seed, call 731"),
    "find": ("/", "text to find"),
    "export": ("export to ", "FILE.svg .dot .png .html .json .md .csv .txt …"),
    "copy_file": ("write to ", "FILE"),
}
SHORT = 16


def bindings() -> list[BindingType]:
    """Return the bindings of the screen; panes have their own, the palette's is Textual's."""
    own = (k for k in KEYS if k.scope != "pane" and k.action != "commands")
    return [
        Binding(",".join(k.keys), f"act('{k.action}')", k.label, show=False, id=k.action)
        for k in own
    ]


class MainScreen(Screen[int]):
    """Holds the views and what surrounds them."""

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
            "alert": Bar("alert", lambda w: alert_line(self.session, state.marks, self.told, w)),
            "footer": Bar("footer", lambda w: footer(footer_hints(self.view_name), w)),
        }
        self.prompt = Prompt(self.answer)

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

    def build(self) -> None:
        """Make the stages, code and times of a long tape in the background."""
        if self.state.waiting or self.state.built:
            return
        self.state.waiting = True
        derived = self.state.derived

        def make() -> None:
            _ = derived.prepared
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
        place = step_place(self.session) if self.view.waits else self.view.header_place()
        return header(self.session, place, width)

    def draw_lane(self, width: int) -> list[Line]:
        """Return the lane of time, of calls in Tapes."""
        if self.view_name == "tapes":
            return call_lane(self.session, width)
        return lane(self.session, self.state.marks, width)

    def show(self, name: str) -> None:
        """Bring a view into sight."""
        self.view_name = name
        for view in self.views.values():
            view.display = view.name == name
        self.view.place()
        self.view.focus_current()
        self.redraw()

    def redraw(self) -> None:
        """Draw the view and the bars anew."""
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
        if self.view.waits and BY_ACTION[action].scope == "view":
            self.tell(WAIT)
            return
        handler = getattr(self.view, f"do_{action}", None) or getattr(self, f"do_{action}", None)
        if handler is None and action.startswith("view_"):
            self.show(action.removeprefix("view_"))
        elif handler is not None:
            handler()
        self.bars["alert"].redraw()

    def travel(self, moved: bool, otherwise: str) -> None:
        """Draw anew after a move, or say why there was none."""
        self.redraw()
        if not moved:
            self.tell(otherwise)

    def do_continue(self) -> None:
        """Go to the next breakpoint or alert."""
        self.run_to(forward=True)

    def do_back_continue(self) -> None:
        """Go to the previous breakpoint or alert."""
        self.run_to(forward=False)

    def run_to(self, *, forward: bool) -> None:
        """Go to a breakpoint or alert, else to the end."""
        stop = self.state.next_stop(forward)
        steps = self.session.stepper
        self.session.move(
            steps.goto(stop) if stop is not None else steps.last() if forward else steps.first()
        )
        self.travel(
            stop is not None, f"no further breakpoint or alert: the {'end' if forward else 'start'}"
        )

    def do_next_phase(self) -> None:
        """Go to the next edge of a phase."""
        self.session.move(self.session.stepper.next_phase())
        self.redraw()

    def do_previous_phase(self) -> None:
        """Go to the previous edge of a phase."""
        self.session.move(self.session.stepper.previous_phase())
        self.redraw()

    def do_twin(self) -> None:
        """Go between an op and the op that completes its cotangent."""
        twin = self.session.twin(self.session.at)
        if twin is not None:
            self.session.goto(twin)
        self.travel(twin is not None, f"no cotangent belongs to {self.session.at}")

    def do_next_call(self) -> None:
        """Open the next kept call."""
        self.open_call(1)

    def do_previous_call(self) -> None:
        """Open the previous kept call."""
        self.open_call(-1)

    def open_call(self, step: int) -> None:
        """Open another kept call of the row."""
        calls, there = self.session.row.calls, self.session.call_index + step
        if 0 <= there < len(calls):
            self.session.open_call(calls[there].number)
        self.travel(
            0 <= there < len(calls), self.session.row.kept_text or "no further call of this row"
        )

    def do_history_back(self) -> None:
        """Go back to where the last jump began."""
        self.travel(self.session.back_in_history(), "no jump to take back")

    def do_history_on(self) -> None:
        """Repeat the jump that was taken back."""
        self.travel(self.session.forward_in_history(), "no jump to repeat")

    def do_alert(self) -> None:
        """Go to the next alert, in another row where this one has none."""
        if not self.session.alerts:
            rows = self.session.capture.rows
            found = next((k for k, r in enumerate(rows) if r.nonfinite), None)
            if found is None:
                self.tell("no alert in this capture")
                return
            self.session.open(found)
        alert = self.session.next_alert()
        if alert is None:
            self.travel(False, "the kept calls of this row have no alert")
            return
        self.session.goto(alert.var)
        self.redraw()
        self.tell(f"{alert.level}: {alert.var} {alert.text}")

    def do_breakpoint(self) -> None:
        """Set or clear a breakpoint."""
        self.state.toggle_breakpoint()
        self.redraw()

    def do_value(self) -> None:
        """Show values in the next way."""
        self.state.next_mode()
        self.redraw()
        self.tell(f"values as {self.state.mode}")

    def do_slice(self) -> None:
        """Show the next slice."""
        self.state.slice_at += 1
        self.redraw()

    def do_find(self) -> None:
        """Ask for a text."""
        self.ask("find", self.state.sought)

    def do_find_next(self) -> None:
        """Go to the next match."""
        self.view.find(1)

    def do_find_previous(self) -> None:
        """Go to the previous match."""
        self.view.find(-1)

    def do_goto(self) -> None:
        """Ask where to go."""
        self.ask("goto", "")

    def do_export(self) -> None:
        """Ask for a file to export to."""
        self.ask("export", "")

    def do_copy_file(self) -> None:
        """Ask for a file to write to."""
        self.ask("copy_file", f"yotaview-{self.view_name}.txt")

    def ask(self, kind: str, value: str) -> None:
        """Open the prompt in the place of the keys."""
        self.bars["footer"].display = False
        self.prompt.open(kind, *PROMPTS[kind], value)

    def close_prompt(self) -> None:
        """Take the prompt away."""
        self.prompt.display = False
        self.bars["footer"].display = True
        self.view.focus_current()

    def answer(self, kind: str, text: str) -> None:
        """Do what was typed; where that cannot be, say why and keep the prompt."""
        try:
            {"goto": self.go, "find": self.look, "export": self.save, "copy_file": self.store}[
                kind
            ](text)
        except (GotoError, ExportError, OSError) as error:
            self.tell(str(error))
            return
        self.close_prompt()

    def go(self, text: str) -> None:
        """Go where the text says."""
        self.session.goto(self.session.parse_goto(text))
        self.redraw()

    def look(self, text: str) -> None:
        """Go to the first row that holds the text."""
        self.state.sought = text
        self.view.find(1, stay=True)

    def save(self, text: str) -> None:
        """Export to a file."""
        export(str(Path(text).expanduser()), Selection(self.session.capture, [self.session]))
        self.tell(f"wrote {text}")

    def store(self, text: str) -> None:
        """Write what the view stands on to a file."""
        Path(text).expanduser().write_text(self.view.copy_text(), encoding="utf-8")
        self.tell(f"wrote {text}")

    def do_copy(self) -> None:
        """Copy what the view stands on."""
        text = self.view.copy_text()
        self.app.copy_to_clipboard(text)
        self.tell(f"copied {len(text)} characters; Y writes them to a file")

    def do_output(self) -> None:
        """Show what the script printed."""
        self.app.push_screen(TextScreen(output_page(self.session.capture), ascii=self.state.ascii))

    def do_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(TextScreen(help_page(self.view_name), ascii=self.state.ascii))

    def do_commands(self) -> None:
        """Open the palette."""
        self.app.action_command_palette()

    def do_focus_next(self) -> None:
        """Focus the next pane."""
        self.view.cycle(1)

    def do_focus_previous(self) -> None:
        """Focus the previous pane."""
        self.view.cycle(-1)

    def do_zoom(self) -> None:
        """Show the focused pane alone, or all."""
        self.view.zoomed = not self.view.zoomed
        self.view.place()
        self.view.focus_current()

    def do_leave(self) -> None:
        """Close the prompt, show all panes, or return to Step."""
        if self.prompt.display:
            self.close_prompt()
        elif self.view.zoomed:
            self.do_zoom()
        elif self.view_name != "step":
            self.show("step")
        else:
            self.tell("q quits")

    def do_theme(self) -> None:
        """Take the next theme."""
        names = [n for n in THEMES if n in self.app.available_themes]
        at = names.index(self.app.theme) if self.app.theme in names else -1
        self.app.theme = names[(at + 1) % len(names)]
        self.tell(f"theme {self.app.theme}")

    def do_screenshot(self) -> None:
        """Write the screen to an SVG file."""
        from yotaview.screens.picture import picture

        path = Path(f"yotaview-{self.view_name}-{self.session.at.id}.svg")
        path.write_text(picture(self.app), encoding="utf-8")
        self.tell(f"wrote {path}")

    def do_quit(self) -> None:
        """Leave the program."""
        self.app.exit(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the answer of the prompt."""
        event.stop()
        self.prompt.submit()


THEMES = (
    "textual-dark", "textual-light", "nord", "gruvbox", "solarized-light", "catppuccin-latte", "ansi-dark",
)  # fmt: skip
assert set(FOOTERS) == set(VIEWS) == set(MAKE)
