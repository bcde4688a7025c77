"""What the command line prints: lists, texts, JSON, findings, colours."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.yotaview.scripts import EXP, FAILS, FAILS_IN_REVERSE, LOOP, NAN, run, yotaview
from yotaview import cli


def test_without_a_terminal_it_lists(script: Path, tmp_path: Path) -> None:
    done = yotaview(str(script), "--flag", "x", cwd=tmp_path)
    assert done.returncode == 0
    head, row = done.stdout.splitlines()
    assert head.split()[:3] == ["#", "function", "called"]
    assert row.split() == ["1", "foo", "script.py:9", "1", "2", "3", "1.64872", "1.64872", "ok"]
    assert done.stderr == "hello ['--flag', 'x']\n"


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
