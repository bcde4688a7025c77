"""The standard streams of this process: lent to a script, and taken back whole."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import select
import stat
import sys
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

from yotaview.capture.streams import Output, Tee, hold

NAMES = {
    "stdin": 0,
    "stdout": 1,
    "stderr": 2,
    "__stdin__": 0,
    "__stdout__": 1,
    "__stderr__": 2,
}


class Console:
    """What the script and the viewer share: descriptors 0 to 2 and the streams on them.

    Copies of the descriptors are made before the script can close or redirect them; data are
    written through such a copy.  Used as a context, everything is as before afterwards.
    """

    def __init__(self, for_good: bool = False) -> None:
        self.for_good, self.diverted = for_good, False
        self.deaf, self.closed = False, sys.stdout is None
        self.streams: dict[str, Any] = {name: getattr(sys, name, None) for name in NAMES}
        self.encoding: str = getattr(sys.stdout, "encoding", None) or "utf-8"
        _fill_gaps()
        self.copies = [Copy(n) for n in range(3)]
        self.output = Output()
        self.tees: tuple[Tee, ...] = ()

    def __enter__(self) -> Console:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self.for_good:
            return
        if self.diverted:
            self.diverted = False
            self.streams["stdout"] = self.stdout
        self.mend()
        for copy in self.copies:
            copy.close()

    @property
    def isatty(self) -> bool:
        """Tell whether data go to a terminal."""
        return not self.closed and os.isatty(self.copies[1].number)

    @property
    def utf(self) -> bool:
        """Tell whether every character can be written."""
        return self.encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf32")

    def divert(self) -> None:
        """Send whatever is written to stdout, by child processes too, to stderr from now on."""
        self.stdout = self.streams["stdout"]
        self.streams["stdout"] = self.streams["stderr"]
        self.diverted = True
        self.mend()

    @contextlib.contextmanager
    def teed(self) -> Iterator[None]:
        """Keep what is written inside; put the streams right when it is over."""
        self.tees = Tee(sys.stdout, self.output), Tee(sys.stderr, self.output)
        sys.stdout, sys.stderr = self.tees
        try:
            yield
        finally:
            self.mend()
            for tee in self.tees:
                tee.echo = self.diverted

    def say(self, text: str) -> None:
        """Write to what the script has as stderr, and keep it."""
        with contextlib.suppress(OSError, ValueError):
            self.tees[1].write(text)

    def resume(self) -> None:
        """Let what the script left running write again."""
        for tee in self.tees:
            tee.echo = True

    def mend(self) -> None:
        """Undo what a script did to the descriptors and streams."""
        _flush()
        for number in range(3):
            source = self.copies[2 if number == 1 and self.diverted else number]
            source.put_on(number)
        fresh: dict[int, Any] = {}
        for name, number in NAMES.items():
            hold(getattr(sys, name, None))
            saved = self.streams[name]
            if not _usable(saved) and id(saved) not in fresh:
                fresh[id(saved)] = _reopened(number)
            setattr(sys, name, fresh.get(id(saved), saved))
        self._renew(fresh)
        _flush()

    def _renew(self, fresh: dict[int, Any]) -> None:
        for name, stream in self.streams.items():
            self.streams[name] = fresh.get(id(stream), stream)
        for tee in self.tees:
            tee.real = fresh.get(id(tee.real), tee.real)

    def write(self, text: str) -> None:
        """Write data to stdout as it was at first; raises OSError, once, where that fails."""
        if self.deaf or not text:
            return
        self.deaf = True
        if self.closed:
            raise OSError(errno.EBADF, "closed")
        with contextlib.suppress(BrokenPipeError):  # nobody reads on: that is no failure of ours
            self.copies[1].write(text.encode(self.encoding, "replace"))
            self.deaf = False

    @contextlib.contextmanager
    def screen(self) -> Iterator[None]:
        """Keep stderr, but for what is drawn, off the screen; print it afterwards."""
        shown = sys.__stderr__
        with tempfile.TemporaryFile() as aside:
            drawn = open(  # noqa: SIM115 - threads may still hold it afterwards
                os.dup(self.copies[2].number), "w", encoding=getattr(shown, "encoding", None)
            )
            hold(drawn)
            _flush()
            os.dup2(aside.fileno(), 2)
            sys.__stderr__ = drawn  # type: ignore[misc]  # where the screen is drawn
            try:
                yield
            finally:
                _flush()
                sys.__stderr__ = shown  # type: ignore[misc]  # as above
                self.copies[2].put_on(2)
                aside.seek(0)
                with contextlib.suppress(OSError):
                    self.copies[2].write(aside.read())
                self.resume()


def escaped(text: str) -> str:
    """Return JSON that says the same in ASCII."""
    return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)


class Copy:
    """A descriptor of our own for a file that is open under another."""

    def __init__(self, number: int) -> None:
        self.number = _high(number)
        self.identity = _identity(self.number)

    @property
    def sound(self) -> bool:
        """Tell whether it still means the same file: a script can close any descriptor."""
        try:
            return _identity(self.number) == self.identity
        except OSError:
            return False

    def put_on(self, number: int) -> None:
        """Let another descriptor mean the file."""
        if self.sound:
            os.dup2(self.number, number)

    def write(self, data: bytes) -> None:
        """Write everything; raises OSError."""
        if not self.sound:
            raise OSError(errno.EBADF, "the script closed it")
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.number, rest) :]
            except BlockingIOError:  # the script made it non-blocking, for us too
                select.select([], [self.number], [])

    def close(self) -> None:
        """Give the descriptor back."""
        if self.sound:
            os.close(self.number)


def _identity(number: int) -> tuple[int, int, int]:
    found = os.fstat(number)
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _high(number: int) -> int:
    """Return a copy out of the way of scripts that close the numbers from 3 on."""
    if sys.platform != "win32":
        import fcntl

        with contextlib.suppress(OSError):
            return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 200)
    return os.dup(number)


def _fill_gaps() -> None:
    """Open nothing under each missing number, so that no other file gets it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _flush() -> None:
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        stream: Any = getattr(sys, name, None)
        # a script may have put anything there
        with contextlib.suppress(Exception):
            stream.flush()


def _usable(stream: Any) -> bool:
    if not isinstance(stream, io.IOBase):
        return True  # None, or what a notebook has there
    try:
        return not stream.closed
    except ValueError:  # detached
        return False


def _reopened(number: int) -> IO[Any]:
    mode, errors = ("r", "strict") if number == 0 else ("w", "backslashreplace")
    return open(number, mode, buffering=1, errors=errors, closefd=False)
