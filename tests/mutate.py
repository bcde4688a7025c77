"""Put faults into the rules, one at a time, and see whether the tests of the rules notice.

    python tests/mutate.py [--only WORD] [--tests WORD] [--jobs N] [--journal FILE]

A fault survives where no test notices it, and it is not on the list of those that change nothing.
Exits with 1 where one does.  With a journal, a run that was broken off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import yota.rules
from tests.mutation.answers import answer_mutants
from tests.mutation.checks import Check, collect, observe
from tests.mutation.equivalent import EQUIVALENT, bare_name
from tests.mutation.journal import Journal
from tests.mutation.mutant import Mutant
from tests.mutation.sources import source_mutants
from tests.mutation.suite import FAULTS, Outcome, Suite

RULES = Path(yota.rules.__file__).parent
# What holds no rules, but the table itself or what is recorded of a call.
NOT_RULES = ("__init__", "functional", "namespace", "lazily", "registry", "composed")
# The work is cut finer than there are processes, for some of it takes longer.
CUTS = 8


def main(argv: list[str] | None = None) -> int:
    """Run and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only faults with this word in their name")
    parser.add_argument("--tests", default="", help="only tests with this word in their name")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--journal", type=Path, help="note what was caught here, and skip it")
    options = parser.parse_args(argv)
    began = time.monotonic()
    checks = [c for c in collect() if options.tests in c.name]
    outcomes = Run(checks, options.only, Journal(options.journal)).outcomes(options.jobs)
    print(report(outcomes, time.monotonic() - began))
    idle = [] if options.only or options.tests else unmet(outcomes)
    for name in idle:
        print(f"excepted, but there is no such fault: {name}")
    return int(bool(idle) or any(o.fate in FAULTS for o in outcomes))


class Run:
    """All faults of the rules, against some tests of the rules."""

    def __init__(self, checks: list[Check], only: str = "", journal: Journal | None = None) -> None:
        self.only, self.journal = only, journal or Journal()
        self.files = rule_files()
        quick = [c for c in checks if not c.is_slow]
        observe(quick, set(map(str, self.files)))
        self.suite = Suite(quick, [c for c in checks if c.is_slow])

    def outcomes(self, jobs: int = 1) -> list[Outcome]:
        """Return what became of all faults, each process taking one share after the other."""
        if jobs == 1:
            return self.share(0, 1)
        shares = jobs * CUTS
        # Forked, for what was observed are the very functions of this process.
        fork = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(jobs, fork, inherit, (self,)) as pool:
            parts = list(pool.map(inherited_share, range(shares), [shares] * shares))
        return sorted(itertools.chain(*parts), key=lambda o: o.name)

    def share(self, k: int, shares: int) -> list[Outcome]:
        """Return what became of every fault of a share."""
        table = itertools.islice(answer_mutants(), k, None, shares)
        sources = source_mutants(self.files, k, shares)
        wanted = (m for m in itertools.chain(sources, table) if self.only in m.name)
        return list(self.told(map(self.fate_of, wanted)))

    def fate_of(self, mutant: Mutant) -> Outcome:
        """Return what became of a fault, from the journal if it was caught before."""
        known = self.journal.fate_of(mutant.name)
        if known is not None:
            return Outcome(mutant.name, known)
        outcome = self.suite.fate_of(mutant)
        if outcome.fate not in FAULTS:
            self.journal.note(outcome)
        return outcome

    def told(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """Pass outcomes on; say now and then how far it is, and at once what survived."""
        for k, outcome in enumerate(outcomes, 1):
            if outcome.fate == "survived":
                print(f"survived: {outcome.name}", file=sys.stderr, flush=True)
            if k % 200 == 0:
                print(f"mutate: {k:,} faults of a share done", file=sys.stderr, flush=True)
            yield outcome


def rule_files() -> list[Path]:
    """Return the modules of rules."""
    files = [*RULES.rglob("*.py"), *(RULES.parent / "scipy").rglob("*.py")]
    return sorted(f for f in files if f.stem not in NOT_RULES)


def unmet(outcomes: list[Outcome]) -> list[str]:
    """Return the exceptions that name none of these faults."""
    names = {bare_name(o.name) for o in outcomes}
    return [n for group in EQUIVALENT.values() for n in group if n not in names]


_inherited: list[Run] = []


def inherit(run: Run) -> None:
    """Keep the run of the process that this one was forked from."""
    _inherited.append(run)


def inherited_share(k: int, shares: int) -> list[Outcome]:
    """Return a share of the run that was inherited."""
    return _inherited[0].share(k, shares)


def report(outcomes: list[Outcome], seconds: float) -> str:
    """Return the survivors by name, and the figures."""
    fates = Counter(o.fate for o in outcomes)
    lines = [f"{o.fate}: {o.name}" for o in outcomes if o.fate in FAULTS]
    survive = sum(fates[f] for f in FAULTS)
    planted = fates["killed"] + survive
    lines.append(
        f"{planted:,} faults planted, {fates['killed']:,} caught, {survive:,} survive "
        f"({seconds:.0f} s; left out: {fates['equivalent']:,} that change no answer, "
        f"{fates['without effect']:,} that no rule ran into)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
