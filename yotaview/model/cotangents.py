"""How each cotangent comes together: the terms in the order in which the reverse pass adds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from yota.tape import Call, Tape, Var


@dataclass(frozen=True, slots=True)
class Term:
    """One contribution: the op that holds it, whose derivative it is, and the sum up to it."""

    var: Var
    of: Var | None
    total: Var


def gather_terms(tape: Tape, users: Mapping[Var, Sequence[Var]]) -> dict[Var, tuple[Term, ...]]:
    """Return the terms of every cotangent, by the op whose cotangent it is.

    The first is its own total; each further one is added by the op that is the next total.
    """
    adders: dict[Var, list[tuple[Var, Call]]] = {}
    for var, op in tape:
        o = op.origin
        if o.role != "accumulate" or o.wrt is None or not isinstance(op, Call):
            continue
        if len(op.operands) == 2:  # a change of byte order is no sum
            adders.setdefault(o.wrt, []).append((var, op))
    found = {}
    for primal, whole in tape.cotangents.items():
        if whole not in tape:
            continue
        sums = adders.get(primal, [])
        first = sums[0][1].operands[0] if sums else whole
        terms = [Term(first, _through(tape, primal, first, users), first)]
        for k, (var, op) in enumerate(sums, 1):
            total = whole if k == len(sums) else var
            terms.append(Term(op.operands[1], op.origin.of, total))
        found[primal] = tuple(terms)
    return found


def _through(tape: Tape, primal: Var, term: Var, users: Mapping[Var, Sequence[Var]]) -> Var | None:
    """Return the reader of `primal` that its first term came through, perhaps unchanged."""
    passed = (u for u in users.get(primal, ()) if tape.cotangents.get(u) == term)
    own = tape[term].origin
    return own.of if own.wrt == primal else next(passed, own.of)
