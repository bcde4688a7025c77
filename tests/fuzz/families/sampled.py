"""Calls of functions that have no maker: the samples of the rules' own tests, a little moved."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

import yota
from tests.fuzz.draw import Block, Draw, Unfit
from tests.fuzz.families.table import MAKERS, makes
from tests.fuzz.program import DEFINED, Argument, Leaf, array_text
from tests.yota.rules.samples import SAMPLES, Sample
from yota.rules.registry import VJP
from yota.tape import Call

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
    places = [f"{module}.{fn.__name__}", f"scipy.special._ufuncs.{fn.__name__}"]
    if module.startswith("yota.scipy."):
        places.insert(0, ".".join([*module.split(".")[:3], fn.__name__]))
    for place in places:
        try:
            if eval(place, DEFINED) is fn:
                return place
        except (AttributeError, NameError):
            continue
    return None


@makes("yota.scipy.linalg.factors.cho_solve yota.scipy.linalg.factors.lu_solve")
def by_factors(d: Draw, name: str) -> str:
    """Solve a system by the factors of its matrix, which are no argument of the user's."""
    x = d.array((2, 2))
    kind = name.rpartition(".")[2].removesuffix("_solve")
    matrix = f"{x} @ ({x}).T + 2.0 * np.eye(2)"
    factors = f"yota.scipy.linalg.{kind}_factor({matrix})"
    return f"yota.scipy.linalg.{kind}_solve({factors}, {d.array((2,))})"


class Sampled:
    """Draws a call from the samples of one function, each with the path of what it calls."""

    def __init__(self, samples: list[tuple[str, Sample]]) -> None:
        self.samples = samples

    def __call__(self, d: Draw, name: str) -> str | Block:
        path, s = d.pick(self.samples)
        args = [operand(d, a, k in s.argnums) for k, a in enumerate(s.args)]
        args += [f"{k}={operand(d, a, k in s.argnums)}" for k, a in s.kwargs.items()]
        return f"{path}({', '.join(args)})"


def operand(d: Draw, a: Any, varied: bool) -> str:
    """Return what stands for an operand: an argument where it is varied, else a literal."""
    if type(a) in (list, tuple):
        inside = ", ".join(operand(d, b, varied) for b in a)
        return f"[{inside}]" if type(a) is list else f"({inside}{',' * (len(a) == 1)})"
    if isinstance(a, np.ndarray | np.generic):
        return moved(d, np.asarray(a)) if varied else array_text(np.asarray(a))
    if varied and isinstance(a, float | complex):
        return moved(d, np.asarray(a), "python")
    if isinstance(a, type) and issubclass(a, np.generic):
        return f"np.{a.__name__}"
    if not isinstance(a, int | float | complex | str | type(None)):
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
    by_function: dict[Any, list[tuple[str, Sample]]] = {}
    for s in every_sample():
        path = path_of(s.fn) if s.argnums else None
        missing = VJP.keys() - MAKERS.keys()
        for fn in missing & (called_by(s) if s.fn not in VJP else {s.fn}) if path else ():
            by_function.setdefault(fn, []).append((path, s))
    for fn, samples in by_function.items():
        MAKERS[fn] = (path_of(fn) or fn.__name__, Sampled(samples))


def called_by(s: Sample) -> set[Any]:
    """Return the functions that a call of a sample records."""

    def f(*varied: Any) -> Any:
        for k, x in zip(s.argnums, varied, strict=True):
            call[0] = call[0].with_operand(k, x)
        return call[0].run()

    call = [s]
    _, tape = yota.trace(f, *(s.operand(k) for k in s.argnums))
    return {op.fn for _, op in tape if isinstance(op, Call)}


fill()
