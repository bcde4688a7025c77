"""Saved sessions: the same when opened again, and nothing of theirs is run."""

from __future__ import annotations

import gc
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import yota
from tests.yotaview.scripts import EXP, FAILS, LOOP, MASKED, captured
from tests.yotaview.sessions import altered, call_of, reopened, rewritten, saved
from tests.zoo import SMOOTH
from yota.tape import Call, Constant, Var
from yotaview.capture import Capture, Limits
from yotaview.capture.recorder import Recorder
from yotaview.capture.runner import snapshot
from yotaview.export import ExportError, Selection, export
from yotaview.model import store
from yotaview.model.decode import Reader
from yotaview.model.encode import Writer
from yotaview.model.forms import MAX_HEX_BITS, CodecError, Opaque
from yotaview.model.session import NotKnown, Session
from yotaview.render.json import json_lines
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


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and (a == b if type(a) is int else repr(a) == repr(b))


@pytest.mark.parametrize("text", [EXP, LOOP.format(count=12), MASKED, EVERYTHING])
def test_reopened_session_shows_the_same(tmp_path: Path, text: str) -> None:
    first = captured(tmp_path, text)
    second = reopened(first, tmp_path)
    assert_same(first, second)
    for a, b in zip(first.rows, second.rows, strict=True):
        assert a.tape.pretty(origins=True) == b.tape.pretty(origins=True)
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
    assert isinstance(op.fn, Opaque)
    assert session.recorded(var).tolist() == [2.0, 2.0]
    assert session.opened.problems == {}
    with pytest.raises(CodecError, match="not in the table"):
        op.fn(1)


def test_rule_of_a_users_function_is_said_not_to_be_in_the_file(tmp_path: Path) -> None:
    session = Session(altered(tmp_path, rename_exp))
    assert session.rule_text(Var(2)) == "os.system: its derivative is not in the file"


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


RECORD = np.dtype([("a", "f8"), ("b", "i4", (2,))])
NAMES = np.dtype([("größe", "f8")])
WAVES = np.arange(24.0).reshape(2, 3, 4)
FORMED: list[Any] = [
    1.5, -0.0, float("nan"), float("inf"), 10**30, -(10**4000), True, None, "text", "\udc80",
    2 - 1j, complex("nan-infj"), b"", b"\xff\x00", (1, [2.0, ()]), {"a": (1,)}, {1: 2, None: 3},
    ..., range(3), slice(None, 3, -1), slice(1.0, None), float, np.float64, np.str_,
    np.void, np.bool_, np.longdouble, np.dtype("f4"), np.dtype(">c8"), np.dtype("S3"),
    np.dtype("M8[D]"), RECORD, NAMES, range(5, -(10**30), -2), np.float32(0.1),
    np.longdouble(1) / 3, np.complex64(1j), np.bool_(True), np.int8(-3), np.str_("a"),
    np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.datetime64("NaT"), np.bytes_(b"a"),
    np.zeros((), RECORD)[()], np.exp, np.linalg.svd, np.add.reduce,
    np.array(5, ">i4"), np.zeros((0, 3)), np.ones((2, 0), order="F"), np.array(1.5),
    np.arange(6, dtype=np.float16), np.arange(3, dtype=np.longdouble), np.asfortranarray(WAVES),
    np.array(["a", "bcd"]), np.array([b"x", b""]), np.array(["2020", "NaT"], "M8[s]"),
    np.zeros(2, RECORD), np.zeros(2, NAMES), WAVES.transpose(1, 2, 0), WAVES[:, ::-1],
    WAVES[::1, ::2], np.broadcast_to(np.arange(3.0), (4, 3)), WAVES[..., 1], WAVES[:, :, ::3],
]  # fmt: skip


def round_trip(value: Any) -> Any:
    writer = Writer()
    text = json.dumps(writer.value(value), allow_nan=False)

    def array(number: int) -> Any:
        file = io.BytesIO()
        np.lib.format.write_array(file, writer.arrays[number], allow_pickle=False)
        file.seek(0)
        return np.lib.format.read_array(file)

    return Reader(array, []).value(json.loads(text))


@pytest.mark.parametrize(
    "form",
    [
        {"scalar": 0}, {"strided": [0, [1 << 40]]}, {"strided": [0, [8, 8]]},
        {"strided": [0, [8.0]]}, {"npy": -1}, {"npy": True}, {"int": 5}, {"int": "9" * 5000},
        {"bytes": "xy"}, {"range": [1]}, {"range": [{"float": "1"}]}, {"slice": [None] * 4},
        {"dtype": "|O"}, {"type": "|O"}, {}, [], {"dtype": {"npy": 7}}, {"new": 1},
        {"int": "1", "float": "1"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_form_is_refused(form: Any) -> None:
    arrays = [np.zeros(3)]
    with pytest.raises((CodecError, *store.UNREADABLE)):
        Reader(lambda k: arrays[k], []).value(form)


@pytest.mark.parametrize("value", FORMED, ids=lambda v: str(v)[:20])
def test_values_come_back_as_they_were(value: Any) -> None:
    back = round_trip(value)
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert (back.dtype, back.shape, back.tobytes()) == (
            value.dtype, value.shape, value.tobytes(),
        )  # fmt: skip
        assert back.strides == value.strides or value.nbytes < 8
    else:
        assert repr(back) == repr(value)


class Shouts:
    """An object whose own text nothing may ask for."""

    def __repr__(self) -> str:
        raise AssertionError("run")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 << (1 << 21), "an integer of 2,097,153 bits"),
        (np.array([None, 1], object), "ndarray object[2]"),
        (np.array([Shouts()], object), "ndarray object[1]"),
        (Shouts(), "<Shouts>"),
        (frozenset([Shouts()]), "frozenset of 1"),
        (np.object_, "object_"),
        (np.floating, "floating"),
        (Shouts, "Shouts"),
        (np.dtype(object), "object"),
        (np.dtypes.StringDType(), "StringDType()"),
        (np.array(["a"], np.dtypes.StringDType()), "ndarray StringDType()[1]"),
        (np.ma.array([1.0]), "MaskedArray f64[1]"),
        (range(1 << (1 << 21)), "range"),
        (Opaque("before"), "before"),
    ],
    ids=range(14),
)
def test_value_without_a_form_comes_back_as_its_text(value: Any, text: str) -> None:
    back = round_trip((value, 1))
    assert isinstance(back[0], Opaque)
    assert repr(back[0]) == text
    assert back[1] == 1


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(),
    st.binary(), st.just(...), st.sampled_from(FORMED), st.integers(0, 9_000).map(lambda n: 7**n),
    arrays(
        st.sampled_from(["f8", ">f4", "f2", "c16", "?", "u1", "U2", "S3", "M8[s]"]),
        array_shapes(min_dims=0, max_dims=3, min_side=0),
    ),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda v: (
        st.lists(v, max_size=3)
        | st.tuples(v, v)
        | st.dictionaries(st.text(max_size=3), v, max_size=2)
        | st.builds(slice, v, v)
    ),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_whatever_is_written_can_be_read(value: Any) -> None:
    assert alike(round_trip(value), value)


def alike(back: Any, value: Any) -> bool:
    if isinstance(back, Opaque):
        return isinstance(value, int) and value.bit_length() > MAX_HEX_BITS
    if type(back) is not type(value):
        return False
    if isinstance(value, tuple | list):
        return len(back) == len(value) and all(map(alike, back, value))
    if isinstance(value, dict):
        return list(back) == list(value) and all(map(alike, back.values(), value.values()))
    if isinstance(value, slice):
        return alike((back.start, back.stop), (value.start, value.stop))
    return same(back, value)


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


def test_sessions_with_odd_statics_open_again(tmp_path: Path) -> None:
    def f(x: Any, static: Any) -> Any:
        return np.sum(x * 2.0)

    odd = [
        *FORMED,
        10**5000,
        Shouts(),
        frozenset([1]),
        object,
        np.floating,
        np.dtype("O"),
        range(3),
    ]
    records = [v for v in odd if isinstance(v, np.ndarray | np.void) and v.dtype.names]
    odd = [v for v in odd if not is_differentiable(v) and not any(v is r for r in records)]
    capture = recorded(*((f, np.ones(2), value) for value in odd))
    assert_same(capture, reopened(capture, tmp_path))


def is_differentiable(value: Any) -> bool:
    """Tell whether `grad` takes a value apart, so that it is no static one."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, float | complex | tuple | dict)


@pytest.mark.parametrize(("name", "f", "args"), SMOOTH, ids=[name for name, _, _ in SMOOTH])
def test_sessions_of_every_kind_of_function_open_again(
    tmp_path: Path, name: str, f: Any, args: Any
) -> None:
    capture = recorded((f, *args))
    assert_same(capture, reopened(capture, tmp_path))


def test_scalars_of_either_kind_share_a_row_that_opens_again(tmp_path: Path) -> None:
    calls = [(lambda x: x * x, x) for x in (0.5, np.float64(0.7))]
    f = calls[0][0]
    capture = recorded(*((f, x) for _, x in calls))
    assert_same(capture, reopened(capture, tmp_path))


def test_arrays_of_objects_are_shown_as_text(tmp_path: Path) -> None:
    text = EXP.replace("np.exp(x)", "np.exp(x) * np.array([1, None], object)")
    first = captured(tmp_path, text)
    assert first.rows[-1].failure is not None
    second = reopened(first, tmp_path)
    session = Session(second)
    const = next(v for v, op in session.tape if isinstance(op, Constant))
    assert session.tape[const].spec.text() == "object[2]"
    assert "ndarray object[2]" in plain(tape_lines(session))
    assert_same(second, reopened(second, tmp_path))


def test_operand_that_was_saved_as_text_is_said_to_be(tmp_path: Path) -> None:
    session = Session(
        altered(tmp_path, lambda h: call_of(h, "exp")["args"].append({"opaque": "an odd one"}))
    )
    with pytest.raises(NotKnown, match="an operand was saved as text only: an odd one"):
        session.recorded(Var(2))
    assert "exp(%1, an odd one)" in plain(tape_lines(session))


def test_input_that_was_saved_as_text_has_no_value(tmp_path: Path) -> None:
    session = Session(
        altered(
            tmp_path, lambda h: h["rows"][0]["calls"][0].update(inputs=[{"opaque": "an odd one"}])
        )
    )
    with pytest.raises(NotKnown, match="saved as text only: an odd one"):
        session.recorded(Var(1))
    with pytest.raises(NotKnown, match="needs %1"):
        session.recorded(Var(2))


def test_session_that_could_not_be_opened_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = captured(tmp_path, EXP)
    monkeypatch.setattr(store, "MAX_FILES", 2)
    path = tmp_path / "kept.yota"
    path.write_text("before")
    with pytest.raises(ExportError, match="could not be opened again: larger than"):
        export(str(path), Selection(capture, []))
    assert path.read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".py") == ["kept.yota"]


@pytest.mark.parametrize("broken", ["spec", "op", "value"])
def test_writer_and_reader_that_disagree_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setattr(Writer, broken, lambda self, *args: {"new": "form"})
    with pytest.raises(store.SaveError, match="could not be opened again"):
        saved(captured(tmp_path, EXP))


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


LONG = "import numpy as np\nimport yota\nN = 10**5000\n"
RAISES = """
class F(float):
    def __float__(self):
        raise RuntimeError("no")


def f(x, y):
    return x * y
"""


@pytest.mark.parametrize(
    "text",
    [
        LONG + "def f(x):\n    return x if x < N else 2 * x\nyota.grad(f, 2.0)\n",
        LONG + "def f(x):\n    return N, x * 2\nyota.trace(f, 2.0)\n",
        LONG + "def f(x):\n    return N\nyota.trace(f, 2.0)\n",
        LONG + "def f(x, n):\n    return x * 2.0\nyota.grad(f, 2.0, N)\n",
        *(
            f"{LONG}def f(x):\n    return np.histogram(x, bins={rule!r})\n"
            "yota.trace(f, np.linspace(0.0, 1.0, 10))\n"
            for rule in ("auto", "fd", "scott", "stone", "doane", "sqrt")
        ),
    ],
)
def test_long_integers_and_bins_that_the_values_decide_come_back(tmp_path: Path, text: str) -> None:
    capture = captured(tmp_path, text)
    assert capture.error is None
    assert_same(capture, reopened(capture, tmp_path))


def test_number_whose_own_conversion_raises_is_shown_and_saved(tmp_path: Path) -> None:
    text = f"import numpy as np\nimport yota\n{RAISES}\nyota.trace(f, np.float64(1.0), F(2.0))\n"
    capture = captured(tmp_path, text)
    assert len(capture.rows) == 1
    before = [json.loads(t) for t in json_lines(Session(capture))]
    assert [o["mean"] for o in before if o.get("name") == "y"] == [2.0]
    session = Session(reopened(capture, tmp_path))
    assert [json.loads(t)["id"] for t in json_lines(session) if "id" in json.loads(t)] == [1, 2]
    assert "saved as text only: 2.0" in session.opened.problems.values()


def test_saving_and_opening_leave_collection_as_it_was(tmp_path: Path) -> None:
    for wanted in (True, False):
        (gc.enable if wanted else gc.disable)()
        try:
            reopened(captured(tmp_path, EXP), tmp_path)
            assert gc.isenabled() is wanted
        finally:
            gc.enable()
