"""Every rule is checked on the recorded values: what is wrong is found, what is right is not."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yota
from tests.yota.rules.samples import SAMPLES, Sample
from tests.yotaview.scripts import yotaview
from tests.yotaview.sessions import reopened
from yota.rules.registry import VJP, zero
from yota.tape import Call, Tape, Var
from yotaview.capture import run_script
from yotaview.checks import CHECKS
from yotaview.checks.gradcheck import OWN, SAVED, Report, pairs_of, verdicts
from yotaview.checks.gradcheck.findings import run_checks
from yotaview.model.session import Session
from yotaview.model.single import session_of

DATA = Path(__file__).parents[1] / "data"
SCRIPTS = sorted((DATA / "healthy").glob("*.py")) + sorted((DATA / "broken").glob("*.py"))
# rules whose only sample has a derivative of 0, or no float output: a factor changes nothing
WITHOUT_SLOPE = {"matrix_power-real0", "heaviside"}
FAULT = 1.01


def leaves(y: Any) -> list[Any]:
    return list(y) if isinstance(y, tuple | list) else [y]


def recorded(s: Sample) -> Tape:
    """Return the tape of a sample's call, its outputs weighted and summed."""

    def loss(*xs: Any) -> Any:
        call = s
        for at, x in zip(s.argnums, xs, strict=True):
            call = call.with_operand(at, x)
        total = 0.0
        for k, y in enumerate(leaves(call.run())):
            kind = np.asarray(getattr(y, "_value", y)).dtype.kind
            if kind in "fc":
                w = np.random.default_rng(k).uniform(0.5, 1.5, np.shape(y))
                total = total + np.sum(np.real(y) * w)
                if kind == "c":
                    total = total + np.sum(np.imag(y) * (w - 0.25))
        return total

    return yota.gradtape(loss, *(s.operand(at) for at in s.argnums))


def report(tape: Tape, **options: Any) -> Report:
    return run_checks(session_of(tape), **options)


def spoiled(dx: Any) -> Any:
    """Return a derivative whose largest element is a hundredth too large."""
    if isinstance(dx, tuple | list):
        return type(dx)([spoiled(dx[0]), *dx[1:]])
    value = np.asarray(getattr(dx, "_value", dx))
    factor = np.ones(value.shape)
    factor.flat[int(np.argmax(np.abs(np.where(np.isfinite(value), value, 0.0))))] = FAULT
    return dx * (factor if factor.ndim else FAULT)


def faulty(rule: Any) -> Any:
    def wrong(dy: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        return spoiled(rule(dy, y, *args, **kwargs))

    wrong.takes_list = getattr(rule, "takes_list", False)
    if hasattr(rule, "inner"):
        wrong.inner = faulty(rule.inner)
    return wrong


def one_of_each() -> Iterator[Sample]:
    """Yield for each function with a rule the first sample in which the rule has a slope."""
    seen: list[Any] = []
    for s in SAMPLES:
        vjp = VJP.get(s.fn)
        rule = vjp.rule(s.argnums[0]) if vjp is not None and s.argnums else None
        if s.fn in seen or rule is None or rule is zero or s.name in WITHOUT_SLOPE:
            continue
        if s.name.split("-")[0] in ("sign", "imag", "angle") and "complex" not in s.name:
            continue
        seen.append(s.fn)
        yield s


@contextlib.contextmanager
def with_fault(s: Sample) -> Iterator[None]:
    at, vjp = s.argnums[0], VJP[s.fn]
    rule = vjp.rule(at)
    if isinstance(at, str):
        new = replace(vjp, keywords={**vjp.keywords, at: faulty(rule)})
    elif at < len(vjp.rules):
        new = replace(vjp, rules=(*vjp.rules[:at], faulty(rule), *vjp.rules[at + 1 :]))
    else:
        new = replace(vjp, rest=lambda position: faulty(vjp.rest(position)))  # type: ignore[misc]
    VJP[s.fn] = new
    try:
        yield
    finally:
        VJP[s.fn] = vjp


ONE_OF_EACH = list(one_of_each())


def test_there_are_faults_for_hundreds_of_rules() -> None:
    assert len(ONE_OF_EACH) >= 250


@pytest.mark.parametrize("part", range(8))
def test_a_fault_in_a_rule_is_found_at_its_op_and_nowhere_else(part: int) -> None:
    for s in ONE_OF_EACH[part::8]:
        with with_fault(s):
            tape = recorded(s)
        off = report(tape).off
        assert off, s.name
        for v in off:
            op = tape[v.of]
            assert isinstance(op, Call)
            assert op.fn == s.fn, s.name
            assert abs(v.recorded - v.numerical) > 0, s.name


@pytest.mark.parametrize("part", range(8))
def test_no_right_rule_is_called_wrong(part: int) -> None:
    for s in SAMPLES[part::16]:
        assert not report(recorded(s)).off, s.name


@lru_cache(maxsize=128)
def captured(path: Path) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return run_script(str(path))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_no_script_has_a_rule_that_is_called_wrong(path: Path) -> None:
    capture = captured(path)
    assert capture.rows
    for row in range(len(capture.rows)):
        session = Session(capture, row)
        found = run_checks(session)
        assert not found.off
        assert len(found.found) == found.total


def test_worst_element_and_its_two_numbers_are_named() -> None:
    s = next(s for s in ONE_OF_EACH if s.fn is np.tanh)
    with with_fault(s):
        tape = recorded(s)
    (off,) = report(tape).off
    slopes = np.abs(tape.value(off.wrt) * 0 + 1 - np.tanh(tape.value(off.wrt)) ** 2)
    assert off.numerical * FAULT == pytest.approx(off.recorded, rel=1e-6)
    assert slopes[off.element] > 0
    found = CHECKS["gradcheck"](session_of(tape))[0]
    assert found.level == "alarm"
    assert found.element == off.element
    assert "the rule of tanh(%1) is off: δ%1[" in found.text
    assert "differences give" in found.text


def test_contributions_of_one_value_are_told_apart() -> None:
    s = next(s for s in ONE_OF_EACH if s.fn is np.sin)

    def f(x):
        return np.sum(np.sin(x) * x + x) + np.sum(np.cos(x)) + x @ x

    with with_fault(s):
        tape = yota.gradtape(f, np.array([0.3, 1.1, -0.4]))
    (off,) = report(tape).off
    assert tape[off.of].fn is np.sin


def test_operand_that_stands_twice_is_checked_as_a_whole() -> None:
    tape = yota.gradtape(lambda x: np.sum(x * x), np.array([1.0, 2.0]))
    found = report(tape)
    assert [(v.status, v.of) for v in found.found.values()][-1] == ("ok", Var(2))


def reasons(f: Any, *args: Any) -> dict[str, str]:
    tape = yota.gradtape(f, *args)
    return {
        tape[v.of].name: v.reason for v in report(tape).found.values() if v.status == "unchecked"
    }


@pytest.mark.parametrize(
    ("f", "x", "op"),
    [
        (lambda x: np.sort(x)[1], [2.0, 2.0, 2.0], "sort"),
        (lambda x: np.sum(np.maximum(x, 1.0)), [1.0], "maximum"),
        (lambda x: np.max(x), [2.0, 2.0, 1.0], "max"),
        (lambda x: np.median(x), [2.0, 2.0, 2.0], "median"),
        (lambda x: np.sum(np.clip(x, 0.0, 1.0)), [1.0], "clip"),
        (lambda x: np.linalg.norm(x), [0.0, 0.0], "norm"),
    ],
    ids=["order", "edge", "tie", "ties", "clip", "norm"],
)
def test_kinks_and_ties_are_not_checked(f, x, op: str) -> None:
    assert reasons(f, np.array(x)) == {op: "no stable difference here: a kink, a tie or a jump"}


def test_kink_of_one_element_leaves_the_others() -> None:
    tape = yota.gradtape(lambda x: np.sum(np.maximum(x, 1.0) ** 2), np.array([1.0, 3.0, 0.5]))
    found = next(v for v in report(tape).found.values() if tape[v.of].name == "maximum")
    assert (found.status, found.elements) == ("ok", 2)


def test_nan_is_not_checked() -> None:
    found = reasons(lambda x: np.sum(np.linalg.inv(x) * np.nan), np.eye(2))
    assert found["inv"] == "a value is NaN or infinite"


def own_cube() -> tuple[Any, list[int]]:
    runs: list[int] = []

    @yota.primitive
    def cube(x):
        runs.append(1)
        return x**3

    yota.defvjp(cube, lambda dy, y, x: dy * 2 * x**2)  # a 3 was meant
    return cube, runs


def test_own_primitive_runs_only_when_asked_and_its_rule_is_found() -> None:
    cube, runs = own_cube()
    session = session_of(yota.gradtape(lambda x: np.sum(cube(x) * 2.0), np.array([1.0, 2.0])))
    runs.clear()
    quietly = run_checks(session)
    assert [v.reason for v in quietly.found.values() if v.status == "unchecked"] == [OWN]
    assert not runs
    (found, summary) = CHECKS["primitives"](session)
    assert runs
    assert found.level == "alarm"
    assert "the rule of cube(%1) is off: δ%1[1] is 16, differences give 24" in found.text
    assert found.place.startswith("test_gradcheck.py:")
    assert "checked 1 of 1 rules, 1 off" in summary.text


def test_single_precision_is_checked_as_far_as_it_reaches() -> None:
    x = np.linspace(0.1, 2.0, 50, dtype=np.float32)
    tape = yota.gradtape(lambda x: np.sum(np.sin(x) / x), x)
    found = report(tape)
    assert not found.off
    assert {v.status for v in found.found.values()} == {"ok"}


def test_report_says_how_many_of_how_many() -> None:
    session = session_of(yota.gradtape(lambda x: np.sum(np.sin(np.cos(np.tanh(x)))), np.ones(3)))
    whole = Report(len(pairs_of(session.opened)))
    steps = verdicts(session.opened)
    whole.add(next(steps))
    assert whole.text.startswith("checked 1 of 4 rules, all agree so far, 3 are left")
    for v in steps:
        whole.add(v)
    assert whole.text.startswith("checked 4 of 4 rules, all agree, worst ")


def test_time_limit_ends_the_checks() -> None:
    session = session_of(yota.gradtape(lambda x: np.sum(np.sin(np.cos(x))), np.ones(3)))
    assert len(run_checks(session, seconds=0.0).found) == 1


def test_large_operands_are_checked_in_a_few_evaluations() -> None:
    x = np.linspace(-1.0, 1.0, 40_000).reshape(200, 200)
    tape = yota.gradtape(lambda x: np.sum(np.tanh(x @ x.T)), x)
    found = report(tape)
    assert {v.status for v in found.found.values()} == {"ok"}


def test_of_many_elements_a_sample_is_compared_and_said() -> None:
    s = next(s for s in ONE_OF_EACH if s.fn is np.tanh)
    x = np.linspace(-1.0, 1.0, 50_000).reshape(50, 1000)
    found = report(yota.gradtape(lambda x: np.sum(np.tanh(x) * x), x))
    sampled = [v for v in found.found.values() if v.size]
    assert {(v.elements, v.size) for v in sampled} == {(4096, 50_000)}
    assert "a sample of the elements at 3 large operands" in found.text
    old = VJP[np.tanh]
    VJP[s.fn] = replace(old, rules=(lambda dy, y, x: dy * (1 - y * y * y),))
    try:
        tape = yota.gradtape(lambda x: np.sum(np.tanh(x)), x)
    finally:
        VJP[s.fn] = old
    (off,) = report(tape).off
    y = np.tanh(x[off.element])
    assert off.recorded == pytest.approx(1 - y**3)
    assert off.numerical == pytest.approx(1 - y**2)


def test_command_line_prints_rules_that_are_off_and_fails(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import numpy as np\nimport yota\n\n\n"
        "@yota.primitive\ndef twice(x):\n    return x * 2.0\n\n\n"
        "yota.defvjp(twice, lambda dy, y, x: dy * 3.0)\n\n\n"
        "def f(x):\n    return np.sum(twice(x))\n\n\n"
        "yota.grad(f, np.ones(2))\n"
    )
    done = yotaview("--check", "gradcheck", "own.py", cwd=tmp_path)
    assert done.returncode == 0
    assert "checked 1 of 2 rules, all agree" in done.stdout
    assert f"not checked: 1 × {OWN}" in done.stdout
    done = yotaview("--check", "primitives", "own.py", cwd=tmp_path)
    assert done.returncode == 4
    first = done.stdout.splitlines()[0]
    assert first.startswith("own.py:14: %2 in f: alarm: the rule of twice(%1) is off: δ%1[0] is 3,")


def test_saved_session_is_not_checked_and_says_so(tmp_path: Path) -> None:
    capture = reopened(run_script(str(DATA / "healthy" / "angles.py")), tmp_path)
    found = run_checks(Session(capture))
    assert {v.reason for v in found.found.values()} == {SAVED}
    assert found.text.startswith(f"checked 0 of {found.total} rules")


@pytest.mark.parametrize("x", [1e-200, -1e-200, 1e-170, 5e-324])
@pytest.mark.parametrize("f", [np.square, lambda x: x**3, lambda x: x * x])
def test_slope_of_what_underflows_is_not_called_wrong(f, x: float) -> None:
    tape = yota.gradtape(lambda x: np.sum(f(x)), np.array([x, 1.0, -2.0]))
    found = list(verdicts(session_of(tape).opened))
    assert found
    assert not [v for v in found if v.status == "off"]
