"""Statements that are more than one call: branches, loops, comprehensions, nested gradients."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.draw import Block, Draw


def operators(d: Draw) -> str:
    """Return an expression of NumPy's operators, as users write them."""
    x = d.array(kind="any")
    y = d.partner(x, "any")
    ways = [
        f"{x} * {y} - {x}",
        f"({x} + 1) * 0.5",
        f"-{x} / 3",
        f"2.0 - {y} * {x}",
        f"{x} ** 2 + {y}",
    ]
    return str(d.pick(ways))


def branch(d: Draw) -> Block:
    """Return a branch on a value, with a slope of its own on either side."""
    x, v = d.array(kind="any"), d.name()
    test = f"np.sum(np.real({x})) {d.pick('<>')} {d.number(-0.5, 0.5)}"
    sides = d.pick(
        [("np.sin({})", "{} * 2.0"), ("{} - 1.0", "np.tanh({}) + {}"), ("np.cos({})", "{}")]
    )
    yes, no = (side.replace("{}", x) for side in sides)
    return Block(f"if {test}:\n    {v} = {yes}\nelse:\n    {v} = {no}", (v,))


def loop(d: Draw) -> Block:
    """Return a loop of a fixed number of rounds, or of as many as the values ask for."""
    x, v = d.array(kind="any"), d.name()
    head = d.pick([f"for k in range({d.integer(0, 3)}):", f"while np.sum(np.abs({v})) > 1.5:"])
    body = f"{v} = {v} * 0.5" if head.startswith("while") else f"{v} = np.sin({v}) + k * {x}"
    return Block(f"{v} = {x}\n{head}\n    {body}", (v,))


def packed(d: Draw) -> Block:
    """Return values put into a container and taken out again."""
    t, x, y = d.name("t"), d.array(kind="any"), d.array()
    pack, first, second = d.pick(
        [
            ("[{}, {}]", "[0]", "[1]"),
            ("Pair({}, {})", ".a", ".b"),
            ("Record({}, {})", ".a", ".b"),
            ("{{'p': {}, 'q': {}}}", "['p']", "['q']"),
        ]
    )
    return Block(f"{t} = {pack.format(x, f'{y} * 2.0')}", (f"{t}{first}", f"{t}{second}"))


def rows(d: Draw) -> Block:
    """Return a loop over the rows of an array."""
    x, v = d.array(kind="any", low=1, least=1), d.name()
    return Block(f"{v} = 0.0\nfor row in {x}:\n    {v} = {v} + row * row", (v,))


def nested(d: Draw) -> str:
    """Return a gradient taken inside the program."""
    x = d.array(low=1)
    f = d.pick(["np.sum(np.sin(t) * t)", "np.sum(np.tanh(t) ** 2)", "np.sum(t) * np.sum(t * t)"])
    return f"yota.grad(lambda t: {f}, {x}, exact=True)[1][0]"


def stopped(d: Draw) -> str:
    """Return a value times what rounds and compares, which has no slope."""
    x = d.array(low=1)
    fixed = d.pick(
        [
            "np.floor({0})",
            "({0} > 0.1)",
            "np.sign({0})",
            "np.round({0}, 1)",
            "np.argsort({0}, axis=-1)",
        ]
    )
    return f"{x} * {fixed.format(x)}"


def cell(d: Draw) -> Block:
    """Return a recurrent cell of some gates, unrolled: arrays joined and split again."""
    x, v, w, t = d.array(low=1, least=2), d.name(), d.name("w"), d.name("t")
    gates, rounds = d.integer(2, 5), d.integer(2, 6)
    return Block(
        f"{w} = np.cos(np.arange({8 * gates}.0)).reshape({2 * gates}, 4) * np.tanh(np.mean({x}))\n"
        f"{v} = np.zeros(2)\n"
        f"for k in range({rounds}):\n"
        f"    {t} = np.split({w} @ np.concatenate([{v}, np.ravel({x})[:2] * 0.5**k]), {gates})\n"
        f"    {v} = np.tanh({t}[0]) * {t}[1] + np.sin({t}[-1])",
        (v,),
    )


def written(d: Draw) -> Block:
    """Return a copy that is written into, through itself and through views of it."""
    x, v, w = d.array(low=1), d.name(), d.name("w")
    writes = [
        f"{v}[1:] += {v}[:-1]",
        f"{v} *= {x} + 0.5",
        f"{v}[{v} > 0.3] = 0.25",
        f"{v}[...] = {v}[::-1]",
        f"{w} = {v}.T\n{w}[0] = np.sin({w}[-1])",
        f"{w} = {v}.reshape(-1)\n{w}[::2] *= 2.0",
        f"{w} = {v}.ravel({d.pick(['', repr('F')])})\n{w} += 0.5",
        f"{w} = np.flip({v})\n{w}[:1] -= np.cos({x}[-1:])",
        f"np.add.at({v}, [0, 0], {x}[-1])",
    ]
    chosen = [str(d.pick(writes)) for _ in range(d.integer(1, 3))]
    return Block(f"{v} = {x}.copy({d.pick(['', repr('K')])})\n" + "\n".join(chosen), (v,))


STATEMENTS: dict[Callable[[Draw], str | Block], int] = {
    operators: 6,
    branch: 3,
    loop: 2,
    packed: 2,
    rows: 1,
    nested: 1,
    stopped: 1,
    cell: 3,
    written: 4,
}
