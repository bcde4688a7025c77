"""Draw whole programs: each has one function of the rule table for its subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.draw import MOST, Block, Draw, is_number, quiet
from tests.fuzz.families import MAKERS
from tests.fuzz.program import DEFINED, Program
from tests.fuzz.statements import STATEMENTS
from yota.rules.registry import VJP

SUBJECTS = [fn for fn in VJP if fn in MAKERS]
SCIPYS = [fn for fn in SUBJECTS if "scipy" in MAKERS[fn][0]]
NUMPYS = [fn for fn in SUBJECTS if fn not in SCIPYS]
TRIES = 40
SIZE = 60


def build(seed: int, subject: Callable[..., Any] | None = None, *, plain: bool = False) -> Program:
    """Return the program of a seed; its subject is one function after another of the table."""
    d = Draw(seed, plain)
    if subject is None:
        subject = subject_of(seed)
    steps = d.integer(1, 6)
    at = d.integer(0, steps - 1)
    for k in range(steps):
        for _ in range(TRIES):
            if step(d, subject if k == at else None):
                break
    return d.program()


def subject_of(seed: int) -> Callable[..., Any]:
    """Return one function of the table after another; every fifth time one of SciPy's."""
    if SCIPYS and seed % 5 == 4:
        return SCIPYS[seed // 5 % len(SCIPYS)]
    return NUMPYS[(seed - seed // 5 if SCIPYS else seed) % len(NUMPYS)]


def step(d: Draw, subject: Callable[..., Any] | None) -> bool:
    """Add one statement; one that does not run, or runs out of bounds, is taken back."""
    before = (list(d.arguments), list(d.statements), list(d.pool))
    try:
        block = as_block(d, drawn(d, subject))
        accept(d, block)
    except Exception:
        d.arguments, d.statements, d.pool = before
        run_again(d)
        return False
    return True


def drawn(d: Draw, subject: Callable[..., Any] | None) -> str | Block:
    if subject is None:
        if d.chance(0.25):
            statements = {s.__name__: (s, n) for s, n in STATEMENTS.items()}
            name = d.weighted({k: n for k, (_, n) in statements.items()})
            return statements[name][0](d)
        subject = d.pick(NUMPYS)
    name, maker = MAKERS[subject]
    return maker(d, name)


def as_block(d: Draw, made: str | Block) -> Block:
    """Give what an expression made names: one, or one for each item of a tuple."""
    if isinstance(made, Block):
        return made
    value = d.value(made)
    if not isinstance(value, tuple | list):
        name = d.name()
        return Block(f"{name} = {made}", (name,))
    if 1 < len(value) <= 3 and d.chance(0.7):
        names = [d.name() for _ in value]
        return Block(f"{', '.join(names)} = {made}", tuple(names))
    name = d.name("t")
    return Block(f"{name} = {made}", tuple({f"{name}[0]": 0, f"{name}[-1]": 0}) if value else ())


def accept(d: Draw, block: Block) -> None:
    """Run a block and take what it made into the pool; raise where a value is out of bounds."""
    with quiet():
        exec(block.text, d.env)
    d.statements.append(block.text)
    d.pool += [r for r in block.results if is_number(d.value(r))]
    for text in d.pool:
        value = np.asarray(d.value(text))
        if value.size > SIZE or not np.all(np.abs(value) <= MOST):
            raise ArithmeticError(text)


def run_again(d: Draw) -> None:
    """Make the values anew from the arguments: what was taken back may have been written to."""
    d.env = dict(DEFINED)
    for a in d.arguments:
        d.env[a.name] = a.make()
    with quiet():
        for text in d.statements:
            exec(text, d.env)
