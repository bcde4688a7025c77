"""The keys that ask, copy, write, show or leave; every other one is handled below or in a view."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from yotaview.export import ExportError, Selection, export
from yotaview.model.goto import GotoError
from yotaview.render.tapes import output_page
from yotaview.screens.moves import Moves
from yotaview.screens.picture import picture
from yotaview.screens.text import TextScreen, help_page

PROMPTS = {
    "goto": (":", "46, +10, 10n, %46, 50%, line 9, seed, call 731"),
    "find": ("/", "text to find"),
    "export": ("export to ", "FILE.svg .dot .png .html .json .md .csv .txt …"),
    "copy_file": ("write to ", "FILE"),
}
THEMES = (
    "textual-dark",
    "textual-light",
    "nord",
    "gruvbox",
    "solarized-light",
    "catppuccin-latte",
    "ansi-dark",
)


class MainScreen(Moves):
    """Handles the prompt and what leaves the screen."""

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
