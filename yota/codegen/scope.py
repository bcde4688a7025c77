"""The names in one tape's function: of its parameters, its ops and what its code calls."""

from __future__ import annotations

from collections.abc import Iterable

from yota.codegen.expressions import Expressions
from yota.codegen.names import Names, identifier, input_names, parameters
from yota.codegen.runtime import has_seed_input
from yota.tape import Constant, Guard, Input, Tape, Var


class Scope:
    """Every name of the function that a tape becomes, and the guards of its ops by number."""

    expressions = Expressions

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.names = Names(self.reserved())
        self.positional, self.keywords = self.parameters()
        self.seed = ["seed"] if has_seed_input(tape) else []
        own = [*self.positional, *self.keywords, *self.seed]
        self.names.taken.update(own)
        self.name = self.names.unique(identifier(tape.entry.name, "f"))
        self.local = local_names(tape, self.names, own)
        self.write = self.expressions(tape, self.names, self.local)
        self.guards: dict[Var, list[tuple[int, Guard]]] = {}
        for k, guard in enumerate(tape.guards):
            self.guards.setdefault(guard.var, []).append((k, guard))

    def reserved(self) -> Iterable[str]:
        """Return the names that are in use before any is given."""
        return ()

    def parameters(self) -> tuple[list[str], list[str]]:
        """Return the names of positional and keyword arguments."""
        return parameters(self.tape)

    def signature(self, name: str, seed: str = "{}") -> str:
        """Return the head of a function of the user's arguments; `seed` is how one is declared."""
        named = [*self.keywords, *map(seed.format, self.seed)]
        given = [*self.positional, *(["*", *named] if named else [])]
        return f"def {name}({', '.join(given)}):"


def local_names(tape: Tape, names: Names, own: list[str]) -> dict[Var, str]:
    """Name every op: inputs as the user does, `c3` for constants, `v5` for what is computed."""
    found = input_names(tape, names, own)
    value, constant = names.prefix("v"), names.prefix("c")
    for var, op in tape:
        if not isinstance(op, Input):
            found[var] = f"{constant if isinstance(op, Constant) else value}{var.id}"
    return found
