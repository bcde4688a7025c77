"""The command line: read arguments, run the script, print or open the screen."""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from yotaview.again import handed_over, run_again
from yotaview.capture import Capture, Limits, run_script
from yotaview.capture.console import Console
from yotaview.capture.runner import NotFound
from yotaview.comparing import print_bisect, print_diff
from yotaview.headless import first_session, print_outputs, screen_arguments
from yotaview.invocation import (
    FEW,
    INTERRUPTED,
    OUR_ERROR,
    TIME_LIMIT,
    UNREADABLE,
    USAGE,
    Run,
    ScreenError,
    data,
    on_terminal,
    say,
    tell,
)
from yotaview.keys import VIEWS, keys_text
from yotaview.model import store
from yotaview.model.session import Session
from yotaview.model.standing import read_standing, set_on, stand
from yotaview.options import (
    Parser,
    UsageError,
    check_options,
    chosen_target,
    make_parser,
    misplaced,
    split_arguments,
    take_keymap,
)

__all__ = ["INTERRUPTED", "TIME_LIMIT", "main", "patience"]


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command line and return the exit code."""
    if console is None:
        with Console() as console:
            return main(argv, console)
    parser = make_parser()
    try:
        run = _read(list(sys.argv[1:] if argv is None else argv), parser, console)
        _execute(run)
        if run.again:
            console.mend()
            run_again(run.again)
        return run.exit_code()
    except UsageError as error:
        say(f"{error}\nusage: {parser.usage}\n       yotaview --help lists the options")
        return USAGE
    except store.SessionError as error:
        say(str(error))
        return UNREADABLE
    except ScreenError as error:
        say(str(error))
        return OUR_ERROR
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
    if options.keys:
        take_keymap(options)
        return keys_text()
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
    print_outputs(run)
    if run.options.diff and capture.rows:
        print_diff(run)
    if run.options.bisect and capture.rows:
        print_bisect(run)
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
    else:
        import yotaview.app  # noqa: F401 - before the script can be in its way, or wait for it
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


def _open_screen(run: Run) -> None:
    arguments = screen_arguments(run)
    if run.options.resume is not None:
        session, arguments = _resumed(run, arguments)
    elif (left := left_open(run)) is not None:
        session, view, told = left
        arguments = {**arguments, "view": run.options.view or view, "told": told}
    else:
        session = first_session(run)
    if session is None:
        return
    from yotaview.app import run as run_app

    with run.console.screen():
        run.again = run_app(session, **arguments, rerun=not run.reopened)


def left_open(run: Run) -> tuple[Session, str, str] | None:
    """Return where the screen stood that wrote a session, its view, and what is not as it was.

    None where it wrote nothing of that.  What the options name goes before: what was set is set
    again all the same.
    """
    capture, o = run.capture, run.options
    if capture is None or not run.reopened or not capture.standing:
        return None
    try:
        wanted = read_standing(capture.standing)
    except ValueError as error:
        say(f"what was set in this session is left out: {error}")
        return None
    if any((o.tape, o.call, o.at, o.only, *o.breaks)):
        session = first_session(run)
        if session is None:
            return None
        told = set_on(session, wanted)
        return session, screen_arguments(run)["view"], told
    if not any(len(r.tape) for r in capture.rows):
        return None
    session, told = stand(capture, wanted)
    return session, wanted.view if wanted.view in VIEWS else "step", told


def _resumed(run: Run, arguments: dict[str, Any]) -> tuple[Session | None, dict[str, Any]]:
    """Return what the screen showed before the re-run, and what is not as it was."""
    capture = run.capture
    assert capture is not None
    if not any(len(r.tape) for r in capture.rows):
        return first_session(run), arguments
    try:
        wanted = read_standing(handed_over(run.options.resume))
    except ValueError as error:
        say(f"this is not where the screen was: {error}")
        return first_session(run), arguments
    session, lost = stand(capture, wanted)
    told = f"run again; {lost}" if lost else "run again: this is the same place"
    return session, {**arguments, "view": wanted.view, "theme": wanted.theme, "told": told}
