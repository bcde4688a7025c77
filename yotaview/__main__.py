"""Run the debugger: `yotaview`, or python -m yotaview."""

import atexit
import os
import sys
import threading
from typing import NoReturn

from yotaview.cli import main


def run() -> NoReturn:
    """Run the command line and end the process with its exit code.

    Threads that the script left behind are waited for, or, daemons, ended at once: one that still
    runs while the interpreter takes itself apart can crash it.
    """
    code = main()
    others = [t for t in threading.enumerate() if t is not threading.current_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join()
    if not any(t.is_alive() for t in others):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
