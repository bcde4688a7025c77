"""Run the script again, in a new process in this terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

OPTION = "--resume"


def command_again(standing: str, started: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return this process's command with the place to come back to.

    `started` is how the interpreter was started, `own` the arguments of the program in it.
    """
    interpreter = list(started[1 : len(started) - len(own)])
    return [sys.executable, *interpreter, f"{OPTION}={standing}", *without_resume(own)]


def without_resume(own: Sequence[str]) -> list[str]:
    """Return arguments without the place that an earlier run came back to."""
    return list(own[1:] if own and own[0].startswith(f"{OPTION}=") else own)


def run_again(standing: str) -> NoReturn:
    """Replace this process by a new run; where the system cannot, wait for one and end as it."""
    command = command_again(standing, sys.orig_argv, sys.argv[1:])
    if sys.platform != "win32":
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))
