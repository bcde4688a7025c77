"""The faults are put in, noticed, and taken out again; a fault that nothing notices is named."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yota
from tests import mutate
from tests.mutation.answers import answer_mutants
from tests.mutation.checks import Check
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutant import Mutant
from tests.mutation.sources import source_mutants
from tests.mutation.suite import Outcome, Suite
from tests.mutation.watched import Step, watched
from tests.yota.rules import test_rules
from tests.yota.rules.samples import SAMPLES, Sample
from yota.rules import elementwise
from yota.rules.registry import VJP


def slope() -> Any:
    return yota.grad(lambda x: np.sum(np.arctan2(x, 2.0)), np.array([0.3, -1.0]))[1][0]


def test_faults_are_put_in_and_taken_out_again() -> None:
    right = slope()
    mutants = [m for m in answer_mutants() if m.place == "table.arctan2"]
    changed = 0
    for mutant in mutants:
        with mutant.active():
            changed += not np.array_equal(slope(), right)
        np.testing.assert_array_equal(slope(), right)
    assert changed >= 4


def test_faults_of_the_source_are_in_the_rules_of_the_table() -> None:
    file = Path(elementwise.__file__)
    rule = VJP[np.arctan2].rule(0)
    args = (np.array([0.3]), np.array([0.1]), np.array([0.3]), np.array([0.7]))
    right = rule(*args)
    mutants = [m for m in source_mutants([file]) if "b / (a * a + b * b) -> " in m.change]
    assert {m.change.partition(" -> ")[2] for m in mutants} >= {"b", "b * (a * a + b * b)"}
    for mutant in mutants:
        with mutant.active():
            assert not np.array_equal(rule(*args), right)
        np.testing.assert_array_equal(rule(*args), right)


def check(passes: bool) -> Check:
    def run() -> None:
        assert passes

    return Check("some test", run, frozenset(["here"]))


@pytest.mark.parametrize(
    ("checks", "fate"),
    [([check(True), check(False)], "killed"), ([check(True)], "survived"), ([], "unreached")],
)
def test_the_fate_of_a_fault(checks: list[Check], fate: str) -> None:
    mutant = Mutant("a rule", "a fault", frozenset(["here"]), noop, noop, is_of_a_rule=True)
    assert Suite(checks, []).fate_of(mutant).fate == fate


def noop() -> None:
    """Change nothing."""


compare = test_rules.test_rule_agrees_with_central_differences


def checks_of(fn: Any) -> list[Check]:
    """Return the comparison with differences of each sample of one function."""
    samples = [s for s in SAMPLES if s.fn is fn]
    return [Check(s.name, lambda s=s: compare(s)) for s in samples]


@pytest.fixture
def one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command see the rules of one file, and the samples of one function of it."""
    monkeypatch.setattr(mutate, "collect", lambda: checks_of(np.arctan2))
    monkeypatch.setattr(mutate, "rule_files", lambda: [Path(elementwise.__file__)])


def test_the_command_catches_the_faults_of_a_rule(
    one_rule: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "journal"
    options = ["--only", "b / (a * a + b * b)", "--jobs", "1", "--journal", str(journal)]
    assert mutate.main(options) == 0
    caught = len(journal.read_text(encoding="utf-8").splitlines())
    assert caught >= 3
    said = f"{caught} faults planted, {caught} caught, 0 survive"
    assert said in capsys.readouterr().out
    # A second run takes what was caught from the journal.
    journal.write_text(journal.read_text(encoding="utf-8").replace("killed", "equivalent"))
    assert mutate.main(options) == 0
    assert f"left out: {caught} that change no answer" in capsys.readouterr().out


def test_the_command_names_a_fault_that_no_test_notices(
    one_rule: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lenient(s: Sample) -> Check:
        return Check(s.name, lambda: rules_run(s))

    monkeypatch.setattr(
        mutate, "collect", lambda: [lenient(s) for s in SAMPLES if s.fn is np.arctan2]
    )
    assert mutate.main(["--only", "table.arctan2: twice", "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "survived: table.arctan2: twice the answer, argument 0" in said
    assert "2 faults planted, 0 caught, 2 survive" in said


def rules_run(s: Sample) -> None:
    """Run the rules of a sample and compare them with nothing."""
    y = s.run()
    for k in s.argnums:
        test_rules.pulled_back(s, k, np.ones_like(y), y)


def test_every_exception_has_its_reason() -> None:
    assert all(why.strip() and names for why, names in EQUIVALENT.items())


def test_an_exception_that_names_no_fault_is_told() -> None:
    (name, *_), *_ = EQUIVALENT.values()
    known = {n for names in EQUIVALENT.values() for n in names} - {name}
    assert mutate.unmet([Outcome(n, "equivalent") for n in known]) == [name]


def work(answered: set[str]) -> Iterator[Step]:
    """Answer, hang, die, answer."""
    for name in ("first", "hangs", "dies", "last"):
        if name in answered:
            continue
        yield name
        if name == "hangs":
            time.sleep(600)
        if name == "dies":
            os._exit(3)
        yield None
        yield name, f"{name} is done"


def test_what_hangs_or_dies_is_answered_for_and_the_rest_goes_on() -> None:
    lost: list[str] = []
    answers = watched([work, work], 2, lambda name: lost.append(name) or "lost", silence=1.0)
    expected = {"first": "first is done", "hangs": "lost", "dies": "lost", "last": "last is done"}
    assert answers == [expected, expected]
    assert sorted(lost) == ["dies", "dies", "hangs", "hangs"]


def test_a_process_that_dies_at_nothing_is_an_error() -> None:
    def die(answered: set[str]) -> Iterator[Step]:
        os._exit(3)
        yield None

    with pytest.raises(RuntimeError, match="between two pieces"):
        watched([die], 1, str)
