"""Calls that sort, and that choose among elements by their values."""

from __future__ import annotations

import math

from tests.fuzz.draw import Block, Draw
from tests.fuzz.families.table import makes


@makes("np.sort")
def sort(d: Draw, name: str) -> str:
    x = d.array(low=1)
    return f"{name}({x}{d.options(axis=d.axis(x, many=False), kind=repr('stable'))})"


@makes("np.sort_complex")
def sort_complex(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=1)})"


@makes("np.partition")
def partition(d: Draw, name: str) -> str:
    x = d.array(low=1, least=1)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    return f"{name}({x}, {d.integer(-n, n - 1)}, axis={axis})"


@makes("np.select")
def select(d: Draw, name: str) -> str:
    x = d.array(low=1)
    shape = d.shape_of(x)
    conditions = f"[{d.mask(shape)}, {d.mask(shape)}]"
    choices = f"[{x}, {d.array(d.pick([shape, shape[1:]]))}]"
    default = d.pick(["", ", 0.5", f", {d.array(shape)}", f", {d.array(())}"])
    return f"{name}({conditions}, {choices}{default})"


@makes("np.choose")
def choose(d: Draw, name: str) -> str:
    x = d.array(low=1, high=2)
    shape = d.shape_of(x)
    mode = d.pick(["", ", mode='wrap'", ", mode='clip'"])
    at = d.ints(shape, -3 if mode else 0, 4 if mode else 1)
    return f"{name}({at}, [{x}, {d.array(d.pick([shape, shape[1:]]))}]{mode})"


@makes("np.unique np.unique_values np.unique_all np.unique_counts np.unique_inverse")
def unique(d: Draw, name: str) -> Block:
    """Return the values; where they come with numbers, these are not floats."""
    t = d.name("t")
    rest = d.options(return_counts="True", return_inverse="True") if name == "np.unique" else ""
    text = f"{t} = {name}({d.array(least=1)}{rest})"
    plain = name == "np.unique_values" or (name == "np.unique" and not rest)
    return Block(text, (t if plain else f"{t}[0]",))


@makes("np.union1d np.setxor1d np.setdiff1d")
def sets(d: Draw, name: str) -> str:
    x = d.array(low=1, high=2, least=1)
    other = d.array(low=1, high=1, least=1)
    return f"{name}({x}, {d.pick([other, f'np.ravel({x})[:2]'])})"


@makes("np.diff")
def diff(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    axis = d.axis(x, none=False, many=False)
    edge = list(d.shape_of(x))
    edge[int(axis)] = d.integer(1, 2)
    some = [d.pick([str(d.number()), d.array(edge), d.array(())]) for _ in range(2)]
    if d.chance(0.2):
        return f"{name}({x}, {d.integer(0, 2)}, {axis}, {some[0]}, {some[1]})"
    ends = d.options(prepend=some[0], append=some[1]) if d.chance(0.5) else ""
    return f"{name}({x}, {d.integer(0, 3)}, axis={axis}{ends})"


@makes("np.interp")
def interp(d: Draw, name: str) -> str:
    points = sorted(d.number(-2.0, 2.0) + k for k in range(3))
    x, values = d.array(), d.array((3,))
    spaced = f"np.array({points}) + 0.1 * np.tanh({d.array((3,))})"
    ends = [d.pick([str(d.number()), d.array(())]) for _ in range(2)]
    ways = [
        f"{name}({x}, np.array({points}), {values})",
        f"{name}({x}, {spaced}, {values})",
        f"{name}({x}, {spaced}, {values}, {ends[0]}, {ends[1]})",
        f"{name}({x}, np.array({points}), {values}{d.options(left=ends[0], right=ends[1])})",
        f"{name}({x}, np.array([0.1, 0.5, 0.8]), {values}, period=1.0)",
    ]
    return str(d.pick(ways))


@makes("np.trapezoid")
def trapezoid(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    axis = d.axis(x, none=False, many=False)
    points = f"np.cumsum(np.arange(1.0, {d.shape_of(x)[int(axis)] + 1}))"
    n = d.shape_of(x)[int(axis)]
    ways = [f"{points}, ", "dx=0.5, ", "", f"{d.array((n,))}, ", f"{d.array(d.shape_of(x))}, ",
            f"dx={d.array(())}, ", f"x={d.array((n,))}, "]  # fmt: skip
    return f"{name}({x}, {d.pick(ways)}axis={axis})"
