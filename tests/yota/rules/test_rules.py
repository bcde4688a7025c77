"""Every rule against central differences, as a plain function."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.yota.rules.samples import SAMPLES, Sample
from yota.rules.registry import NONDIFF, VJP, Live, zero

STEP = 1e-6


def leaves(x: Any) -> list[Any]:
    """Return the arrays of an argument or a result."""
    return list(x) if isinstance(x, (list, tuple)) else [x]


def widened(x: Any) -> Any:
    """Return floating values in double precision, for differences."""
    if isinstance(x, (list, tuple)) and any(isinstance(b, np.ndarray) for b in x):
        return type(x)(widened(b) for b in x)
    if isinstance(x, (np.ndarray, np.floating)) and x.dtype.kind in "fc":
        return np.array(x, np.complex128 if x.dtype.kind == "c" else np.float64)
    return x


def cotangents(y: Any, rng: np.random.Generator) -> Any:
    """Return random cotangents of the structure, shapes and types of `y`."""
    if isinstance(y, (list, tuple)):
        return [cotangents(b, rng) for b in y]
    dy = rng.normal(size=np.shape(y))
    if np.iscomplexobj(y):
        return dy + 1j * rng.normal(size=np.shape(y))
    return dy.astype(np.result_type(y)) if np.result_type(y).kind == "f" else dy


def paired(dy: Any, y: Any) -> float:
    """Return the real number whose slope is tested: Re(sum dy * y)."""
    return sum(float(np.real(np.sum(g * v))) for g, v in zip(leaves(dy), leaves(y), strict=True))


def differences(s: Sample, at: int | str, dy: Any) -> list[Any]:
    """Return df/dx - i df/dy of each leaf of one argument by central differences."""
    s = s._replace(
        args=tuple(map(widened, s.args)), kwargs={k: widened(v) for k, v in s.kwargs.items()}
    )
    result = []
    for k, leaf in enumerate(leaves(s.operand(at))):
        x = np.array(leaf)
        slope = np.zeros(x.shape, complex if np.iscomplexobj(x) else float)
        for index in np.ndindex(x.shape):
            for unit, factor in ((1.0, 1.0), (1j, -1j)):
                if unit == 1j and not np.iscomplexobj(x):
                    continue
                values = []
                for sign in (1, -1):
                    moved = x.copy(order="K")
                    moved[index] += sign * unit * STEP
                    values.append(evaluate(s, at, k, moved, dy))
                slope[index] += factor * (values[0] - values[1]) / (2 * STEP)
        result.append(slope)
    return result


def evaluate(s: Sample, at: int | str, k: int, leaf: Any, dy: Any) -> float:
    whole = s.operand(at)
    leaf = leaf if isinstance(whole, (np.ndarray, list, tuple)) else leaf[()].item()
    if isinstance(whole, (list, tuple)):
        leaf = type(whole)([*whole[:k], leaf, *whole[k + 1 :]])
    return paired(dy, s.with_operand(at, leaf).run())


def pulled_back(s: Sample, at: int | str, dy: Any, y: Any) -> list[Any]:
    """Return what the rule answers, as the engine would finish it."""
    vjp = VJP[s.fn]
    rule = vjp.rule(at)
    assert rule is not None, f"no rule for argument {at}"
    dx = rule(dy, y, *s.args, **s.kwargs)
    primals = leaves(s.operand(at))
    if dx is None or rule is zero:
        return [np.zeros(np.shape(p)) for p in primals]
    if isinstance(s.operand(at), (list, tuple)):
        assert type(dx) is type(s.operand(at))
    dxs = leaves(dx)
    assert [np.shape(d) for d in dxs] == [np.shape(p) for p in primals]
    return [d if np.iscomplexobj(p) else np.real(d) for d, p in zip(dxs, primals, strict=True)]


@pytest.mark.parametrize("s", SAMPLES, ids=lambda s: s.name)
def test_rule_agrees_with_central_differences(s: Sample) -> None:
    rng = np.random.default_rng(len(s.name))
    y = s.fn(*s.args, **s.kwargs)
    dy = cotangents(y, rng)
    single = any(isinstance(a, (np.ndarray, np.floating)) and a.dtype == np.float32 for a in s.args)
    for position in s.argnums:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = pulled_back(s, position, dy, y)
        want = differences(s, position, dy)
        tol = 2e-3 if single else 2e-5
        for g, w in zip(got, want, strict=True):
            scale = max(1.0, float(np.max(np.abs(w), initial=0)))
            np.testing.assert_allclose(g, w, rtol=tol, atol=tol * scale)


def test_every_rule_is_reached_by_a_sample() -> None:
    reached = {(s.fn, k) for s in SAMPLES for k in s.argnums}
    missing = []
    for fn, vjp in VJP.items():
        module = getattr(fn, "__module__", None) or ""
        ours = module.startswith(("numpy", "yota.rules", "yota.tracing", "_operator", "builtins"))
        if not ours and getattr(np, fn.__name__, None) is not fn:
            continue
        for k, rule in (*enumerate(vjp.rules), *vjp.keywords.items()):
            if rule is not None and rule is not zero and (fn, k) not in reached:
                missing.append(f"{fn.__name__}, argument {k}")
        if vjp.rest is not None and not any(f is fn for f, _ in reached):
            missing.append(fn.__name__)
    assert not missing, missing


def test_no_function_has_rules_and_is_nondifferentiable() -> None:
    assert not NONDIFF & VJP.keys()


@pytest.mark.parametrize(
    "s", [s for s in SAMPLES if s.name.endswith("-single")], ids=lambda s: s.name
)
def test_single_precision_stays_single(s: Sample) -> None:
    y = s.fn(*s.args, **s.kwargs)
    dy = cotangents(y, np.random.default_rng(0))
    for position in s.argnums:
        rule = VJP[s.fn].rule(position)
        dx = rule(dy, y, *s.args, **s.kwargs)
        if dx is not None and not np.iscomplexobj(dx):
            assert np.result_type(dx) == np.float32


def carries_masks(s: Sample) -> bool:
    y = s.fn(*s.args, **s.kwargs)
    plain = not isinstance(y, (list, tuple)) and not np.iscomplexobj(y)
    return plain and VJP[s.fn].mode(*s.args, **s.kwargs) in (Live.MOVES, Live.SELECTS)


@pytest.mark.parametrize("s", [s for s in SAMPLES if carries_masks(s)], ids=lambda s: s.name)
def test_rule_of_a_moving_op_carries_masks(s: Sample) -> None:
    """Applied to a mask, the rule is positive wherever a live cotangent arrives."""
    rng = np.random.default_rng(3)
    y = s.fn(*s.args, **s.kwargs)
    mask = rng.integers(0, 2, np.shape(y)) * 1.0
    for position in s.argnums:
        rule = VJP[s.fn].rule(position)
        if rule is zero:
            continue
        weights = leaves(rule(mask, y, *s.args, **s.kwargs))
        values = leaves(rule(mask * rng.normal(size=mask.shape), y, *s.args, **s.kwargs))
        for w, v in zip(weights, values, strict=True):
            assert np.all(np.asarray(w) >= 0)
            assert np.all((np.asarray(v) != 0) <= (np.asarray(w) > 0))
