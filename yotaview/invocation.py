"""One invocation of the command line: what was asked, what came of it, and what it prints."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from yotaview.capture import Capture
from yotaview.capture.console import Console
from yotaview.render.line import Line, ansi, clean, plain, to_ascii

OK, RAISED, USAGE, NO_TAPE, FAILED_CHECK, FAILED_EXPORT, UNREADABLE = range(7)
TIME_LIMIT, INTERRUPTED, OUR_ERROR = 124, 130, 70
FEW = 8


class ScreenError(Exception):
    """The screen ended by an error that is not the user's."""


@dataclass
class Run:
    """One invocation: what was asked, what came of it."""

    options: argparse.Namespace
    console: Console
    target: str | None = None
    arguments: list[str] = field(default_factory=list)
    about: str = ""
    capture: Capture | None = None
    again: str = ""
    failed_export: bool = False
    failed_check: bool = False

    @property
    def reopened(self) -> bool:
        """Tell whether a saved session is opened rather than a script run."""
        return self.target is not None and self.target.endswith(".yota") and not self.options.module

    @functools.cached_property
    def headless(self) -> bool:
        """Tell whether no screen opens; asked before the script can change the terminal."""
        o = self.options
        return not o.tui and bool(self.asked or o.screenshot or not on_terminal())

    @property
    def asked(self) -> bool:
        """Tell whether something is to be printed or exported."""
        o = self.options
        return bool(o.out or o.list or o.text or o.json or o.check or o.why or o.diff or o.bisect)

    def exit_code(self) -> int:
        """Return the first exit code that holds."""
        c = self.capture
        if c is None:
            return FAILED_EXPORT if self.failed_export else OK
        held = (
            (c.interrupted and not self.reopened, INTERRUPTED),
            (c.timed_out and not self.reopened, TIME_LIMIT),
            (c.exit_code != 0 and not self.reopened, RAISED),
            (not c.rows, NO_TAPE),
            (self.failed_export, FAILED_EXPORT),
            (self.failed_check, FAILED_CHECK),
        )
        return next((code for holds, code in held if holds), OK)


def on_terminal() -> bool:
    """Tell whether input, output and error are a terminal that can be drawn on."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    try:
        is_terminal = all(s is not None and s.isatty() for s in streams)
    except ValueError:  # the script closed one
        return False
    return is_terminal and os.environ.get("TERM", "") not in ("", "dumb")


def say(text: str, stream: TextIO | None = None) -> None:
    """Write narration, which is never data."""
    shown = "\n".join(map(clean, text.split("\n")))
    tell(f"yotaview: {shown}\n", stream)


def tell(text: str, stream: TextIO | None = None) -> None:
    """Write to stderr, if there is one and somebody reads it."""
    stream = stream or sys.stderr
    with contextlib.suppress(OSError, ValueError):
        if stream is not None:
            stream.write(text)
            stream.flush()


def data(run: Run, text: str) -> None:
    """Write to stdout; where that fails, say so and have it in the exit code."""
    try:
        run.console.write(text)
    except OSError as error:
        say(f"stdout: {error.strerror}")
        run.failed_export = True


def counted(number: int, noun: str) -> str:
    """Return `1 tape`, `2 tapes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ascii_only(run: Run) -> bool:
    """Tell whether only ASCII can or may be written."""
    return bool(run.options.ascii) or not run.console.utf


def write(run: Run, lines: Sequence[Line]) -> None:
    """Print lines, coloured where asked for or where a terminal reads them."""
    color = run.options.color
    on = color == "always" or (
        color == "auto" and run.console.isatty and not os.environ.get("NO_COLOR")
    )
    paint: Callable[[Sequence[Line]], str] = ansi if on else plain
    text = paint(lines)
    data(run, to_ascii(text) if ascii_only(run) else text)
