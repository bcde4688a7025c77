"""Write files: what the renderers give, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from yota.tape import Tape
from yotaview.capture import Capture
from yotaview.model import store
from yotaview.model.session import Session
from yotaview.render.dot import to_dot
from yotaview.render.json import json_lines
from yotaview.render.line import plain
from yotaview.render.svg import LayoutError, dot_svg, render_dot, svg_png, tape_svg
from yotaview.render.text import tape_lines


class ExportError(Exception):
    """A file could not be written; the text names it and says why."""


class Selection:
    """What is to be exported: a capture, the open calls of some rows, and a stage of the first."""

    def __init__(
        self, capture: Capture, sessions: Sequence[Session], stage: str = "reverse"
    ) -> None:
        self.capture, self.sessions, self.stage = capture, sessions, stage

    @property
    def tape(self) -> Tape:
        """The tape that is drawn."""
        session = self.sessions[0]
        return stage_tape(session, self.stage)


def stage_tape(session: Session, stage: str) -> Tape:
    """Return the tape of a stage; the recorded one carries values."""
    if stage == "reverse" or session.row.failure is not None:
        return session.tape
    return session.program.stage(stage).tape


def _text(selection: Selection) -> bytes:
    return "\n".join(stage_text(s, selection.stage) for s in selection.sessions).encode()


def stage_text(session: Session, stage: str) -> str:
    """Return a stage as text: the recorded tape with values, `code` as source."""
    if stage == "reverse" or session.row.failure is not None:
        return plain(tape_lines(session))
    if stage == "code":
        return session.program.source("lean").text
    return stage_tape(session, stage).pretty(origins=True, short=True) + "\n"


def _json(selection: Selection) -> bytes:
    return "".join(f"{line}\n" for s in selection.sessions for line in json_lines(s)).encode()


def _pdf(selection: Selection) -> bytes:
    return render_dot(to_dot(selection.tape), "pdf")


WRITERS: dict[str, Callable[[Selection], bytes]] = {
    ".svg": lambda s: tape_svg(s.tape).encode(),
    ".dot": lambda s: to_dot(s.tape).encode(),
    ".png": lambda s: svg_png(dot_svg(to_dot(s.tape, fold=len(s.tape) > 500))),
    ".pdf": _pdf,
    ".txt": _text,
    ".json": _json,
}
SUFFIXES = (*WRITERS, ".yota")


def suffix_of(path: str) -> str | None:
    """Return the suffix by which a file is written, None if there is no such format."""
    name = os.path.basename(path).lower()
    if name.endswith(".trace.json"):
        return None
    return next((s for s in SUFFIXES if name.endswith(s)), None)


def export(path: str, selection: Selection) -> None:
    """Write a file in the format of its suffix; raises ExportError, leaving nothing behind."""
    suffix = suffix_of(path)
    if suffix is None:
        raise ExportError(f"{path}: no such format; what works: {' '.join(SUFFIXES)}")
    try:
        if suffix == ".yota":
            with replacing(path) as file:
                store.save(selection.capture, file)
            return
        if not selection.sessions:
            raise ExportError(f"{path}: no tape to write")
        content = WRITERS[suffix](selection)
        with replacing(path) as file:
            file.write(content)
    except (OSError, LayoutError, KeyError) as error:
        raise ExportError(f"{path}: {error}") from error


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place when everything is written."""
    target = os.path.realpath(path)
    handle, draft = tempfile.mkstemp(prefix=".yotaview-", dir=os.path.dirname(target) or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(draft, _mode(target))
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _mode(target: str) -> int:
    """Return the permissions of the file that is replaced, of a new one otherwise."""
    try:
        return os.stat(target).st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
