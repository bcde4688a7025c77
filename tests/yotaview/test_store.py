"""Saved sessions: the same when opened again, and nothing of theirs is run."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, FAILS, LOOP, MASKED, captured
from yota.tape import Call, Var
from yotaview.capture import Capture
from yotaview.model import store
from yotaview.model.codec import CodecError, OpaqueFunction, Reader, Writer
from yotaview.model.session import NotKnown, Session
from yotaview.render.line import plain
from yotaview.render.tapes import list_lines
from yotaview.render.text import tape_lines

EVERYTHING = """\
from typing import NamedTuple
import numpy as np
import yota


class Pair(NamedTuple):
    a: np.ndarray
    b: float


def f(params, pair, n):
    x = params["W"] @ params["v"] + pair.a[::-1]
    for _ in range(n):
        x = np.where(x > 0, x, 0.1 * x)
    u, s, vt = np.linalg.svd(np.outer(x, x) + np.eye(3))
    return np.sum(s) * pair.b + np.max(np.concatenate([x, x[1:]]))


params = {"W": np.asfortranarray(np.arange(9.0).reshape(3, 3)), "v": np.ones(3)}
yota.grad(f, params, Pair(np.array([1.0, -20.0, 3.0]), 2.0), 2)
yota.grad(lambda z: np.real(np.sum(z * np.conj(z))), np.array([1 + 2j, 3j]))
yota.grad(lambda x: np.sum(x * x), np.ones(3, np.float32), seed=None)
"""


def saved(capture: Capture) -> io.BytesIO:
    file = io.BytesIO()
    store.save(capture, file)
    file.seek(0)
    return file


def reopened(capture: Capture, folder: Path) -> Capture:
    path = folder / "session.yota"
    path.write_bytes(saved(capture).getvalue())
    return store.load(path)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("text", [EXP, LOOP.format(count=12), MASKED, EVERYTHING])
def test_reopened_session_shows_the_same(tmp_path: Path, text: str) -> None:
    first = captured(tmp_path, text)
    second = reopened(first, tmp_path)
    assert len(first.rows) == len(second.rows)
    for k, (a, b) in enumerate(zip(first.rows, second.rows, strict=True)):
        assert a.tape.pretty(origins=True) == b.tape.pretty(origins=True)
        assert (a.name, a.place, a.kind, a.count) == (b.name, b.place, b.kind, b.count)
        assert (a.values, a.norms, a.nonfinite) == (b.values, b.norms, b.nonfinite)
        for call in range(len(a.calls)):
            one, two = Session(first, k, call), Session(second, k, call)
            assert one.opened.problems == two.opened.problems == {}
            assert all(same(one.recorded(v), two.recorded(v)) for v in one.tape.ops)
            assert one.alerts == two.alerts
    assert second.sources == first.sources
    assert second.output == first.output


def test_reopened_session_has_its_stages_and_code(tmp_path: Path) -> None:
    capture = captured(tmp_path, EXP)
    one, two = Session(capture), Session(reopened(capture, tmp_path))
    assert two.mapped(Var(4), "cse") == one.mapped(Var(4), "cse")
    assert two.program.source("lean").text == one.program.source("lean").text


def test_failure_and_error_are_kept(tmp_path: Path) -> None:
    first = captured(tmp_path, FAILS)
    second = reopened(first, tmp_path)
    assert (second.error, second.exit_code) == (first.error, 1)
    assert second.rows[-1].failure == first.rows[-1].failure


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    capture = captured(tmp_path, EXP)
    capture.seconds = 0.0
    assert saved(capture).getvalue() == saved(capture).getvalue()


def test_users_function_is_shown_and_not_run(tmp_path: Path) -> None:
    text = """\
import numpy as np
import yota
twice = yota.primitive(lambda x: 2 * x)
yota.defvjp(twice, lambda dy, y, x: 2 * dy)
yota.grad(lambda x: np.sum(np.exp(twice(x))), np.ones(2))
"""
    capture = reopened(captured(tmp_path, text), tmp_path)
    session = Session(capture)
    var, op = next((v, o) for v, o in session.tape if isinstance(o, Call))
    assert isinstance(op.fn, OpaqueFunction)
    assert session.recorded(var).tolist() == [2.0, 2.0]
    assert session.opened.problems == {}
    with pytest.raises(CodecError, match="not in the table"):
        op.fn(1)


def test_value_of_an_unknown_function_is_missing_where_it_was_not_kept(tmp_path: Path) -> None:
    session = Session(altered(tmp_path, rename_exp))
    with pytest.raises(NotKnown, match="is not run again"):
        session.recorded(Var(2))
    with pytest.raises(NotKnown):
        session.recorded(Var(5))


def rename_exp(head: Any) -> None:
    for op in head["rows"][0]["tape"]["ops"]:
        if op.get("fn") == "numpy.exp":
            op["fn"] = "os.system"


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


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "numpy.load", "numpy.save", "numpy.fromfile",
     "operator.attrgetter", "operator.methodcaller", "yota.grad", "numpy.vectorize",
     "subprocess.run", "numpy.exp.__call__"],
)  # fmt: skip
def test_functions_beyond_the_table_are_opaque(name: str) -> None:
    reader = Reader(lambda k: np.zeros(1), [])
    assert isinstance(reader.function(name), OpaqueFunction)


HOSTILE: dict[str, Callable[[Any], object]] = {
    "another format": lambda h: h.update(format="zip"),
    "a newer version": lambda h: h.update(version=99),
    "no rows": lambda h: h.pop("rows"),
    "operand before its op": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"%": 5}),
    "unknown kind of value": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"eval": "1"}),
    "object dtype": lambda h: call_of(h, "exp")["args"].__setitem__(0, {"dtype": "|O"}),
    "huge shape": lambda h: call_of(h, "exp")["args"].append({"tuple": [{"int": "99999999999"}]}),
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
    "a result far above its type": lambda h: call_of(h, "exp").update(
        fn="numpy.resize", args=[{"%": 1}, {"list": [{"int": "200000000"}]}], kwargs=[]
    ),
    "text times a number": lambda h: call_of(h, "exp").update(
        fn="operator.mul", args=["a", {"int": "268435456"}], kwargs=[]
    ),
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


def rewritten(folder: Path, member: str, data: bytes) -> Capture:
    path = folder / "rewritten.yota"
    with zipfile.ZipFile(saved(captured(folder, EXP))) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return store.load(path)


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
    monkeypatch.setattr(store, "MAX_BYTES", 1000)
    with pytest.raises(store.SessionError, match="larger than"):
        rewritten(tmp_path, "arrays/0.npy", b"\0" * 100_000)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(store.SessionError):
        rewritten(tmp_path, store.MANIFEST, b"[" * 200_000)


@pytest.mark.parametrize(
    "value",
    [1.5, -0.0, float("nan"), float("inf"), 10**30, True, None, "text", 2 - 1j, (1, [2.0, ()]),
     {"a": (1,)}, slice(None, 3, -1), ..., np.float32(0.1), np.dtype("f4"), np.float64,
     np.bool_, float],
)  # fmt: skip
def test_values_come_back_as_they_were(value: Any) -> None:
    writer = Writer()
    text = json.dumps(writer.value(value), allow_nan=False)
    back = Reader(lambda k: writer.arrays[k], []).value(json.loads(text))
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(saved(captured(tmp_path, EXP)).getvalue())
    path = tmp_path / "damaged.yota"
    for at in range(40, len(data) - 200, 97):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        path.write_bytes(bytes(damaged))
        try:
            store.load(path)
        except store.SessionError:
            continue
