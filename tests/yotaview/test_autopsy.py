"""Scripts rebuilt from public threads: which op, element and cause; and healthy ones."""

from __future__ import annotations

import contextlib
import io
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import yota
from tests.yotaview.scripts import yotaview
from yota.tape import Call
from yotaview.capture import run_script
from yotaview.checks import check_nan
from yotaview.model.session import Session
from yotaview.model.single import session_of
from yotaview.render.autopsy import autopsy_page
from yotaview.render.line import plain

DATA = Path(__file__).parents[1] / "data"

# script: op at which it begins, element, cause, level
BROKEN = {
    "angle_at_origin": ("divide", (1,), "arctan2' at the origin", "alarm"),
    "assigned_quotient": ("divide", (0,), "where-trap", "masked"),
    "batch_normalisation": ("divide", (0, 1), "x/std at 0", "alarm"),
    "broken_power": ("power", (1,), "power' at 0", "alarm"),
    "clamped_exponential": ("exp", (1,), "exp overflow", "masked"),
    "clipped_arccos": ("divide", (1,), "arccos' at ±1", "alarm"),
    "constant_deviation": ("divide", (), "std' at 0", "alarm"),
    "entropy": ("log", (2,), "log of 0", "alarm"),
    "exploding": ("multiply", (1,), "overflow of float64", "alarm"),
    "first_root": ("sqrt", (1,), "square root of a negative number", "alarm"),
    "half_precision_guard": ("divide", (0,), "0/0", "alarm"),
    "half_precision_norm": ("multiply", (0,), "overflow of float16", "alarm"),
    "indexed_log1p": ("log1p", (0,), "where-trap", "masked"),
    "infinite_logits": ("subtract", (0,), "infinity in the code", "alarm"),
    "infinite_mask": ("MASK", (1,), "infinity in the data", "alarm"),
    "logistic_loss": ("exp", (1,), "exp then log", "alarm"),
    "mask_by_product": ("log", (1,), "log of 0", "alarm"),
    "missing_rows": ("X", (2, 0), "NaN in the data", "alarm"),
    "negative_base": ("log", (1,), "derivative by the exponent of a negative base", "alarm"),
    "norm_at_zero": ("divide", (), "norm' at 0", "alarm"),
    "pair_distances": ("divide", (0, 0), "where-trap", "masked"),
    "second_derivative": ("divide", (), "x/0", "alarm"),
    "softmax_written_out": ("exp", (2,), "softmax overflow", "alarm"),
    "softplus": ("exp", (1,), "exp then log", "alarm"),
    "softplus_single": ("exp", (2,), "exp then log", "alarm"),
    "spherical_angle": ("divide", (0,), "x/‖x‖ at 0", "alarm"),
    "squared_norm": ("divide", (), "norm' at 0", "alarm"),
    "where_arctan2": ("divide", (1,), "where-trap", "masked"),
    "where_inactive_branch": ("sqrt", (0,), "where-trap", "masked"),
    "where_negative_root": ("sqrt", (0,), "where-trap", "masked"),
    "where_norm": ("divide", (2,), "where-trap", "masked"),
    "where_sqrt": ("divide", (1,), "where-trap", "masked"),
}
# origins behind the first one that are mistakes of their own
LATER = {"infinite_logits": ["log-sum-exp of -inf"], "mask_by_product": ["mask by product"]}
HEALTHY = sorted(p.stem for p in (DATA / "healthy").glob("*.py"))
# what a cure gives, by hand
CURED = {
    "entropy": [-1 - np.log(0.5), -1 - np.log(0.5), 0.0],
    "mask_by_product": [1.0, 0.0, 0.5],
    "softplus": [1 / (1 + np.exp(-1.0)), 1.0],
    "softplus_single": [1 / (1 + np.exp(-5.0)), 1 / (1 + np.exp(-10.0)), 1.0],
    "logistic_loss": [-1 / (1 + np.exp(2.0)), -1.0],
    "norm_at_zero": [0.0, 0.0, 0.0],
    "constant_deviation": [0.0, 0.0, 0.0, 0.0],
    "half_precision_norm": [1.0, 3.0 / 5000.0],
    "missing_rows": [4.0, 6.0],
    "squared_norm": [0.0, 0.0],
    "softmax_written_out": [0.0, 0.0, 0.0],
}


@lru_cache(maxsize=128)
def session(kind: str, name: str) -> Session:
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return Session(run_script(str(DATA / kind / f"{name}.py")))


def op_name(s: Session, var) -> str:
    op = s.tape[var]
    return op.name


def test_each_script_is_in_the_table() -> None:
    assert sorted(BROKEN) == sorted(p.stem for p in (DATA / "broken").glob("*.py"))
    assert len(BROKEN) >= 25
    assert len(HEALTHY) >= 25


@pytest.mark.parametrize("name", BROKEN)
def test_op_element_and_cause_are_right(name: str) -> None:
    s = session("broken", name)
    assert s.capture.error is None
    first = s.alerts[0]
    assert (op_name(s, first.var), first.element, first.cause, first.level) == BROKEN[name]
    assert first.place.startswith(f"{name}.py:") or first.cause.endswith("data")


@pytest.mark.parametrize("name", BROKEN)
def test_only_mistakes_of_their_own_are_listed_after_the_first(name: str) -> None:
    alarms = [a.cause for a in session("broken", name).alarms]
    same = {BROKEN[name][2]}
    assert [c for c in alarms if c not in same] == LATER.get(name, [])


@pytest.mark.parametrize("name", [n for n, row in BROKEN.items() if row[3] == "masked"])
def test_masked_gradient_is_finite_and_other_tools_are_named(name: str) -> None:
    s = session("broken", name)
    assert not s.alarms
    assert all(np.all(np.isfinite(s.recorded(v))) for v in s.tape.gradient_vars)
    assert s.alerts[0].var in s.opened.tried.naive
    assert "a tool that does not track masks answers NaN" in check_nan(s)[0].text


def test_no_other_answer_is_claimed_where_every_tool_is_right() -> None:
    s = session_of(yota.gradtape(lambda x: np.sum(np.where(x > 0, np.log(x), x)), np.array([-1.0])))
    assert [a.level for a in s.alerts] == ["masked"]
    assert not s.opened.tried.naive
    assert "answers NaN" not in check_nan(s)[0].text


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_script_has_no_alarm(name: str) -> None:
    s = session("healthy", name)
    assert s.capture.error is None
    assert s.capture.rows
    for row in range(len(s.capture.rows)):
        for call in range(len(s.capture.rows[row].calls)):
            assert not Session(s.capture, row, call).alarms


@pytest.mark.parametrize("name", CURED)
def test_cure_is_tried_and_gives_the_gradient(name: str) -> None:
    s = session("broken", name)
    tried = s.opened.tried[s.alarms[0].var]
    assert tried.finite
    ((_, gradient),) = tried.gradients
    np.testing.assert_allclose(gradient, CURED[name], rtol=1e-5, atol=1e-9)
    assert "gradient finite, ∂" in tried.text


def test_cure_that_does_not_suffice_says_what_stays() -> None:
    def f(x):
        return np.sum(x / np.sqrt(np.sum(x**2))) + np.exp(np.sum(x) + 1000.0)

    s = session_of(yota.gradtape(f, np.zeros(2)))
    unit, exp = s.opened.roots
    assert (
        s.opened.tried[unit.var].text == f"tried: still not finite: what begins at {exp.var} stays"
    )
    assert s.opened.tried[exp.var].text == "not tried: the function needs another form"


def test_two_cures_are_tried_together() -> None:
    def f(x):
        return np.sqrt(np.sum(x**2)) + np.sum(np.log(1.0 + np.exp(x + 1000.0)))

    s = session_of(yota.gradtape(f, np.zeros(2)))
    exp, norm = s.opened.roots
    tried = s.opened.tried[norm.var]
    assert tried.finite
    assert tried.others == (exp.var,)
    assert f"together with the cure of {exp.var}" in tried.text


def test_no_cure_runs_a_function_of_the_user() -> None:
    runs = []

    @yota.primitive
    def own(x):
        runs.append(1)
        return x * 2.0

    yota.defvjp(own, lambda dy, y, x: dy * 2.0)
    s = session_of(yota.gradtape(lambda x: np.sum(np.log(own(x))), np.zeros(2)))
    count = len(runs)
    assert (
        s.opened.tried[s.alarms[0].var].text == "not tried: it would run own, a function of yours"
    )
    assert len(runs) == count


def test_origins_are_independent_and_in_tape_order() -> None:
    def f(x, y):
        return np.sum(np.log(x)) + np.sum(np.sqrt(y)) + np.sum(x / y)

    found = session_of(yota.gradtape(f, np.array([0.0, 1.0]), np.array([4.0, 0.0]))).alarms
    assert [a.cause for a in found] == ["log of 0", "x/0", "sqrt' at 0"]
    assert [a.element for a in found] == [(0,), (1,), (1,)]
    assert found == sorted(found, key=lambda a: a.var)


def test_another_element_of_the_same_op_is_an_origin_of_its_own() -> None:
    found = session_of(yota.gradtape(lambda x: np.sum(np.sqrt(x)), np.array([-1.0, 0.0]))).alarms
    assert [(a.cause, a.element) for a in found] == [
        ("square root of a negative number", (0,)),
        ("sqrt' at 0", (1,)),
    ]


def test_elements_that_an_index_dropped_do_not_count() -> None:
    def f(x):
        return np.log(x)[0] + np.sqrt(x)[1]

    found = session_of(yota.gradtape(f, np.array([2.0, -1.0]))).alerts
    assert [(a.level, a.cause) for a in found[:2]] == [
        ("masked", "where-trap"),
        ("alarm", "square root of a negative number"),
    ]


def test_nan_that_only_the_value_has_is_an_alarm() -> None:
    with np.errstate(all="ignore"):
        tape = yota.trace(lambda x: np.sum(np.log(x)), np.array([-1.0]))[1]
    assert [a.level for a in session_of(tape).alerts] == ["alarm"]


def test_page_names_inputs_shapes_line_carriers_and_cure() -> None:
    s = session("broken", "batch_normalisation")
    text = plain(autopsy_page(s, s.alarms[0].var, 160).lines)
    assert "NaN begins at %5[0, 1] divide   3 of 6 elements" in text
    assert "x/std at 0 (%4 is 0, %3 is 0)" in text
    assert "batch_normalisation.py:10 in f: return np.sum(((x - mean) / std) ** 3)" in text
    assert "%3 std   f64[2]" in text
    assert "carried by %6 power → %7 sum" in text
    assert "into the value, ∂/∂x" in text
    assert "before  %3 std batch_normalisation.py:9: zero variance" in text
    assert "cure    eps beside the variance" in text
    assert "tried   gradient finite" in text


def test_page_tells_the_first_oddity_before_the_nan() -> None:
    s = session("broken", "exploding")
    text = plain(autopsy_page(s, s.alarms[0].var, 76).lines)
    assert "before  %8 multiply exploding.py:11: |x| up to 2.14037e+08, above 1e+06" in text


@pytest.mark.parametrize(
    ("f", "x", "told"),
    [
        (lambda x: np.log(x * 1e-300 * 1e-15 - x * 1e-315), 1.0, "denormal: 1e-315"),
        (lambda x: np.sum(np.log(1.0 - np.tanh(x))), [40.0, 1.0], "saturated: 1 of 2 elements"),
        (lambda x: np.sum(np.log((x - x[0]) * 2.0)), [3.0, 3.0], "zero variance: every element"),
    ],
    ids=["denormal", "saturated", "constant"],
)
def test_oddities_of_each_kind_are_seen(f, x, told: str) -> None:
    s = session_of(yota.gradtape(f, x if isinstance(x, float) else np.array(x)))
    assert told in plain(autopsy_page(s, s.alarms[0].var, 100).lines)


def test_second_derivative_maps_to_the_line_of_the_user() -> None:
    s = session("broken", "second_derivative")
    op = s.tape[s.alarms[0].var]
    assert isinstance(op, Call)
    frame = op.origin.frames[0]
    assert s.source_line(frame) == "    return v[0] / v[1]"
    assert frame.qualname == "f"


def test_masked_page_says_that_nothing_is_wrong() -> None:
    s = session("broken", "where_negative_root")
    text = plain(autopsy_page(s, s.alerts[0].var, 76).lines)
    assert "masked: NaN begins at %4[0] sqrt" in text
    assert "removed by %5 where where_negative_root.py:9: no alarm" in text
    assert "the gradient is right; a tool that does not track masks answers NaN" in text


def test_check_prints_one_line_a_finding_and_fails() -> None:
    done = yotaview("--check", "nan", str(DATA / "broken" / "softplus.py"), cwd=DATA)
    assert done.returncode == 4
    (text,) = done.stdout.splitlines()
    assert text.startswith("softplus.py:9: %2 in f: alarm: exp(%1) gives infinity at [1], 1 of 2")
    assert "exp then log; operands %1 f64[2]; cure:" in text
    assert "cure: np.logaddexp(0, x)" in text
    assert "tried: gradient finite, ∂x = [0.731059, 1]" in text


def test_check_of_a_masked_nan_passes() -> None:
    done = yotaview("--check", "nan", str(DATA / "broken" / "where_sqrt.py"), cwd=DATA)
    assert done.returncode == 0
    assert "masked" in done.stdout
    assert "1 tape checked: 0 alarms, 1 masked" in done.stderr


def test_thousands_of_origins_are_told_apart_in_one_walk() -> None:
    def f(x):
        total = 0.0
        for k in range(300):
            total = total + np.sum(np.where(x > k, np.sqrt(x - k), 0.0)) + np.log(x[0] - 1.0 - k)
        return total

    s = session_of(yota.gradtape(f, np.array([1.0, 2.0])))
    roots = s.opened.roots
    assert sum(r.through for r in roots) == 300
    assert sum(not r.through for r in roots) == 300
    assert all(r.case.primal is None or r.cause.name == "where-trap" for r in roots)


def test_only_the_origin_that_needs_its_mask_is_said_to_be_nan_elsewhere() -> None:
    def f(x):
        return np.sum(np.where(x > 0, np.log(x), 0.0)) + np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    s = session_of(yota.gradtape(f, np.array([-1.0, 4.0])))
    log, root = s.alerts[:2]
    assert (log.level, root.level) == ("masked", "masked")
    assert s.opened.tried.naive == {root.var}
    told = [f.text for f in check_nan(s)]
    assert ["answers NaN" in t for t in told[:2]] == [False, True]


def test_line_tells_the_oddity_before_and_the_shapes() -> None:
    found = check_nan(session("broken", "exploding"))[0].text
    assert "; operands %25 f64[2]; before it %8 |x| up to 2.14037e+08, above 1e+06; cure:" in found


def test_only_the_first_few_cures_are_tried() -> None:
    def f(x):
        return sum(np.sqrt(np.sum(x * x * (k + 1.0))) for k in range(12))

    s = session_of(yota.gradtape(f, np.zeros(2)))
    assert len(s.alarms) == 12
    texts = [s.opened.tried[a.var].text for a in s.alarms]
    assert texts[-1] == "not tried: only the first 8 are"
    assert texts[0].startswith("tried: still not finite: what begins at ")
