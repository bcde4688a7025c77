"""Saved sessions for the tests: as written, and altered on the way."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import yota
from tests.yotaview.scripts import EXP, captured
from yotaview.capture import Capture, Limits
from yotaview.capture.recorder import Recorder
from yotaview.capture.runner import snapshot
from yotaview.model import store
from yotaview.model.session import Session


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


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and (a == b if type(a) is int else repr(a) == repr(b))


def recorded(*calls: tuple[Any, ...]) -> Capture:
    """Return the capture of calls of `grad`, each a function and its arguments."""
    recorder = Recorder(Limits())
    with yota.observe(recorder), np.errstate(all="ignore"):
        for f, *args in calls:
            yota.grad(f, *args)
    capture = Capture("script.py", rows=recorder.finished())
    capture.sources = snapshot(capture)
    return capture


def assert_same(first: Capture, second: Capture) -> None:
    assert len(first.rows) == len(second.rows)
    for k, (a, b) in enumerate(zip(first.rows, second.rows, strict=True)):
        assert (a.name, a.place, a.kind, a.count) == (b.name, b.place, b.kind, b.count)
        assert repr((a.values, a.norms, a.nonfinite)) == repr((b.values, b.norms, b.nonfinite))
        for call in range(len(a.calls)):
            one, two = Session(first, k, call), Session(second, k, call)
            assert one.opened.problems == two.opened.problems == {}
            assert all(same(one.recorded(v), two.recorded(v)) for v in one.tape.ops)
            assert one.alerts == two.alerts


def rename_exp(head: Any) -> None:
    for op in head["rows"][0]["tape"]["ops"]:
        if op.get("fn") == "numpy.exp":
            op["fn"] = "os.system"
