"""Damaged and hostile session files are refused, and steer nothing."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, captured
from tests.yotaview.sessions import altered, call_of, rewritten, saved
from yotaview.model import store
from yotaview.model.decode import Reader
from yotaview.model.forms import Opaque
from yotaview.model.session import Session
from yotaview.render.line import plain
from yotaview.render.tapes import list_lines
from yotaview.render.text import tape_lines


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "numpy.load", "numpy.save", "numpy.fromfile",
     "operator.attrgetter", "operator.methodcaller", "yota.grad", "numpy.vectorize",
     "subprocess.run", "numpy.exp.__call__"],
)  # fmt: skip
def test_functions_beyond_the_table_are_opaque(name: str) -> None:
    reader = Reader(lambda k: np.zeros(1), [])
    assert isinstance(reader.function(name), Opaque)


HOSTILE: dict[str, Callable[[Any], object]] = {
    "another format": lambda h: h.update(format="zip"),
    "a newer version": lambda h: h.update(version=99),
    "no rows": lambda h: h.pop("rows"),
    "operand before its op": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"%": 5}),
    "unknown kind of value": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"eval": "1"}),
    "object dtype": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"dtype": "|O"}),
    "endless integer": lambda h: call_of(h, "exp")["args"].append({"int": "9" * 5000}),
    "numbers out of order": lambda h: h["rows"][0]["tape"]["ops"].reverse(),
    "frame that is not there": lambda h: h["rows"][0].update(site=77),
    "array that is not there": lambda h: h["rows"][0].update(values={"npy": 77}),
    "result that is not there": lambda h: h["rows"][0]["tape"]["result"].update(leaves=[{"%": 88}]),
    "literals of another tape": lambda h: h["rows"][0]["calls"][0].update(
        literals={"tuple": [{"float": "0x1.0p+0"}]}
    ),
    "text for a number": lambda h: h["rows"][0].update(count="many"),
    "not a number": lambda h: h.update(seconds=float("nan")),
    "a call below the first": lambda h: h["rows"][0]["calls"][0].update(number=0),
    "a call beyond the last": lambda h: h["rows"][0]["calls"][0].update(number=2),
    "a call twice": lambda h: h["rows"][0].update(count=9, calls=h["rows"][0]["calls"] * 2),
    "fewer calls than there are": lambda h: h["rows"][0].update(count=0),
    "a seed that is not there": lambda h: h["rows"][0]["tape"].update(seed=77),
    "a cotangent that is not there": lambda h: h["rows"][0]["tape"].update(cotangents=[[1, 77]]),
    "an input of another type": lambda h: h["rows"][0]["calls"][0].update(inputs=[{"int": "1"}]),
    "a constant of another type": lambda h: h["rows"][0]["tape"]["ops"][2].update(const="one"),
    "a known value of another type": lambda h: h["rows"][0]["calls"][0].update(
        known=[[2, {"tuple": [{"float": "0x1p+0"}]}]]
    ),
    "a known value of no op": lambda h: h["rows"][0]["calls"][0].update(
        known=[[77, {"float": "0x1p+0"}]]
    ),
    "a type without a dtype": lambda h: call_of(h, "exp").update(
        spec=["array", None, [2], "C", []]
    ),
    "a shape beyond all memory": lambda h: call_of(h, "exp").update(
        spec=["array", "<f8", [1 << 31, 1 << 31], "C", []]
    ),
    "strides of another array": lambda h: h["rows"][0].update(values={"strided": [0, [8, 8, 8]]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_damaged_session_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(store.SessionError):
        altered(tmp_path, HOSTILE[name])


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    def rename(head: Any) -> None:
        head["rows"][0].update(name="\x1b[31mred\x07")

    session = Session(altered(tmp_path, rename))
    shown = plain(tape_lines(session)) + plain(list_lines(session.capture))
    assert "red" in shown
    assert not set(shown) & {"\x1b", "\x07"}


def test_no_pickle_is_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",))

    raw = io.BytesIO()
    np.lib.format.write_array(raw, np.array([Bomb()], object), allow_pickle=True)
    with pytest.raises(store.SessionError):
        rewritten(tmp_path, "arrays/0.npy", raw.getvalue())
    with pytest.raises(store.SessionError):
        rewritten(tmp_path, "arrays/0.npy", pickle.dumps(Bomb()))
    assert not (tmp_path / "ran").exists()


def test_array_that_promises_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    raw = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(raw, head)
    with pytest.raises(store.SessionError, match="not what its header says"):
        rewritten(tmp_path, "arrays/0.npy", raw.getvalue())


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nonsense", b"{}", b"\x00" * 100])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.yota"
    path.write_bytes(data)
    with pytest.raises(store.SessionError):
        store.load(path)


def test_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "session.yota"
    path.write_bytes(saved(captured(tmp_path, EXP)).getvalue())
    monkeypatch.setattr(store, "MAX_BYTES", 1000)
    with pytest.raises(store.SessionError, match="larger than"):
        store.load(path)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(store.SessionError):
        rewritten(tmp_path, store.MANIFEST, b"[" * 200_000)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(saved(captured(tmp_path, EXP)).getvalue())
    path = tmp_path / "damaged.yota"
    places = range(40, len(data) - 200, 97)
    refused = 0
    for at in places:
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        path.write_bytes(bytes(damaged))
        try:
            store.load(path)  # a byte that nothing reads may be any
        except store.SessionError:
            refused += 1
    assert refused > len(places) / 2
