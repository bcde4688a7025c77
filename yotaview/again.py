"""Run the script again, in a new process in this terminal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

OPTION = "--resume"
# systems take arguments of 32 thousand characters, and some only all of them together
LONGEST = 16_000
IN_FILE = "@"


def command_again(standing: str, started: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return this process's command with the place to come back to.

    `started` is how the interpreter was started, `own` the arguments of the program in it.
    """
    interpreter = list(started[1 : len(started) - len(own)])
    return [sys.executable, *interpreter, f"{OPTION}={standing}", *without_resume(own)]


def without_resume(own: Sequence[str]) -> list[str]:
    """Return arguments without the place that an earlier run came back to."""
    return list(own[1:] if own and own[0].startswith(f"{OPTION}=") else own)


def handed_on(standing: str) -> str:
    """Return what stands on the command line for a place: itself, or the file that holds it."""
    if len(standing) <= LONGEST:
        return standing
    handle, path = tempfile.mkstemp(prefix="yotaview-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(standing)
    return f"{IN_FILE}{path}"


def handed_over(text: str) -> str:
    """Return the place that stands for itself or in a file, which is then deleted.

    Raises ValueError where there is no such file.
    """
    if not text.startswith(IN_FILE):
        return text
    path = Path(text.removeprefix(IN_FILE))
    try:
        standing = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    with contextlib.suppress(OSError):
        path.unlink()
    return standing


def run_again(standing: str) -> NoReturn:
    """Replace this process by a new run; where the system cannot, wait for one and end as it."""
    command = command_again(handed_on(standing), sys.orig_argv, sys.argv[1:])
    if sys.platform != "win32":
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))
