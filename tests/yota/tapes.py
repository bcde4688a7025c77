"""Tapes built by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.structs import Leaf
from yota.tape import Call, Constant, Entry, Guard, Input, Structured, Tape, Var, spec_of


class Hand:
    """A tape under construction; example values give the types."""

    def __init__(self, **inputs: Any) -> None:
        names = tuple(inputs)
        args = tuple(Leaf(k) for k in range(len(names)))
        self.tape = Tape(Entry("f", args, (), names))
        self.values: dict[Var, Any] = {}
        self.vars = {n: self.add(Input(spec=spec_of(v), name=n), v) for n, v in inputs.items()}

    def __getitem__(self, name: str) -> Var:
        return self.vars[name]

    def add(self, op: Any, value: Any) -> Var:
        var = self.tape.push(op)
        self.values[var] = value
        return var

    def constant(self, value: Any) -> Var:
        return self.add(Constant(spec=spec_of(value), value=value), value)

    def call(self, fn: Any, *args: Any, **kwargs: Any) -> Var:
        from yota.tape import map_vars

        value = fn(
            *map_vars(args, self.values.__getitem__),
            **{k: map_vars(v, self.values.__getitem__) for k, v in kwargs.items()},
        )
        op = Call(spec=spec_of(value), fn=fn, args=args, kwargs=tuple(kwargs.items()))
        return self.add(op, value)

    def guard(self, var: Var, how: str = "bool") -> None:
        value = self.values[var]
        self.tape.guards.append(Guard(var, bool(value) if how == "bool" else value, how))

    def done(self, *results: Var) -> Tape:
        """Finish the tape; several results are a tuple."""
        from yota.structs import flatten

        marks = results[0] if len(results) == 1 else results
        _, structure = flatten(marks, leaf=lambda x: isinstance(x, Var))
        self.tape.result = Structured(structure, results, ("",) * len(results))
        self.tape.verify()
        return self.tape


def long_tape(count: int) -> Tape:
    """Return a tape of about `count` ops, a sixth of which algebra drops."""
    hand = Hand(x=np.array([0.1, 0.2, 0.3]))
    var = x = hand["x"]
    spec = hand.tape[x].spec
    for k in range(count // 2):
        var = hand.tape.push(Call(spec=spec, fn=np.sin, args=(var,)))
        var = hand.tape.push(Call(spec=spec, fn=np.multiply, args=(var, x if k % 3 else 1.0)))
    hand.tape.result = Structured(Leaf(0), (var,), ("array",))
    return hand.tape
