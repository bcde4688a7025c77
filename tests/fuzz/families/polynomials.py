"""Calls on coefficients of polynomials, spacings, histograms, and the ufuncs' methods."""

from __future__ import annotations

from tests.fuzz.draw import Block, Draw
from tests.fuzz.families.table import makes


def coefficients(d: Draw, least: int = 1) -> str:
    return d.array(kind="any", low=1, high=1, least=least)


@makes("np.polyadd np.polysub np.polymul")
def of_two(d: Draw, name: str) -> str:
    return f"{name}({coefficients(d)}, {coefficients(d)})"


@makes("np.polydiv")
def polydiv(d: Draw, name: str) -> str:
    v = d.array(low=1, high=1, least=1)
    return f"{name}({coefficients(d, 2)}, np.append(2.5, {v}))"


@makes("np.polyder np.polyint")
def polyder(d: Draw, name: str) -> str:
    constants = d.pick([d.array((2,)), "None", f"[{d.array(())}, 0.5]"])
    more = ["", ", 2", f", 2, {constants}" if name == "np.polyint" else ", m=1"]
    return f"{name}({coefficients(d)}{d.pick(more)})"


@makes("np.poly")
def poly(d: Draw, name: str) -> str:
    return f"{name}({d.array(low=1, high=1, least=1)})"


@makes("np.roots")
def roots(d: Draw, name: str) -> str:
    """Return roots that lie apart, sorted by their size."""
    x = d.array((2,))
    return f"{name}(np.append(1.0, np.array([-5.0, 6.0]) + 0.1 * np.tanh({x})))"


@makes("np.vander")
def vander(d: Draw, name: str) -> str:
    return (
        f"{name}({coefficients(d)}{d.pick(['', ', 2', ', N=4', ', 3, True', ', increasing=True'])})"
    )


@makes("np.polyfit")
def polyfit(d: Draw, name: str) -> str:
    x = f"np.arange(4.0) + 0.2 * np.tanh({d.array((4,))})"
    y = d.array(d.pick([(4,), (4, 2)]))
    w = f", w={d.within(d.array((4,)), 'positive')}" if d.chance(0.4) else ""
    return f"{name}({x}, {y}, {d.integer(0, 2)}{w})"


@makes("np.geomspace np.logspace")
def spaced(d: Draw, name: str) -> str:
    low, high = (d.within(d.array((), kind="real"), "positive") for _ in range(2))
    base = f", base={d.within(d.array(()), 'positive')}" if name == "np.logspace" else ""
    more = d.options(endpoint="False") + (base if d.chance(0.5) else "")
    return f"{name}({low}, {high}, {d.integer(1, 4)}{more})"


@makes("np.ediff1d")
def ediff1d(d: Draw, name: str) -> str:
    ends = d.options(to_end=d.array(()), to_begin=d.array((2,)))
    return f"{name}({d.array(least=1)}{ends})"


@makes("np.trim_zeros")
def trim_zeros(d: Draw, name: str) -> str:
    x = d.array(low=1, high=1)
    return f"{name}({d.pick([x, f'np.pad({x}, 1)'])}{d.pick(['', repr('f').join([', ', ''])])})"


@makes("np.lib.stride_tricks.sliding_window_view")
def windows(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, high=2, least=2)
    n = d.shape_of(x)[-1]
    return f"{name}({x}, {d.integer(1, n)}, axis={d.pick([-1, d.ndim(x) - 1])})"


@makes("np.ix_")
def ix_(d: Draw, name: str) -> str:
    return f"{name}({d.array(low=1, high=1)}, {d.array(low=1, high=1)})"


@makes("np.histogram_bin_edges")
def bin_edges(d: Draw, name: str) -> str:
    x = d.array(low=1, least=2)
    edges = f"np.array([-1.0, 0.2, 0.5]) + 0.1 * np.tanh({d.array((3,))})"
    ends = f"({d.array(())} - 4.0, {d.array(())} + 4.0)"
    return f"{name}({x}, {d.pick([d.integer(1, 4), edges, f'3, {ends}'])})"


@makes("np.i0")
def i0(d: Draw, name: str) -> str:
    return f"{name}({d.array()})"


@makes(
    "np.emath.sqrt np.emath.log np.emath.log2 np.emath.log10 np.emath.arcsin np.emath.arccos "
    "np.emath.arctanh"
)
def over_the_cut(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', least=1)})"


@makes("np.emath.logn np.emath.power")
def over_the_cut_by_two(d: Draw, name: str) -> str:
    x = d.array(kind="any", least=1)
    n = d.pick([str(d.number(1.2, 2.5)), f"({d.within(d.array(d.shape_of(x)), 'above 1')})"])
    return f"{name}({n}, {x})" if name == "np.emath.logn" else f"{name}({x}, {n})"


@makes(
    "np.logaddexp.reduce np.logaddexp2.reduce np.hypot.reduce np.fmax.reduce np.fmin.reduce "
    "np.maximum.accumulate np.minimum.accumulate np.fmax.accumulate np.fmin.accumulate"
)
def method(d: Draw, name: str) -> str:
    x = d.array(low=1, least=1)
    return f"{name}({x}, axis={d.axis(x, none=False, many=False)})"


@makes(
    "np.maximum.reduceat np.minimum.reduceat np.fmax.reduceat np.fmin.reduceat np.add.reduceat "
    "np.multiply.reduceat"
)
def reduceat(d: Draw, name: str) -> str:
    x = d.array(low=1, least=1)
    axis = d.axis(x, none=False, many=False)
    n = d.shape_of(x)[int(axis)]
    return f"{name}({x}, {d.ints((3,), 0, n - 1)}, axis={axis})"


@makes("fun.add_at")
def add_at(d: Draw, name: str) -> Block:
    """Add to some elements of a copy, some of them twice."""
    x, z = d.array(low=1, least=1), d.name()
    at = d.ints((3,), 0, d.shape_of(x)[0] - 1)
    value = d.pick([d.array((3, *d.shape_of(x)[1:])), d.array(())])
    return Block(f"{z} = {x} * 1.0\nnp.add.at({z}, ({at},), {value})", (z,))


@makes("fun.with_real fun.with_imag")
def with_part(d: Draw, name: str) -> Block:
    """Write the one part of complex numbers."""
    x, z = d.array(kind="complex", low=1, least=1), d.name()
    part = name.rpartition("_")[2]
    return Block(f"{z} = {x} * 1.0\n{z}.{part} = {d.array(d.shape_of(x))}", (z,))


@makes("np.linalg.cond")
def cond(d: Draw, name: str) -> str:
    n = d.integer(1, 3)
    p = d.pick(["", ", 2", ", -2", ", 'fro'", ", 1", ", np.inf"])
    return f"{name}({d.array((n, n), kind='any')} + np.diag(np.arange(2.0, {n + 2})){p})"
