"""Calls of functions that fit no family."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.families.table import makes


@makes("np.cov")
def cov(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, high=2, least=2)
    turned = d.chance(0.3)
    n = d.shape_of(x)[0 if turned else -1]
    other = d.array(d.pick([(n,), (n, 2) if turned else (2, n)])) if d.chance(0.3) else None
    weights = d.within(d.array((n,)), "positive") if d.chance(0.3) else None
    ddof = d.pick(["0", "1", None])
    rest = [f"y={other}" * bool(other), "rowvar=False" * turned, "bias=True" * d.chance(0.3),
            f"ddof={ddof}" * bool(ddof), f"aweights={weights}" * bool(weights)]  # fmt: skip
    return f"{name}({', '.join([x, *filter(None, rest)])})"


@makes("np.corrcoef")
def corrcoef(d: Draw, name: str) -> str:
    m, n = d.integer(2, 3), d.integer(3, 4)
    other = f", {d.array((m, n))}" if d.chance(0.3) else ""
    return f"{name}({d.array((m, n))}{other}{d.options(rowvar='False')})"


@makes("np.polyval")
def polyval(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=1, high=1)}, {d.array(kind='any')})"


@makes("np.linspace")
def linspace(d: Draw, name: str) -> str:
    start = d.array(high=1)
    shape = d.shape_of(start)
    stop = d.array(d.pick([shape, ()]))
    axis = d.options(axis=d.pick(["0", "-1"])) if shape else ""
    options = d.options(endpoint="False", retstep="True") + axis
    return f"{name}({start}, {stop}, {d.integer(0, 4)}{options})"


@makes("np.gradient")
def gradient(d: Draw, name: str) -> str:
    shape = d.shape(1, 2, empty=False)
    x = d.array(tuple(n + 1 for n in shape))
    steps = d.pick(["", ", 0.5", ", 0.5, 2.0" if len(shape) == 2 else ", 1.5"])
    axis = d.options(axis=d.axis(x, none=False, many=False)) if steps != ", 0.5, 2.0" else ""
    return f"{name}({x}{steps}{axis})"


@makes("np.block")
def block(d: Draw, name: str) -> str:
    m, n = d.integer(1, 2), d.integer(1, 2)
    if d.chance(0.4):
        return f"{name}([{d.array(low=1, high=1)}, {d.array(low=1, high=1)}])"
    rows = f"[{d.array((m, n))}, {d.array((m, 2))}], [{d.array((1, n))}, {d.array((1, 2))}]"
    return f"{name}([{rows}])"


@makes("np.resize")
def resize(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', least=1)}, {d.shape(0, 2)})"


@makes("np.full_like")
def full_like(d: Draw, name: str) -> str:
    x = d.array(low=1)
    value = d.array(d.pick([(), d.shape_of(x)[1:], d.shape_of(x)]))
    return f"{name}({x}, {value})"
