"""Python's own operators, on Python's numbers."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.families.table import makes

SYMBOL = {
    "operator.add": "+", "operator.sub": "-", "operator.mul": "*", "operator.truediv": "/",
    "operator.mod": "%", "operator.neg": "-", "operator.pos": "+",
}  # fmt: skip


@makes("operator.add operator.sub operator.mul")
def arithmetic(d: Draw, name: str) -> str:
    a = d.python(d.pick(["real", "real", "real", "complex"]))
    b = d.pick([d.python(), repr(d.number()), "2"])
    a, b = (a, b) if d.chance(0.6) else (b, a)
    return f"{a} {SYMBOL[name]} {b}"


@makes("operator.truediv operator.mod")
def quotient(d: Draw, name: str) -> str:
    a, b = d.python(), d.pick([f"({d.python()} * 0.1 + 1.7)", repr(d.number(0.3, 2.0)), "-3"])
    a, b = (a, b) if d.chance(0.7) else (repr(d.number(2.0, 4.0)), f"({a} * 0.1 + 1.3)")
    return f"{a} {SYMBOL[name]} {b}"


@makes("divmod")
def both_parts(d: Draw, name: str) -> str:
    return (
        f"divmod({d.python()}, {d.pick([repr(d.number(0.3, 2.0)), f'({d.python()} * 0.1 + 1.7)'])})"
    )


@makes("operator.pow")
def power(d: Draw, name: str) -> str:
    ways = [
        f"{d.python()} ** {d.pick([0, 1, 2, 3])}",
        f"abs({d.python()}) ** {d.python()}",
        f"{d.python()} ** 0.5",
        f"2 ** {d.python()}",
        f"{d.python('complex')} ** {d.pick([2, 0.5])}",
        f"{d.python('complex')} ** {d.python()}",
    ]
    return str(d.pick(ways))


@makes("operator.neg operator.pos")
def sign(d: Draw, name: str) -> str:
    return f"{SYMBOL[name]}{d.python(d.pick(['real', 'complex']))}"


@makes("operator.abs")
def absolute(d: Draw, name: str) -> str:
    return f"abs({d.python(d.pick(['real', 'complex']))})"
