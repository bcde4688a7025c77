"""The command line: read arguments, run the script, print or open the screen."""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from yotaview.capture import Capture, Limits, run_script
from yotaview.capture.console import Console, escaped
from yotaview.capture.runner import NotFound
from yotaview.checks import CHECKS, Finding, line_of
from yotaview.export import ExportError, Selection, export, stage_lines, suffix_of
from yotaview.model import store
from yotaview.model.breaks import BreakError, find_breaks
from yotaview.model.goto import GotoError
from yotaview.model.session import Session
from yotaview.options import (
    Parser,
    UsageError,
    check_options,
    chosen_target,
    make_parser,
    misplaced,
    split_arguments,
)
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
    console: Console
    target: str | None = None
    arguments: list[str] = field(default_factory=list)
    about: str = ""
    capture: Capture | None = None
    failed_export: bool = False
    failed_check: bool = False

    @property
    def reopened(self) -> bool:
        """Tell whether a saved session is opened rather than a script run."""
        return self.target is not None and self.target.endswith(".yota") and not self.options.module

    @functools.cached_property
    def headless(self) -> bool:
        """Tell whether no screen opens; asked before the script can change the terminal."""
        o = self.options
        asked = o.out or o.list or o.text or o.json or o.check or o.screenshot
        return not o.tui and bool(asked or not on_terminal())

    def exit_code(self) -> int:
        """Return the first exit code that holds."""
        c = self.capture
        if c is None:
            return FAILED_EXPORT if self.failed_export else OK
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


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command line and return the exit code."""
    if console is None:
        with Console() as console:
            return main(argv, console)
    parser = make_parser()
    try:
        run = _read(list(sys.argv[1:] if argv is None else argv), parser, console)
        _execute(run)
        return run.exit_code()
    except UsageError as error:
        say(f"{error}\nusage: {parser.usage}\n       yotaview --help lists the options")
        return USAGE
    except store.SessionError as error:
        say(str(error))
        return UNREADABLE
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    finally:
        console.resume()


def _read(argv: list[str], parser: Parser, console: Console) -> Run:
    """Return what is to be done."""
    own, rest = split_arguments(argv, parser)
    run = Run(parser.parse_args(own), console)
    run.about = _about(run.options, parser)
    if run.about:
        return run
    run.target, run.arguments = chosen_target(run.options, rest)
    check_options(run.options, on_terminal(), run.headless)
    for word in misplaced(run.arguments, parser):
        say(
            f"note: {word} stands behind the script and goes to it; "
            "options of yotaview stand before"
        )
    return run


def _about(options: argparse.Namespace, parser: Parser) -> str:
    """Return what is printed about the program, if that is all that was asked for."""
    if options.help:
        return parser.format_help()
    if options.version:
        import yota

        return f"yotaview {yota.__version__}\n"
    if options.doctor:
        from yotaview.doctor import report

        return report()
    return ""


def _execute(run: Run) -> None:
    if run.about:
        data(run, run.about)
        return
    run.capture = _load(run)
    capture = run.capture
    if capture.error and run.headless and not run.reopened:
        tell(capture.error)
    elif capture.error and not run.headless:
        say(capture.error.rstrip())
    if capture.cut:
        say(f"capture cut: {capture.cut}")
    if not capture.rows and (why := _why_none(run)):
        say(f"no tape captured: {why}")
    _headless_outputs(run)
    if not run.headless and capture.rows:
        _open_screen(run)


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
    if run.headless:
        run.console.divert()
    limits = Limits(o.max_tapes, o.max_bytes, o.timeout, o.capture)
    try:
        with contextlib.nullcontext() if run.headless else patience(run.target):
            capture = run_script(
                run.target,
                run.arguments,
                module=bool(o.module),
                limits=limits,
                console=run.console,
            )
    except NotFound as error:
        raise UsageError(str(error)) from error
    return _with_lesson(capture) if o.lesson and not run.headless else capture


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


def say(text: str, stream: TextIO | None = None) -> None:
    """Write narration, which is never data."""
    shown = "\n".join(map(clean, text.split("\n")))
    tell(f"yotaview: {shown}\n", stream)


def tell(text: str, stream: TextIO | None = None) -> None:
    """Write to stderr, if there is one and somebody reads it."""
    stream = stream or sys.stderr
    with contextlib.suppress(OSError, ValueError):
        if stream is not None:
            stream.write(text)
            stream.flush()


def data(run: Run, text: str) -> None:
    """Write to stdout; where that fails, say so and have it in the exit code."""
    try:
        run.console.write(text)
    except OSError as error:
        say(f"stdout: {error.strerror}")
        run.failed_export = True


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
        raise UsageError(f"tape {row + 1} {run.capture.rows[row].name}: {error}") from error
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
    if o.at is not None or o.breaks:
        _check_breaks(run, [open_row(run, k) for k in rows if len(capture.rows[k].tape)])
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


def _check_breaks(run: Run, sessions: Sequence[Session]) -> None:
    """Say which breakpoints mean no op of the tapes; raises UsageError for an op by its number."""
    for spec in run.options.breaks:
        if any(find_breaks(spec, s) for s in sessions):
            continue
        names = ", ".join(f"{s.row_index + 1} {s.row.name}" for s in sessions[:FEW])
        text = f"-b {spec}: no op of tape {names}"
        if re.fullmatch(r"%?\d+", spec):
            raise UsageError(text)
        say(text)


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
            texts = json_lines(session, ops=not o.list, stage=o.stage)
            text = "".join(f"{text}\n" for text in texts)
            data(run, text if run.console.utf else escaped(text))


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
    _check_breaks(run, [session])
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

    with run.console.screen():
        run_app(session, **_screen_arguments(run))


def ascii_only(run: Run) -> bool:
    """Tell whether only ASCII can or may be written."""
    return bool(run.options.ascii) or not run.console.utf


def write(run: Run, lines: Sequence[Line]) -> None:
    """Print lines, coloured where asked for or where a terminal reads them."""
    color = run.options.color
    on = color == "always" or (
        color == "auto" and run.console.isatty and not os.environ.get("NO_COLOR")
    )
    paint: Callable[[Sequence[Line]], str] = ansi if on else plain
    text = paint(lines)
    data(run, to_ascii(text) if ascii_only(run) else text)
