"""Other engines for the same programs, where they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.program import Program

OURS = ("fun.", "rules.", "yota.")


@dataclass(frozen=True)
class Peer:
    """An engine: its stand-in for NumPy, and how it differentiates a function of leaves."""

    name: str
    numpy: Any
    gradient: Callable[[Callable[..., Any], Sequence[Any], list[int]], Sequence[Any]]

    def gradients(self, program: Program) -> list[Any] | None:
        """Return a gradient for each leaf, None where this engine cannot run the program."""
        if any(name in program.source for name in OURS) or "longdouble" in program.listing():
            return None
        wide = program.widened()
        leaves = [leaf.make() for leaf in wide.leaves]
        at = [k for k, leaf in enumerate(wide.leaves) if leaf.is_float]
        try:
            f = wide.function(self.numpy)
            value = f(*wide.args(leaves))
            found = self.gradient(lambda *xs: f(*wide.args(xs)), leaves, at)
        except Exception:
            # what another engine does not know is no matter here
            return None
        if not np.isclose(np.real(value), wide.function()(*wide.args()), rtol=1e-9, atol=1e-9):
            return None
        if any(np.shape(leaves[k]) != np.shape(g) for k, g in zip(at, found, strict=True)):
            return None
        given = dict(zip(at, found, strict=True))
        return [given.get(k) for k in range(len(leaves))]


def autograd() -> Peer:
    """Return HIPS autograd."""
    make_vjp = importlib.import_module("autograd.core").make_vjp

    def gradient(f: Any, leaves: Sequence[Any], at: list[int]) -> list[Any]:
        found = []
        for k in at:
            pullback, value = make_vjp(
                lambda x, k=k: f(*leaves[:k], x, *leaves[k + 1 :]), leaves[k]
            )
            found.append(pullback(np.ones_like(value)[()]))
        return found

    return Peer("autograd", importlib.import_module("autograd.numpy"), gradient)


def jax() -> Peer:
    """Return JAX, in double precision."""
    module = importlib.import_module("jax")
    module.config.update("jax_enable_x64", True)

    def gradient(f: Any, leaves: Sequence[Any], at: list[int]) -> Any:
        return module.grad(f, argnums=tuple(at))(*leaves)

    return Peer("jax", importlib.import_module("jax.numpy"), gradient)


PEERS = {"autograd": autograd, "jax": jax}


def off_from(ours: Sequence[Any], theirs: Sequence[Any], program: Program) -> str | None:
    """Return where two engines' gradients differ; NaNs of either side are not compared."""
    tolerance = max(1e-6, 2e4 * program.eps)
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a is None or b is None:
            continue
        a, b = np.asarray(a), np.asarray(b)
        known = np.isfinite(a) & np.isfinite(b)
        scale = max(1.0, float(np.max(np.abs(a[known]), initial=0.0)))
        if not np.all(np.abs(a - b)[known] <= tolerance * scale):
            return f"leaf {k}: {a!r}, theirs {b!r}"
    return None
