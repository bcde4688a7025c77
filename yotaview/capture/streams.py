"""What a script gets as stdout and stderr: streams that also keep what goes through them."""

from __future__ import annotations

import contextlib
import io
import os
import threading
from typing import Any, TextIO

OUTPUT_LIMIT = 1 << 20

# `print` holds its stream without owning it: one that is freed meanwhile crashes the process
_held: list[object] = []


def hold(stream: object) -> None:
    """Let a stream live as long as the process."""
    if not any(stream is other for other in _held):
        _held.append(stream)


class Output:
    """The text that went through the streams of one run, up to a limit."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self.limit = limit
        # no lock: a child forked while a thread holds one could never print
        self._parts = io.StringIO()

    @property
    def text(self) -> str:
        """Everything kept."""
        return self._parts.getvalue()

    def add(self, text: str) -> None:
        """Keep `text`, as far as there is room."""
        room = self.limit - self._parts.tell()
        if room <= 0:
            return
        self._parts.write(text[:room])
        if len(text) > room:
            self._parts.write(f"\n[output cut at {self.limit:,} characters]\n")


class Tee(io.TextIOBase):
    """A stream that also keeps what is written.

    Without `echo` it writes nowhere, and keeps only what other threads than the viewer's say.
    """

    def __init__(self, real: TextIO | None, kept: Output) -> None:
        self.real: TextIO = open(os.devnull, "w") if real is None else real  # noqa: SIM115 - kept
        self.kept, self.echo = kept, True
        self.bytes = Bytes(self)
        hold(self)

    def write(self, text: str) -> int:
        """Write and keep `text`."""
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.echo:
            self.real.write(text)
        self.keep(text)
        return len(text)

    def keep(self, text: str) -> None:
        """Keep `text` without writing it."""
        if self.echo or threading.current_thread() is not threading.main_thread():
            self.kept.add(text)

    def flush(self) -> None:
        """Flush the stream behind."""
        if self.echo and not self.real.closed:
            self.real.flush()

    def isatty(self) -> bool:
        """Tell whether the stream behind is a terminal."""
        return self.real.isatty()

    def fileno(self) -> int:
        """Return the file number of the stream behind."""
        return self.real.fileno()

    def writable(self) -> bool:
        """Tell that one can write."""
        return True

    def detach(self) -> Bytes:  # type: ignore[override]  # as much of a BinaryIO as a script needs
        """Return the stream of bytes behind, and go on working."""
        return self.bytes

    def __getattr__(self, name: str) -> Any:
        if name in ("real", "kept", "echo", "bytes"):  # missing while the process ends
            raise AttributeError(name)
        return getattr(self.real, name)

    @property
    def buffer(self) -> Bytes:
        """The stream of bytes behind; closing it, as a wrapper around it does, closes no file."""
        return self.bytes

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only here
        """The encoding of the stream behind."""
        return self.real.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # read-only here
        """How the stream behind treats what it cannot encode."""
        return self.real.errors


class Bytes(io.BufferedIOBase):
    """The bytes under a Tee."""

    def __init__(self, tee: Tee) -> None:
        self.tee = tee

    def write(self, data: Any) -> int:
        """Write and keep bytes."""
        tee, raw = self.tee, bytes(memoryview(data))
        text = raw.decode(tee.encoding or "utf-8", "replace")
        buffer = getattr(tee.real, "buffer", None)
        if tee.echo and buffer is not None:
            tee.real.flush()
            buffer.write(raw)
        elif tee.echo:
            tee.real.write(text)
        tee.keep(text)
        return len(raw)

    def flush(self) -> None:
        """Flush the stream behind."""
        with contextlib.suppress(AttributeError):  # missing while the process ends
            self.tee.flush()

    def close(self) -> None:
        """Flush only: what wraps this and is freed must not close the file."""
        self.flush()

    def writable(self) -> bool:
        """Tell that one can write."""
        return True

    def isatty(self) -> bool:
        """Tell whether the stream behind is a terminal."""
        return self.tee.isatty()

    def fileno(self) -> int:
        """Return the file number of the stream behind."""
        return self.tee.fileno()
