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
from yotaview.render.buffers import buffer_lines
from yotaview.render.dot import to_dot
from yotaview.render.fold import is_folded
from yotaview.render.json import json_lines
from yotaview.render.line import Line, line, plain
from yotaview.render.replay import replay_page
from yotaview.render.svg import LayoutError, render_dot, svg_png, tape_svg
from yotaview.render.tapes import heading
from yotaview.render.text import tape_lines

FEW = 3


class ExportError(Exception):
    """A file could not be written; the text names it and says why."""


class Selection:
    """What is to be exported: a capture, the open calls of some rows, and a stage of the first."""

    def __init__(
        self,
        capture: Capture,
        sessions: Sequence[Session],
        stage: str = "reverse",
        direction: str = "TB",
        standing: str = "",
    ) -> None:
        self.capture, self.sessions, self.stage = capture, sessions, stage
        self.direction, self.standing = direction, standing

    @property
    def tape(self) -> Tape:
        """The tape that is drawn."""
        return stage_tape(self.sessions[0], self.stage)

    @property
    def in_order(self) -> list[Session]:
        """The sessions in the order of their rows."""
        return sorted(self.sessions, key=lambda s: s.row_index)

    def told(self, path: str) -> str:
        """Say which tape a file holds, as `tape 2 loss, call 300`."""
        suffix = suffix_of(path)
        many = self.in_order if suffix in (".txt", ".json") else self.sessions[:1]
        if suffix == ".yota":
            count = len(self.capture.rows)
            return f"session, {count} tape{'' if count == 1 else 's'}"
        return "; ".join(map(_named, many[:FEW])) + ("; …" if len(many) > FEW else "")


def _named(session: Session) -> str:
    call = f", call {session.call.number}" if session.call is not None else ""
    number = "" if session.row.failure is not None else f" {session.row_index + 1}"
    return f"tape{number} {session.row.name}{call}"


def stage_tape(session: Session, stage: str) -> Tape:
    """Return the tape of a stage; the recorded one carries values."""
    if stage == "reverse" or session.row.failure is not None:
        return session.tape
    return session.program.stage(stage).tape


def _text(selection: Selection) -> bytes:
    texts = (plain(stage_lines(s, selection.stage)) for s in selection.in_order)
    return "\n".join(texts).encode("utf-8", "replace")


def stage_lines(session: Session, stage: str) -> list[Line]:
    """Return a heading and a stage: the tape as recorded with values, buffers, or the code."""
    if session.row.failure is not None:
        stage = "reverse"  # it has no other
    return [heading(session, stage), *_stage_body(session, stage)]


def _stage_body(session: Session, stage: str) -> list[Line]:
    match stage:
        case "reverse":
            return tape_lines(session)
        case "buffers":
            return buffer_lines(session, session.program.plan())
        case "code":
            text = session.program.source().text
        case _:
            text = stage_tape(session, stage).pretty(origins=True, short=True)
    return [line(row) for row in text.rstrip("\n").split("\n")]


def _json(selection: Selection) -> bytes:
    lines = (t for s in selection.in_order for t in json_lines(s, stage=selection.stage))
    return "".join(f"{text}\n" for text in lines).encode("utf-8", "replace")


def _pdf(selection: Selection) -> bytes:
    return render_dot(_dot(selection, fold=is_folded(selection.tape)), "pdf")


def _dot(selection: Selection, *, fold: bool = False) -> str:
    session = selection.sessions[0]
    return to_dot(selection.tape, direction=selection.direction, fold=fold, at=session.at)


def _svg(selection: Selection) -> bytes:
    at = selection.sessions[0].at
    svg = tape_svg(selection.tape, direction=selection.direction, at=at)
    return svg.encode("utf-8", "replace")


def _html(selection: Selection) -> bytes:
    if selection.stage != "reverse":
        raise ExportError(
            f"a page of HTML steps through the tape as recorded, not {selection.stage}"
        )
    text = replay_page(selection.sessions[0], selection.direction)
    return text.encode("utf-8", "replace")


WRITERS: dict[str, Callable[[Selection], bytes]] = {
    ".svg": _svg,
    ".dot": lambda s: _dot(s).encode("utf-8", "replace"),
    ".png": lambda s: svg_png(_svg(s).decode()),
    ".pdf": _pdf,
    ".txt": _text,
    ".json": _json,
    ".html": _html,
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
                store.save(selection.capture, file, selection.standing)
            return
        if not selection.sessions:
            raise ExportError(f"{path}: no tape to write")
        content = WRITERS[suffix](selection)
        with replacing(path) as file:
            file.write(content)
    except LayoutError as error:
        raise ExportError(f"{path}: {error}{_dot_instead(path, selection)}") from error
    except ExportError as error:
        raise error if str(error).startswith(path) else ExportError(f"{path}: {error}") from error
    except (OSError, KeyError, MemoryError, RecursionError) as error:
        raise ExportError(f"{path}: {str(error) or type(error).__name__}") from error


def _dot_instead(path: str, selection: Selection) -> str:
    """Write what could not be laid out as DOT beside it, unless such a file is there."""
    instead = os.path.splitext(path)[0] + ".dot"
    if os.path.exists(instead):
        return ""
    with replacing(instead) as file:
        file.write(WRITERS[".dot"](selection))
    return f"; wrote {instead} instead"


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place when everything is written.

    Raises ExportError, which names `path`.
    """
    draft = ""
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise IsADirectoryError(0, "is a directory")
        if os.path.exists(target) and not os.path.isfile(target):
            raise OSError(0, "is no file that could be replaced, but a device, a pipe or a socket")
        handle, draft = tempfile.mkstemp(prefix=".yotaview-", dir=os.path.dirname(target) or ".")
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(draft, _mode(target))
        os.replace(draft, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError | ValueError):
            raise ExportError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        raise


def _mode(target: str) -> int:
    """Return the permissions of the file that is replaced, of a new one otherwise."""
    try:
        return os.stat(target).st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
