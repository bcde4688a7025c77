"""How a captured script ends: with an error, an exit, an interrupt or at the time limit."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, FAILS, captured
from yota.program import Failed
from yota.tape import Entry, Frame, Origin, Tape
from yotaview.capture import Capture, Limits
from yotaview.capture.watch import Watch


def test_error_ends_the_script_and_keeps_what_came_before(tmp_path: Path) -> None:
    capture = captured(tmp_path, FAILS)
    good, bad = capture.rows
    assert (good.count, good.failure, capture.exit_code) == (2, None, 1)
    assert bad.failure is not None
    assert bad.failure.text.endswith(", ones(3)): (4,) @ (3,)")
    assert bad.failure.place == "script.py:7"
    assert bad.place == "script.py:11"
    assert bad.failure.error.startswith("ValueError: ")
    assert capture.opening_row() == 1


def test_traceback_shows_the_users_frames_only(tmp_path: Path) -> None:
    error = captured(tmp_path, FAILS).error
    assert error is not None
    assert error.startswith("Traceback (most recent call last):")
    files = [line.split('"')[1] for line in error.splitlines() if line.startswith('  File "')]
    assert files == [str(tmp_path / "script.py")] * 2


def test_error_that_the_script_catches_does_not_fail_it(tmp_path: Path) -> None:
    text = FAILS.replace("    yota.grad(loss, np.zeros(n))", CATCHES)
    capture = captured(tmp_path, text)
    assert capture.exit_code == 0
    assert capture.error is None
    assert [r.failure is not None for r in capture.rows] == [False, True]


CATCHES = """\
    try:
        yota.grad(loss, np.zeros(n))
    except ValueError:
        pass"""


def test_error_before_any_operation_is_still_a_last_row(tmp_path: Path) -> None:
    text = EXP.replace("return np.exp(x)", "raise KeyError('weight')")
    capture = captured(tmp_path, text)
    row = capture.rows[-1]
    assert row.failure is not None
    assert row.failure.error == "KeyError: 'weight'"
    assert row.failure.place == "script.py:6"
    assert row.failure.text == "raise KeyError('weight')"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(7)", 7),
        ("sys.exit('no data')", 1),
        ("sys.exit()", 0),
        ("sys.exit(None)", 0),
        ("sys.exit(True)", 1),
        ("sys.exit(3.5)", 1),
        ("sys.exit(300)", 44),
        ("sys.exit(256)", 0),
        ("sys.exit(-1)", 255),
        ("sys.exit(1 << 80)", 255),
        ("raise SystemExit(1, 2)", 1),
        ("__import__('os')._exit(9)", 9),
    ],
)
def test_exit_ends_the_script_with_its_code(tmp_path: Path, statement: str, code: int) -> None:
    capture = captured(tmp_path, f"import sys\n{EXP}{statement}\nyota.grad(foo, 0.1)\n")
    assert (capture.exit_code, len(capture.rows), capture.error) == (code, 1, None)


def test_interrupt_ends_the_script_and_keeps_its_tapes(tmp_path: Path) -> None:
    capture = captured(tmp_path, EXP + "raise KeyboardInterrupt\n")
    assert capture.interrupted
    assert len(capture.rows) == 1
    assert capture.cut == "interrupted"


def test_time_limit_ends_a_script_that_catches_exceptions(tmp_path: Path) -> None:
    text = (
        EXP
        + "while True:\n    try:\n        sum(range(1000))\n    except Exception:\n        pass\n"
    )
    capture = captured(tmp_path, text, Limits(timeout=0.2))
    assert capture.timed_out
    assert len(capture.rows) == 1
    assert capture.seconds < 5.0


def test_empty_capture_has_no_row_to_open() -> None:
    assert Capture("x.py").opening_row() == -1


def test_text_given_to_exit_is_printed_and_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capture = captured(tmp_path, "import sys\nprint('before')\nsys.exit(3.5)\n")
    assert capture.output == "before\n3.5\n"
    assert capfd.readouterr().err == "3.5\n"


MUTE = """
class Mute(ValueError):
    def __str__(self):
        raise RuntimeError("no text")
    __repr__ = __str__
"""


def test_error_without_text_keeps_the_row_and_its_ops(tmp_path: Path) -> None:
    text = EXP.replace("    return np.exp(x)", "    np.exp(x)\n    raise Mute()")
    capture = captured(tmp_path, MUTE + text)
    (row,) = capture.rows
    assert row.failure is not None
    assert row.failure.error == "Mute: <unprintable Mute>"
    assert [op.fn for _, op in row.tape if hasattr(op, "fn")] == [np.exp]
    assert capture.error is not None
    assert capture.error.splitlines()[-1].startswith("Mute: ")


def test_error_without_text_reaches_the_script_as_it_is(tmp_path: Path) -> None:
    text = EXP.replace("    return np.exp(x)", "    raise Mute()").replace(
        "val, g = yota.grad(foo, 0.5)",
        "try:\n    yota.grad(foo, 0.5)\nexcept Mute:\n    print('caught')",
    )
    capture = captured(tmp_path, MUTE + text)
    assert (capture.output, capture.exit_code) == ("caught\n", 0)


def test_exit_with_something_unprintable_is_code_1(tmp_path: Path) -> None:
    capture = captured(tmp_path, MUTE + "raise SystemExit(Mute())\n")
    assert (capture.exit_code, capture.output) == (1, "<unprintable Mute>\n")


def test_operand_without_text_is_told_by_its_line(tmp_path: Path) -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    path = tmp_path / "script.py"
    path.write_text("y = own(Mute())\n")
    watch, error = Watch(Limits()), ValueError("no")
    frame = Frame(str(path), 1, 1, 0, 0, "foo")
    for _ in range(2):  # of one error, two functions report it
        watch(Failed(Tape(Entry("foo")), np.exp, (Mute(),), Origin((frame,)), error))
    (row,) = watch.finished()
    assert row.failure is not None
    assert (row.failure.text, row.failure.error) == ("y = own(Mute())", "ValueError: no")
    assert [e for _, e in watch.failures] == [error]


def test_threads_are_part_of_the_script(tmp_path: Path) -> None:
    text = EXP + (
        "import threading, time\n"
        "def work():\n    time.sleep(0.1)\n    yota.grad(foo, 0.25)\n    print('done')\n"
        "threading.Thread(target=work).start()\n"
    )
    capture = captured(tmp_path, text)
    assert [r.count for r in capture.rows] == [1, 1]
    assert capture.output == "done\n"


def test_time_limit_holds_for_threads_and_beside_the_scripts_own_alarm(tmp_path: Path) -> None:
    text = EXP + (
        "import signal, threading, time\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.setitimer(signal.ITIMER_REAL, 60)\n"
        "threading.Thread(target=stop.wait).start()\n"
    )
    import builtins

    builtins.stop = threading.Event()
    capture = captured(tmp_path, text, Limits(timeout=0.2))
    builtins.stop.set()
    assert capture.timed_out
    assert capture.seconds < 5.0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
