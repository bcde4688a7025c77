"""The keys that ask, copy, write, show or leave; every other one is handled below or in a view."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

from textual.widgets import Input

from yotaview.export import SUFFIXES, ExportError, replacing
from yotaview.model.predicate import HELP as CONDITIONS
from yotaview.render.lesson import lesson_page
from yotaview.render.line import Page
from yotaview.render.tapes import output_page
from yotaview.screens.commands import ERRORS
from yotaview.screens.exporting import Exporting
from yotaview.screens.picture import picture
from yotaview.screens.runs import SEARCH, Runs
from yotaview.screens.text import TextScreen, help_page
from yotaview.screens.themes import ROUND
from yotaview.screens.whatif import WhatIf

PROMPTS = {
    "goto": (":", "46, %46, line 9, seed, 10n, 3C, b nan, w %7, p x.max()"),
    "mark": ("mark as ", "a letter"),
    "visit": ("' ", "the letter of a mark"),
    "evaluate": ("p ", "np.ptp(x), %7.max() - W1.min()"),
    "find": ("/", "text to find"),
    "export": ("export to ", f"FILE{' '.join(SUFFIXES)}"),
    "copy_file": ("write to ", "FILE"),
    "bisect": ("first call with ", CONDITIONS),
    "whatif": ("what if ", "%7[0,2] = 1.5, W1 *= 2; 0 as recorded, 2 or drop 2 a branch"),
    "filter": ("only rows with ", "a text in function, place or status; empty shows all"),
}


class MainScreen(WhatIf, Runs, Exporting):
    """Handles the prompt and what leaves the screen."""

    confirmed: Path | None = None

    def on_mount(self) -> None:
        """Begin a lesson with its text."""
        if self.session.capture.lesson:
            self.do_output()

    def do_find(self) -> None:
        """Ask for a text; an empty answer takes the one before."""
        self.ask("find", "")

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
        self.confirmed = None
        self.bars["footer"].display = False
        self.prompt.open(kind, *PROMPTS[kind], value)

    def close_prompt(self) -> None:
        """Take the prompt away."""
        self.prompt.close()
        self.bars["footer"].display = True
        self.view.focus_current()

    def answer(self, kind: str, text: str) -> None:
        """Do what was typed; where that cannot be, say why and let the next try replace it."""
        answers: dict[str, Callable[[str], bool]] = {
            "goto": self.go,
            "mark": self.mark,
            "visit": self.visit,
            "evaluate": self.evaluate,
            "find": self.look,
            "export": self.save,
            "copy_file": self.store,
            "bisect": self.search,
            "whatif": self.what_if,
            "filter": self.only,
        }
        try:
            done = answers[kind](text)
        except (*ERRORS, ExportError) as error:
            self.prompt.hush()
            self.tell(str(error))
            self.prompt.input.select_all()
        else:
            if done:
                self.close_prompt()

    def go(self, text: str) -> bool:
        """Do what was typed behind `:`, a search over the calls too."""
        match = SEARCH.fullmatch(text)
        return self.search(match[1]) if match else super().go(text)

    def look(self, text: str) -> bool:
        """Go to the first row that holds the text."""
        self.state.sought = text or self.state.sought
        self.view.find(1, stay=bool(text))
        return True

    def save(self, text: str) -> bool:
        """Export to a file."""
        path = wanted_path(text)
        if not self.may_write(path):
            return False
        self.write_export(path, text)
        return True

    def store(self, text: str) -> bool:
        """Write what the view stands on to a file."""
        path = wanted_path(text)
        if not self.may_write(path):
            return False
        with replacing(path) as file:
            file.write((self.view.lacks or self.view.copy_text()).encode())
        self.tell(f"wrote {text}")
        return True

    def may_write(self, path: Path) -> bool:
        """Tell whether a file is new, or was just said to exist and is wanted all the same."""
        if self.confirmed == path or not os.path.lexists(path):
            return True
        self.confirmed = path
        self.tell(f"{path} exists, enter again to overwrite")
        return False

    def do_copy(self) -> None:
        """Copy what the view stands on."""
        if self.view.lacks:
            self.tell(self.view.lacks)
            return
        text = self.view.copy_text()
        self.app.copy_to_clipboard(text)
        self.tell(f"copied {len(text)} characters; Y writes them to a file")

    def do_output(self) -> None:
        """Show what the script printed, in a lesson its text."""
        capture = self.session.capture
        page = lesson_page if capture.lesson else output_page
        self.show_text(lambda width: page(capture, width))

    def show_text(self, draw: Callable[[int], Page]) -> None:
        """Show a page over the whole screen."""
        self.app.push_screen(TextScreen(draw, self.action_act, ascii=self.state.ascii))

    def do_help(self) -> None:
        """Show the keys."""
        self.show_text(
            lambda width: help_page(self.view_name, self.view.current, width, self.marks_set())
        )

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
        """Close the prompt, go back along a trail, show all panes, or return to Step."""
        if self.prompt.display:
            self.close_prompt()
        elif self.view.leave():
            return
        elif self.view.zoomed:
            self.do_zoom()
        elif self.view.stop() or self.stop_export() or self.stop_diff():
            return
        elif self.view_name != "step":
            self.show("step")
        else:
            self.tell("q quits")

    def do_theme(self) -> None:
        """Take the next theme."""
        names = [n for n in ROUND if n in self.app.available_themes]
        at = names.index(self.app.theme) if self.app.theme in names else -1
        self.app.theme = names[(at + 1) % len(names)]
        self.tell(f"theme {self.app.theme}")

    def do_screenshot(self) -> None:
        """Write the screen to an SVG file."""
        stem = f"yotaview-{self.view_name}-{self.session.at.id}"
        names = (f"{stem}{'' if k == 1 else f'-{k}'}.svg" for k in count(1))
        path = next(p for p in map(Path, names) if not os.path.lexists(p))
        try:
            path.write_text(picture(self.app), encoding="utf-8")
        except OSError as error:
            self.tell(f"{path}: {error.strerror}")
        else:
            self.tell(f"wrote {path}")

    def do_quit(self) -> None:
        """Leave the program."""
        self.app.exit(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the answer of the prompt."""
        event.stop()
        self.prompt.submit()


def wanted_path(text: str) -> Path:
    """Return the path that was typed; raises ExportError for one that no file can have."""
    try:
        path = Path(text).expanduser()
        os.fsencode(path)
    except (RuntimeError, ValueError) as error:
        raise ExportError(f"{text}: {error}") from error
    return path
