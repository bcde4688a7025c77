"""Running the user's script: what is kept, whatever the script does."""

from __future__ import annotations

import decimal
import gc
import io
import locale
import os
import resource
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.yotaview.scripts import EXP, FAILS, LOOP, NAN, captured
from yota.program import Failed
from yota.tape import Entry, Frame, Origin, Tape
from yotaview.capture import Capture, KeptCall, Limits, run_script
from yotaview.capture.keep import Keeper, Pool
from yotaview.capture.recorder import Recorder
from yotaview.capture.runner import NotFound
from yotaview.capture.streams import Output, Tee
from yotaview.capture.watch import Watch
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


def test_output_is_kept_up_to_a_limit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capture = captured(tmp_path, "for k in range(3000):\n    print('x' * 1000)\nprint('end')\n")
    assert len(capture.output) < 1_100_000
    assert "output cut at" in capture.output
    assert capfd.readouterr().out.endswith("end\n")


def test_output_after_the_run_does_not_reach_the_screen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "import sys\nimport builtins\nbuiltins.kept_stream = sys.stdout\nprint('during')\n"
    captured(tmp_path, text)
    import builtins

    print("after", file=builtins.kept_stream)
    assert capfd.readouterr().out == "during\n"


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


def test_failure_to_keep_a_call_does_not_reach_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Recorder, "_called", fail)
    capture = captured(tmp_path, EXP + "print(val)\n")
    assert capture.exit_code == 0
    assert capture.output.startswith("1.64")
    assert capture.cut == "not everything kept: MemoryError"


def test_wrapper_around_the_stream_of_bytes_closes_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = """
import gc, io, sys
for name in ("stdout", "stderr"):
    before = getattr(sys, name)
    setattr(sys, name, io.TextIOWrapper(before.buffer, encoding="utf-8"))
    print("wrapped", file=getattr(sys, name))
    setattr(sys, name, before)
    gc.collect()
    print("plain", file=before)
"""
    capture = captured(tmp_path, text)
    assert capture.output == "wrapped\nplain\n" * 2
    assert capfd.readouterr() == ("wrapped\nplain\n",) * 2


def test_stream_that_lost_its_attributes_raises_instead_of_recursing() -> None:
    tee = Tee(io.StringIO(), Output())
    vars(tee).clear()
    with pytest.raises(AttributeError):
        tee.real  # noqa: B018 - raises
    with pytest.raises(AttributeError):
        tee.write("x")


def test_streams_of_a_run_are_never_freed(tmp_path: Path) -> None:
    text = "import builtins, sys, weakref\nbuiltins.of_run = weakref.ref(sys.stdout)\n"
    captured(tmp_path, text)
    import builtins

    gc.collect()
    assert builtins.of_run() is not None


def test_thread_that_goes_on_writes_to_the_captured_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = """
import builtins, sys, threading
stream, builtins.may_write = sys.stdout, threading.Event()
def work():
    builtins.may_write.wait()
    print("late", file=stream)
builtins.worker = threading.Thread(target=work, daemon=True)
builtins.worker.start()
"""
    capture = captured(tmp_path, text)
    import builtins

    assert capture.output == ""
    builtins.may_write.set()
    builtins.worker.join()
    assert capture.output == "late\n"
    assert capfd.readouterr().out == ""


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


CHANGES = {
    "recursion limit": ("import sys; sys.setrecursionlimit(70)", sys.getrecursionlimit),
    "umask": ("import os; os.umask(0o777)", lambda: (m := os.umask(0), os.umask(m))[0]),
    "print": ("import builtins; builtins.print = None", lambda: print),
    "removed name": ("import builtins; del builtins.len", lambda: len),
    "numpy name": ("import numpy; numpy.exp = None", lambda: np.exp),
    "clock": ("import time; time.perf_counter = None", lambda: time.perf_counter),
    "errors": ("import numpy; numpy.seterr(all='raise')", np.geterr),
    "error callback": ("import numpy; numpy.seterrcall(print)", np.geterrcall),
    "warnings": (
        "import warnings; warnings.simplefilter('error'); warnings.showwarning = None",
        lambda: (list(warnings.filters), warnings.showwarning),
    ),
    "environment": (
        "import os; os.environ.clear(); os.environ['A'] = 'b'",
        lambda: dict(os.environ),
    ),
    "folder": ("import os; os.chdir('/')", os.getcwd),
    "decimals": (
        "import decimal; decimal.getcontext().prec = 1",
        lambda: decimal.getcontext().prec,
    ),
    "arguments": ("import sys; sys.argv[:] = ['x']; sys.argv = []", lambda: list(sys.argv)),
    "import path": ("import sys; sys.path.clear(); sys.path = []", lambda: list(sys.path)),
    "finders": ("import sys; sys.meta_path.clear()", lambda: list(sys.meta_path)),
    "modules": (
        "import sys; del sys.modules['yota.tape'], sys.modules['json']",
        lambda: (sys.modules["yota.tape"], sys.modules["json"]),
    ),
    "handlers": (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "mask": (
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])",
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()),
    ),
    "alarm": ("import signal; signal.alarm(60)", lambda: signal.getitimer(signal.ITIMER_REAL)),
    "hooks": (
        "import sys, threading; sys.excepthook = sys.displayhook = threading.excepthook = None",
        lambda: (sys.excepthook, sys.displayhook, threading.excepthook),
    ),
    "locale": (
        "import locale; locale.setlocale(locale.LC_ALL, 'C')",
        lambda: locale.setlocale(locale.LC_ALL),
    ),
    "trace": (
        "import sys, threading; sys.settrace(lambda *a: None); threading.settrace(lambda *a: None)",
        lambda: (sys.gettrace(), threading.gettrace()),
    ),
    "profile": ("import sys; sys.setprofile(lambda *a: None)", sys.getprofile),
    "print options": (
        "import numpy; numpy.set_printoptions(precision=1, legacy='1.13')",
        np.get_printoptions,
    ),
    "collector": (
        "import gc; gc.disable(); gc.set_threshold(1)",
        lambda: [gc.isenabled(), gc.get_threshold()],
    ),
    "limits": (
        "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (0, r.getrlimit(r.RLIMIT_FSIZE)[1]))",
        lambda: resource.getrlimit(resource.RLIMIT_FSIZE),
    ),
    "streams": (
        "import sys; sys.stdin = sys.stdout = sys.__stderr__ = None",
        lambda: (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__),
    ),
    "digits": ("import sys; sys.set_int_max_str_digits(640)", sys.get_int_max_str_digits),
    "exit": ("import os, sys; sys.exit = None", lambda: (os._exit, sys.exit)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_script_changed_is_put_back(tmp_path: Path, name: str) -> None:
    statement, read = CHANGES[name]
    before = read()
    capture = captured(tmp_path, f"{EXP}{statement}\n")
    assert (capture.exit_code, len(capture.rows)) == (0, 1)
    assert read() == before


def test_file_of_the_script_does_not_hide_a_module_of_the_viewer(tmp_path: Path) -> None:
    (tmp_path / "turtledemo_of_nobody.py").write_text("mine = True\n")
    (tmp_path / "tabnanny.py").write_text("mine = True\n")
    text = (
        "import tabnanny, turtledemo_of_nobody\nprint(tabnanny.mine, turtledemo_of_nobody.mine)\n"
    )
    sys.modules.pop("tabnanny", None)
    capture = captured(tmp_path, text)
    assert capture.output == "True True\n"
    assert "turtledemo_of_nobody" in sys.modules
    assert "tabnanny" not in sys.modules
    del sys.modules["turtledemo_of_nobody"]


def test_folder_is_run_as_python_runs_it(tmp_path: Path) -> None:
    folder = tmp_path / "tool"
    folder.mkdir()
    (folder / "part.py").write_text("answer = 42\n")
    (folder / "__main__.py").write_text(EXP + "import part, sys\nprint(part.answer, sys.argv)\n")
    path = list(sys.path)
    capture = run_script(str(folder), ["x"])
    assert capture.output == f"42 {[str(folder), 'x']}\n"
    assert capture.rows[0].place == "__main__.py:9"
    assert sys.path == path


def test_folder_without_a_main_file_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"folder without a __main__\.py"):
        run_script(str(tmp_path))


def test_executor_that_waits_for_work_does_not_hold_up_the_end(tmp_path: Path) -> None:
    text = """
import builtins
from concurrent.futures import ThreadPoolExecutor
builtins.pool = ThreadPoolExecutor(1)
print(builtins.pool.submit(pow, 2, 5).result())
"""
    capture = captured(tmp_path, text, Limits(timeout=10))
    import builtins

    builtins.pool.shutdown()
    assert (capture.output, capture.timed_out) == ("32\n", False)
