"""What stands on the command line: the options, and where the script begins."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import Any, NoReturn

from yota.passes import PIPELINE
from yotaview.again import OPTION
from yotaview.checks import ALL, CHECKS, chosen_checks
from yotaview.export import SUFFIXES, suffix_of
from yotaview.keymap import VARIABLE, KeymapError, find_keymap, use_keymap
from yotaview.keys import VIEWS
from yotaview.lessons import FIRST, LESSONS, lesson_path
from yotaview.model.breaks import BreakError, parse_break
from yotaview.model.digits import whole
from yotaview.model.goto import HELP

# what can be told of --at before there is a tape
WHERE = re.compile(
    r":?\s*(%?\d+|[+-]\d+|\d+[nN]|\d+(\.\d+)?\s*%|(line|call)\s+[\d,]+|start|end|seed|nan)"
)
# a tape or a call of the same run: 2, 2:731, :731
WITHIN = re.compile(r"(\d+)?(?::(\d+))?")
STAGES = ("trace", "reverse", *PIPELINE, "buffers", "code")
EPILOG = """\
exit code, the first that holds: 2 usage, 70 an error of yotaview's own, 130 interrupted,
124 time limit, 6 unreadable session, 1 the script raised or exited non-zero, 3 no tape captured,
5 export failed, 4 a check failed or a diff found a difference, 0"""


class UsageError(Exception):
    """The command line asks for something that does not exist."""


class Parser(argparse.ArgumentParser):
    """argparse, with errors that are raised."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)


class Layout(argparse.RawDescriptionHelpFormatter):
    """Help that shows a value which must be joined to its option as `--lesson[=NAME]`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return (
            names_of(action) if action.nargs == "?" else super()._format_action_invocation(action)
        )


def names_of(action: argparse.Action) -> str:
    """Return an option with the place of its value: `-o FILE`, `--lesson[=NAME]`."""
    value = action.metavar or "|".join(action.choices or ())
    text = ", ".join(action.option_strings)
    if action.nargs == "?":
        return f"{text}[={value}]"
    return text if action.nargs == 0 or not value else f"{text} {value}"


def make_parser() -> Parser:
    """Return the parser of what stands before the script."""
    parser = Parser(
        prog="yotaview",
        usage="yotaview [OPTIONS] SCRIPT [ARGS...] | -m MODULE [ARGS...] | FILE.yota",
        description="Run a script and step through the gradients that it took, forward and back.",
        epilog=f"{checks_table()}\n\n{EPILOG}",
        formatter_class=Layout,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="print this help")
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module by name, as python -m"
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    _screen_options(parser.add_argument_group("screen"))
    _headless_options(parser.add_argument_group("without a screen"))
    _choice_options(parser.add_argument_group("what is shown"))
    _capture_options(parser.add_argument_group("what is captured"))
    return parser


def checks_table() -> str:
    """Return what each check looks for, one a line."""
    rows = (f"  {name:<12}{check.help}" for name, check in CHECKS.items())
    return "\n".join(["what --check looks for:", *rows])


def _screen_options(group: Any) -> None:
    names = ", ".join(LESSONS)
    group.add_argument(
        "--lesson", nargs="?", const="", metavar="NAME", help=f"open a lesson: {names}"
    )
    group.add_argument("--theme", metavar="NAME", help="a theme of Textual, as textual-light")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument(
        "--keymap", metavar="FILE", help=f"a TOML file with keys of your own, also ${VARIABLE}"
    )
    group.add_argument("--view", choices=VIEWS, help="the view to begin with")
    group.add_argument(
        "--at", metavar="WHERE", help="the position: 46, %%46, 50%%, seed, end, nan, 'line 9'"
    )
    group.add_argument("-b", dest="breaks", action="append", default=[], metavar="SPEC",
                       help="a breakpoint: %%46, op:log, line:9, 'line:9 if nan'")  # fmt: skip
    group.add_argument(
        "--tui", action="store_true", help="open the screen after the headless options"
    )
    # how a re-run comes back to its place: written by the program, not by a person
    group.add_argument(OPTION, dest="resume", metavar="JSON", help=argparse.SUPPRESS)


def _headless_options(group: Any) -> None:
    group.add_argument("-o", dest="out", action="append", default=[], metavar="FILE",
                       help=f"write a file, by its suffix: {' '.join(SUFFIXES)}")  # fmt: skip
    group.add_argument("--list", action="store_true", help="print a line for each captured tape")
    group.add_argument("--text", action="store_true", help="print the tape, an op a line")
    group.add_argument("--json", action="store_true", help="print the tape as JSON lines")
    group.add_argument(
        "--why", metavar="ELEMENT", help="print what a number is made of: %%49[0,2], dW1[0,2]"
    )
    group.add_argument(
        "--check", metavar="NAME,...", help=f"look for faults: {', '.join(CHECKS)}, or {ALL}"
    )
    group.add_argument(
        "--bisect", metavar="COND", help="the first bad call of many: nan, 'norm>1e3', 'value<0'"
    )
    group.add_argument(
        "--diff",
        metavar="B.yota|N:K",
        help="compare with a saved session, or call K of tape N",
    )
    group.add_argument(
        "--screenshot", metavar="FILE", help="write a picture of the screen: .svg or .png"
    )
    group.add_argument("--keys", action="store_true", help="print the keys of the screen")
    group.add_argument("--doctor", action="store_true", help="print what this installation can do")
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour text"
    )


def _choice_options(group: Any) -> None:
    group.add_argument("--tape", type=_count, metavar="N", help="tape N of --list")
    group.add_argument("--call", type=_count, metavar="K", help="kept call K of the tape")
    group.add_argument(
        "--direction",
        choices=("TB", "LR"),
        default="TB",
        help="drawings from top to bottom, or from left to right",
    )
    group.add_argument("--stage", choices=STAGES, default="reverse", help="the tape after a pass")
    group.add_argument(
        "--only", metavar="NAME", help="tapes of one function, or called at FILE:LINE"
    )


def _capture_options(group: Any) -> None:
    group.add_argument(
        "--capture", metavar="NAME|FILE:LINE", help="capture one function, or one line's calls"
    )
    group.add_argument(
        "--max-tapes", type=_count, default=200, metavar="N", help="tapes to capture (200)"
    )
    group.add_argument(
        "--max-bytes", type=_size, default=256 << 20, metavar="N", help="for kept calls (256M)"
    )
    group.add_argument(
        "--timeout", type=_seconds, metavar="S", help="end the script after S seconds"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or whole(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return whole(text)


def _size(text: str) -> int:
    units = {"k": 10, "m": 20, "g": 30}
    unit = units.get(text[-1:].lower(), 0)
    try:
        found = int(float(text[:-1] if unit else text) * (1 << unit))
    except (ValueError, OverflowError):
        found = 0
    if found < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of bytes, as 500000, 64k, 256M or 1G")
    return found


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
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


def chosen_target(options: argparse.Namespace, rest: list[str]) -> tuple[str, list[str]]:
    """Return the script or module and its arguments; raises UsageError if there is none."""
    if options.lesson is not None:
        return _lesson(options, rest), []
    if options.module is not None:
        return options.module, rest
    if rest:
        return rest[0], rest[1:]
    raise UsageError("no script; `yotaview --lesson` opens the first lesson")


def _lesson(options: argparse.Namespace, rest: list[str]) -> str:
    if options.lesson == "" and len(rest) == 1 and rest[0] in LESSONS:
        options.lesson, rest = rest[0], []
    if rest:
        raise UsageError(f"--lesson takes no script; a lesson by name is --lesson={rest[0]}")
    options.lesson = options.lesson or FIRST
    if options.lesson not in LESSONS:
        raise UsageError(f"no lesson {options.lesson!r}; there are: {', '.join(LESSONS)}")
    return lesson_path(options.lesson)


def check_options(options: argparse.Namespace, on_terminal: bool, headless: bool) -> None:
    """Check what can be checked before the script runs; raises UsageError."""
    for path in options.out:
        if suffix_of(path) is None:
            raise UsageError(f"{path}: no such format; what works: {' '.join(SUFFIXES)}")
    options.check = chosen_checks(options.check or "")
    for name in options.check:
        if name not in CHECKS:
            raise UsageError(f"no check {name!r}; there are: {', '.join(CHECKS)}, {ALL}")
    if options.screenshot and not options.screenshot.endswith((".svg", ".png")):
        raise UsageError(f"{options.screenshot}: a screenshot is .svg or .png")
    if options.diff is not None and not is_diff(options.diff):
        raise UsageError(f"--diff {options.diff}: write FILE.yota, N, N:K or :K")
    if options.tui and not on_terminal:
        raise UsageError("--tui needs a terminal for input, output and error")
    _check_places(options)
    if options.screenshot or not headless:
        _check_looks(options)


def _check_looks(options: argparse.Namespace) -> None:
    """Check the theme and take the user's keys; raises UsageError."""
    if options.theme:
        _check_theme(options.theme)
    take_keymap(options)


def take_keymap(options: argparse.Namespace) -> None:
    """Take the user's keys where there are any; raises UsageError."""
    path = find_keymap(options.keymap)
    try:
        if path is not None:
            use_keymap(path)
    except KeymapError as error:
        raise UsageError(str(error)) from error


def is_diff(text: str) -> bool:
    """Tell whether a text names what can be compared with: a session, a tape, a call."""
    return text.endswith(".yota") or bool(text and WITHIN.fullmatch(text))


def _check_places(options: argparse.Namespace) -> None:
    if options.at is not None and not WHERE.fullmatch(options.at.strip()):
        raise UsageError(f"cannot go to {options.at!r}: write {HELP}")
    for spec in options.breaks:
        try:
            parse_break(spec)
        except BreakError as error:
            raise UsageError(str(error)) from error


def _check_theme(name: str) -> None:
    from yotaview.screens.themes import names

    if name not in names():
        raise UsageError(f"no theme {name!r}; there are: {', '.join(names())}")
