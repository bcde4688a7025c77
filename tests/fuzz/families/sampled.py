"""Calls of functions that have no maker: the samples of the rules' own tests, a little moved."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from tests.fuzz.draw import Block, Draw, Unfit
from tests.fuzz.families.table import MAKERS
from tests.fuzz.program import DEFINED, Argument, Leaf, array_text
from tests.yota.rules.samples import SAMPLES, Sample
from yota.rules.registry import VJP

LAYOUTS = ("C", "C", "F", "strided", "reversed")


def every_sample() -> list[Sample]:
    """Return the samples of NumPy's functions, and of SciPy's where it is installed."""
    if importlib.util.find_spec("scipy") is None:
        return list(SAMPLES)
    names = ("tests.yota.scipy.samples", "tests.yota.scipy.namespace")
    return [*SAMPLES, *(s for name in names for s in importlib.import_module(name).SAMPLES)]


def path_of(fn: Any) -> str | None:
    """Return the path that a program finds a function under, None where there is none."""
    module = getattr(fn, "__module__", None) or "scipy.special"
    places = [f"{module}.{fn.__name__}"]
    if module.startswith("yota.scipy."):
        places.insert(0, ".".join([*module.split(".")[:3], fn.__name__]))
    for place in places:
        try:
            if eval(place, DEFINED) is fn:
                return place
        except AttributeError:
            continue
    return None


class Sampled:
    """Draws a call from the samples of one function."""

    def __init__(self, samples: list[Sample]) -> None:
        self.samples = samples

    def __call__(self, d: Draw, name: str) -> str | Block:
        s = d.pick(self.samples)
        args = [operand(d, a, k in s.argnums) for k, a in enumerate(s.args)]
        args += [f"{k}={operand(d, a, k in s.argnums)}" for k, a in s.kwargs.items()]
        return f"{name}({', '.join(args)})"


def operand(d: Draw, a: Any, varied: bool) -> str:
    """Return what stands for an operand: an argument where it is varied, else a literal."""
    if type(a) in (list, tuple) and varied:
        inside = ", ".join(operand(d, b, True) for b in a)
        return f"[{inside}]" if type(a) is list else f"({inside},)"
    if isinstance(a, np.ndarray | np.generic):
        return moved(d, np.asarray(a)) if varied else array_text(np.asarray(a))
    if varied and isinstance(a, float | complex):
        return moved(d, np.asarray(a), "python")
    if not isinstance(a, int | float | complex | str | tuple | list | type(None)):
        raise Unfit
    return repr(a)


def moved(d: Draw, x: np.ndarray, layout: str | None = None) -> str:
    """Return a new argument with values near those of the sample."""
    name = d.name("a")
    near = x * (1 + 0.02 * d.rng.standard_normal(x.shape)) if x.dtype.kind in "fc" else x
    near = np.asarray(near).astype(x.dtype)
    layout = layout or (d.pick(LAYOUTS) if x.ndim and x.size else "C")
    d.accept(Argument(name, (Leaf(np.ascontiguousarray(near).reshape(x.shape), layout),)))
    d.pool.append(name)
    return name


def fill() -> None:
    """Give each function of the table that has samples, but no maker, a maker of its samples."""
    by_function: dict[Any, list[Sample]] = {}
    for s in every_sample():
        if s.fn in VJP and s.fn not in MAKERS and s.argnums:
            by_function.setdefault(s.fn, []).append(s)
    for fn, samples in by_function.items():
        path = path_of(fn)
        if path is not None:
            MAKERS[fn] = (path, Sampled(samples))


fill()
