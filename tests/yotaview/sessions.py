"""Saved sessions for the tests: as written, and altered on the way."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.yotaview.scripts import EXP, captured
from yotaview.capture import Capture
from yotaview.model import store


def saved(capture: Capture) -> io.BytesIO:
    file = io.BytesIO()
    store.save(capture, file)
    file.seek(0)
    return file


def reopened(capture: Capture, folder: Path) -> Capture:
    path = folder / "session.yota"
    path.write_bytes(saved(capture).getvalue())
    return store.load(path)


def call_of(head: Any, name: str) -> Any:
    ops = head["rows"][0]["tape"]["ops"]
    return next(o for o in ops if name in str(o.get("fn")))


def altered(folder: Path, change: Callable[[Any], object]) -> Capture:
    """Save a session, change its JSON, and open it."""
    file = saved(captured(folder, EXP))
    path = folder / "altered.yota"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == store.MANIFEST:
                head = json.loads(data)
                change(head)
                data = json.dumps(head).encode()
            new.writestr(name, data)
    return store.load(path)


def rewritten(folder: Path, member: str, data: bytes) -> Capture:
    path = folder / "rewritten.yota"
    with zipfile.ZipFile(saved(captured(folder, EXP))) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return store.load(path)
