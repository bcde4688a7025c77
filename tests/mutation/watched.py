"""Work in processes of their own that are watched: one that hangs in C code is ended."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

# Forked, for what was observed are the very functions of this process.
FORK = multiprocessing.get_context("fork")
# Seconds without a sign of life.
SILENCE = 120.0

# A text is the name of what begins, None a sign of life, a pair a name with its answer.
Step = str | tuple[str, Any] | None
# Of the names that need no answer any more.
Work = Callable[[set[str]], Iterator[Step]]
_END = ("", None)


class Share:
    """A process at work, and the answers that it gave; it goes on in a new one where it is lost."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.answers: dict[str, Any] = {}
        self.begin()

    def begin(self) -> None:
        """Start the process with what has no answer yet."""
        self.current, self.is_over, self.heard = "", False, time.monotonic()
        self.pipe, theirs = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=report, args=(self.work, set(self.answers), theirs))
        self.process.start()
        theirs.close()

    def listen(self) -> None:
        """Take what the process says next."""
        self.heard = time.monotonic()
        try:
            step = self.pipe.recv()
        except EOFError:  # it died
            self.heard = -1.0
            return
        if step == _END:
            self.is_over = True
        elif isinstance(step, str):
            self.current = step
        elif step is not None:
            self.answers[step[0]], self.current = step[1], ""

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def report(work: Work, answered: set[str], pipe: Connection) -> None:
    """Send all steps of a piece of work."""
    for step in work(answered):
        pipe.send(step)
    pipe.send(_END)


def watched(
    pieces: Sequence[Work], jobs: int, lost: Callable[[str], Any], silence: float = SILENCE
) -> list[dict[str, Any]]:
    """Do all pieces of work, so many at a time, and return the answers of each by name.

    Where a process dies or says nothing for `silence` seconds, `lost` answers for what it was at,
    and another goes on behind that; RuntimeError where it was at nothing.
    """
    shares: list[Share] = []
    running: list[Share] = []
    try:
        while running or len(shares) < len(pieces):
            while len(running) < jobs and len(shares) < len(pieces):
                shares.append(Share(pieces[len(shares)]))
                running.append(shares[-1])
            ready = wait([s.pipe for s in running], silence / 10)
            for share in running:
                if share.pipe in ready:
                    share.listen()
                if share.is_over:
                    share.end()
                elif time.monotonic() - share.heard > silence or share.heard < 0:
                    go_on(share, lost)
            running = [s for s in running if not s.is_over]
    finally:
        for share in running:
            share.end()
    return [share.answers for share in shares]


def go_on(share: Share, lost: Callable[[str], Any]) -> None:
    """Answer for what a lost process was at, and start another behind that."""
    share.end()
    if not share.current:
        raise RuntimeError("a process of the run ended between two pieces of its work")
    share.answers[share.current] = lost(share.current)
    share.begin()
