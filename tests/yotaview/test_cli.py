"""The command line: what it prints, where, and the exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import yota
import yotaview as yotaview_package
from tests.yotaview.scripts import (
    EXP,
    FAILS,
    FAILS_IN_REVERSE,
    LOOP,
    MASKED,
    NAN,
    ROOT,
    yotaview,
)
from yotaview import cli, headless
from yotaview.capture import run_script
from yotaview.lessons import LESSONS, lesson_path, next_lesson
from yotaview.model.breaks import FORMS, parse_break
from yotaview.model.goto import HELP
from yotaview.options import STAGES, WHERE
from yotaview.render.lesson import lesson_page
from yotaview.render.line import text_of


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(EXP + "import sys\nprint('hello', sys.argv[1:])\n")
    return path


def run(*args: object, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run the command line in this process."""
    code = cli.main([str(a) for a in args])
    out, err = capfd.readouterr()
    return code, out, err


def test_without_a_terminal_it_lists(script: Path, tmp_path: Path) -> None:
    done = yotaview(str(script), "--flag", "x", cwd=tmp_path)
    assert done.returncode == 0
    head, row = done.stdout.splitlines()
    assert head.split()[:3] == ["#", "function", "called"]
    assert row.split() == ["1", "foo", "script.py:9", "1", "2", "3", "1.64872", "1.64872", "ok"]
    assert done.stderr == "hello ['--flag', 'x']\n"


def test_output_of_child_processes_goes_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(EXP + "import os\nos.system('echo child')\nprint('own')\n")
    done = yotaview("--json", "script.py", cwd=tmp_path)
    assert all(json.loads(line)["v"] == 1 for line in done.stdout.splitlines())
    assert sorted(done.stderr.split()) == ["child", "own"]


def test_headless_imports_no_screen(script: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from yotaview.cli import main; "
        "code = main(['--list', '--text', '--json', '--check', 'nan', '-o', 'x.svg', "
        f"'-o', 'x.yota', {str(script)!r}]); "
        "print(code, [m for m in ('textual', 'rich') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "0 []"


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


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["missing.py"], "no such script: missing.py"),
        (["-m", "no_such_module_here"], "no such module: no_such_module_here"),
        (["--frobnicate", "script.py"], "unrecognized arguments: --frobnicate"),
        (["-o", "x.gif", "script.py"], "x.gif: no such format; what works: .svg .dot"),
        (["-o", "x.html", "script.py"], "no such format"),
        (["--check", "spelling", "script.py"], "no check 'spelling'; there are: nan"),
        (["--lesson=algebra"], "no lesson 'algebra'; there are: seed"),
        (["--lesson", "seed", "more"], "--lesson=seed"),
        (["--lesson", "script.py"], "--lesson takes no script"),
        (["--timeout", "-1", "script.py"], "'-1' is not a number of seconds above 0"),
        (["--max-bytes", "much", "script.py"], "'much' is not a number of bytes"),
        (["--tape", "x", "script.py"], "'x' is not a whole number from 1 on"),
        (
            ["--screenshot", "x.svg", "--theme", "mud", "script.py"],
            "no theme 'mud'; there are: con",
        ),
        (["--only", "bar", "--tape", "1", "script.py"], "no tape of 'bar'; there are: foo"),
        (["--list", "--call", "9", "script.py"], "no call 9 of foo"),
        (["--tui", "script.py"], "--tui needs a terminal"),
        (["--tape", "7", "script.py"], "no tape 7; 1 captured"),
        (["--only", "bar", "script.py"], "no tape of 'bar'; there are: foo"),
        (["--text", "--call", "9", "script.py"], "call 9 is not kept: the nearest is 1"),
        (["--text", "--at", "%99", "script.py"], "no op %99"),
        (["--text", "-b", "never", "script.py"], "cannot read breakpoint 'never'"),
        ([], "no script; `yotaview --lesson` opens the first lesson"),
    ],
)
def test_usage_error_says_what_works(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    args: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(EXP)
    code, out, err = run(*args, capfd=capfd)
    assert code == 2
    assert says in err
    assert out == ""


def test_options_behind_the_script_go_to_it_with_a_note(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("--list", script, "--json", "-o", "x.svg", "--own", capfd=capfd)
    assert code == 0
    assert "hello ['--json', '-o', 'x.svg', '--own']" in err
    assert "note: --json stands behind the script" in err
    assert "--own stands" not in err


def test_module_is_run_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_module_of_tests.py").write_text(EXP + "import sys\nprint(sys.argv[1:])\n")
    code, out, err = run("--list", "-m", "my_module_of_tests", "--json", "a", capfd=capfd)
    assert (code, err.splitlines()[-1]) == (0, "['--json', 'a']")
    assert "my_module_of_tests.py:9" in out


def test_text_is_one_op_a_line(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("--text", script, capfd=capfd)
    head, *ops = out.splitlines()
    assert head.startswith("tape 1 foo script.py:9 call 1/1 value 1.64872")
    assert [line.split()[:2] for line in ops][1:4] == [["%2", "FWD"], ["%3", "REV"], ["%4", "REV"]]
    assert "exp(%1)" in ops[1]
    assert "script.py:6" in ops[1]
    assert "value 1.64872" in ops[1]


def test_stage_is_shown(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("--text", "--stage", "cse", script, capfd=capfd)
    assert "%4" not in out
    assert "%5 = multiply(%2, %3)" in out


def test_stages_are_those_of_a_program() -> None:
    program = yota.grad(lambda x: x * x, 1.0)[1].program
    assert tuple(s.name for s in program.stages) == STAGES


def test_tape_call_and_only_choose(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(LOOP.format(count=4) + "def other(x):\n    return x\nyota.grad(other, 2.0)\n")
    _, out, _ = run("--list", "--only", "other", path, capfd=capfd)
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["2", "other"]]
    _, out, _ = run("--text", "--tape", "1", "--call", "2", path, capfd=capfd)
    values = [row.split() for row in out.splitlines() if row.startswith("tape")]
    assert out.startswith("tape 1 loss script.py:12 call 2/4")
    assert len(values) == 1
    code, _, err = run("--list", "--only", "loss", "--tape", "2", path, capfd=capfd)
    assert code == 2
    assert "--tape 2 is other script.py:16, not --only 'loss'" in err


def test_heading_list_and_json_show_the_value_of_the_call(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.py"
    path.write_text(LOOP.format(count=4) + "    print(value, np.hypot(*map(np.linalg.norm, g)))\n")
    for number in (1, 3):
        code, out, err = run("--text", "--json", "--list", "--call", number, path, capfd=capfd)
        assert code == 0
        value, norm = (float(x) for x in err.splitlines()[number - 1].split())
        _, row, heading, *_ = out.splitlines()
        assert row.split()[6:8] == [f"{value:.6g}", f"{norm:.6g}"]
        assert f"call {number}/4 value {value:.6g} |grad| {norm:.6g} ok" in heading
        head = json.loads(next(x for x in out.splitlines() if x.startswith("{")))
        assert (head["call"], head["value"]) == (number, value)
        assert head["norm"] == pytest.approx(norm)


def test_call_chooses_the_rows_that_have_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, made = tmp_path / "script.py", tmp_path / "a.dot"
    path.write_text(LOOP.format(count=4) + "yota.grad(lambda x: x, 2.0)\n")
    _, _, err = run("--call", "3", "-o", made, path, capfd=capfd)
    assert f"wrote {made} (tape 1 loss, call 3)" in err


def test_call_that_raised_is_the_last_line_of_the_text(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.py"
    path.write_text(FAILS_IN_REVERSE)
    _, out, _ = run("--text", path, capfd=capfd)
    last = out.splitlines()[-1]
    assert last.startswith("✗      matmul(%9, ones((7, 7))): (4,) @ (7, 7)   script.py:14   Value")
    assert last.endswith("in the derivative of %3")


def test_call_without_ops_leaves_no_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.py"
    path.write_text("import yota\ndef f():\n    return 1 / 0\nyota.grad(f)\n")
    code, _, err = run("--screenshot", tmp_path / "x.svg", "--list", path, capfd=capfd)
    assert code == 1
    assert "f recorded no op before it raised" in err
    assert not (tmp_path / "x.svg").exists()


def test_reason_for_no_tape_is_said_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text("def f(:\n")
    _, _, err = run("--list", path, capfd=capfd)
    assert "SyntaxError" in err
    assert "no tape" not in err
    path.write_text(EXP)
    code, _, err = run("--list", "--capture", "bar", path, capfd=capfd)
    assert code == 3
    assert "--capture bar left out all there are: foo (script.py:9)" in err


def test_long_run_says_how_to_end_it(capfd: pytest.CaptureFixture[str]) -> None:
    with cli.patience("/somewhere/slow.py", 0.01):
        time.sleep(0.1)
    with cli.patience("/somewhere/quick.py", 0.5):
        pass
    err = capfd.readouterr().err
    assert "running slow.py (ctrl-c stops it and opens what was captured)" in err
    assert "quick" not in err


def test_check_prints_a_line_a_finding(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(NAN)
    code, out, err = run("--check", "nan", path, capfd=capfd)
    assert code == 4
    (line,) = out.splitlines()
    assert line.startswith("script.py:6: %2 in bad: alarm: log(%1) gives NaN at [1]")
    assert "1 tape checked: 1 alarm, 0 masked" in err


def test_saved_session_gives_the_same_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, kept = tmp_path / "script.py", tmp_path / "s.yota"
    path.write_text(LOOP.format(count=30))
    _, first, _ = run("--list", "--text", "--json", "-o", kept, path, capfd=capfd)
    path.unlink()
    code, second, _ = run("--list", "--text", "--json", kept, capfd=capfd)
    assert code == 0
    assert first == second


def test_unreadable_session_answers_6(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.yota"
    path.write_bytes(b"not a zip")
    assert run("--list", path, capfd=capfd)[0] == 6
    assert run("--list", tmp_path / "missing.yota", capfd=capfd)[0] == 6


def test_cut_capture_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(LOOP.format(count=200))
    code, out, err = run("--json", "--list", "--max-bytes", "20k", path, capfd=capfd)
    assert code == 0
    head = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    assert head["calls"] == 200
    assert head["kept"] < 100
    assert head["cut"] in err
    assert "--max-bytes is 20,480" in err


@pytest.mark.parametrize(
    ("option", "colored"), [("always", True), ("never", False), ("auto", False)]
)
def test_color_is_by_request(
    script: Path, capfd: pytest.CaptureFixture[str], option: str, colored: bool
) -> None:
    _, out, _ = run("--text", "--color", option, script, capfd=capfd)
    assert ("\x1b[" in out) is colored


def test_ascii_output_has_no_other_character(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.py"
    path.write_text(FAILS)
    _, out, _ = run("--list", "--text", "--ascii", path, capfd=capfd)
    assert out.isascii()
    assert "ones(3)" in out


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_runs_and_has_its_text(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(f"--lesson={name}", "--list", "--check", "nan", capfd=capfd)
    assert code == 0
    assert f"{name}.py:" in out
    text = Path(lesson_path(name)).read_text()
    assert text.startswith('"""')
    assert text.index('"""', 3) > 800
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("width", [50, 78])
@pytest.mark.parametrize("name", LESSONS)
def test_lesson_is_shown_whole_in_any_width(name: str, width: int) -> None:
    capture = cli._with_lesson(run_script(lesson_path(name)))
    rows = [text_of(row) for row in lesson_page(capture, width).lines]
    assert max(map(len, rows)) <= width
    words = " ".join(rows).split()
    wanted = f"{capture.lesson} The script printed: {capture.output}".split()
    assert words[: len(wanted)] == wanted
    following = next_lesson(capture.script)
    assert rows[-1] == (f"the next one yotaview --lesson={following}" if following else rows[-1])
    assert "this lesson" in "\n".join(rows[-4:])


def test_lessons_lead_to_each_other() -> None:
    assert [next_lesson(lesson_path(n)) for n in LESSONS] == [*list(LESSONS)[1:], None]
    assert next_lesson("/home/me/script.py") is None


def test_lesson_by_two_words(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("--list", "--lesson", "chain", capfd=capfd)
    assert "height" in out


def test_show_prints_where_there_is_no_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    yotaview_package.show(yota.grad(lambda x: x * x, 1.0)[1].tape, 3.0)
    out = capfd.readouterr().out
    assert "value 9" in out
    assert "value 6" in out


def test_doctor_reports_versions_and_drawing(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("--doctor", capfd=capfd)
    assert code == 0
    assert "numpy 2." in out
    assert "drawing in the sandbox: works" in out
    assert "system dot: " in out


def test_version_and_help_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("--version", capfd=capfd)[1].startswith("yotaview ")
    code, out, _ = run("--help", capfd=capfd)
    assert code == 0
    assert "--capture NAME|FILE:LINE" in out
    assert "--lesson[=NAME]" in out
    assert "exit code" in out


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


def test_interrupt_while_writing_answers_130(
    script: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(headless, "list_lines", interrupted)
    code, _, err = run("--list", script, capfd=capfd)
    assert code == 130
    assert err.splitlines()[-1] == "yotaview: interrupted"


@pytest.mark.parametrize("mode", ["--list", "--text", "--json", "--check=nan", "-o=x.dot"])
@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--at", "zz", "cannot go to 'zz': write 46"),
        ("-b", "zz", "cannot read breakpoint 'zz': write %46"),
        ("--at", "%99", "tape 1 foo: no op %99: the last one is %5"),
        ("-b", "%99", "-b %99: no op of tape 1 foo"),
    ],
)
def test_places_are_checked_in_every_mode(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    mode: str,
    option: str,
    value: str,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*mode.split("=", mode[1] == "o"), option, value, script, capfd=capfd)
    assert (code, out) == (2, "")
    assert says in err
    assert ("hello" in err) is (value == "%99")
    assert not (tmp_path / "x.dot").exists()


def test_breakpoint_that_means_nothing_here_is_said(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("--list", "-b", "op:log", "-b", "line:6", script, capfd=capfd)
    assert code == 0
    assert err.splitlines()[1:] == ["yotaview: -b op:log: no op of tape 1 foo"]


def test_every_place_that_the_help_names_can_be_written() -> None:
    places = HELP.replace(" or ", ", ").split(", ")
    assert len(places) > 8
    assert [p for p in places if not WHERE.fullmatch(p)] == []
    assert [parse_break(f).text for f in FORMS.split(", ")] == FORMS.split(", ")


def test_folder_is_run_by_its_main_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tool").mkdir()
    code, out, err = run("--list", tmp_path / "tool", capfd=capfd)
    assert (code, out) == (2, "")
    assert "is a folder without a __main__.py" in err
    (tmp_path / "tool" / "__main__.py").write_text(EXP)
    code, out, _ = run("--list", tmp_path / "tool", capfd=capfd)
    assert code == 0
    assert "__main__.py:9" in out


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


TUNED = EXP.replace("0.5)", "0.75)")


@pytest.mark.parametrize(("text", "code", "differ"), [(EXP, 0, 0), (TUNED, 4, 1)])
def test_diff_with_a_saved_session_says_what_differs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, code: int, differ: int
) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(EXP)
    second.write_text(text)
    session = tmp_path / "first.yota"
    assert run("-o", session, first, capfd=capfd)[0] == 0
    done, out, err = run("--diff", session, second, capfd=capfd)
    assert done == code
    assert "first.yota: first.py › tape 1 foo" in out.replace("\n" + " " * 14, " ")
    assert "second.py › tape 1 foo" in out
    assert "structure     equal, 5 ops" in out
    assert ("equal to the last bit" in out) is (differ == 0)
    assert f"1 tape compared, {differ} differ" in err
    done, out, _ = run("--json", "--diff", session, second, capfd=capfd)
    assert done == code
    head, *lines = map(json.loads, out.splitlines())
    assert (head["equal"], head["structure"], len(lines) > 0) == (not differ, True, differ > 0)


def test_diff_of_two_calls_of_one_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "loop.py"
    script.write_text(LOOP.format(count=5))
    code, out, _ = run("--diff", ":4", "--call", "2", script, capfd=capfd)
    assert code == 4
    assert "loop.py › tape 1 loss, call 2 of 5" in out
    assert "loop.py › tape 1 loss, call 4 of 5" in out
    assert run("--diff", "1:2", "--call", "2", script, capfd=capfd)[0] == 0
    code, _, err = run("--diff", ":9", script, capfd=capfd)
    assert code == 2
    assert "call 9 is not kept" in err
    assert run("--diff", "7", script, capfd=capfd)[0] == 2
    code, _, err = run("--diff", "b.py", script, capfd=capfd)
    assert code == 2
    assert "write FILE.yota, N, N:K or :K" in err


def test_diff_with_what_is_no_session_is_unreadable(
    script: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.yota").write_text("no session")
    code, _, err = run("--diff", tmp_path / "bad.yota", script, capfd=capfd)
    assert code == 6
    assert "bad.yota" in err


def test_diff_names_the_functions_that_only_one_run_has(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(EXP)
    second.write_text(EXP.replace("foo", "bar"))
    assert run("-o", tmp_path / "first.yota", first, capfd=capfd)[0] == 0
    code, out, _ = run("--diff", tmp_path / "first.yota", second, capfd=capfd)
    assert code == 4
    assert f"only in {second}: tape 1 bar second.py:9" in out
    assert f"only in {tmp_path / 'first.yota'}: tape 1 foo first.py:9" in out
