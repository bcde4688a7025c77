"""The exit code of the command line, however the script or the run ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.yotaview.scripts import EXP, FAILS, MASKED, NAN, ROOT, run, yotaview
from yotaview import headless


def test_interrupt_keeps_the_tapes_and_answers_130(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP + "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "yotaview", "--list", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    assert child.stderr.readline() == "ready\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "foo" in out
    assert "capture cut: interrupted" in err


CODES = {
    "success": (EXP, [], 0),
    "raised": (FAILS, [], 1),
    "exited": (EXP + "raise SystemExit(9)\n", [], 1),
    "no tape": ("print('nothing')\n", [], 3),
    "raised before a tape": ("1 / 0\n", [], 1),
    "time limit": (EXP + "while True: pass\n", ["--timeout", "0.3"], 124),
    "alarm": (NAN, ["--check", "nan"], 4),
    "masked only": (MASKED, ["--check", "nan"], 0),
    "export failed": (EXP, ["-o", "missing/x.svg"], 5),
    "export before check": (NAN, ["-o", "missing/x.svg", "--check", "nan"], 5),
    "raised before export": (FAILS, ["-o", "missing/x.svg"], 1),
    "syntax error": ("def f(:\n", [], 1),
}


@pytest.mark.parametrize("name", CODES)
def test_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    text, options, expected = CODES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(text)
    assert run(*options, "script.py", capfd=capfd)[0] == expected


def test_unreadable_session_answers_6(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.yota"
    path.write_bytes(b"not a zip")
    assert run("--list", path, capfd=capfd)[0] == 6
    assert run("--list", tmp_path / "missing.yota", capfd=capfd)[0] == 6


def test_time_limit_waits_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP + "import threading, time\nthreading.Thread(target=time.sleep, args=(50,)).start()\n"
    )
    start = time.monotonic()
    done = yotaview("--list", "--timeout", "0.3", "script.py", cwd=tmp_path)
    assert done.returncode == 124
    assert "foo" in done.stdout
    assert time.monotonic() - start < 20


def test_hard_exit_in_a_thread_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP
        + "import os, threading, time\n"
        + "threading.Thread(target=os._exit, args=(0,)).start()\ntime.sleep(60)\n"
    )
    done = yotaview("--list", "script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "a thread of the script called os._exit" in done.stderr


def test_interrupt_while_writing_answers_130(
    script: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(headless, "list_lines", interrupted)
    code, _, err = run("--list", script, capfd=capfd)
    assert code == 130
    assert err.splitlines()[-1] == "yotaview: interrupted"


@pytest.mark.parametrize(
    ("statement", "told", "code"),
    [
        ("True", 1, 1),
        ("3.5", 1, 1),
        ("None", 0, 0),
        ("'text'", 1, 1),
        ("300", 44, 1),
        ("256", 0, 0),
    ],
)
def test_exit_of_the_script_is_told_as_the_system_sees_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], statement: str, told: int, code: int
) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"{EXP}import sys\nsys.exit({statement})\n")
    done, out, _ = run("--json", path, capfd=capfd)
    exit_code = json.loads(out.splitlines()[0])["exit"]
    assert (done, exit_code, type(exit_code)) == (code, told, int)
