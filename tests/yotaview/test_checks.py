"""Where NaN begins, and whether it gets through."""

from __future__ import annotations

import numpy as np
import pytest

import yota
from tests.yotaview.scripts import FAILS, captured
from yota.tape import Var
from yotaview import cli
from yotaview.checks import CHECKS, check_nan, chosen_checks, line_of
from yotaview.model.findings import Finding
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.model.unlike import unlike
from yotaview.render.line import plain
from yotaview.render.tapes import preview_page


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


def checked(name: str, f, *args) -> list[Finding]:
    return CHECKS[name](session_of(yota.gradtape(f, *args)))


def test_vector_against_a_column_is_told() -> None:
    y = np.arange(3.0)

    def loss(w, x):
        return np.mean((x @ w - y) ** 2)

    (found,) = checked("shape", loss, np.ones((2, 1)), np.ones((3, 2)))
    assert found.level == "alarm"
    assert "broadcasts (3,) with (3, 1) to (3, 3)" in found.text
    assert "[:, 0]" in found.cure
    assert found.place.startswith("test_checks.py:")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x[:, None] - x),
        lambda x: np.sum(np.expand_dims(x, 1) * x),
        lambda x: np.sum(x.reshape(3, 1) * x),
        lambda x: np.sum(np.ones((3, 3)) * x),
        lambda x: np.sum(np.outer(x, x) - np.mean(np.outer(x, x), axis=1, keepdims=True)),
        lambda x: np.sum(x[:2] * np.ones((3, 1))),
    ],
    ids=["None", "expand_dims", "reshape", "row", "keepdims", "lengths"],
)
def test_broadcast_that_is_meant_is_not_told(f) -> None:
    assert checked("shape", f, np.arange(3.0)) == []


def test_infinity_that_vanishes_is_an_alarm_of_its_own_check() -> None:
    def f(x):
        return np.sum(np.exp(-np.exp(x)))

    x = np.array([0.5, 800.0])
    (found,) = checked("inf", f, x)
    assert (found.level, found.cause) == ("alarm", "exp overflow")
    masked = checked("inf", lambda x: np.sum(np.where(x > 0, 1 / x, x)), np.array([0.0, 1.0]))
    assert [m.level for m in masked] == ["masked"]
    assert checked("inf", lambda x: np.sum(np.sqrt(x)), np.array([-1.0])) == []


def test_unused_input_is_an_alarm_of_its_own_check() -> None:
    (found,) = checked("unused", lambda x, unused: np.sum(x), np.ones(2), np.ones(3))
    assert (found.level, found.check) == ("alarm", "unused")
    assert "input unused: no path to the result" in found.text
    assert checked("nan", lambda x, unused: np.sum(x), np.ones(2), np.ones(3)) == []


def test_all_stands_for_every_check() -> None:
    assert chosen_checks("all") == list(CHECKS)
    assert chosen_checks("shape,nan,shape") == ["shape", "nan"]
    assert all(c.help for c in CHECKS.values())


@pytest.mark.parametrize("name", CHECKS)
def test_check_of_a_healthy_tape_has_no_alarm(name: str) -> None:
    found = checked(name, lambda x: np.sum(np.tanh(x) * x), np.array([0.3, -1.0]))
    assert not [f for f in found if f.level == "alarm"]


TWO_WAYS = """\
import numpy as np
import yota


def loss(w, flag):
    return np.sum(w ** 2) if flag else np.mean(w)


def run(w, flag):
    yota.grad(loss, w, flag)


run(np.ones(3), True)
run(np.ones(3), False)
run(np.ones((3, 2)), False)
run(np.ones((3, 2), np.float32), False)
"""


def test_rows_of_one_call_say_in_what_they_differ(tmp_path):
    capture = captured(tmp_path, TWO_WAYS)
    told = [unlike(capture, k) for k in range(len(capture.rows))]
    assert told == [
        "",
        "%2 mean(%1) script.py:6 here, %2 square(%1) script.py:6 in tape 1",
        "w is f64[3,2] here, f64[3] in tape 2",
        "w is f32[3,2] here, f64[3,2] in tape 3",
    ]
    assert "unlike   w is f64[3,2]" in plain(preview_page(Session(capture, 2), 2, 80).lines)


def test_what_raised_is_a_line_of_the_checks(tmp_path, capfd):
    script = tmp_path / "fails.py"
    script.write_text(FAILS)
    assert cli.main(["--check", "nan", str(script)]) == 1
    out, err = capfd.readouterr()
    assert out.startswith("fails.py:7: in loss: raised at matmul(%2, ones(3)): (4,) @ (3,): ")
    assert "; x is f64[4] here, f64[3] in tape 1 [tape 2]" in out
    assert "1 tape checked: 0 alarms, 0 masked; 1 call raised" in err


def test_operand_that_stands_twice_is_named_once_in_an_alert() -> None:
    (text, *_) = alarms(lambda x: np.sum(x * x), np.array([1e200, 1.0]))
    assert text.count("1e+200") == 1
