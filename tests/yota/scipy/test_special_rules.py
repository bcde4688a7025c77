"""The rules of scipy.special's ufuncs: each against differences, and none forgotten."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import special

import yota
from tests.yota.scipy.checks import check_code, check_first, check_second
from tests.yota.scipy.samples import FIRST_ONLY, SAMPLES, Sample
from yota.rules.registry import NONDIFF, REFUSED, VJP, zero
from yota.rules.scipy_special import NO_CLOSED_FORM, NO_SLOPE, UNRELIABLE
from yota.rules.scipy_special.table import named

EVERY = pytest.mark.parametrize("s", SAMPLES, ids=lambda s: s.name)
UFUNCS = {n: f for n in dir(special) if isinstance(f := getattr(special, n), np.ufunc)}
DEEPER = ("_zeta", "_riemann_zeta", "_lambertw", "_spherical_jn", "_spherical_yn",
          "_spherical_in", "_spherical_kn", "_spherical_jn_d")  # fmt: skip


def is_smooth(s: Sample) -> bool:
    return not s.name.endswith("single") and s.name not in FIRST_ONLY


@EVERY
def test_rule_agrees_with_central_differences(s: Sample) -> None:
    check_first(s)


@pytest.mark.parametrize("s", [s for s in SAMPLES if is_smooth(s)], ids=lambda s: s.name)
def test_second_derivative_agrees_with_differences_of_the_first(s: Sample) -> None:
    check_second(s)


@EVERY
def test_every_form_of_code_gives_the_bits_of_the_tape(s: Sample) -> None:
    check_code(s)


@pytest.mark.parametrize("name", [*UFUNCS, *DEEPER])
def test_every_ufunc_has_a_rule_or_stands_in_a_list(name: str) -> None:
    fn = named(name)
    assert (fn in VJP) + (fn in NONDIFF) + (fn in REFUSED) == 1


def test_the_lists_name_what_they_hold() -> None:
    assert {UFUNCS[n] for n in NO_SLOPE} <= NONDIFF
    assert {named(n) for n in (*NO_CLOSED_FORM, *UNRELIABLE)} - {None} <= REFUSED.keys()


def test_every_rule_is_reached_by_a_sample() -> None:
    reached = {(s.fn, k) for s in SAMPLES for k in s.argnums}
    missing = [
        f"{name}, argument {k}"
        for name in (*UFUNCS, *DEEPER)
        for k, rule in enumerate(VJP[named(name)].rules if named(name) in VJP else ())
        if rule not in (None, zero) and (named(name), k) not in reached
    ]
    assert not missing, missing


def refused_calls() -> list[tuple[str, int]]:
    """Return the unknown operands of every ufunc: of refused ones all."""
    found = []
    for name, fn in UFUNCS.items():
        if fn not in NONDIFF:
            rules = VJP[fn].rules if fn in VJP else (None,) * fn.nin
            unknown = [k for k, rule in enumerate(rules) if rule is None]
            found += [(name, k) for k in unknown if any(t[k] != "l" for t in fn.types)]
    return found


@pytest.mark.parametrize(("name", "position"), refused_calls())
def test_an_operand_without_a_rule_is_refused_by_name(name: str, position: int) -> None:
    fn = UFUNCS[name]
    args = [1.0] * fn.nin

    def f(x: Any) -> Any:
        y = fn(*args[:position], x, *args[position + 1 :])
        return np.real(y[0] if isinstance(y, tuple) else y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a count need not be a float
        match = rf"test_special_rules.py:\d+: .* {fn.__name__} "
        with pytest.raises(yota.RuleError, match=match):
            yota.grad(f, 1.0)


@pytest.mark.parametrize("name", NO_SLOPE)
def test_a_function_of_steps_is_a_constant(name: str) -> None:
    fn = UFUNCS[name]
    assert yota.grad(lambda x: fn(x) * x, 2.5)[1][0] == fn(2.5)


def test_counts_of_discrete_distributions_are_constants() -> None:
    assert yota.grad(lambda k: special.pdtr(k, 1.5), 2.3)[1][0] == 0
    assert yota.grad(lambda k: special.bdtr(k, 5, 0.4), 2.3)[1][0] == 0


def test_the_users_own_rule_stays() -> None:
    code = (
        "import scipy.special as s, yota\n"
        "yota.defvjp(s.erf, lambda dy, y, x: dy * 7)\n"
        "assert yota.grad(lambda x: s.erf(x) * s.erfc(0.0), 0.5)[1][0] == 7\n"
    )
    run_alone(code)


def test_rules_are_registered_when_the_first_ufunc_is_traced() -> None:
    run_alone(
        "import sys, yota, numpy as np, scipy.special as s\n"
        "yota.grad(np.sin, 0.5)\n"
        "assert 'yota.rules.scipy_special' not in sys.modules\n"
        "assert yota.grad(s.gammaln, 2.5)[1][0] == s.psi(2.5)\n"
        "assert 'yota.rules.scipy_special' in sys.modules\n"
    )


def run_alone(code: str) -> None:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
