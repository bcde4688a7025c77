"""Two runs, or two calls of one, compared from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.yotaview.scripts import EXP, LOOP, run

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
