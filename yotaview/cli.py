"""The command line: read arguments, run the script, print or open the screen."""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from yotaview.capture import Capture, Limits, run_script
from yotaview.capture.runner import NotFound
from yotaview.checks import CHECKS, Finding, line_of
from yotaview.export import SUFFIXES, ExportError, Selection, export, stage_text, suffix_of
from yotaview.lessons import FIRST, LESSONS, lesson_path
from yotaview.model import store
from yotaview.model.breaks import BreakError
from yotaview.model.goto import GotoError
from yotaview.model.session import Session
from yotaview.render.json import json_lines
from yotaview.render.line import Line, Span, ansi, line, plain, to_ascii
from yotaview.render.tapes import list_lines, status, value_text
from yotaview.render.text import tape_lines

OK, RAISED, USAGE, NO_TAPE, FAILED_CHECK, FAILED_EXPORT, UNREADABLE = range(7)
TIME_LIMIT, INTERRUPTED = 124, 130
STAGES = ("trace", "reverse", "cse", "fold", "algebra", "dce", "buffers", "code")
VIEWS = ("step", "passes", "code", "graph", "profile", "tapes")
EPILOG = """\
exit code, the first that holds: 2 usage, 130 interrupted, 124 time limit, 6 unreadable session,
1 the script raised or exited non-zero, 3 no tape captured, 5 export failed, 4 a check failed, 0"""


class UsageError(Exception):
    """The command line asks for something that does not exist."""


class Parser(argparse.ArgumentParser):
    """argparse, with errors that are raised."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)


def make_parser() -> Parser:
    """Return the parser of what stands before the script."""
    parser = Parser(
        prog="yotaview",
        usage="yotaview [OPTIONS] SCRIPT [ARGS...] | -m MODULE [ARGS...] | FILE.yota",
        description="Run a script and step through the gradients that it took, forward and back.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=True,
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module by name, as python -m"
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    _screen_options(parser.add_argument_group("screen"))
    _headless_options(parser.add_argument_group("without a screen"))
    _choice_options(parser.add_argument_group("what is shown"))
    _capture_options(parser.add_argument_group("what is captured"))
    return parser


def _screen_options(group: Any) -> None:
    names = ", ".join(LESSONS)
    group.add_argument(
        "--lesson",
        nargs="?",
        const=FIRST,
        metavar="NAME",
        help=f"open a lesson: {names} (--lesson=NAME)",
    )
    group.add_argument("--theme", metavar="NAME", help="a theme of Textual, as textual-light")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument("--view", choices=VIEWS, help="the view to begin with")
    group.add_argument(
        "--at", metavar="WHERE", help="the position: 46, %%46, 50%%, seed, end, nan, 'line 9'"
    )
    group.add_argument("-b", dest="breaks", action="append", default=[], metavar="SPEC",
                       help="a breakpoint: %%46, op:log, line:9, nan")  # fmt: skip
    group.add_argument(
        "--tui", action="store_true", help="open the screen after the headless options"
    )


def _headless_options(group: Any) -> None:
    group.add_argument("-o", dest="out", action="append", default=[], metavar="FILE",
                       help=f"write a file, by its suffix: {' '.join(SUFFIXES)}")  # fmt: skip
    group.add_argument("--list", action="store_true", help="print a line for each captured tape")
    group.add_argument("--text", action="store_true", help="print the tape, an op a line")
    group.add_argument("--json", action="store_true", help="print the tape as JSON lines")
    group.add_argument("--check", metavar="NAME,...", help=f"look for faults: {', '.join(CHECKS)}")
    group.add_argument(
        "--screenshot", metavar="FILE", help="write a picture of the screen: .svg or .png"
    )
    group.add_argument("--doctor", action="store_true", help="print what this installation can do")
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour text"
    )


def _choice_options(group: Any) -> None:
    group.add_argument("--tape", type=_positive, metavar="N", help="tape N of --list")
    group.add_argument("--call", type=_positive, metavar="K", help="kept call K of the tape")
    group.add_argument("--stage", choices=STAGES, default="reverse", help="the tape after a pass")
    group.add_argument(
        "--only", metavar="NAME", help="tapes of one function, or called at FILE:LINE"
    )


def _capture_options(group: Any) -> None:
    group.add_argument(
        "--capture", metavar="NAME|FILE:LINE", help="capture one function, or one line's calls"
    )
    group.add_argument(
        "--max-tapes", type=_positive, default=200, metavar="N", help="tapes to capture (200)"
    )
    group.add_argument(
        "--max-bytes", type=_size, default=256 << 20, metavar="N", help="for kept calls (256M)"
    )
    group.add_argument(
        "--timeout", type=_seconds, metavar="S", help="end the script after S seconds"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _size(text: str) -> int:
    units = {"k": 10, "m": 20, "g": 30}
    unit = units.get(text[-1:].lower())
    return _positive(text) if unit is None else int(float(text[:-1]) * (1 << unit))


def _seconds(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise ValueError(text)
    return number


def split_arguments(argv: Sequence[str], parser: Parser) -> tuple[list[str], list[str]]:
    """Return our own options, and the script with what stands behind it."""
    takes_value = {s for a in parser._actions for s in a.option_strings if a.nargs is None}
    k = 0
    while k < len(argv):
        word = argv[k]
        if word == "--":
            return list(argv[:k]), list(argv[k + 1 :])
        if not word.startswith("-") or word == "-":
            break
        module = word.startswith("-m") and not word.startswith("--")
        separate = word in takes_value
        k += 2 if separate else 1
        if module:
            break
    return list(argv[:k]), list(argv[k:])


def misplaced(arguments: Sequence[str], parser: Parser) -> list[str]:
    """Return our long options among the script's arguments."""
    ours = {
        s
        for a in parser._actions
        for s in a.option_strings
        if s.startswith("--") or s in ("-o", "-b")
    }
    found = []
    for word in arguments:
        if word == "--":
            break
        if word.partition("=")[0] in ours and word not in ("--help", "--version"):
            found.append(word.partition("=")[0])
    return list(dict.fromkeys(found))


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
    return all(s is not None and s.isatty() for s in streams) and os.environ.get(
        "TERM", ""
    ) not in ("", "dumb")


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
        if rest:
            raise UsageError(f"--lesson takes no script; a lesson by name is --lesson={rest[0]}")
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


def _execute(run: Run) -> int:
    run.capture = _load(run)
    capture = run.capture
    if capture.error and not run.headless:
        say(capture.error.rstrip())
    if capture.cut:
        say(f"capture cut: {capture.cut}")
    if not capture.rows:
        say(
            "no tape captured: the script called no yota.grad, vjp, gradtape or trace up to its end"
        )
    _headless_outputs(run)
    if not run.headless and capture.rows:
        _open_screen(run)
    return run.exit_code()


def _load(run: Run) -> Capture:
    """Open a saved session, or run the script; its output is not ours when ours is data."""
    o = run.options
    assert run.target is not None
    if run.reopened:
        return store.load(run.target)
    limits = Limits(o.max_tapes, o.max_bytes, o.timeout, o.capture)
    try:
        if not run.headless:
            capture = run_script(run.target, run.arguments, module=bool(o.module), limits=limits)
            return _with_lesson(capture) if o.lesson else capture
        with output_to_stderr():
            capture = run_script(run.target, run.arguments, module=bool(o.module), limits=limits)
            if capture.error:
                print(capture.error, end="", file=sys.stderr)
            return capture
    except NotFound as error:
        raise UsageError(str(error)) from error


def _with_lesson(capture: Capture) -> Capture:
    """Put the lesson's text where the screen shows the script's output."""
    source = "\n".join(capture.sources.get(capture.script, ()))
    capture.lesson = ast.get_docstring(ast.parse(source)) or ""
    capture.output = f"{capture.lesson}\n\n{'-' * 72}\n{capture.output}"
    return capture


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


def say(text: str) -> None:
    """Write narration, which is never data."""
    print(f"yotaview: {text}", file=sys.stderr)


def chosen_rows(run: Run) -> list[int]:
    """Return the indices of the rows that the options choose; raises UsageError for none."""
    assert run.capture is not None
    rows, o = run.capture.rows, run.options
    if o.tape is not None:
        if o.tape > len(rows):
            raise UsageError(f"no tape {o.tape}; {len(rows)} captured")
        return [o.tape - 1]
    found = [k for k, r in enumerate(rows) if o.only is None or o.only in (r.name, r.place)]
    if rows and not found:
        names = ", ".join(dict.fromkeys(r.name for r in rows))
        raise UsageError(f"no tape of {o.only!r}; there are: {names}")
    return found


def open_row(run: Run, row: int) -> Session:
    """Return a session on a row, at the call and position that the options name."""
    assert run.capture is not None
    session = Session(run.capture, row)
    try:
        if run.options.call is not None:
            session.open_call(run.options.call)
        if run.options.at is not None:
            session.goto(session.parse_goto(run.options.at))
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
        table = list_lines(capture)
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
            write(run, [_heading(session)])
            if o.stage == "reverse":
                write(run, tape_lines(session))
            else:
                sys.stdout.write(stage_text(session, o.stage))
        if o.json:
            for text in json_lines(session, ops=not o.list):
                print(text)


def _heading(session: Session) -> Line:
    row = session.row
    call = f" call {session.call.number}/{row.count}" if session.call is not None else ""
    head = f"tape {session.row_index + 1} {row.name} {row.place}{call}"
    text = f"{head} value {value_text(row)} {status(row)}"
    return line(Span(text, "title"))


def _export_all(run: Run, selection: Selection) -> None:
    for path in run.options.out:
        try:
            export(path, selection)
        except ExportError as error:
            say(str(error))
            run.failed_export = True
        else:
            say(f"wrote {path}")


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
    say(f"{len(opened)} tapes checked: {alarms} alarms, {masked} masked")


def _screenshot(run: Run) -> None:
    from yotaview.app import screenshot

    try:
        screenshot(_session(run), run.options.screenshot, **_screen_arguments(run))
    except OSError as error:
        say(f"{run.options.screenshot}: {error}")
        run.failed_export = True


def _session(run: Run) -> Session:
    assert run.capture is not None
    rows = chosen_rows(run)
    first = run.capture.opening_row()
    return open_row(run, first if first in rows else rows[0])


def _screen_arguments(run: Run) -> dict[str, Any]:
    o, capture = run.options, run.capture
    assert capture is not None
    view = o.view or ("tapes" if len(capture.rows) > 1 and o.tape is None else "step")
    return {"view": view, "theme": o.theme, "ascii": ascii_only(run)}


def _open_screen(run: Run) -> None:
    from yotaview.app import run as run_app

    run_app(_session(run), **_screen_arguments(run))


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
