"""The fuzzer itself: it reaches every rule, finds nothing, and finds a fault that is planted."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yota
from tests.fuzz.__main__ import main
from tests.fuzz.build import NUMPYS, SCIPYS, build
from tests.fuzz.compare import Count, differences
from tests.fuzz.failure import Failure, Refused
from tests.fuzz.families.table import EXCUSED, MAKERS
from tests.fuzz.minimise import minimise
from tests.fuzz.peers import Peer
from tests.fuzz.program import Argument, Leaf, Program
from tests.fuzz.reach import rules_run
from tests.fuzz.session import Session, rules_of
from yota.rules.registry import VJP

ROOT = Path(__file__).parents[2]
OURS = ("numpy", "scipy", "yota", "_operator", "builtins")
TRIES = 60


def is_ours(fn: Any) -> bool:
    return (getattr(fn, "__module__", None) or "numpy").startswith(OURS)


def full_name(fn: Any) -> str:
    return f"{getattr(fn, '__module__', None)}.{fn.__name__}"


def test_every_rule_has_a_maker_of_calls() -> None:
    missing = {full_name(fn) for fn in VJP.keys() - MAKERS.keys() if is_ours(fn)}
    assert missing <= EXCUSED.keys()


@pytest.mark.parametrize("functions", [NUMPYS, SCIPYS], ids=["numpy", "scipy"])
def test_programs_reach_every_rule(functions: list[Any]) -> None:
    missing = [m for k, fn in enumerate(functions) for m in not_reached(fn, 1000 * k)]
    assert not [m for m in missing if m.partition(",")[0] not in EXCUSED]


def not_reached(fn: Any, seed: int) -> list[str]:
    """Return the arguments whose rule none of so many programs takes."""
    wanted = {k for _, k in rules_of([fn])}
    if VJP[fn].rest is not None:
        wanted.add(0 if VJP[fn].rest(0) is not None and fn is not np.einsum else 1)
    for k in range(TRIES):
        try:
            wanted -= {at for f, at in rules_run(build(seed + k, fn)) if f == fn}
        except Refused:
            continue
        if not wanted:
            return []
    return [f"{full_name(fn)}, argument {k}" for k in wanted]


def test_a_short_run_finds_nothing() -> None:
    session = Session(0, 60, out=io.StringIO())
    session.run()
    assert not session.failures, session.failures[0][1]
    assert session.done == 60
    assert session.compared > 50 * session.left_out
    assert sum(session.refused.values()) <= 3
    assert len(session.alone) <= 1


@pytest.fixture
def wrong_tanh(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Plant a fault in one rule."""
    right = VJP[np.tanh]
    monkeypatch.setitem(VJP, np.tanh, replace(right, rules=(lambda dy, y, x: dy * (1 + y * y),)))
    yota.reset()
    yield
    yota.reset()


def test_a_wrong_rule_is_found_and_made_small(wrong_tanh: Any) -> None:
    out = io.StringIO()
    session = Session(0, 1, out=out)
    session.one(program_with_tanh())
    (small, failure), *_ = session.failures
    assert failure.kind == "gradient"
    assert len(small.statements) == 1
    assert "np.tanh(" in small.source
    assert [leaf.data.size for leaf in small.leaves] == [1]
    assert f"# {failure}" in out.getvalue()


def test_a_failure_is_printed_as_a_script_that_shows_it(wrong_tanh: Any, tmp_path: Path) -> None:
    out = io.StringIO()
    Session(0, 1, out=out).one(program_with_tanh())
    plant = "import numpy as np, yota\nyota.defvjp(np.tanh, lambda dy, y, x: dy * (1 + y * y))\n"
    script = tmp_path / "failure.py"
    script.write_text(plant + out.getvalue(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert "AssertionError: gradient of f with respect to argument 0" in done.stderr


def program_with_tanh() -> Program:
    leaf = Leaf(np.arange(6.0).reshape(2, 3) / 7)
    statements = ("v1 = np.sin(a1)", "v2 = np.tanh(v1 * 2.0)", "v3 = np.sum(v2, axis=0)")
    return Program(0, (Argument("a1", (leaf,)),), statements, ("v3", "v1"))


def test_the_command_prints_figures_and_returns_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--programs", "2", "--seed", "3"]) == 0
    assert "2 programs (seeds 3 to 4)" in capsys.readouterr().out


def test_the_command_returns_1_for_a_failure(
    wrong_tanh: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.fuzz.session.build", lambda seed: program_with_tanh())
    assert main(["--programs", "1"]) == 1
    assert "# program 0 fails" in capsys.readouterr().out


def test_minimising_keeps_what_fails() -> None:
    def fails(p: Program) -> bool:
        return "np.sort" in p.source and p.leaves[0].data.size > 1

    leaves = (Leaf(np.arange(12.0).reshape(3, 4)),)
    statements = ("v1 = a1 * 2.0", "v2 = np.sort(v1 + 1.0, axis=1)", "v3 = np.exp(-v2)")
    small = minimise(Program(0, (Argument("a1", leaves),), statements, ("v3", "v1")), fails)
    assert len(small.statements) == 1
    assert small.leaves[0].data.size == 2


def test_another_engine_that_answers_in_another_shape_has_no_answer() -> None:
    def answers(spoil: Any) -> Any:
        def gradient(f: Any, leaves: Any, at: list[int]) -> list[Any]:
            return [spoil(g) for g in yota.grad(f, *leaves)[1]]

        return Peer("other", np, gradient).gradients(program_with_tanh())

    assert answers(lambda g: g) is not None
    assert answers(lambda g: g[:1]) is None


def test_a_program_that_cannot_run_beside_its_point_has_no_differences_there() -> None:
    def f(leaves: Any) -> float:
        return float(np.sum(np.broadcast_to(leaves[0][leaves[0] > 0], (2,))))

    count = Count()
    leaves = [np.array([1.0, 0.0, 2.0])]
    assert not list(differences(f, leaves, [np.array([1.0, 5.0, 1.0])], count))
    assert (count.compared, count.left_out) == (2, 1)


def test_a_nan_that_numpy_warns_of_is_no_failure() -> None:
    session = Session(0, 1, out=io.StringIO())
    whole = ("v1 = np.sqrt(a1 - a1) + a1",)
    leaves = (Leaf(np.array([0.7, 0.3])),)
    session.one(Program(0, (Argument("a1", leaves),), whole, ("v1",)))
    assert not session.failures
    assert session.alone == [0]


def test_seeds_give_the_same_program_again() -> None:
    assert build(7).listing() == build(7).listing()


def test_an_engines_error_is_a_failure_but_a_refusal_is_not() -> None:
    session = Session(0, 1, out=io.StringIO())
    refused = Program(
        0, (Argument("a1", (Leaf(np.ones(3)),)),), ("v1 = np.intersect1d(a1, a1)",), ("v1",)
    )
    with pytest.raises(Refused):
        session.examine(refused)
    broken = replace(refused, statements=("v1 = yota.primitive(lambda x: x * 1.0)(a1)",))
    with pytest.raises((Refused, Failure)):
        session.examine(broken)
