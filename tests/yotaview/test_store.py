"""Saved sessions: opened again they show the same."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, FAILS, LOOP, MASKED, captured
from tests.yotaview.sessions import (
    altered,
    assert_same,
    call_of,
    recorded,
    rename_exp,
    reopened,
    saved,
)
from tests.zoo import SMOOTH
from yota.tape import Call, Constant, Var
from yotaview.export import ExportError, Selection, export
from yotaview.model import store
from yotaview.model.encode import Writer
from yotaview.model.forms import CodecError, Opaque
from yotaview.model.session import NotKnown, Session
from yotaview.render.line import plain
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


def test_saving_and_opening_leave_collection_as_it_was(tmp_path: Path) -> None:
    for wanted in (True, False):
        (gc.enable if wanted else gc.disable)()
        try:
            reopened(captured(tmp_path, EXP), tmp_path)
            assert gc.isenabled() is wanted
        finally:
            gc.enable()
