"""Calls that move, repeat, join or cut without computing."""

from __future__ import annotations

import math

from tests.fuzz.draw import Draw
from tests.fuzz.families.table import makes


def factors(d: Draw, size: int) -> tuple[int, ...]:
    """Return a random shape of so many elements."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3:
        n = d.pick([k for k in range(1, size + 1) if size % k == 0])
        shape.append(n)
        size //= n
    return (*shape, size) if size > 1 or not shape or d.chance(0.2) else tuple(shape)


@makes("np.reshape")
def reshape(d: Draw, name: str) -> str:
    x = d.array(kind="any", least=1)
    shape = list(factors(d, math.prod(d.shape_of(x))))
    if shape and d.chance(0.4):
        shape[d.integer(0, len(shape) - 1)] = -1
    text = repr(tuple(shape))
    if d.chance(0.3) and d.ndim(x):
        return f"({x}).reshape{text}"
    return f"{name}({x}, {text}{d.pick(['', ', order=chr(70)', '']).replace('chr(70)', repr('F'))})"


@makes("np.ravel")
def ravel(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    order = d.pick(["", "'F'", "order='C'"])
    if d.ndim(x) and d.chance(0.4):
        return f"({x}).{d.pick(['ravel', 'flatten'])}({order})"
    return f"{name}({x}{', ' if order else ''}{order})"


@makes("np.transpose")
def transpose(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    n = d.ndim(x)
    axes = tuple(d.signed(int(k), n) for k in d.rng.permutation(n))
    return str(
        d.pick([f"{name}({x})", f"({x}).T", f"{name}({x}, {axes})", f"({x}).transpose{axes}"])
    )


@makes("np.moveaxis")
def moveaxis(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    n = d.ndim(x)
    if d.chance(0.4):
        k = d.integer(1, n)
        pair = (tuple(d.signed(int(a), n) for a in d.rng.permutation(n)[:k]) for _ in range(2))
        return f"{name}({x}, {next(pair)}, {next(pair)})"
    source, target = (d.signed(d.integer(0, n - 1), n) for _ in range(2))
    return f"{name}({x}, {source}, {target})"


@makes("np.swapaxes np.rollaxis")
def swap(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    n = d.ndim(x)
    a, b = (d.signed(d.integer(0, n - 1), n) for _ in range(2))
    return f"{name}({x}, {a}, {b})"


@makes("np.squeeze")
def squeeze(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    ones = [k for k, n in enumerate(d.shape_of(x)) if n == 1]
    if ones and d.chance(0.5):
        return f"{name}({x}, axis={d.pick([d.pick(ones), tuple(ones)])})"
    return f"{name}({x})"


@makes("np.expand_dims")
def expand_dims(d: Draw, name: str) -> str:
    x = d.array(kind="any", high=2)
    n = d.ndim(x)
    return f"{name}({x}, {d.pick([0, -1, n, (0, -1), (0, 1), (-2, 0)])})"


@makes("np.broadcast_to")
def broadcast_to(d: Draw, name: str) -> str:
    x = d.array(kind="any", high=2)
    wide = tuple(d.integer(1, 3) if n == 1 else n for n in d.shape_of(x))
    return f"{name}({x}, {(*((d.integer(1, 3),) * d.integer(0, 1)), *wide)})"


@makes("np.copy")
def copy(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    return str(
        d.pick([f"{name}({x})", f"{name}({x}, order='F')"] + [f"({x}).copy()"] * (d.ndim(x) > 0))
    )


@makes("np.astype")
def astype(d: Draw, name: str) -> str:
    return f"{name}({d.array(low=1)}, np.{d.pick(['float64', 'float32', 'complex128'])})"


@makes("np.atleast_1d np.atleast_2d np.atleast_3d np.broadcast_arrays")
def several(d: Draw, name: str) -> str:
    x = d.array(kind="any")
    two = name == "np.broadcast_arrays" or d.chance(0.5)
    return (
        f"{name}({x}, {d.array(kind='any') if 'least' in name else d.partner(x)})"
        if two
        else f"{name}({x})"
    )


@makes("np.meshgrid")
def meshgrid(d: Draw, name: str) -> str:
    parts = ", ".join(d.array(low=0, high=1) for _ in range(d.integer(1, 3)))
    return f"{name}({parts}{d.options(indexing=repr('ij'), sparse='True')})"


@makes("np.flip")
def flip(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    return str(d.pick([f"{name}({x})", f"{name}({x}, {d.axis(x)})", f"({x})[::-1]"]))


@makes("np.fliplr")
def fliplr(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=2)})"


@makes("np.flipud")
def flipud(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=1)})"


@makes("np.roll")
def roll(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    if d.ndim(x) > 1 and d.chance(0.4):
        return f"{name}({x}, {(d.integer(-3, 3), d.integer(-3, 3))}, axis=(0, -1))"
    return f"{name}({x}, {d.integer(-5, 5)}{d.options(axis=d.axis(x, many=False))})"


@makes("np.rot90")
def rot90(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=2)
    turns = d.pick(["", f", {d.integer(-2, 5)}", f", k={d.integer(1, 3)}, axes=(-1, 0)"])
    return f"{name}({x}{turns})"


@makes("np.repeat")
def repeat(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, high=2)
    axis = d.axis(x, many=False)
    n = math.prod(d.shape_of(x)) if axis == "None" else d.shape_of(x)[int(axis)]
    each = d.rng.integers(0, 3, n).tolist()
    if d.chance(0.2):
        return f"({x}).repeat(2, {axis})"
    return f"{name}({x}, {d.pick([d.integer(0, 3), each])}, axis={axis})"


@makes("np.tile")
def tile(d: Draw, name: str) -> str:
    return (
        f"{name}({d.array(kind='any', high=2)}, {d.pick([2, (2,), (1, 2), (2, 1, 2), [3, 1], 0])})"
    )


@makes("np.pad")
def pad(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, high=2, least=1)
    n = d.ndim(x)
    widths = d.pick(
        [d.integer(0, 2), (1, 2), tuple((d.integer(0, 3), d.integer(0, 2)) for _ in range(n))]
    )
    ends = d.pick([d.array(()), d.array(()), str(d.number())])
    modes = [
        "", "'edge'", "'reflect'", "'symmetric'", "mode='wrap'", f"constant_values={ends}",
        f"'linear_ramp', end_values={ends}", "'mean'", "'maximum'", "'minimum', stat_length=2",
        "'median'", f"mode='constant', constant_values={ends}", "'reflect', reflect_type='odd'",
        "'symmetric', reflect_type='odd'",
    ]  # fmt: skip
    mode = d.pick(modes)
    return f"{name}({x}, {widths}{', ' if mode else ''}{mode})"


@makes("np.concatenate")
def concatenate(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    shape, axis = list(d.shape_of(x)), d.axis(x, many=False)
    if axis != "None":
        shape[int(axis)] = d.integer(0, 2)
    other = d.array(shape, kind=d.pick(["real", "any"]))
    parts = d.pick([f"[{x}, {other}]", f"({other}, {x}, {x})"])
    return f"{name}({parts}{d.pick([f', {axis}', f', axis={axis}'])})"


@makes("np.stack")
def stack(d: Draw, name: str) -> str:
    x = d.array(kind="any", high=2)
    n = d.ndim(x)
    axis = d.options(axis=d.signed(d.integer(0, n), n + 1))
    if n and d.shape_of(x)[0] and d.chance(0.2):
        return f"{name}([row * 2.0 for row in {x}]{d.options(axis='-1')})"
    parts = d.pick(["[{0}, {1}]", "({1}, {0}, {1})"])
    return f"{name}({parts.format(x, d.array(d.shape_of(x), kind='any'))}{axis})"


@makes("np.vstack np.hstack np.dstack np.column_stack")
def stacked(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1 if name != "np.dstack" else 0)
    parts = [x, d.array(d.shape_of(x), kind="any")]
    if d.ndim(x) == 1 and name == "np.hstack":
        parts.append(d.array(low=1, high=1))
    if d.ndim(x) == 1 and name == "np.column_stack":
        parts.append(d.array((d.shape_of(x)[0], 2)))
    return f"{name}({d.pick(['[{}]', '({})']).format(', '.join(parts))})"


@makes("np.append")
def append(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    if d.chance(0.5):
        return f"{name}({x}, {d.array()})"
    return f"{name}({x}, {d.array(d.shape_of(x))}, axis={d.axis(x, none=False, many=False)})"


@makes("np.split np.array_split")
def split(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1)
    axis = int(d.axis(x, none=False, many=False))
    n = d.shape_of(x)[axis]
    even = d.pick([k for k in (1, 2, 3) if n % k == 0 or name == "np.array_split"])
    parts = d.pick([even, sorted(d.rng.integers(0, n + 1, 2).tolist())])
    return f"{name}({x}, {parts}, {d.pick(['axis=', ''])}{axis})"


@makes("np.hsplit np.vsplit np.dsplit")
def split_along(d: Draw, name: str) -> str:
    x = d.array(kind="any", low={"np.hsplit": 1, "np.vsplit": 2, "np.dsplit": 3}[name])
    axis = {"np.hsplit": min(1, d.ndim(x) - 1), "np.vsplit": 0, "np.dsplit": 2}[name]
    n = d.shape_of(x)[axis]
    return f"{name}({x}, {d.pick([k for k in (1, 2, 3) if n % k == 0] + [[1]])})"


@makes("np.unstack")
def unstack(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=1, least=1)
    return f"{name}({x}{d.options(axis=d.axis(x, none=False, many=False))})"


@makes("np.diag np.diagflat")
def diag(d: Draw, name: str) -> str:
    high = 2
    return f"{name}({d.array(kind='any', low=1, high=high)}{d.pick(['', ', 1', ', k=-1', ', 2'])})"


@makes("np.tril np.triu")
def triangle(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=2)}{d.pick(['', ', 1', ', k=-1', ', -2'])})"


@makes("np.diagonal np.trace")
def diagonal(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=2)
    n = d.ndim(x)
    a, b = (d.signed(int(k), n) for k in d.rng.permutation(n)[:2])
    offset = d.integer(-2, 2)
    rest = d.pick(
        ["", f", {offset}", f", {offset}, {a}, {b}", f", offset={offset}, axis1={a}, axis2={b}"]
    )
    return f"({x}).{name[3:]}({rest[2:]})" if d.chance(0.3) else f"{name}({x}{rest})"


@makes("np.linalg.diagonal np.linalg.trace")
def linalg_diagonal(d: Draw, name: str) -> str:
    return f"{name}({d.array(kind='any', low=2)}{d.options(offset=d.integer(-2, 2))})"


@makes("np.matrix_transpose np.linalg.matrix_transpose")
def matrix_transpose(d: Draw, name: str) -> str:
    x = d.array(kind="any", low=2)
    return f"({x}).mT" if d.chance(0.3) else f"{name}({x})"
