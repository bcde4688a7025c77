"""Bound how long a script may run."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from yotaview.capture.ending import TimeLimit

AGAIN = 5.0


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeLimit in the main thread after so many seconds, and again if the script goes on."""
    if seconds is None:
        yield
        return
    over = threading.Event()
    with _signalled(seconds, over) as strike:
        watch = threading.Thread(target=_watch, args=(seconds, over, strike), daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()


def _watch(seconds: float, over: threading.Event, strike: Callable[[], object]) -> None:
    while not over.wait(seconds):
        strike()
        seconds = AGAIN


@contextlib.contextmanager
def _signalled(seconds: float, over: threading.Event) -> Iterator[Callable[[], object]]:
    """Yield what interrupts the main thread, by a signal that scripts leave alone."""
    text = f"{seconds:g} s"
    if sys.platform == "win32":
        with _interrupted(text) as strike:
            yield strike
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if not over.is_set():
            raise TimeLimit(text)

    number = signal.SIGRTMAX - 1 if hasattr(signal, "SIGRTMAX") else signal.SIGUSR2
    main = threading.main_thread().ident or 0
    before = signal.signal(number, stop)
    try:
        yield lambda: signal.pthread_kill(main, number)
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def _interrupted(text: str) -> Iterator[Callable[[], object]]:
    fired = False

    def strike() -> None:
        nonlocal fired
        fired = True
        _thread.interrupt_main()

    try:
        yield strike
    except KeyboardInterrupt:
        if fired:
            raise TimeLimit(text) from None
        raise
