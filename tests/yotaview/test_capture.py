"""Rows and calls of a captured script, and which of them are kept."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, LOOP, NAN, captured
from yotaview.capture import KeptCall, Limits, run_script
from yotaview.capture.keep import Keeper, Pool
from yotaview.capture.runner import NotFound
from yotaview.model.session import Session


def test_calls_of_one_structure_are_one_row(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=40))
    (row,) = capture.rows
    assert (row.name, row.place, row.count) == ("loss", "script.py:12", 40)
    assert row.values[0] == 5.0
    assert len(row.values) == len(row.norms) == 40
    assert row.values == sorted(row.values, reverse=True)
    assert not row.nonfinite
    assert capture.exit_code == 0


def test_a_number_that_changes_from_call_to_call_makes_no_new_row(tmp_path: Path) -> None:
    text = """\
import numpy as np
import yota

def loss(w):
    return np.sum(w * scale) + np.clip(scale, -1.0, 1.0)

for scale in (0.5, 2.0, -0.0, 3.0):
    yota.grad(loss, np.ones(2))
"""
    capture = captured(tmp_path, text)
    (row,) = capture.rows
    assert (row.count, row.values) == (4, [1.5, 5.0, 0.0, 7.0])
    for k, value in enumerate(row.values):
        session = Session(capture, 0, k)
        assert session.recorded(session.tape.result_vars[0]) == value
        again = session.program.run()(np.ones(2))
        assert again[0] == value


def test_each_call_site_is_a_row_of_its_own(tmp_path: Path) -> None:
    capture = captured(tmp_path, EXP + "yota.grad(foo, 0.25)\n")
    assert [r.place for r in capture.rows] == ["script.py:9", "script.py:10"]


def test_forward_only_tape_is_a_row_without_gradient(tmp_path: Path) -> None:
    capture = captured(tmp_path, EXP.replace("val, g = yota.grad", "yota.trace"))
    (row,) = capture.rows
    assert not row.has_gradient
    assert row.reverse_count == 0
    assert row.norms == []


def test_script_sees_its_own_arguments_and_folder(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("answer = 42\n")
    path = tmp_path / "script.py"
    path.write_text(
        "import sys, neighbour\nprint(__name__, sys.argv[1:], neighbour.answer, __file__)\n"
    )
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    capture = run_script(str(path), ["-v", "x"])
    assert capture.output == f"__main__ ['-v', 'x'] 42 {path}\n"
    assert (list(sys.argv), list(sys.path), sys.modules["__main__"]) == before


def test_source_is_that_of_the_run_even_if_the_file_changes(tmp_path: Path) -> None:
    session = Session(captured(tmp_path, EXP))
    (tmp_path / "script.py").write_text("nothing\n")
    frame = session.tape[2].origin.frames[0]
    assert session.source_line(frame) == "    return np.exp(x)"
    assert session.source_window(frame, 1, 0) == [
        (5, "def foo(x):", False),
        (6, "    return np.exp(x)", True),
    ]


def test_missing_script_is_not_run() -> None:
    with pytest.raises(NotFound, match=r"no such script"):
        run_script("/nowhere/at/all.py")


def test_non_finite_calls_are_counted(tmp_path: Path) -> None:
    capture = captured(tmp_path, NAN)
    assert capture.rows[0].nonfinite == [1]


def test_only_the_wanted_function_or_line_is_captured(tmp_path: Path) -> None:
    text = EXP + "def bar(x):\n    return x * x\nyota.grad(bar, 0.25)\n"
    by_name = captured(tmp_path, text, Limits(only="bar"))
    by_line = captured(tmp_path, text, Limits(only="script.py:9"))
    assert [r.name for r in by_name.rows] == ["bar"]
    assert [r.name for r in by_line.rows] == ["foo"]


def test_tapes_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    text = EXP + "for n in range(1, 6):\n    yota.grad(lambda x: np.sum(x), np.zeros(n))\n"
    capture = captured(tmp_path, text, Limits(max_tapes=3))
    assert len(capture.rows) == 3
    assert capture.cut is not None
    assert "3 calls of further tapes left out" in capture.cut


def test_calls_are_thinned_to_the_byte_limit(tmp_path: Path) -> None:
    capture = captured(tmp_path, LOOP.format(count=300), Limits(max_bytes=40_000))
    (row,) = capture.rows
    numbers = [c.number for c in row.calls]
    assert numbers[:8] == list(range(1, 9))
    assert numbers[-8:] == list(range(293, 301))
    assert 16 < len(numbers) < 80
    assert row.count == 300
    assert row.kept_text == f"{len(numbers)} of 300 calls kept"
    gaps = set(np.diff(numbers[8:-8]).tolist())
    assert len(gaps) <= 1


def call_of(number: int, *arrays: np.ndarray) -> KeptCall:
    return KeptCall(number, arrays, {})


def test_equal_arrays_are_held_once() -> None:
    pool = Pool()
    keeper = Keeper(pool)
    for k in range(1, 9):
        keeper.add(call_of(k, np.arange(1000.0)), finite=True)
    assert 8000 <= pool.nbytes < 16000
    assert len({id(c.inputs[0]) for c in keeper.calls()}) == 1


def test_arrays_of_other_dtype_or_order_are_not_shared() -> None:
    pool = Pool()
    square = np.arange(9.0).reshape(3, 3)
    held = [pool.share(x) for x in (square, np.asfortranarray(square), square.view(np.int64))]
    assert len({id(x) for x in held}) == 3
    assert held[1].flags.f_contiguous


def test_first_non_finite_calls_are_always_kept() -> None:
    keeper = Keeper(Pool())
    for k in range(1, 201):
        keeper.add(call_of(k, np.full(10, float(k))), finite=k not in (77, 99))
    while keeper.thin() and keeper.ends == 8:
        pass
    numbers = {c.number for c in keeper.calls()}
    assert {77, 99} <= numbers


def test_released_arrays_no_longer_count() -> None:
    pool = Pool()
    x = pool.share(np.arange(100.0))
    y = pool.share(np.arange(100.0))
    assert pool.nbytes == 800
    assert x is y
    pool.release(x)
    assert pool.nbytes == 800
    pool.release(x)
    assert pool.nbytes == 0


def test_users_functions_are_not_run_again_on_opening(tmp_path: Path) -> None:
    text = """\
import numpy as np
import yota

runs = []


@yota.primitive
def twice(x):
    runs.append(1)
    return 2 * x


yota.defvjp(twice, lambda dy, y, x: 2 * dy)
yota.grad(lambda x: np.sum(twice(x)), np.ones(2))
before = len(runs)
import builtins
builtins.runs_of_twice = runs
"""
    capture = captured(tmp_path, text)
    import builtins

    count = len(builtins.runs_of_twice)
    session = Session(capture)
    twice = next(v for v, op in session.tape if getattr(op, "name", "") == "twice")
    assert session.recorded(twice).tolist() == [2.0, 2.0]
    assert len(builtins.runs_of_twice) == count


def test_threads_can_record_at_the_same_time(tmp_path: Path) -> None:
    text = EXP + THREADS
    capture = captured(tmp_path, text)
    assert sum(r.count for r in capture.rows) == 1 + 4 * 25
    assert threading.active_count() < 50


THREADS = """
import threading
def work():
    for k in range(25):
        yota.grad(foo, 0.1 * k)
team = [threading.Thread(target=work) for _ in range(4)]
for t in team:
    t.start()
for t in team:
    t.join()
"""
