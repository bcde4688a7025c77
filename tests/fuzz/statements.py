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


STATEMENTS: dict[Callable[[Draw], str | Block], int] = {
    operators: 6,
    branch: 3,
    loop: 2,
    packed: 2,
    rows: 1,
    nested: 1,
    stopped: 1,
}
