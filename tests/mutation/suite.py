"""Which tests see a mutant, and what becomes of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.mutation.answers import TELLING
from tests.mutation.checks import Check
from tests.mutation.equivalent import reason_for
from tests.mutation.mutant import Mutant

# So many tests are tried at the most.
MOST, MOST_SLOW = 300, 40
# These are tried in any case, as are the samples of a function whose entry is at fault.
CHOSEN = ("told_apart", "quiet", "decisions", "edges")
FAULTS = ("survived", "unreached")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, equivalent, unreached or without effect."""

    name: str
    fate: str


class Suite:
    """The tests: quick ones, of which it is known what they run, and slow ones."""

    def __init__(self, quick: list[Check], slow: list[Check]) -> None:
        self.quick: dict[Any, list[Check]] = {}
        for check in sorted(quick, key=lambda c: c.seconds):
            for touched in check.touched:
                self.quick.setdefault(touched, []).append(check)
        self.slow: dict[str, list[Check]] = {}
        for check in slow:
            self.slow.setdefault(check.sample, []).append(check)

    def fate_of(self, mutant: Mutant) -> Outcome:
        """Run the tests that reach a mutant until one notices."""
        *_, fate = self.fates_of(mutant)
        return Outcome(mutant.name, str(fate))

    def fates_of(self, mutant: Mutant) -> Iterator[str | None]:
        """Yield None before each test that reaches a mutant, at last what became of it."""
        if reason_for(mutant.name):
            yield "equivalent"
            return
        found = [c for touched in mutant.touched for c in self.quick.get(touched, ())]
        reaching = list(dict.fromkeys(found))
        killed = False
        with mutant.active():
            for check in self.in_order(mutant, reaching):
                yield None
                killed = not check.passes()
                if killed:
                    break
        yield "killed" if killed else self.fate_unnoticed(mutant, reaching)

    def fate_unnoticed(self, mutant: Mutant, reaching: list[Check]) -> str:
        """Return what became of a mutant that no test noticed."""
        if not reaching:
            return "unreached" if mutant.is_of_a_rule else "without effect"
        telling = mutant.change.startswith(TELLING)
        if mutant.took_effect is not None and not mutant.took_effect() and not telling:
            return "without effect"
        return "survived"

    def in_order(self, mutant: Mutant, reaching: list[Check]) -> Iterator[Check]:
        """Yield tests, the quick ones first; of very many a fair share."""
        if len(reaching) > MOST:
            words = (*CHOSEN, f"[{mutant.place.rpartition('.')[2]}-")
            chosen = [c for c in reaching if any(word in c.name for word in words)]
            reaching = [*chosen, *random.Random(0).sample(reaching, MOST)]
            reaching.sort(key=lambda c: c.seconds)
        if "mask" in mutant.change:
            reaching.sort(key=lambda c: "masks" not in c.name)
        yield from reaching
        samples = dict.fromkeys(c.sample for c in reaching if c.sample)
        slow = [c for sample in samples for c in self.slow.get(sample, ())]
        yield from random.Random(0).sample(slow, min(len(slow), MOST_SLOW))
