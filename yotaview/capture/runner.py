"""Run a script as Python would, in this terminal and thread, and outlive whatever it does."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import importlib.util
import io
import linecache
import os
import runpy
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType

import yota
from yota.frames import is_user_file
from yota.tape import Entry, Frame, Origin, Tape
from yotaview.capture import settings
from yotaview.capture.console import Console
from yotaview.capture.ending import (
    TimeLimit,
    caught_exit,
    chain,
    end_child,
    note_end,
    wait_for_threads,
)
from yotaview.capture.recorder import Recorder
from yotaview.capture.rows import Capture, Failure, Limits, Row
from yotaview.capture.timeout import time_limit
from yotaview.capture.watch import Watch, told


class NotFound(Exception):
    """There is no such script or module."""


def run_script(
    path: str,
    argv: Sequence[str] = (),
    *,
    module: bool = False,
    limits: Limits | None = None,
    console: Console | None = None,
) -> Capture:
    """Run a script, or a module by name, as `__main__` and return what was captured up to its end.

    Raises NotFound before anything runs; after that nothing of the script's gets through.
    """
    if console is None:
        with Console() as console:
            return run_script(path, argv, module=module, limits=limits, console=console)
    limits = limits or Limits()
    if not module:
        path = _found(path)
    capture, watch = Capture(path, list(argv), module=module), Watch(limits)
    start = time.perf_counter()
    with console.teed():
        errors = _Run(path, argv, module).to_the_end(watch, limits.timeout, console.for_good)
        for error in errors:
            note_end(capture, error, console.say)
    capture.seconds = time.perf_counter() - start
    capture.rows = _rows(watch, errors)
    capture.left_out = tuple(watch.unwanted)
    capture.cut = _cut_text(capture, watch, limits)
    capture.sources = snapshot(capture)
    capture.heard = console.output
    return capture


def _found(path: str) -> str:
    """Return the whole path of what Python can run; raises NotFound."""
    if not os.path.exists(path):
        raise NotFound(f"no such script: {path}")
    path = os.path.abspath(path)
    if os.path.isdir(path):
        if not any(os.path.isfile(os.path.join(path, f"__main__.py{c}")) for c in ("", "c")):
            raise NotFound(f"{path} is a folder without a __main__.py")
        return path
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise NotFound(f"{path} is not a file that can be read")
    linecache.checkcache(path)
    linecache.getlines(path)
    return path


@dataclass
class _Run:
    path: str
    argv: Sequence[str]
    module: bool

    def to_the_end(
        self, observer: Watch, timeout: float | None, for_good: bool
    ) -> list[BaseException]:
        """Run, put the process right again, and return what ended the run, nothing for its end.

        A process that the script forked ends here, with the script.
        """
        pid, kept, errors = os.getpid(), settings.read(), list[BaseException]()
        known = frozenset(threading.enumerate())
        try:
            with _as_main(self), caught_exit(), yota.observe(observer), time_limit(timeout):
                _collect(errors, self._run)
                if os.getpid() == pid:
                    _collect(errors, lambda: wait_for_threads(known))
        except NotFound:
            raise
        except BaseException as error:
            errors.append(error)
        finally:
            left = settings.read(settings.SURROUNDINGS)
            settings.put_back(kept)
        if os.getpid() != pid:
            settings.put_back(left)
            end_child(errors[-1] if errors else None)
        if for_good:
            atexit.register(settings.put_back, left)
        return errors

    def _run(self) -> None:
        if self.module:
            self._find_module()
            runpy.run_module(self.path, run_name="__main__", alter_sys=True)
        elif self.is_source:
            self._run_source()
        else:
            runpy.run_path(self.path, run_name="__main__")

    @property
    def is_source(self) -> bool:
        """Tell whether it is a script rather than a module, a folder, an archive or byte code."""
        other = self.module or os.path.isdir(self.path) or zipfile.is_zipfile(self.path)
        return not other and not self.path.endswith(".pyc")

    def _run_source(self) -> None:
        """Run as the interpreter does: runpy gives no `__main__` to threads that outlive it."""
        main = ModuleType("__main__")
        vars(main).update(
            __file__=self.path,
            __cached__=None,
            __builtins__=builtins,
            __loader__=SourceFileLoader("__main__", self.path),
        )
        sys.modules["__main__"] = main
        with io.open_code(self.path) as file:
            code = compile(file.read(), self.path, "exec", dont_inherit=True)
        exec(code, vars(main))

    def _find_module(self) -> None:
        try:
            found = importlib.util.find_spec(self.path)
        except (ImportError, ValueError):
            found = None
        if found is None:
            raise NotFound(f"no such module: {self.path}")


def _collect(errors: list[BaseException], act: Callable[[], None]) -> None:
    try:
        act()
    except NotFound:
        raise
    except BaseException as error:
        errors.append(error)


@contextlib.contextmanager
def _as_main(run: _Run) -> Iterator[None]:
    argv, path, main = sys.argv, sys.path[:], sys.modules.get("__main__")
    sys.argv = [run.path, *run.argv]
    if run.module:
        sys.path.insert(0, os.getcwd())
    elif run.is_source:  # runpy puts the others there
        sys.path.insert(0, os.path.dirname(run.path))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        if main is not None:
            sys.modules["__main__"] = main


def _rows(recorder: Recorder, errors: Sequence[BaseException]) -> list[Row]:
    rows = recorder.finished()
    error = next(iter(errors), None)
    if error is None or isinstance(error, SystemExit | KeyboardInterrupt | TimeLimit):
        return rows
    if any(e in chain(error) for _, e in recorder.failures):
        return rows
    last = _row_from_traceback(error)
    return [*rows, last] if last is not None else rows


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
    failure = Failure(text, origin, told(error))
    site = outside[-1] if outside else None
    return Row(name, site, None, Tape(Entry(name)), "failed", failure=failure)


def _engine_folder() -> str:
    return os.path.dirname(os.path.abspath(yota.__file__)) + os.sep


def _cut_text(capture: Capture, recorder: Watch, limits: Limits) -> str | None:
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
    if recorder.missed:
        parts.append(recorder.missed)
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
