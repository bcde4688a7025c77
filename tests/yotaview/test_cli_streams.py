"""Stdout is data, whatever the script and the streams do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.yotaview.scripts import EXP, FAILS, ROOT, yotaview


def test_output_of_child_processes_goes_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(EXP + "import os\nos.system('echo child')\nprint('own')\n")
    done = yotaview("--json", "script.py", cwd=tmp_path)
    assert all(json.loads(line)["v"] == 1 for line in done.stdout.splitlines())
    assert sorted(done.stderr.split()) == ["child", "own"]


ENDS = {
    "atexit": "import atexit\natexit.register(print, 'NOISE')\n",
    "logging": (
        "import atexit, logging\nlogging.basicConfig(stream=sys.stdout, level=10)\n"
        "atexit.register(logging.info, 'NOISE')\n"
    ),
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('NOISE'))).start()\n"
    ),
    "daemon": (
        "import threading, time\n"
        "def talk():\n    while True:\n        print('NOISE', flush=True)\n"
        "        time.sleep(0.001)\n"
        "threading.Thread(target=talk, daemon=True).start()\n"
    ),
    "child": "import atexit, os\natexit.register(os.system, 'echo NOISE')\n",
    "descriptor": "import atexit, os\natexit.register(os.write, 1, b'NOISE')\n",
    "pool": (
        "import atexit, builtins\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "builtins.pool = ThreadPoolExecutor(1)\nbuiltins.pool.submit(print, 'NOISE').result()\n"
    ),
    "own stream": "sys.stdout = open(1, 'w', closefd=False)\nprint('NOISE')\n",
    "closed stream": "print('NOISE')\nsys.stdout.close()\nsys.__stdout__.close()\n",
    "closed descriptors": "print('NOISE')\nimport os\nos.closerange(0, 3)\n",
    "owned descriptor": "import os\nprint('NOISE', file=os.fdopen(1, 'w'))\n",
    "no stream": "print('NOISE')\nsys.stdout = sys.stderr = None\n",
    "deleted stream": "print('NOISE')\ndel sys.stdout, sys.__stdout__\n",
    "detached stream": (
        "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint('NOISE')\n"
        "sys.__stdout__.detach()\n"
    ),
    "forked": "import os\nif not os.fork():\n    print('NOISE')\n    sys.exit(3)\nos.wait()\n",
    "forked and raised": "import os\nif not os.fork():\n    raise OSError('NOISE')\nos.wait()\n",
    "forked pool": (
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    pool.map(print, ['NOISE'] * 2)\n"
    ),
    "hard exit": "import os\nprint('NOISE')\nos._exit(0)\n",
    "hard exit at exit": "import atexit, os\nprint('NOISE')\natexit.register(os._exit, 9)\n",
    "exit at exit": "import atexit\nprint('NOISE')\natexit.register(sys.exit, 9)\n",
    "deleted folder": (
        "import os, tempfile\nprint('NOISE')\nfolder = tempfile.mkdtemp()\nos.chdir(folder)\n"
        "os.rmdir(folder)\n"
    ),
    "low limits": (
        "import resource as r\nprint('NOISE')\nsys.setrecursionlimit(70)\n"
        "for k in (r.RLIMIT_NOFILE, r.RLIMIT_FSIZE):\n    r.setrlimit(k, (0, r.getrlimit(k)[1]))\n"
    ),
    "10 MB": "print('NOISE' * 2_000_000)\n",
}


@pytest.mark.parametrize("name", ENDS)
def test_whatever_the_script_leaves_stdout_is_data(tmp_path: Path, name: str) -> None:
    (tmp_path / "script.py").write_text(f"import sys\n{EXP}{ENDS[name]}")
    done = yotaview("--json", "-o", "x.svg", "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *ops = map(json.loads, done.stdout.splitlines())
    assert (head["function"], head["exit"], len(ops)) == ("foo", 0, 5)
    assert "NOISE" in done.stderr
    assert "wrote x.svg" in done.stderr
    assert (tmp_path / "x.svg").read_text().endswith("</svg>\n")
    assert "NOISE" not in (tmp_path / "x.svg").read_text()


def test_forked_child_ends_with_its_own_code_and_files(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP
        + "import atexit, os, sys\natexit.register(print, 'at exit', flush=True)\n"
        + "file = open('of_child.txt', 'w')\n"
        + "if not os.fork():\n    file.write('child')\n    sys.exit(7)\n"
        + "print('child', os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    done = yotaview("--list", "script.py", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["at exit", "child 7", "at exit"]
    assert len(done.stdout.splitlines()) == 2
    assert (tmp_path / "of_child.txt").read_text() == "child"


def test_handlers_at_exit_have_the_folder_that_the_script_left(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "script.py").write_text(
        EXP
        + "import atexit, os, pathlib\nos.chdir('below')\n"
        + "atexit.register(pathlib.Path('late.txt').write_text, 'late')\n"
    )
    done = yotaview("-o", "x.dot", "script.py", cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["below", "script.py", "x.dot"]
    assert (tmp_path / "below" / "late.txt").read_text() == "late"


def test_files_are_written_out_even_where_a_daemon_thread_runs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP
        + "import builtins, threading, time\nbuiltins.kept = open('kept.txt', 'w')\n"
        + "builtins.kept.write('all')\n"
        + "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    assert yotaview("--list", "script.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "kept.txt").read_text() == "all"


NAMED = """\
import yota

yota.grad(lambda p: p["é☃👩"] * 2.0, {"é☃👩": 1.5})
"""


def in_ascii(*args: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command line where stdout can hold ASCII only."""
    return subprocess.run(
        [sys.executable, "-m", "yotaview", *args],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_json_in_ascii_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(NAMED)
    plain = yotaview("--json", "script.py", cwd=tmp_path)
    done = in_ascii("--json", "script.py", cwd=tmp_path)
    assert done.returncode == 0
    assert "é☃👩" in plain.stdout
    assert done.stdout.isascii()
    first, second = (
        [json.loads(line) for line in text.splitlines()] for text in (done.stdout, plain.stdout)
    )
    for stage in (*first[0]["stages"], *second[0]["stages"]):
        stage.pop("seconds")  # two runs take two times
    assert first == second


@pytest.mark.parametrize("option", ["--list", "--text", "--check=nan", "--help", "--doctor"])
def test_text_in_ascii_is_written_as_far_as_it_goes(tmp_path: Path, option: str) -> None:
    (tmp_path / "script.py").write_text(NAMED.replace("* 2.0", "* (0.0 / np.float64(0))").replace(
        "import yota", "import numpy as np\nimport yota\n\nnp.seterr(all='ignore')"
    ))  # fmt: skip
    done = in_ascii(option, "script.py", cwd=tmp_path)
    assert done.returncode == (4 if "check" in option else 0), done.stderr
    assert done.stdout
    assert done.stdout.isascii()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
@pytest.mark.parametrize("option", ["--list", "--json", "--help"])
def test_stdout_that_takes_nothing_is_a_failed_export(tmp_path: Path, option: str) -> None:
    (tmp_path / "script.py").write_text(EXP)
    command = f"{sys.executable} -m yotaview {option} -o x.dot script.py"
    for target, reason in ((">/dev/full", "No space left on device"), (">&-", "closed")):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} {target}"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert done.returncode == 5
        assert done.stderr.count(f"yotaview: stdout: {reason}") == 1
    assert (tmp_path / "x.dot").exists() is (option != "--help")


def test_closed_standard_streams_leave_the_files_alone(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(EXP + "import os\nprint('x')\nos.system('echo child')\n")
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m yotaview -o x.dot script.py <&- >&- 2>&-"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0
    assert (tmp_path / "x.dot").read_text().startswith("digraph")


def test_reader_that_goes_away_does_not_change_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAILS)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "yotaview", "--json", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 1
    assert "BrokenPipe" not in done.stderr


def test_pipe_that_does_not_block_gets_everything(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        EXP + "def long(x):\n    for _ in range(200):\n        x = np.sin(x)\n    return x\n"
        "yota.grad(long, 0.5)\n"
    )
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with subprocess.Popen(
        [sys.executable, "-m", "yotaview", "--json", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=writing,
    ) as child:
        os.close(writing)
        with open(reading, "rb") as file:
            text = file.read(1)
            time.sleep(0.5)
            text += file.read()
    assert child.returncode == 0
    assert len(text) > 1 << 17
    assert sum("id" in json.loads(line) for line in text.splitlines()) > 600
