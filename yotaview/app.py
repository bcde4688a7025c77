"""The terminal program: opens the screen on a session; takes pictures without a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.driver import Driver
from textual.worker import WorkerError

from yotaview.invocation import ScreenError
from yotaview.keys import KEYS, REBOUND
from yotaview.model.replay import quiet
from yotaview.screens.aside import Aside
from yotaview.screens.main import MainScreen
from yotaview.screens.palette import Palette
from yotaview.screens.picture import picture, to_png
from yotaview.screens.themes import THEMES
from yotaview.widgets.pane import LINE_CLASSES
from yotaview.widgets.state import State

if TYPE_CHECKING:
    from yotaview.capture import Capture
    from yotaview.model.session import Session


class Actions(Provider):
    """Every action of the table of keys, by name, in the palette."""

    @property
    def named(self) -> list[tuple[str, str, partial[None]]]:
        """Name, help and what to do."""
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return []
        found = [
            (
                f"{k.action.replace('_', ' ')} ({k.show})",
                k.help,
                partial(screen.action_act, k.action),
            )
            for k in KEYS
            if k.scope != "pane" and k.action != "commands"
        ]
        found += [
            (f"go to mark {letter} ('{letter})", text, partial(visit, screen, letter))
            for letter, text in screen.marks_set()
        ]
        return [*found, ("choose a theme", "every theme, by name", partial(choose_theme, screen))]

    async def discover(self) -> Hits:
        """Yield all actions."""
        for name, told, act in self.named:
            yield DiscoveryHit(name, act, help=told)

    async def search(self, query: str) -> Hits:
        """Yield the actions whose name matches."""
        matcher = self.matcher(query)
        for name, told, act in self.named:
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), act, help=told)


def keymap() -> dict[str, str]:
    """Return the user's keys as Textual takes them."""
    named = {action: ",".join(keys) for action, keys in REBOUND.items()}
    if "commands" in named:
        named["command_palette"] = named.pop("commands")
    return named


def visit(screen: MainScreen, letter: str) -> None:
    """Go to a mark."""
    screen.visit(letter)


def choose_theme(screen: MainScreen) -> None:
    """Open Textual's list of themes."""
    screen.app.search_themes()


class YotaView(App[int]):
    """One screen on one session."""

    TITLE = "yotaview"
    CSS_PATH = "theme.tcss"
    COMPONENT_CLASSES: ClassVar[set[str]] = LINE_CLASSES
    COMMANDS: ClassVar = {Actions}

    def __init__(
        self,
        session: Session,
        *,
        view: str = "step",
        theme: str | None = None,
        ascii: bool = False,
        told: str = "",
    ) -> None:
        super().__init__()
        self.state = State(session, ascii)
        self.first_view, self.wanted_theme, self.first_told = view, theme, told
        for theme_of_ours in THEMES:
            self.register_theme(theme_of_ours)
        self.set_keymap(keymap())

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver, which measures the terminal that it draws on."""
        return measuring(super().get_driver_class())

    def on_mount(self) -> None:
        """Take the theme that was asked for."""
        if self.wanted_theme is not None and self.wanted_theme in self.available_themes:
            self.theme = self.wanted_theme
        if self.first_told:
            self.call_after_refresh(self.main.tell, self.first_told)
        sys.stdout = sys.stderr = Heard(self.state.session.capture)
        asyncio.get_running_loop().set_default_executor(Aside())

    @property
    def main(self) -> MainScreen:
        """The one screen, whatever lies over it."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    def on_key(self, event: events.Key) -> None:
        """Give what was typed ahead of the prompt to the prompt: keys are sent out one by one."""
        prompt = self.main.prompt
        late = self.focused is prompt.input and event.is_printable
        if late and event.character is not None:
            event.prevent_default()
            prompt.input.replace(event.character, *prompt.input.selection)

    def action_command_palette(self) -> None:
        """Show the palette, unless it is there."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_default_screen(self) -> MainScreen:
        """Return the screen that is shown first."""
        return MainScreen(self.state, self.first_view)


class Heard(io.TextIOBase):
    """What threads of the script print while the screen is up: kept at once, in their own time.

    As a message a line, a thread that prints without end would keep the screen from its keys.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture

    def write(self, text: str) -> int:
        """Keep text with the rest of the script's output."""
        self.capture.add_output(text)
        return len(text)

    def writable(self) -> bool:
        """Tell that one can write."""
        return True


def measuring(driver: type[Driver]) -> type[Driver]:
    """Return a driver that asks stderr for its size: stdout is led aside while the screen is up."""

    def size(self: Driver) -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(sys.__stderr__.fileno())  # type: ignore[union-attr]  # a terminal
        except (AttributeError, OSError, ValueError):
            columns, rows = shutil.get_terminal_size()
        return columns or 80, rows or 24

    return type("MeasuringDriver", (driver,), {"_get_terminal_size": size})


@contextlib.contextmanager
def guarded_stdout() -> Iterator[None]:
    """Keep what threads, C code and child processes print off the screen; print it afterwards."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            aside.seek(0)
            sys.stdout.write(aside.read().decode(errors="replace"))


def run(
    session: Session,
    *,
    view: str = "step",
    theme: str | None = None,
    ascii: bool = False,
    told: str = "",
    rerun: bool = False,
) -> str:
    """Show the screen until the user leaves it; returns where a re-run is to come back to, if so.

    `rerun` tells that there is a script that can be run again.  Raises ScreenError where the
    screen fell over.
    """
    app = YotaView(session, view=view, theme=theme, ascii=ascii, told=told)
    app.state.rerun = rerun
    with guarded_stdout(), quiet():
        app.run()
    if app.return_code:
        raise ScreenError("an error of yotaview's own, printed above, ended the screen")
    return app.state.again


def screenshot(
    session: Session,
    path: str | Path,
    size: tuple[int, int] = (120, 40),
    keys: Sequence[str] = (),
    *,
    view: str = "step",
    theme: str | None = None,
    ascii: bool = False,
) -> None:
    """Write a picture of the screen after some keys, as SVG, or as PNG by its suffix."""
    app = YotaView(session, view=view, theme=theme, ascii=ascii)
    svg = asyncio.run(_pictured(app, size, keys))
    path = Path(path)
    if path.suffix == ".png":
        path.write_bytes(to_png(svg))
    else:
        path.write_text(svg, encoding="utf-8")


async def _pictured(app: YotaView, size: tuple[int, int], keys: Sequence[str]) -> str:
    app.animation_level = "none"
    with quiet():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await app.workers.wait_for_complete()
            for key in keys:
                await pilot.press(key)
            await pilot.pause()
            await settled(app)
            return picture(app)


async def settled(app: App[int]) -> None:
    """Wait for what the screen does in the background."""
    for worker in list(app.workers):
        with contextlib.suppress(WorkerError):
            await worker.wait()
