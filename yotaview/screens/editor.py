"""The user's editor, at a line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# editors that take file:line, and how; all others take +LINE FILE
WITH_COLON: Mapping[str, Sequence[str]] = {
    "code": ("--goto",),
    "codium": ("--goto",),
    "cursor": ("--goto",),
    "windsurf": ("--goto",),
    "subl": (),
    "zed": (),
    "hx": (),
    "helix": (),
}


class NoEditor(Exception):
    """There is no editor to open, or it cannot be started; the text says what to do."""


def editor_command(file: str, line: int, environment: Mapping[str, str]) -> list[str]:
    """Return the command that opens a file at a line; raises NoEditor if there is none."""
    if not Path(file).is_file():
        raise NoEditor(f"{file} is no file that can be edited")
    named = environment.get("VISUAL") or environment.get("EDITOR")
    if not named:
        raise NoEditor(f"set $VISUAL or $EDITOR to open {file}:{line} in it")
    words = shlex.split(named, posix=os.name == "posix")
    name = Path(words[0]).stem
    if name in WITH_COLON:
        return [*words, *WITH_COLON[name], f"{file}:{line}"]
    return [*words, f"+{line}", file]


def edit(command: Sequence[str]) -> None:
    """Run the editor in this terminal and wait for it; raises NoEditor."""
    # the descriptors 1 and 2 are led aside while the screen is up; it is drawn on this one
    screen = sys.__stderr__
    try:
        code = subprocess.call(command, stdout=screen, stderr=screen)
    except OSError as error:
        raise NoEditor(f"{command[0]}: {error.strerror}; $VISUAL or $EDITOR names it") from error
    if code:
        raise NoEditor(f"{command[0]} ended with exit code {code}")
