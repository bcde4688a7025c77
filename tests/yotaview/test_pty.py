import os
import re
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from tests.yotaview.screen_text import MLP

pexpect = pytest.importorskip("pexpect")
pyte = pytest.importorskip("pyte")
ROOT = Path(__file__).parents[2]


class Terminal:
    """The program in a pseudo-terminal, and what it shows."""

    variables: ClassVar[dict[str, str]] = {}

    def __init__(self, *args: str, rows: int = 24, columns: int = 80) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        env = {
            **os.environ,
            "TERM": "xterm-256color",
            "PYTHONPATH": str(ROOT),
            "COLORTERM": "truecolor",
            **self.variables,
        }
        self.raw = b""
        self.child = pexpect.spawn(
            sys.executable, ["-m", "yotaview", *args], dimensions=(rows, columns), env=env
        )

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def wait(self, text: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, f"{text!r} is not on the screen:\n{self.text}"
            try:
                data = self.child.read_nonblocking(65536, timeout=0.2)
                self.raw += data
                self.stream.feed(data)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pytest.fail(f"the program ended before {text!r}:\n{self.text}")

    def send(self, keys: str) -> None:
        self.child.send(keys)

    def end(self) -> int:
        self.child.expect(pexpect.EOF, timeout=30)
        self.child.close()
        return self.child.exitstatus


def test_script_steps_and_leaves():
    terminal = Terminal("--tape", "1", str(MLP))
    terminal.wait("op 1/49")
    terminal.send("n")
    terminal.wait("op 2/49")
    terminal.send("\x1b[B")
    terminal.wait("op 3/49")
    terminal.send(":")
    terminal.send("%46\r")
    terminal.wait("op 46/49")
    terminal.wait("▶✓%46")
    terminal.send("3")
    terminal.wait("[3 Code]")
    terminal.send("q")
    assert terminal.end() == 0


def test_script_that_raises_opens_at_the_raising_line(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(
        "import numpy as np, yota\n"
        "def f(x):\n"
        "    y = np.exp(x)\n"
        "    return np.sum(y @ np.ones(3))\n"
        "yota.grad(f, np.ones(4))\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("matmul(")
    terminal.wait("fails.py:4")
    terminal.send("q")
    assert terminal.end() == 1


def test_error_of_our_own_is_printed_and_in_the_exit_code(tmp_path):
    script = tmp_path / "breaks.py"
    script.write_text(
        "import numpy as np, yota\n"
        "from yotaview.screens.main import MainScreen\n"
        "def broken(self):\n"
        "    raise RuntimeError('fell over')\n"
        "MainScreen.do_twin = broken\n"
        "yota.grad(np.sin, 0.5)\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    terminal.send("%")
    terminal.wait("an error of yotaview's own")
    assert "RuntimeError: fell over" in terminal.text
    assert terminal.end() == 70


def test_prints_while_the_screen_is_up_do_not_reach_it(tmp_path):
    script = tmp_path / "noisy.py"
    script.write_text(
        "import os, threading, time\nimport numpy as np, yota\n"
        "yota.grad(lambda x: np.sum(x ** 2), np.ones(3))\n"
        "def noise():\n"
        "    time.sleep(2)\n"
        "    os.write(1, b'NOISE')\n"
        "threading.Thread(target=noise, daemon=True).start()\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    end = time.monotonic() + 3
    while time.monotonic() < end:
        terminal.send("n")
        terminal.send("N")
        time.sleep(0.2)
        try:
            terminal.stream.feed(terminal.child.read_nonblocking(65536, timeout=0.1))
        except pexpect.TIMEOUT:
            continue
    assert "NOISE" not in terminal.text
    terminal.send("q")
    assert terminal.end() == 0


def test_the_screen_fills_the_terminal_and_follows_its_size():
    terminal = Terminal("--tape", "1", str(MLP), rows=40, columns=120)
    terminal.wait("Breakpoints / Alerts / Flow")
    terminal.wait("q quit")
    assert "q quit" in terminal.screen.display[39]
    terminal.screen.resize(14, 50)
    terminal.child.setwinsize(14, 50)
    terminal.wait("[1 Step] 2  3  4  5  6")
    terminal.send("n")
    terminal.wait("op 2/49")
    terminal.send("q")
    assert terminal.end() == 0


NOISES = """\
print("PRINTED")
print("KEPT", file=kept, flush=True)
logging.getLogger().error("LOGGED")
os.write(2, b"WRITTEN")
print("ORIGINAL", file=sys.__stdout__, flush=True)
os.system("echo CHILD; echo CHILD >&2")
threading.Thread(target=fail).start()
"""


def test_noise_of_a_thread_does_not_reach_the_screen(tmp_path):
    script = tmp_path / "noisy.py"
    script.write_text(
        "import logging, os, sys, threading, time\nimport numpy as np, yota\n"
        "logging.basicConfig()\nkept = sys.stdout\n"
        "yota.grad(lambda x: np.sum(x ** 2), np.ones(3))\n"
        "def fail():\n    raise ValueError('RAISED')\n"
        "def noise():\n    time.sleep(0.7)\n    while True:\n        time.sleep(0.02)\n"
        + "".join(f"        {line}\n" for line in NOISES.splitlines())
        + "threading.Thread(target=noise, daemon=True).start()\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    for number in range(2, 8):
        terminal.send("n")
        terminal.wait(f"op {number}/")
        time.sleep(0.3)
    words = ["PRINTED", "KEPT", "LOGGED", "WRITTEN", "ORIGINAL", "CHILD", "RAISED", "Traceback"]
    assert [word for word in words if word in terminal.text] == []
    assert "q quit" in terminal.screen.display[23]
    terminal.send("q")
    assert terminal.end() == 0


def test_terminal_that_the_script_took_away_is_given_back(tmp_path):
    script = tmp_path / "takes.py"
    script.write_text(
        "import os, signal, sys, tty\nimport numpy as np, yota\n"
        "yota.grad(lambda x: np.sum(x ** 2), np.ones(3))\n"
        "tty.setraw(0)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "sys.stdin.close(); sys.__stderr__.close(); os.closerange(0, 3)\n"
        "sys.stdin = sys.stdout = sys.stderr = sys.__stdin__ = sys.__stderr__ = None\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    terminal.send("n")
    terminal.wait("op 2/")
    terminal.send("q")
    assert terminal.end() == 0


def test_forked_child_opens_no_screen(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(
        "import os\nimport numpy as np, yota\n"
        "yota.grad(lambda x: np.sum(x ** 2), np.ones(3))\n"
        "if not os.fork():\n    raise SystemExit(6)\n"
        "assert os.waitstatus_to_exitcode(os.wait()[1]) == 6\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    terminal.send("6")
    terminal.wait("[6 Tapes]")
    terminal.send("q")
    assert terminal.end() == 0


def test_what_is_printed_at_exit_is_seen_after_the_screen(tmp_path):
    script = tmp_path / "late.py"
    script.write_text(
        "import atexit, sys\nimport numpy as np, yota\n"
        "yota.grad(lambda x: np.sum(x ** 2), np.ones(3))\n"
        "atexit.register(print, 'LATE', file=sys.stdout)\n"
    )
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    assert "LATE" not in terminal.text
    terminal.send("q")
    terminal.wait("LATE")
    assert terminal.end() == 0


def test_rerun_takes_the_changed_script_and_comes_back_to_the_op(tmp_path):
    script = tmp_path / "again.py"
    text = (
        "import sys\nimport numpy as np, yota\n"
        "def f(x):\n    y = np.sin(x)\n    return np.sum(y * x)\n"
        "yota.grad(f, np.ones(3))\nprint(sys.argv[1:])\n"
    )
    script.write_text(text)
    terminal = Terminal("--view", "code", str(script), "--at", "kept")
    terminal.wait("[3 Code]")
    terminal.send("2")
    terminal.wait("[2 Passes]")
    terminal.send("1")
    terminal.send(":")
    terminal.send("%3\r")
    terminal.wait("▶✓%3  multiply")
    script.write_text(text.replace("y = np.sin(x)", "z = np.cos(x)\n    y = np.sin(x) + z"))
    terminal.send("R")
    terminal.wait("run again: this is the same place")
    terminal.wait("▶✓%5  multiply")
    script.write_text("raise SystemExit(3)\n")
    terminal.send("R")
    assert terminal.end() == 1


def test_rerun_keeps_marks_stops_and_what_ifs_and_says_what_is_lost(tmp_path):
    script = tmp_path / "again.py"
    text = (
        "import numpy as np, yota\n"
        "def f(x):\n    y = np.sin(x)\n    return np.sum(y * x)\n"
        "yota.grad(f, np.ones(3))\n"
    )
    script.write_text(text)
    terminal = Terminal(str(script))
    terminal.wait("op 1/")
    for typed, told in (
        ("%3", "op 3/12"),
        ("mark a", "mark a: f, op 3"),
        ("w np.ptp(%3)", "watching np.ptp(%3)"),
        ("b %3 if nan", "breakpoint %3 if nan"),
        ("%2", "op 2/12"),
        ("mark b", "mark b: f, op 2"),
    ):
        terminal.send(f":{typed}\r")
        terminal.wait(told)
    terminal.send("e")
    terminal.wait("what if ")
    terminal.send("\x15")
    terminal.send("x *= 2")
    terminal.wait("what if x *= 2")
    terminal.send("\r")
    terminal.wait("What-if 1: x *= 2")
    terminal.send("\x1b")
    script.write_text(text.replace("y = np.sin(x)", "z = np.cos(x)\n    y = np.tan(x) + z"))
    terminal.wait("Why this value")
    terminal.send("R")
    terminal.wait("mark b: no such op any more (sin")
    terminal.send("B")
    for told in ("● %5 if nan", "◎ np.ptp(%5)", "a mark    f, op 5", "▶ what-if 1", "! mark b: no"):
        terminal.wait(told)
    terminal.send("\x1b")
    terminal.wait("Why this value")
    terminal.send("q")
    assert terminal.end() == 0


def test_editor_runs_in_the_terminal_and_the_screen_comes_back(tmp_path, monkeypatch):
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nprint('EDITING', *sys.argv[1:], flush=True)\ninput()\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {editor}")
    terminal = Terminal("--tape", "1", str(MLP), columns=200)
    terminal.wait("op 1/49")
    terminal.send(":")
    terminal.send("line 14\r")
    terminal.wait("line 14")
    terminal.send("\x05")
    terminal.wait(f"EDITING +14 {MLP}")
    terminal.send("\r")
    terminal.wait("R runs it again")
    terminal.send("q")
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("variables", "sequence"),
    [
        ({"COLORTERM": "", "TERM": "xterm"}, b"\x1b[38;2;"),
        ({"COLORTERM": "", "TERM": "xterm-256color"}, b"\x1b[38;2;"),
    ],
    ids=["16 colours", "256 colours"],
)
def test_terminal_gets_no_more_colours_than_it_has(variables, sequence, monkeypatch):
    monkeypatch.setattr(Terminal, "variables", variables)
    terminal = Terminal("--tape", "1", str(MLP))
    terminal.wait("op 1/49")
    terminal.wait("q quit")
    assert sequence not in terminal.raw
    assert b"\x1b[" in terminal.raw
    terminal.send("q")
    assert terminal.end() == 0


def test_no_color_is_heeded_and_the_current_row_still_seen(monkeypatch):
    monkeypatch.setattr(Terminal, "variables", {"NO_COLOR": "1"})
    terminal = Terminal("--tape", "1", str(MLP))
    terminal.wait("▶ %1")
    terminal.wait("q quit")
    for red, green, blue in re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", terminal.raw):
        assert red == green == blue
    row = next(y for y, text in enumerate(terminal.screen.display) if "▶ %1" in text)
    assert terminal.screen.buffer[row][4].bold
    terminal.send("q")
    assert terminal.end() == 0


def test_what_is_typed_ahead_reaches_the_prompt():
    terminal = Terminal("--tape", "1", str(MLP))
    terminal.wait("op 1/49")
    terminal.wait("q quit")
    terminal.send(":46\r")
    terminal.wait("op 46/49")
    terminal.send("n:90%\r")
    terminal.wait("op 44/49")
    terminal.send("/matmul\r")
    terminal.wait("found 'matmul'")
    terminal.send("q")
    assert terminal.end() == 0
