"""What the reverse pass recorded: for each op and operand the terms that its rule contributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from yota.tape import Call, Tape, Var
from yotaview.model.autopsy.case import ADD
from yotaview.model.flow import NO_PATH

Pair = tuple[Var, Var]


def recorded_terms(
    tape: Tape, users: Mapping[Var, Sequence[Var]]
) -> tuple[dict[Pair, tuple[Var, ...]], set[Var]]:
    """Return the recorded terms by (op, operand), and the operands whose first term is of no op.

    A rule that hands its cotangent on unchanged records nothing: the term is that cotangent.
    """
    sums: dict[Var, list[tuple[Var, Call]]] = {}
    for var, op in tape:
        o = op.origin
        added = o.wrt is not None and o.role == "accumulate" and tape.is_reverse(var)
        if added and isinstance(op, Call) and op.fn in ADD and len(op.operands) == 2:
            sums.setdefault(o.wrt, []).append((var, op))  # type: ignore[arg-type]  # as asked
    found: dict[Pair, list[Var]] = {}
    lost: set[Var] = set()
    for operand, total in tape.cotangents.items():
        if operand not in tape or total not in tape or not tape.is_reverse(total):
            continue
        terms = sums.get(operand, [])
        first = terms[0][1].args[0] if terms else total
        of = _source(tape, users, operand, first)
        if of is not None:
            found.setdefault((of, operand), []).append(first)
        elif tape[first].origin.role != "seed" and tape[first].origin.note != NO_PATH:
            lost.add(operand)
        for _, op in terms:
            if op.origin.of is not None:
                found.setdefault((op.origin.of, operand), []).append(op.args[1])
    return {pair: tuple(terms) for pair, terms in found.items()}, lost


def _source(tape: Tape, users: Mapping[Var, Sequence[Var]], operand: Var, term: Var) -> Var | None:
    """Return the op that the first term of a cotangent came through, None if it is the seed."""
    origin = tape[term].origin
    readers = users.get(operand, ())
    if origin.role == "seed" and origin.wrt in (None, operand) and operand in tape.result_vars:
        return None
    if origin.wrt == operand:
        return origin.of
    through = [u for u in readers if tape.cotangents.get(u) == term]
    if through:
        return max(through)
    return origin.of if origin.of in readers else None


def cotangent_of(tape: Tape, users: Mapping[Var, Sequence[Var]], var: Var) -> dict[int | None, Var]:
    """Return the op that completes an op's cotangent; of a tuple one for each item that has any."""
    if tape[var].spec.kind != "tuple":
        found = tape.cotangents.get(var)
        return {None: found} if found is not None and tape.is_reverse(found) else {}
    items: dict[int | None, Var] = {}
    for user in users.get(var, ()):
        op = tape[user]
        dy = tape.cotangents.get(user)
        taken = isinstance(op, Call) and op.name == "getitem" and type(op.args[1]) is int
        if taken and isinstance(op, Call) and dy is not None and tape.is_reverse(dy):
            if op.args[1] in items:
                return {}
            items[op.args[1]] = dy
    return items
