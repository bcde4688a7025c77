"""The command line: read arguments, run the script, print or open the screen."""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from yotaview.capture import Capture, Limits, run_script
from yotaview.capture.runner import NotFound
from yotaview.checks import CHECKS, Finding, line_of
from yotaview.export import SUFFIXES, ExportError, Selection, export, stage_lines, suffix_of
from yotaview.lessons import FIRST, LESSONS, lesson_path
from yotaview.model import store
from yotaview.model.breaks import BreakError, find_breaks
from yotaview.model.goto import GotoError
from yotaview.model.session import Session
from yotaview.options import Parser, UsageError, make_parser, misplaced, split_arguments
from yotaview.render.json import json_lines
from yotaview.render.line import Line, Span, ansi, clean, line, plain, to_ascii
from yotaview.render.tapes import list_lines

OK, RAISED, USAGE, NO_TAPE, FAILED_CHECK, FAILED_EXPORT, UNREADABLE = range(7)
TIME_LIMIT, INTERRUPTED = 124, 130
FEW = 8


@dataclass
class Run:
    """One invocation: what was asked, what came of it."""

    options: argparse.Namespace
    target: str | None = None
    arguments: list[str] = field(default_factory=list)
    capture: Capture | None = None
    failed_export: bool = False
    failed_check: bool = False

    @property
    def reopened(self) -> bool:
        """Tell whether a saved session is opened rather than a script run."""
        return self.target is not None and self.target.endswith(".yota") and not self.options.module

    @property
    def headless(self) -> bool:
        """Tell whether no screen opens."""
        o = self.options
        asked = o.out or o.list or o.text or o.json or o.check or o.screenshot
        return not o.tui and bool(asked or not on_terminal())

    def exit_code(self) -> int:
        """Return the first exit code that holds."""
        c = self.capture
        if c is None:
            return OK
        held = (
            (c.interrupted and not self.reopened, INTERRUPTED),
            (c.timed_out and not self.reopened, TIME_LIMIT),
            (c.exit_code != 0 and not self.reopened, RAISED),
            (not c.rows, NO_TAPE),
            (self.failed_export, FAILED_EXPORT),
            (self.failed_check, FAILED_CHECK),
        )
        return next((code for holds, code in held if holds), OK)


def on_terminal() -> bool:
    """Tell whether input, output and error are a terminal that can be drawn on."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    try:
        is_terminal = all(s is not None and s.isatty() for s in streams)
    except ValueError:  # the script closed one
        return False
    return is_terminal and os.environ.get("TERM", "") not in ("", "dumb")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = make_parser()
    try:
        run = _read(list(sys.argv[1:] if argv is None else argv), parser)
        if run is None:
            return OK
        return _execute(run)
    except UsageError as error:
        say(f"{error}\nusage: {parser.usage}\n       yotaview --help lists the options")
        return USAGE
    except store.SessionError as error:
        say(str(error))
        return UNREADABLE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK


def _read(argv: list[str], parser: Parser) -> Run | None:
    """Return what is to be done; None where printing was all."""
    own, rest = split_arguments(argv, parser)
    try:
        options = parser.parse_args(own)
    except SystemExit:
        return None
    run = Run(options)
    if options.version:
        import yota

        print(f"yotaview {yota.__version__}")
        return None
    if options.doctor:
        from yotaview.doctor import report

        print(report(), end="")
        return None
    _choose_target(run, rest)
    _check_options(run)
    for word in misplaced(run.arguments, parser) if run.target else ():
        say(
            f"note: {word} stands behind the script and goes to it; "
            "options of yotaview stand before"
        )
    return run


def _choose_target(run: Run, rest: list[str]) -> None:
    o = run.options
    if o.lesson is not None:
        if o.lesson == "" and len(rest) == 1 and rest[0] in LESSONS:
            o.lesson, rest = rest[0], []
        if rest:
            raise UsageError(f"--lesson takes no script; a lesson by name is --lesson={rest[0]}")
        o.lesson = o.lesson or FIRST
        if o.lesson not in LESSONS:
            raise UsageError(f"no lesson {o.lesson!r}; there are: {', '.join(LESSONS)}")
        run.target = lesson_path(o.lesson)
    elif o.module is not None:
        run.target, run.arguments = o.module, rest
    elif rest:
        run.target, run.arguments = rest[0], rest[1:]
    else:
        raise UsageError("no script; `yotaview --lesson` opens the first lesson")


def _check_options(run: Run) -> None:
    o = run.options
    for path in o.out:
        if suffix_of(path) is None:
            raise UsageError(f"{path}: no such format; what works: {' '.join(SUFFIXES)}")
    o.check = [n for n in (o.check or "").split(",") if n]
    for name in o.check:
        if name not in CHECKS:
            raise UsageError(f"no check {name!r}; there are: {', '.join(CHECKS)}")
    if o.screenshot and not o.screenshot.endswith((".svg", ".png")):
        raise UsageError(f"{o.screenshot}: a screenshot is .svg or .png")
    if o.tui and not on_terminal():
        raise UsageError("--tui needs a terminal for input, output and error")
    if o.theme and (o.screenshot or not run.headless):
        _check_theme(o.theme)


def _check_theme(name: str) -> None:
    from textual.theme import BUILTIN_THEMES

    if name not in BUILTIN_THEMES:
        raise UsageError(f"no theme {name!r}; there are: {', '.join(BUILTIN_THEMES)}")


def _execute(run: Run) -> int:
    run.capture = _load(run)
    capture = run.capture
    if capture.error and not run.headless:
        say(capture.error.rstrip())
    if capture.cut:
        say(f"capture cut: {capture.cut}")
    if not capture.rows and (why := _why_none(run)):
        say(f"no tape captured: {why}")
    _headless_outputs(run)
    if not run.headless and capture.rows:
        _open_screen(run)
    return run.exit_code()


def _why_none(run: Run) -> str:
    """Say why nothing was captured; nothing where the script is no Python, which was just said."""
    capture = run.capture
    assert capture is not None
    if capture.left_out:
        names = ", ".join(capture.left_out[:FEW]) + (", …" if len(capture.left_out) > FEW else "")
        return f"--capture {run.options.capture} left out all there are: {names}"
    if capture.error is None:
        return "the script called no yota.grad, vjp, gradtape or trace up to its end"
    name = capture.error.rstrip().rpartition("\n")[2].partition(":")[0]
    if name in ("SyntaxError", "IndentationError", "TabError"):
        return ""
    return "the script raised before it called yota.grad, vjp, gradtape or trace"


def _load(run: Run) -> Capture:
    """Open a saved session, or run the script; its output is not ours when ours is data."""
    o = run.options
    assert run.target is not None
    if run.reopened:
        return store.load(run.target)
    limits = Limits(o.max_tapes, o.max_bytes, o.timeout, o.capture)
    try:
        if not run.headless:
            with patience(run.target):
                capture = run_script(
                    run.target, run.arguments, module=bool(o.module), limits=limits
                )
            return _with_lesson(capture) if o.lesson else capture
        with output_to_stderr():
            capture = run_script(run.target, run.arguments, module=bool(o.module), limits=limits)
            if capture.error:
                print(capture.error, end="", file=sys.stderr)
            return capture
    except NotFound as error:
        raise UsageError(str(error)) from error


def _with_lesson(capture: Capture) -> Capture:
    """Put the lesson's text where the screen looks for it."""
    source = "\n".join(capture.sources.get(capture.script, ()))
    capture.lesson = ast.get_docstring(ast.parse(source)) or ""
    return capture


@contextlib.contextmanager
def patience(target: str, seconds: float = 1.0) -> Iterator[None]:
    """Say after a while that the script is still running, and how to end it."""
    text = f"running {os.path.basename(target)} (ctrl-c stops it and opens what was captured)"
    timer = threading.Timer(seconds, lambda: say(text, sys.__stderr__))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send what is written to stdout, by child processes too, to stderr."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        kept = -1
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stderr.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)


def say(text: str, stream: TextIO | None = None) -> None:
    """Write narration, which is never data."""
    shown = "\n".join(map(clean, text.split("\n")))
    print(f"yotaview: {shown}", file=stream or sys.stderr)


def counted(number: int, noun: str) -> str:
    """Return `1 tape`, `2 tapes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def chosen_rows(run: Run) -> list[int]:
    """Return the indices of the rows that the options choose; raises UsageError for none."""
    assert run.capture is not None
    rows, o = run.capture.rows, run.options
    if o.tape is not None and o.tape > len(rows):
        raise UsageError(f"no tape {o.tape}; {len(rows)} captured")
    found = [k for k, r in enumerate(rows) if o.only is None or o.only in (r.name, r.place)]
    if rows and not found:
        names = ", ".join(dict.fromkeys(r.name for r in rows))
        raise UsageError(f"no tape of {o.only!r}; there are: {names}")
    if o.tape is None:
        kept = [k for k in found if any(c.number == o.call for c in rows[k].calls)]
        return kept or found
    if o.tape - 1 not in found:
        row = rows[o.tape - 1]
        raise UsageError(f"--tape {o.tape} is {row.name} {row.place}, not --only {o.only!r}")
    return [o.tape - 1]


def open_row(run: Run, row: int) -> Session:
    """Return a session on a row, at the call and position that the options name."""
    assert run.capture is not None
    try:
        session = Session(run.capture, row)
        if run.options.call is not None:
            session.open_call(run.options.call)
        if run.options.at is not None:
            session.jump(run.options.at)
        for spec in run.options.breaks:
            session.break_at(spec)
    except (GotoError, BreakError) as error:
        raise UsageError(str(error)) from error
    return session


def _headless_outputs(run: Run) -> None:
    o, capture = run.options, run.capture
    assert capture is not None
    if o.out and suffix_of(o.out[0]) == ".yota" and len(o.out) == 1 and not capture.rows:
        _export_all(run, Selection(capture, []))
        return
    if not capture.rows or not (run.headless or o.out or o.list or o.text or o.json or o.check):
        return
    rows = chosen_rows(run)
    wanted = o.list or not (o.out or o.text or o.json or o.check or o.screenshot or o.tui)
    if wanted:
        if o.call is not None and all(o.call > capture.rows[k].count for k in rows):
            raise UsageError(f"no call {o.call} of {', '.join(capture.rows[k].name for k in rows)}")
        table = list_lines(capture, o.call)
        write(run, [table[0], *(table[k + 1] for k in rows)])
    _print_tapes(run, rows)
    if o.out:
        _export_all(run, Selection(capture, _to_export(run, rows), o.stage))
    if o.check:
        _check_all(run, rows)
    if o.screenshot:
        _screenshot(run)


def _to_export(run: Run, rows: list[int]) -> list[Session]:
    """Return the opened rows, the most urgent first."""
    assert run.capture is not None
    first = run.capture.opening_row()
    order = sorted((k for k in rows if len(run.capture.rows[k].tape)), key=lambda k: k != first)
    return [open_row(run, k) for k in order]


def _print_tapes(run: Run, rows: list[int]) -> None:
    o = run.options
    if not (o.text or o.json):
        return
    assert run.capture is not None
    for k in rows:
        if not len(run.capture.rows[k].tape):
            continue
        session = open_row(run, k)
        if o.text:
            write(run, stage_lines(session, o.stage))
        if o.json:
            for text in json_lines(session, ops=not o.list, stage=o.stage):
                print(text)


def _export_all(run: Run, selection: Selection) -> None:
    for path in run.options.out:
        try:
            export(path, selection)
        except ExportError as error:
            say(str(error))
            run.failed_export = True
        else:
            say(f"wrote {path} ({selection.told(path)})")


def _check_all(run: Run, rows: list[int]) -> None:
    assert run.capture is not None
    found: list[Finding] = []
    lines: list[Line] = []
    opened = [open_row(run, k) for k in rows if run.capture.rows[k].calls]
    for session in opened:
        for check in run.options.check:
            for finding in CHECKS[check](session):
                found.append(finding)
                role = {"alarm": "alert", "masked": "dim"}.get(finding.level, "note")
                lines.append(line(Span(line_of(finding, session), role)))
    write(run, lines)
    alarms = sum(f.level == "alarm" for f in found)
    masked = sum(f.level == "masked" for f in found)
    run.failed_check = alarms > 0
    say(f"{counted(len(opened), 'tape')} checked: {counted(alarms, 'alarm')}, {masked} masked")


def _screenshot(run: Run) -> None:
    from yotaview.app import screenshot

    session = _session(run)
    if session is None:
        run.failed_export = True
        return
    try:
        screenshot(session, run.options.screenshot, **_screen_arguments(run))
    except OSError as error:
        say(f"{run.options.screenshot}: {error.strerror or error}")
        run.failed_export = True


def _session(run: Run) -> Session | None:
    """Return what the screen begins with; None, having said so, where no row has an op."""
    assert run.capture is not None
    found = run.capture.rows
    rows = [k for k in chosen_rows(run) if len(found[k].tape)]
    if not rows:
        for k in chosen_rows(run):
            say(
                f"{found[k].name} recorded no op before it raised: there is nothing to step through"
            )
        return None
    first = run.capture.opening_row()
    session = open_row(run, first if first in rows else rows[0])
    for spec in run.options.breaks:
        if not find_breaks(spec, session):
            say(f"-b {spec}: no op of tape {session.row_index + 1} {session.row.name}")
    return session


def _screen_arguments(run: Run) -> dict[str, Any]:
    o, capture = run.options, run.capture
    assert capture is not None
    view = o.view or ("tapes" if len(capture.rows) > 1 and o.tape is None else "step")
    return {"view": view, "theme": o.theme, "ascii": ascii_only(run)}


def _open_screen(run: Run) -> None:
    session = _session(run)
    if session is None:
        return
    from yotaview.app import run as run_app

    run_app(session, **_screen_arguments(run))


def ascii_only(run: Run) -> bool:
    """Tell whether only ASCII can or may be written."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return bool(run.options.ascii) or encoding not in ("utf8", "utf16", "utf32")


def write(run: Run, lines: Sequence[Line]) -> None:
    """Print lines, coloured where asked for or where a terminal reads them."""
    color = run.options.color
    on = color == "always" or (
        color == "auto" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    )
    paint: Callable[[Sequence[Line]], str] = ansi if on else plain
    text = paint(lines)
    sys.stdout.write(to_ascii(text) if ascii_only(run) else text)
