"""Run the debugger: `yotaview`, or python -m yotaview."""

import atexit
import contextlib
import os
import sys
import threading
from typing import NoReturn

GRACE = 5.0
STOPPED = 130


def run() -> NoReturn:
    """Run the command line and end the process with its exit code.

    Threads that the script left behind are waited for as Python does, unless the script was cut.
    """
    end = End()
    # registered before anything else, so that it comes after everything else
    atexit.register(end)
    try:
        from yotaview.capture.console import Console
        from yotaview.cli import INTERRUPTED, TIME_LIMIT, main
    except KeyboardInterrupt:  # before there is anything to show
        os.write(2, b"yotaview: interrupted\n")
        end.code = STOPPED
        sys.exit(STOPPED)

    end.code = main(console=Console(for_good=True))
    if end.code in (INTERRUPTED, TIME_LIMIT):
        end.at_once()
    sys.exit(end.code)


class End:
    """The last thing that happens: daemon threads must not see the interpreter taken apart."""

    def __init__(self) -> None:
        self.code, self.pid = 1, os.getpid()

    def __call__(self) -> None:
        """Flush, and where a thread still runs, end the process before it can crash it."""
        if os.getpid() != self.pid:  # forked by the script
            return
        for name in ("stdout", "stderr"):
            try:
                getattr(sys, name).flush()
            except (AttributeError, OSError, ValueError):
                setattr(sys, name, None)  # or its failure would become the exit code
        if threading.active_count() > 1:
            self.now()

    def at_once(self) -> NoReturn:
        """Run what is registered for the exit, for a while, but wait for no thread."""
        timer = threading.Timer(GRACE, self.now)
        timer.daemon = True
        timer.start()
        with contextlib.suppress(KeyboardInterrupt):
            atexit._run_exitfuncs()
        self.now()

    def now(self) -> NoReturn:
        """End the process."""
        from yotaview.capture.ending import flush_files

        flush_files()
        os._exit(self.code)


if __name__ == "__main__":
    run()
