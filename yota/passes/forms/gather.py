"""The form that adds cotangents up before a common linear function instead of behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from yota.passes.forms.exact import is_real_array
from yota.passes.work import Work
from yota.tape import Call, Spec, Var

_LINEAR = {np.multiply, np.divide, np.negative, np.matmul, np.dot}
# Of these either operand may be the one that is added up.
_EITHER = {np.multiply, np.matmul, np.dot}


@dataclass(frozen=True, slots=True)
class _Part:
    """A term as a linear function `key` of `summand`."""

    term: Var
    key: tuple[Any, ...]
    summand: Any


def gather_cotangents(work: Work) -> None:
    """Add up what reaches a value through equal linear functions, then apply the function once."""
    form = Gather(work)
    waiting = [v for v, op in work.calls(np.add) if is_sum(work, v) and not form.is_inner(v)]
    while waiting:
        found = [form.gather(root) for root in waiting]
        waiting = [v for new in found for v in new]


def is_sum(work: Work, var: Var) -> bool:
    """Tell whether an op adds up two contributions to a cotangent."""
    op = work.call_of(var, np.add)
    if op is None or op.origin.role != "accumulate" or not is_real_array(op.spec):
        return False
    return work.is_free(var) and all(work.spec(x) == op.spec for x in op.args)


class Gather:
    """Sums of cotangents taken apart and put together in another way."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.sums: dict[Any, Var] = {}

    def is_inner(self, var: Var) -> bool:
        """Tell whether an op is a sum that only another one reads."""
        user = self.work.only_user(var)
        return user is not None and is_sum(self.work, user) and is_sum(self.work, var)

    def gather(self, root: Var) -> list[Var]:
        """Rewrite one sum; return the new sums that this takes."""
        if self.work.call_of(root, np.add) is None or self.work.is_dead(root):
            return []
        terms, new = list(self.terms(root)), []
        while (group := self.largest_group(terms)) is not None:
            joined, fresh = self.join(root, group)
            new += fresh
            known = {p.term for p in group}
            first = min(k for k, t in enumerate(terms) if t in known)
            terms = [t for t in terms if t not in known]
            terms.insert(min(first, len(terms)), joined)
        if new or len(terms) == 1:
            why = "cotangents: terms with a common linear function are added up before it"
            self.rebuild(root, terms, why)
        return new

    def terms(self, root: Var) -> Iterator[Any]:
        """Yield what a sum adds up, through sums that it alone reads, in order."""
        stack: list[Any] = [root]
        while stack:
            var = stack.pop()
            op = self.work.ops[var] if type(var) is Var else None
            if isinstance(op, Call) and (var == root or self.is_inner(var)):
                stack += reversed(op.args)
            else:
                yield var

    def largest_group(self, terms: list[Any]) -> list[_Part] | None:
        """Return the terms that most share a linear function, None where no two do."""
        groups: dict[Any, dict[Var, _Part]] = {}
        counts = Counter(terms)
        for term in terms:
            for part in self.parts(term):
                groups.setdefault(part.key, {})[term] = part
        for key, group in groups.items():
            times = counts.get(key[1], 0) if key[0] is np.multiply else 0
            if times and key[1] not in group:
                group[key[1]] = _Part(key[1], key, float(times))
        best = max(groups.values(), key=len, default={})
        return list(best.values()) if len(best) > 1 else None

    def parts(self, term: Any) -> Iterator[_Part]:
        """Yield a term as a linear function of each operand that it may be one of."""
        op = self.work.ops[term] if type(term) is Var else None
        if not isinstance(op, Call) or op.kwargs or op.fn not in _LINEAR:
            return
        if self.work.only_user(term) is None or not self.work.is_free(term):
            return
        if op.fn is np.negative:
            yield _Part(term, (np.negative,), op.args[0])
            return
        for at in (0, 1) if op.fn in _EITHER else (0,):
            other = op.args[1 - at]
            place = None if op.fn is np.multiply else at
            if self.is_alike(op, op.args[at]) and (type(other) is Var or at == 0):
                yield _Part(term, (op.fn, other, place, self.type_of(op.args[at])), op.args[at])

    def is_alike(self, op: Call, x: Any) -> bool:
        """Tell whether summands are as precise as what they are summed up for."""
        return type(x) is not Var or bool(self.work.ops[x].spec.dtype == op.spec.dtype)

    def type_of(self, x: Any) -> Spec | None:
        """Return what summands have in common: their type, for numbers none."""
        return self.work.ops[x].spec if type(x) is Var else None

    def join(self, root: Var, group: list[_Part]) -> tuple[Var, list[Var]]:
        """Return one term for a group, with the sum that it is a function of."""
        spec, key = self.work.ops[group[0].term].spec, group[0].key
        summand, new = self.total(root, [p.summand for p in group])
        if len(key) == 1:
            return self.work.call(root, spec, np.negative, summand), new
        args = (key[1], summand) if key[2] == 1 else (summand, key[1])
        return self.work.call(root, spec, key[0], *args), new

    def total(self, root: Var, summands: list[Any]) -> tuple[Any, list[Var]]:
        """Return the sum of numbers, or of arrays of one type."""
        numbers = [x for x in summands if type(x) is not Var]
        if len(numbers) == len(summands):
            return float(sum(map(float, numbers))), []
        key = tuple(summands)
        if key in self.sums:
            return self.sums[key], []
        spec = self.work.ops[summands[0]].spec
        total = summands[0]
        for x in summands[1:]:
            total = self.work.call(root, spec, np.add, total, x)
        self.sums[key] = total
        return total, [total]

    def rebuild(self, root: Var, terms: list[Any], why: str) -> None:
        """Let `root` add up other terms; its number stays with the last addition."""
        work, old = self.work, self.work.ops[root]
        if len(terms) == 1:
            op = work.ops[terms[0]]
            if isinstance(op, Call):
                work.exchange(root, why, op.fn, *op.args, **dict(op.kwargs))
        else:
            total = terms[0]
            for term in terms[1:-1]:
                total = work.call(root, old.spec, np.add, total, term)
            work.exchange(root, why, np.add, total, terms[-1])
        if isinstance(old, Call):
            for x in old.args:
                work.bury(x)
