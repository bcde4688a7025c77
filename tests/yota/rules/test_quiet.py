"""Where a rule has a known limit, NumPy finds nothing to warn of on the way to it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special

import yota
from yota.scipy import linalg

ZEROS = np.zeros(3)
FAR = np.array([0.0, 1e-3, 0.7, 1e150])


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.sum(np.sinc(x)), FAR),
        (lambda x: np.std(x), np.ones(3)),
        (lambda x: np.std(x, mean=np.mean(x, keepdims=True)), np.ones(3)),
        (lambda x: np.linalg.norm(x), ZEROS),
        (lambda x: np.linalg.norm(x, 3), ZEROS),
        (lambda x: np.linalg.norm(x, "nuc"), np.zeros((2, 2))),
        (lambda x: np.sum(np.linalg.svd(x)[1]), np.zeros((2, 2))),
        (lambda x: np.sum(np.linalg.svd(x, full_matrices=False)[1]), np.zeros((2, 3))),
        (lambda x: np.sum(np.hypot(x, x)), ZEROS),
        (lambda x: np.hypot.reduce(x), ZEROS),
        (lambda x: np.sum(x**2.5), ZEROS),
        (lambda x: np.sum(np.power(0.0, x)), np.array([1.0, 2.0])),
        (lambda x: np.sum(np.abs(x * (1 + 0j))), ZEROS),
        (lambda x: np.real(np.sum(np.sign(x * (1 + 1j)))), ZEROS),
        (lambda x: np.sum(np.logaddexp(x, -np.inf)), np.array([-np.inf, 0.5])),
        (lambda x: np.sum(np.logaddexp2(x, -np.inf)), np.array([-np.inf, 0.5])),
        (lambda x: np.sum(linalg.expm(x)), np.zeros((2, 2))),
        (lambda x: np.sum(linalg.expm(np.eye(2)) * x) + np.sum(linalg.expm(x) * 0.0), np.eye(2)),
        (lambda x: np.sum(special.itj0y0(x)[0] + special.it2j0y0(x)[0]), np.array([0.0, 0.2, 3.0])),
        (lambda x: np.sum(special.erfcx(x) + special.dawsn(x)), np.array([0.0, 2.0, 1e3])),
        (lambda x: np.sum(special.dawsn(x)), np.array([-1e3, -1.0])),
        (lambda x: np.sum(special.log_ndtr(x)), np.array([-40.0, -1.0, 0.0, 30.0])),
        (lambda x: np.sum(special.spence(x)), np.array([0.3, 1.0, 1.2, 30.0])),
        (lambda x: np.sum(special.tklmbda(x, 0.5)), np.array([-5.0, 0.2, 5.0])),
        (lambda x: np.sum(special.stdtr(np.array([3.0, np.inf]), x)), np.array([0.3, 0.4])),
        (lambda x: np.sum(special.chndtr(x, 3.0, np.array([0.0, 1.5]))), np.array([0.3, 0.4])),
        (lambda x: np.sum(special.elliprd(x, x, 1.5)), np.array([0.3, 1.5])),
        (lambda x: np.sum(special.elliprg(x, 0.5, 1.5)), np.array([0.0, 1.5])),
        (lambda m: np.sum(special.ellipkinc(0.5, m)), np.array([0.0, 0.3])),
        (lambda p: np.sum(special.ellipkinc(p, 1.0)), np.array([0.0, 0.3])),
        (lambda m: np.sum(special.ellipkinc(0.5, m)), np.array([1.0, 0.3])),
        (lambda x: np.sum(np.copysign(x, 1.0)), np.array([0.0, 0.3])),
        (lambda x: np.sum(special.pseudo_huber(x, x)), np.array([0.0, 0.3])),
        (lambda x: np.sum(special.boxcox(x, 2.0)), np.array([0.5, 1.0])),
    ],
)
def test_limits_are_reached_without_a_warning(f: Any, x: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yota.trace(f, x)  # the call itself is quiet
        g = yota.grad(f, x)[1][0]
    assert np.all(np.isfinite(g))
