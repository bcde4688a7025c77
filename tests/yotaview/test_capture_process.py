"""What a captured script does to the process: streams, threads, folder, modules."""

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

from tests.yotaview.scripts import EXP, captured
from yotaview.capture import Limits, run_script
from yotaview.capture.recorder import Recorder
from yotaview.capture.runner import NotFound
from yotaview.capture.streams import Output, Tee


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
