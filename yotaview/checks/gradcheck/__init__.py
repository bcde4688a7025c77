"""Every rule of the reverse pass, checked on the recorded values by differences of its own op."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from yota.rules.registry import NONDIFF
from yota.tape import Call, Tape, Var
from yotaview.capture.functions import is_users
from yotaview.checks.gradcheck.local import Verdict, check_local
from yotaview.checks.gradcheck.recorded import Pair, cotangent_of, recorded_terms
from yotaview.model.opened import Opened, SavedRow

MOST = 20_000
SAVED = "a saved session runs only what its file proves harmless"
OWN = "a function of yours, which is not run without being asked"


def pairs_of(opened: Opened) -> list[Pair]:
    """Return what there is to check, in the order of the reverse pass: each op by its operands."""
    tape, users = opened.tape, opened.users
    found = []
    for var in reversed(list(tape.ops)):
        op = tape[var]
        if not isinstance(op, Call) or tape.is_reverse(var) or op.fn in NONDIFF:
            continue
        if op.name == "getitem" and tape[op.operands[0]].spec.kind == "tuple":
            continue
        if cotangent_of(tape, users, var):
            operands = dict.fromkeys(op.operands)
            found += [(var, v) for v in operands if tape.cotangents.get(v) in tape]
    return [p for p in found if tape.is_reverse(tape.cotangents[p[1]])]


def verdicts(
    opened: Opened,
    *,
    own: bool = False,
    only: Sequence[Pair] | None = None,
    largest: float = math.inf,
) -> Iterator[Verdict]:
    """Yield the verdict on each rule, or on `only` some; the user's functions run with `own`.

    Ops with an operand or a value of more elements than `largest` are left out.
    """
    tape, values, users = opened.tape, opened.values, opened.users
    pairs = pairs_of(opened) if only is None else only
    if isinstance(opened.row, SavedRow):
        yield from (Verdict(of, wrt, "unchecked", SAVED) for of, wrt in pairs)
        return
    terms, lost = recorded_terms(tape, users)
    for of, wrt in pairs:
        op = tape[of]
        cotangents = cotangent_of(tape, users, of)
        needed = {of, wrt, *cotangents.values(), *terms.get((of, wrt), ())}
        if isinstance(op, Call) and is_users(op) and not own:
            yield Verdict(of, wrt, "unchecked", OWN)
        elif isinstance(op, Call) and _elements(tape, of, op) > largest:
            yield Verdict(of, wrt, "unchecked", f"more than {largest:,.0f} elements, left to =")
        elif not needed <= values.keys():
            yield Verdict(of, wrt, "unchecked", "a value was not kept")
        elif wrt in lost and (of, wrt) not in terms:
            yield Verdict(of, wrt, "unchecked", "its contribution cannot be told from another")
        else:
            held = terms.get((of, wrt), ())
            made = tuple(t for t in held if tape[t].origin.of == of)
            yield replace(check_local(tape, values, of, wrt, cotangents, held), terms=made)


def _elements(tape: Tape, var: Var, op: Call) -> int:
    return max(math.prod(tape[v].spec.shape) for v in (var, *op.operands))


@dataclass
class Report:
    """What has been checked so far, by op and by the op that holds a contribution.

    `marks` tells of each of these whether its rules agree.
    """

    total: int = 0
    found: dict[Pair, Verdict] = field(default_factory=dict)
    by_op: dict[Var, list[Verdict]] = field(default_factory=dict)
    marks: dict[Var, bool] = field(default_factory=dict)

    def add(self, verdict: Verdict) -> None:
        """Take a verdict; of one rule the last counts."""
        pair = (verdict.of, verdict.wrt)
        before = self.found.get(pair)
        self.found[pair] = verdict
        for var in (verdict.of, *verdict.terms):
            rest = [v for v in self.by_op.get(var, []) if v is not before]
            self.by_op[var] = [*rest, verdict]
            if verdict.status != "unchecked":
                self.marks[var] = all(v.status != "off" for v in self.by_op[var])

    def of(self, var: Var) -> list[Verdict]:
        """Return the verdicts on the rules of an op, or on the rule whose contribution it is."""
        return self.by_op.get(var, [])

    @property
    def off(self) -> list[Verdict]:
        """The rules that disagree."""
        return [v for v in self.found.values() if v.status == "off"]

    @property
    def worst(self) -> Verdict | None:
        """The agreeing rule with the largest relative error."""
        agree = [v for v in self.found.values() if v.status == "ok"]
        return max(agree, key=lambda v: v.error, default=None)

    @property
    def text(self) -> str:
        """The state in a line: how many of how many, the worst, and why some were not checked."""
        checked = [v for v in self.found.values() if v.status != "unchecked"]
        off, worst = len(self.off), self.worst
        agree = f"{off} off" if off else "all agree" if checked else "none could be"
        text = f"checked {len(checked):,} of {self.total:,} rules, {agree}"
        if len(self.found) < self.total:
            text += f" so far, {self.total - len(self.found):,} are left"
        if worst is not None:
            text += f", worst {worst.error:.0e} at {worst.of}"
        some = sum(v.size > 0 for v in checked)
        text += f"; a sample of the elements at {some} large operands" if some else ""
        reasons = Counter(v.reason for v in self.found.values() if v.status == "unchecked")
        told = ", ".join(f"{n} × {reason}" for reason, n in reasons.most_common(4))
        return f"{text}; not checked: {told}" if told else text


__all__ = ["MOST", "Report", "Verdict", "pairs_of", "verdicts"]
