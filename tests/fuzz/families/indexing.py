"""Reads and writes by index, and the calls that gather."""

from __future__ import annotations

import math

import numpy as np

from tests.fuzz.draw import Block, Draw, Unfit
from tests.fuzz.families.table import makes
from tests.fuzz.program import array_text


def piece(d: Draw, n: int) -> str:
    """Return a slice or an integer along an axis of length n."""
    options = [
        ":",
        "::-1",
        "::2",
        f"{d.integer(0, n)}:",
        f":{-d.integer(0, n)}",
        f"{d.integer(-n, 0)}::-2",
    ]
    return str(d.pick(options + ([str(d.integer(-n, n - 1))] * 3 if n else [])))


def basic(d: Draw, shape: tuple[int, ...]) -> str:
    """Return an index of slices, integers, `...` and None."""
    parts = [piece(d, n) for n in shape[: d.integer(0 if not shape else 1, len(shape))]]
    if d.chance(0.2):
        parts.insert(d.integer(0, len(parts)), "None")
    if d.chance(0.2) and len(parts) <= len(shape):
        parts = [*parts, "..."] if d.chance(0.5) else ["...", *[p for p in parts if p == "None"]]
    return ", ".join(parts) or "..."


def fancy(d: Draw, shape: tuple[int, ...]) -> str:
    """Return an index with arrays of integers or masks in it; elements may be named twice."""
    if not shape or 0 in shape:
        raise Unfit
    n = shape[0]
    some = d.ints(d.shape(1, 2, empty=False), -n, n - 1)
    ways = [some, d.mask(shape), d.mask(shape[:1]), repr(d.rng.integers(-n, n, 3).tolist())]
    if len(shape) > 1:
        m = shape[1]
        one = d.rng.integers(-n, n, 3)
        two = d.rng.integers(-m, m, 3)
        ways += [
            f"{array_text(one)}, {array_text(two)}",
            f"{some}, {piece(d, m)}",
            f"{piece(d, n)}, {array_text(two)}",
            f"np.ix_({one.tolist()}, {np.abs(two[:2]).tolist()})",
            f"..., {d.ints((2,), 0, shape[-1] - 1)}",
            f"{array_text(one[:, None])}, {array_text(two[:2])}",
        ]
    if len(shape) > 2:
        ways.append(f"{array_text(one)}, {piece(d, m)}, {d.integer(0, shape[2] - 1)}")
    return str(d.pick(ways))


def index(d: Draw, shape: tuple[int, ...]) -> str:
    return fancy(d, shape) if 0 not in shape and shape and d.chance(0.45) else basic(d, shape)


@makes("fun.getitem")
def read(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    return f"({x})[{index(d, d.shape_of(x))}]"


@makes("fun.setitem")
def write(d: Draw, name: str) -> Block:
    """Write into a copy, whole or through a view, once or twice."""
    x = d.array(kind="any", low=1, least=1)
    z = d.name()
    lines = [f"{z} = {d.pick([f'np.copy({x})', f'{x} * 1.0', f'({x}).copy()', f'+{x}'])}"]
    d.env[z] = np.array(d.value(x), copy=True)
    target = z
    if d.chance(0.35):
        target = d.name()
        view = d.pick(
            [f"{z}[{basic(d, d.shape_of(z))}]", f"{z}.T", f"{z}[::-1]", f"{z}.reshape(-1)"]
        )
        if np.ndim(d.value(view)) == 0:
            raise Unfit
        lines.append(f"{target} = {view}")
        d.env[target] = d.value(view)
    for _ in range(d.integer(1, 2)):
        lines.append(store(d, target))
    return Block("\n".join(lines), (z,))


def store(d: Draw, z: str) -> str:
    """Return one statement that writes into `z`."""
    shape = d.shape_of(z)
    at = index(d, shape)
    part = d.shape_of(f"{z}[{at}]")
    narrow = tuple(1 if d.chance(0.2) else n for n in part)
    narrow = narrow[d.integer(0, len(narrow)) :] if d.chance(0.3) else narrow
    value = d.pick(
        [d.array(narrow), d.array(narrow, kind="any"), f"{d.array(())} * 0.5", str(d.number())]
    )
    ways = [
        f"{z}[{at}] = {value}",
        f"{z}[{at}] = {value}",
        f"{z}[{at}] {d.pick(['+', '-', '*'])}= {value}",
        f"{z} {d.pick(['+', '-', '*'])}= {d.pick([d.number(), 2, d.array(shape)])}",
        f"{z}[...] = np.tanh({z})",
        f"np.multiply({z}, 0.5, out={z})",
        f"{z}.sort()" if np.isrealobj(d.value(z)) else f"{z}[...] = 1.0",
        f"{z}.fill({d.pick([d.number(), d.array(())])})",
        f"np.copyto({z}, {d.array(shape)}, where={d.mask(shape)})",
        f"np.add.at({z}, ({d.ints((3,), 0, max(shape[0] - 1, 0))},), {d.number()})",
    ]
    return str(d.pick(ways))


@makes("fun.scatter")
def scatter(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, high=1)
    return f"{name}({x}, ({d.ints(d.shape_of(x), -3, 2)},), (3,))"


@makes("fun.place")
def place(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    n, *rest = d.shape_of(x)
    return f"{name}({x}, slice(1, {n + 1}), {(n + 2, *rest)})"


@makes("fun.identity")
def identity(d: Draw, name: str) -> str:
    x = d.some(lambda v: isinstance(v, np.floating))
    return f"{x}.copy()" if x is not None and d.chance(0.6) else f"{name}({d.array(kind='any')})"


@makes("fun.cast")
def cast(d: Draw, name: str) -> str:
    x = d.array(low=1)
    return f"({x}).astype(np.{d.pick(['float64', 'float32', 'complex128'])})"


@makes("fun.item")
def item(d: Draw, name: str) -> str:
    x = d.array(low=1)
    if d.value(x).dtype.itemsize > 8 or math.prod(d.shape_of(x)) == 0:
        raise Unfit
    return str(
        d.pick([f"({x}).ravel()[:1].item()", f"({x}).item(0)", f"({x}).ravel().tolist()[-1]"])
    )


@makes("np.take")
def take(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    mode = d.pick(["raise", "wrap", "clip"])
    out = 0 if mode == "raise" else 3
    at = d.pick(
        [
            d.ints(d.shape(1, 2), -n - out if mode != "clip" else -2, n - 1 + out),
            str(d.integer(-n, n - 1)),
        ]
    )
    at = d.ints((2,), 0, n - 1) if mode == "raise" and d.chance(0.5) else at
    return f"{name}({x}, {at}, axis={axis}, mode={mode!r})"


@makes("np.take_along_axis")
def take_along_axis(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    shape, axis = list(d.shape_of(x)), d.axis(x, none=False, many=False)
    n = shape[int(axis)]
    shape[int(axis)] = d.integer(1, 3)
    ways = [d.ints(shape, -n, n - 1), f"np.argsort({x}, axis={axis})"]
    if d.chance(0.2):
        return f"{name}({x}, {d.ints((3,), 0, math.prod(d.shape_of(x)) - 1)}, axis=None)"
    return f"{name}({x}, {d.pick(ways)}, axis={axis})"


@makes("np.compress")
def compress(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    condition = repr((d.rng.random(d.integer(0, n)) < 0.6).tolist())
    return f"{name}({condition}, {x}, axis={axis})"


@makes("np.extract")
def extract(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    return f"{name}({d.mask(d.shape_of(x))}, {x})"


@makes("np.delete")
def delete(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    some = d.rng.integers(-n, n, 2).tolist() if n else []
    return f"{name}({x}, {d.pick([some, 'slice(None, None, 2)', d.integer(-n, n)])}, axis={axis})"


@makes("np.insert")
def insert(d: Draw, name: str) -> str:
    x = d.array(low=1)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    at = d.pick([d.integer(-n, n), [d.integer(0, n), d.integer(0, n)], "slice(0, 2)"])
    values = d.pick([str(d.number()), d.array(()), d.array((1,)), d.array((2,))])
    return f"{name}({x}, {at}, {values}, axis={axis})"


@makes("np.bincount")
def bincount(d: Draw, name: str) -> str:
    w = d.array(low=1, high=1, least=1)
    return f"{name}({d.ints(d.shape_of(w), 0, 4)}, {w}{d.options(minlength='6')})"
