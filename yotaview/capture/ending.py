"""How a script ended: its exit code and error, as Python would have them."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from yota.frames import is_user_file
from yotaview.capture.rows import Capture
from yotaview.capture.watch import class_name, told

INTERRUPTED = 130
NOTE = b"yotaview: a thread of the script called os._exit: nothing can be shown\n"


class TimeLimit(BaseException):
    """The script took longer than it was given; not an Exception, so that scripts let it pass."""


class HardExit(SystemExit):
    """The script called os._exit, which would have ended the viewer as well."""


def note_end(capture: Capture, error: BaseException, say: Callable[[str], None]) -> None:
    """Write down what ended the script."""
    match error:
        case SystemExit():
            capture.exit_code, text = exit_code(error.code)
            if text:
                say(f"{text}\n")
        case KeyboardInterrupt():
            capture.interrupted, capture.exit_code = True, INTERRUPTED
        case TimeLimit():
            capture.timed_out, capture.exit_code = True, 124
        case _:
            capture.exit_code = 1
            capture.error = format_error(error)


def exit_code(code: Any) -> tuple[int, str]:
    """Return what the system is told, and what is printed, for the argument of sys.exit."""
    if code is None:
        return 0, ""
    if isinstance(code, int):
        # more than a C long can hold counts as -1
        return (code if -(1 << 63) <= code < 1 << 63 else -1) & 0xFF, ""
    try:
        return 1, str(code)
    except Exception:
        return 1, f"<unprintable {class_name(code)}>"


def format_error(error: BaseException) -> str:
    """Return a traceback that shows the user's frames only."""
    try:
        return _formatted(traceback.TracebackException.from_exception(error))
    except Exception:  # its class does not let itself be looked at
        return f"{told(error)}\n"


def _formatted(whole: traceback.TracebackException) -> str:
    seen: set[int] = set()
    stack: list[traceback.TracebackException | None] = [whole]
    while stack:
        part = stack.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [f for f in part.stack if is_user_file(f.filename)]
        )
        stack += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
    text = "".join(whole.format())
    return text if text.endswith("\n") else f"{text}\n"


def chain(error: BaseException) -> list[BaseException]:
    """Return an error with what caused it and what it arose from."""
    found: list[BaseException] = []
    stack: list[BaseException | None] = [error]
    while stack:
        e = stack.pop()
        if e is not None and not any(e is f for f in found):
            found.append(e)
            stack += [e.__cause__, e.__context__]
    return found


@contextlib.contextmanager
def caught_exit() -> Iterator[None]:
    """Let os._exit end the script only; a child process that the script forked ends as ever."""
    real, parent, over = os._exit, os.getpid(), False

    def leave(status: int) -> None:
        nonlocal over
        if os.getpid() != parent:
            real(status)
        if over:
            return
        if threading.current_thread() is not threading.main_thread():
            os.write(2, NOTE)
            real(status & 0xFF or 1)
        raise HardExit(status)

    os._exit = leave  # type: ignore[assignment]  # it may return
    try:
        yield
    finally:
        over = True
        os._exit = real


def end_child(error: BaseException | None) -> NoReturn:
    """End a process that the script forked and that came to the end of the script."""
    ended = Capture("")
    if error is not None:
        note_end(ended, error, _say)
    _say(ended.error or "")
    with contextlib.suppress(BaseException):
        wait_for_threads()
    atexit._run_exitfuncs()
    flush_files()
    os._exit(ended.exit_code)


def _say(text: str) -> None:
    with contextlib.suppress(Exception):
        sys.stderr.write(text)


def wait_for_threads(known: frozenset[threading.Thread] = frozenset()) -> None:
    """Wait for threads that belong to the script, as Python does before it ends.

    Those of an executor wait for work until the process ends: nothing waits for them here.
    """
    while running := [t for t in threading.enumerate() if _is_waited_for(t) and t not in known]:
        for thread in running:
            thread.join()


def _is_waited_for(thread: threading.Thread) -> bool:
    if thread.daemon or not thread.is_alive() or thread is threading.current_thread():
        return False
    pools = (("thread", "_threads_queues"), ("process", "_threads_wakeups"))
    return not any(
        thread in getattr(sys.modules.get(f"concurrent.futures.{module}"), name, ())
        for module, name in pools
    )


def flush_files() -> None:
    """Write out every open file, as the end of the interpreter would."""
    for thing in gc.get_objects():
        if issubclass(type(thing), io.TextIOWrapper | io.BufferedWriter | io.BufferedRandom):
            with contextlib.suppress(Exception):
                thing.flush()
