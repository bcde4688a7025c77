"""Usage of the command line: options, places, help, and what is said of mistakes in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import yota
import yotaview as yotaview_package
from tests.yotaview.scripts import EXP, LOOP, ROOT, run
from yotaview.model.breaks import FORMS, parse_break
from yotaview.model.goto import HELP
from yotaview.options import STAGES, WHERE


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


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["missing.py"], "no such script: missing.py"),
        (["-m", "no_such_module_here"], "no such module: no_such_module_here"),
        (["--frobnicate", "script.py"], "unrecognized arguments: --frobnicate"),
        (["-o", "x.gif", "script.py"], "x.gif: no such format; what works: .svg .dot"),
        (["-o", "x.htm", "script.py"], "no such format"),
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
