"""Values of every kind come back from a session file as they were."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tests.yotaview.scripts import captured
from tests.yotaview.sessions import assert_same, recorded, reopened, same
from yotaview.model import store
from yotaview.model.decode import Reader
from yotaview.model.encode import Writer
from yotaview.model.forms import MAX_HEX_BITS, CodecError, Opaque
from yotaview.model.session import Session
from yotaview.render.json import json_lines

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
