"""Run a script as Python would, in this terminal and thread, and outlive whatever it does."""

from __future__ import annotations

import _thread
import contextlib
import importlib.util
import io
import linecache
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, TextIO

import yota
from yota.frames import is_user_file
from yota.tape import Entry, Frame, Origin, Tape
from yotaview.capture.recorder import Recorder, error_text
from yotaview.capture.rows import Capture, Failure, Limits, Row

OUTPUT_LIMIT = 1 << 20


class NotFound(Exception):  # noqa: N818 - what it says
    """There is no such script or module."""


class TimeLimit(BaseException):
    """The script took longer than it was given; not an Exception, so that scripts let it pass."""


def run_script(
    path: str, argv: Sequence[str] = (), *, module: bool = False, limits: Limits | None = None
) -> Capture:
    """Run a script, or a module by name, as `__main__` and return what was captured up to its end.

    Raises NotFound before anything runs; after that nothing of the script's gets through.
    """
    limits = limits or Limits()
    if not module and not os.path.exists(path):
        raise NotFound(f"no such script: {path}")
    if not module:
        path = os.path.abspath(path)
        linecache.checkcache(path)
        linecache.getlines(path)
    capture, recorder = Capture(path, list(argv), module=module), Recorder(limits)
    run, buffer = _Run(path, argv, module), io.StringIO()
    tees = Tee(sys.stdout, buffer), Tee(sys.stderr, buffer)
    start = time.perf_counter()
    error = None
    with contextlib.redirect_stdout(tees[0]), contextlib.redirect_stderr(tees[1]):
        error = run.to_the_end(recorder, limits.timeout)
    capture.seconds = time.perf_counter() - start
    for tee in tees:
        tee.echo = False
    capture.output = buffer.getvalue()
    _note_end(capture, error)
    capture.rows = _rows(recorder, error)
    capture.left_out = tuple(recorder.unwanted)
    capture.cut = _cut_text(capture, recorder, limits)
    capture.sources = snapshot(capture)
    return capture


@dataclass
class _Run:
    path: str
    argv: Sequence[str]
    module: bool

    def to_the_end(self, recorder: Recorder, timeout: float | None) -> BaseException | None:
        """Run and return what ended the run, None for its own end."""
        try:
            with _as_main(self), yota.observe(recorder), time_limit(timeout):
                if self.module:
                    self._find_module()
                    runpy.run_module(self.path, run_name="__main__", alter_sys=True)
                else:
                    runpy.run_path(self.path, run_name="__main__")
        except NotFound:
            raise
        except BaseException as error:
            return error
        return None

    def _find_module(self) -> None:
        try:
            found = importlib.util.find_spec(self.path)
        except (ImportError, ValueError):
            found = None
        if found is None:
            raise NotFound(f"no such module: {self.path}")


@contextlib.contextmanager
def _as_main(run: _Run) -> Iterator[None]:
    argv, path, main = sys.argv, sys.path[:], sys.modules.get("__main__")
    folder = os.getcwd() if run.module else os.path.dirname(run.path)
    sys.argv = [run.path, *run.argv]
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        if main is not None:
            sys.modules["__main__"] = main


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeLimit in the main thread after so many seconds."""
    if seconds is None:
        yield
    elif hasattr(signal, "setitimer"):
        with _alarm(seconds):
            yield
    else:
        with _timer(seconds):
            yield


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimit(f"{seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    fired = threading.Event()

    def stop() -> None:
        fired.set()
        _thread.interrupt_main()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if fired.is_set():
            raise TimeLimit(f"{seconds:g} s") from None
        raise
    finally:
        timer.cancel()


class Tee(io.TextIOBase):
    """A stream that also keeps what is written, up to a limit; `echo` off: it writes nowhere."""

    def __init__(self, real: TextIO, kept: io.StringIO, limit: int = OUTPUT_LIMIT) -> None:
        self.real, self.kept, self.limit, self.echo = real, kept, limit, True

    def write(self, text: str) -> int:
        """Write and keep `text`."""
        if self.echo:
            self.real.write(text)
        room = self.limit - self.kept.tell()
        if room > 0:
            self.kept.write(text[:room])
            if len(text) > room:
                self.kept.write(f"\n[output cut at {self.limit:,} characters]\n")
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind."""
        if self.echo:
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only here
        """The encoding of the stream behind."""
        return self.real.encoding


def _note_end(capture: Capture, error: BaseException | None) -> None:
    match error:
        case None:
            return
        case SystemExit():
            capture.exit_code, text = _exit_code(error.code)
            if text:
                capture.output += f"{text}\n"
                print(text, file=sys.stderr)
        case KeyboardInterrupt():
            capture.interrupted, capture.exit_code = True, 130
        case TimeLimit():
            capture.timed_out, capture.exit_code = True, 124
        case _:
            capture.exit_code = 1
            capture.error = format_error(error)


def _exit_code(code: Any) -> tuple[int, str]:
    if code is None:
        return 0, ""
    return (code, "") if isinstance(code, int) else (1, str(code))


def format_error(error: BaseException) -> str:
    """Return a traceback that shows the user's frames only."""
    told = traceback.TracebackException.from_exception(error)
    seen: set[int] = set()
    stack: list[traceback.TracebackException | None] = [told]
    while stack:
        part = stack.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [f for f in part.stack if is_user_file(f.filename)]
        )
        stack += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
    return "".join(told.format())


def _rows(recorder: Recorder, error: BaseException | None) -> list[Row]:
    rows = recorder.finished()
    if error is None or isinstance(error, SystemExit | KeyboardInterrupt | TimeLimit):
        return rows
    if any(e in _chain(error) for _, e in recorder.failures):
        return rows
    last = _row_from_traceback(error)
    return [*rows, last] if last is not None else rows


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    stack: list[BaseException | None] = [error]
    while stack:
        e = stack.pop()
        if e is not None and not any(e is f for f in found):
            found.append(e)
            stack += [e.__cause__, e.__context__]
    return found


def _row_from_traceback(error: BaseException) -> Row | None:
    """Return a row for an error from inside of a call to the engine, None for any other."""
    frames: list[tuple[bool, Frame]] = []
    tb: TracebackType | None = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        line = tb.tb_lineno
        frames.append(
            (
                is_user_file(code.co_filename),
                Frame(code.co_filename, line, line, 0, 0, code.co_qualname),
            )
        )
        tb = tb.tb_next
    here = [k for k, (_, f) in enumerate(frames) if f.file.startswith(_engine_folder())]
    if not here:
        return None
    outside = [f for user, f in frames[: here[0]] if user]
    inside = [f for user, f in frames[here[0] :] if user]
    name = inside[0].qualname if inside else frames[here[0]][1].qualname
    origin = Origin(tuple(reversed(inside or outside)))
    text = (
        linecache.getline(origin.frames[0].file, origin.frames[0].line).strip()
        if origin.frames
        else ""
    )
    failure = Failure(text, origin, error_text(error))
    site = outside[-1] if outside else None
    return Row(name, site, None, Tape(Entry(name)), "failed", failure=failure)


def _engine_folder() -> str:
    return os.path.dirname(os.path.abspath(yota.__file__)) + os.sep


def _cut_text(capture: Capture, recorder: Recorder, limits: Limits) -> str | None:
    parts = []
    if capture.interrupted:
        parts.append("interrupted")
    if capture.timed_out:
        parts.append(f"stopped after {limits.timeout:g} s")
    if recorder.left_out:
        parts.append(
            f"{recorder.left_out:,} calls of further tapes left out, "
            f"--max-tapes is {limits.max_tapes}"
        )
    if recorder.thinned:
        parts.append(f"fewer calls kept, --max-bytes is {limits.max_bytes:,}")
    return "; ".join(parts) or None


def snapshot(capture: Capture) -> dict[str, tuple[str, ...]]:
    """Return the text of every file that the capture names, as it was when it was first read."""
    files = dict.fromkeys([capture.script, *capture.origin_files()])
    found = {}
    for file in files:
        lines = linecache.getlines(file)
        if lines:
            found[file] = tuple(line.rstrip("\n") for line in lines)
    return found
