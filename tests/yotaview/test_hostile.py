"""Files that are no sessions: each is refused with exit code 6 and one clear line."""

from __future__ import annotations

import io
import json
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, captured
from tests.yotaview.sessions import saved
from yotaview import cli
from yotaview.model import store

Members = dict[str, bytes]


@cache
def good(folder: Path) -> bytes:
    return saved(captured(folder, EXP)).getvalue()


def members(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {n: archive.read(n) for n in archive.namelist()}


def packed(parts: list[tuple[str, bytes]]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two files of one name
        for name, data in parts:
            archive.writestr(name, data)
    return raw.getvalue()


def added(name: str, content: bytes, data: bytes) -> bytes:
    return packed([*members(data).items(), (name, content)])


def array(content: bytes, data: bytes) -> bytes:
    return packed([*{**members(data), "arrays/0.npy": content}.items()])


def head(change: Callable[[Any], object], data: bytes) -> bytes:
    told = json.loads(members(data)[store.MANIFEST])
    change(told)
    return packed([*{**members(data), store.MANIFEST: json.dumps(told).encode()}.items()])


def text(content: bytes, data: bytes) -> bytes:
    return packed([*{**members(data), store.MANIFEST: content}.items()])


def npy(shape: tuple[int, ...], dtype: str = "<f8", body: bytes = b"") -> bytes:
    raw = io.BytesIO()
    told = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(raw, told)
    return raw.getvalue() + body


def nested(depth: int, told: Any) -> None:
    tree: Any = {"float": "0x1p+0"}
    for _ in range(depth):
        tree = {"tuple": [tree]}
    told["rows"][0]["tape"]["ops"][1]["args"][0] = tree


def cycle(told: Any) -> None:
    ops = told["rows"][0]["tape"]["ops"]
    ops[1]["args"][0] = {"%": ops[1]["id"]}


def claimed(size: int, data: bytes) -> bytes:
    """Say in the archive's list of files that each is of another size."""
    raw, at = bytearray(data), data.index(b"PK\x01\x02")
    raw[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(raw)


def encrypted(data: bytes) -> bytes:
    raw, at = bytearray(data), data.index(b"PK\x01\x02")
    raw[at + 8] |= 1
    return bytes(raw)


def method(number: int, data: bytes) -> bytes:
    raw, at = bytearray(data), data.index(b"PK\x01\x02")
    raw[at + 10 : at + 12] = struct.pack("<H", number)
    return bytes(raw)


def flipped(data: bytes) -> bytes:
    raw = bytearray(data)
    raw[len(raw) // 3] ^= 0xFF
    return bytes(raw)


def row(**changes: Any) -> Callable[[bytes], bytes]:
    return partial(head, lambda told: told["rows"][0].update(changes))


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: b"",
    "another format": lambda data: b"#!/bin/sh\nexit 0\n",
    "a pickle": lambda data: pickle.dumps({"rows": []}),
    "first half": lambda data: data[: len(data) // 2],
    "last bytes gone": lambda data: data[:-30],
    "a flipped byte": flipped,
    "encrypted": encrypted,
    "unknown compression": partial(method, 99),
    "a size that is not": partial(claimed, 0xFFFFFFF0),
    "a bomb": partial(added, "arrays/99.npy", bytes(3_000_000)),
    "a file beside it": partial(added, "../../evil.py", b"1"),
    "an absolute file": partial(added, "/etc/passwd", b"1"),
    "two of one name": partial(added, store.MANIFEST, b"{}"),
    "no manifest": lambda data: packed([("arrays/0.npy", npy((0,)))]),
    "no text": partial(text, b"\xff\xfe\x00"),
    "no object": partial(text, b"[1, 2]"),
    "deep brackets": partial(text, b"[" * 300_000),
    "deep values": partial(head, partial(nested, 400)),
    "deeper values": partial(text, b'{"rows":' + b'{"tuple":[' * 100_000),
    "an op that reads itself": partial(head, cycle),
    "a huge shape": partial(array, npy((1 << 40, 1 << 20))),
    "a negative shape": partial(array, npy((-1,))),
    "objects": partial(array, npy((1,), "|O", pickle.dumps([1]))),
    "a truncated array": partial(array, npy((100,), body=bytes(8))),
    "no array": partial(array, b"\x93NUMPY\x09\x00"),
    "a header of code": partial(array, b"\x93NUMPY\x01\x00\x12\x00__import__('os')  \n"),
    "a history longer than its calls": row(count=1, norms={"npy": 0}, values={"npy": 10_000}),
    "minus one call": row(count=-1),
    "a text for the calls": row(calls="all"),
    "an integer without end": row(count=1e400),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_in_one_line(
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if name == "a bomb":
        monkeypatch.setattr(store, "MAX_BYTES", 2_000_000)
    path = tmp_path / "hostile.yota"
    path.write_bytes(HOSTILE[name](good(tmp_path)))
    capfd.readouterr()
    assert cli.main(["--list", str(path)]) == 6
    out, err = capfd.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"yotaview: {path}")
    assert len(line) < len(str(path)) + 300
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hostile.yota", "script.py"]


def test_file_of_its_own_is_opened(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.yota"
    path.write_bytes(packed([*members(good(tmp_path)).items()]))
    assert cli.main(["--list", str(path)]) == 0
    assert "foo" in capfd.readouterr().out
