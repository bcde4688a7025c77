"""Where NaN begins, and whether it gets through."""

from __future__ import annotations

import numpy as np
import pytest

import yota
from yota.tape import Var
from yotaview.checks import check_nan, line_of
from yotaview.model.findings import Finding
from yotaview.model.single import session_of


def findings(f, *args) -> list[Finding]:
    with np.errstate(all="ignore"):
        return session_of(yota.gradtape(f, *args)).alerts


def alarms(f, *args) -> list[str]:
    return [a.text for a in findings(f, *args) if a.level == "alarm"]


@pytest.mark.parametrize(
    ("f", "x", "cause"),
    [
        (lambda x: np.sum(np.log(x)), [1.0, 0.0], "log of 0"),
        (lambda x: np.sum(np.log(x)), [1.0, -2.0], "log of a negative number"),
        (lambda x: np.sum(np.sqrt(x)), [1.0, -2.0], "square root of a negative number"),
        (lambda x: np.sum(np.exp(x)), [1.0, 1000.0], "exp overflow"),
        (lambda x: np.sum(x / x), [1.0, 0.0], "0/0"),
        (lambda x: np.sum(1 / x), [1.0, 0.0], "x/0"),
    ],
)
def test_first_alarm_names_the_cause(f, x, cause: str) -> None:
    first = alarms(f, np.array(x))[0]
    assert first.endswith(cause)
    assert "at [1], 1 of 2 elements" in first


def test_alarm_in_the_reverse_pass_names_the_forward_op() -> None:
    (first, *_) = alarms(lambda x: np.sum(np.sqrt(x)), np.array([4.0, 0.0]))
    assert "; in the derivative of %2 sqrt" in first


def test_only_the_origin_is_named() -> None:
    found = findings(lambda x: np.sum(np.tanh(np.log(x) + 1.0)), np.array([-1.0]))
    assert next(f.var for f in found if not f.text.startswith("input")) == Var(2)
    assert sum("log" in f.text for f in found) == 1


def test_healthy_function_has_no_finding() -> None:
    assert findings(lambda x: np.sum(np.exp(-(x**2))), np.linspace(-3, 3, 7)) == []


def test_nan_that_where_removed_is_masked() -> None:
    found = findings(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), np.array([1.0, -1.0]))
    assert {f.level for f in found} == {"masked"}


def test_nan_that_where_chose_is_an_alarm() -> None:
    found = findings(lambda x: np.sum(np.where(x < 0, np.log(x), 0.0)), np.array([1.0, -1.0]))
    assert found[0].level == "alarm"


def test_masked_branch_is_told_from_the_other_that_is_not() -> None:
    def f(x):
        return np.sum(np.where(x > 0, np.log(x), np.sqrt(x - 5.0)))

    found = {f.text.split("(")[0]: f.level for f in findings(f, np.array([1.0, -1.0]))[:2]}
    assert found == {"log": "masked", "sqrt": "alarm"}


def test_infinity_that_vanishes_again_is_masked() -> None:
    with np.errstate(all="ignore"):
        tape = yota.trace(lambda x: np.sum(x * np.exp(-np.exp(x))), np.array([0.5, 800.0]))[1]
    found = session_of(tape).alerts
    assert [(f.level, f.var) for f in found] == [("masked", Var(2))]


def test_nan_in_an_input_is_named_as_such() -> None:
    assert alarms(lambda weight: np.sum(weight), np.array([np.nan, 1.0]))[0] == (
        "input weight holds NaN at [0], 1 of 2 elements"
    )


def test_input_without_a_path_is_a_note() -> None:
    (note,) = findings(lambda x, unused: np.sum(x), np.ones(2), np.ones(3))
    assert note.level == "note"
    assert note.text == "input unused: no path to the result, its gradient is zero: no op reads it"


def test_line_holds_place_number_and_function() -> None:
    with np.errstate(all="ignore"):
        session = session_of(yota.gradtape(lambda x: np.log(x), -1.0))
    text = line_of(check_nan(session)[0], session)
    assert text.startswith("test_checks.py:")
    assert " %2 in " in text
    assert "log" in text
    assert "\n" not in text
