"""What the names in an expression stand for, in the open call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from yota.tape import Constant, Input, Tape, Var
from yotaview.model.breaks import number_of
from yotaview.model.expressions import ExpressionError

if TYPE_CHECKING:
    from yotaview.model.opened import Opened

AHEAD = "not computed yet"


class Ahead(ExpressionError):
    """A name's value lies ahead of the position; the text says at which op it comes."""


def named_ops(tape: Tape) -> dict[str, Var]:
    """Return inputs and captured values by name."""
    found: dict[str, Var] = {}
    for var, op in tape:
        if isinstance(op, Input | Constant) and op.name:
            found.setdefault(op.name, var)
    return found


def check_names(names: tuple[str, ...], tape: Tape) -> None:
    """Raise ExpressionError for a name that stands for nothing on the tape."""
    known = named_ops(tape)
    for name in names:
        var = number_of(name)
        if var is None and name not in known:
            there = " ".join(k for k in known if k.isidentifier())
            raise ExpressionError(
                f"no name {name!r}: write x for the op's value, %7 for that of op 7, δ%7 for its"
                f" cotangent{f', or {there}' if there else ''}"
            )
        if var is not None and var not in tape:
            raise ExpressionError(f"no op {var}: the last one is {next(reversed(tape.ops))}")
        if name.startswith("δ") and var not in tape.cotangents:
            raise ExpressionError(f"no cotangent of {var} is computed")


def op_lookup(opened: Opened, var: Var | None, upto: int | None = None) -> Callable[[str], Any]:
    """Return what names stand for where `x` is the value of `var`; without one, an input's name.

    With `upto`, what lies ahead of that position raises Ahead; a cotangent is the sum so far.
    """
    known = opened.named

    def find(name: str) -> Any:
        own = var if name == "x" else None
        wanted = own or known.get(name) or number_of(name)
        if wanted is None:
            raise ExpressionError(f"no name {name!r}")
        if name.startswith("δ"):
            wanted = cotangent_at(opened, wanted, upto)
        if upto is not None and opened.positions[wanted] > upto:
            raise Ahead(f"{AHEAD} (op {opened.positions[wanted] + 1})")
        if wanted not in opened.values:
            raise ExpressionError(f"{wanted}: {opened.problems.get(wanted, 'not kept')}")
        return opened.values[wanted]

    return find


def cotangent_at(opened: Opened, primal: Var, upto: int | None) -> Var:
    """Return the op that holds the cotangent of `primal` as far as it has come together."""
    terms = opened.terms.get(primal)
    if not terms:
        raise ExpressionError(f"no cotangent of {primal} is computed")
    there = [t.total for t in terms if upto is None or opened.positions[t.total] <= upto]
    return there[-1] if there else terms[0].total
