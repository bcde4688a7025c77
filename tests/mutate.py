"""Put faults into the rules, one at a time, and see whether the tests of the rules notice.

    python tests/mutate.py [--only WORD] [--tests WORD] [--jobs N] [--journal FILE]

A fault survives where no test notices it, and it is not on the list of those that change nothing.
Exits with 1 where one does.  With a journal, a run that was broken off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator
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
from tests.mutation.watched import Step, watched

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
        shares = jobs * CUTS
        pieces = [functools.partial(self.share, k, shares) for k in range(shares)]
        answers = itertools.chain(*(a.items() for a in watched(pieces, jobs, self.lost)))
        return sorted((Outcome(name, fate) for name, fate in answers), key=lambda o: o.name)

    def share(self, k: int, shares: int, settled: set[str]) -> Iterator[Step]:
        """Yield the names of the faults of a share and what becomes of each, but of the settled."""
        table = itertools.islice(answer_mutants(), k, None, shares)
        sources = source_mutants(self.files, k, shares)
        for n, mutant in enumerate(itertools.chain(sources, table), 1):
            if self.only in mutant.name and mutant.name not in settled:
                yield mutant.name
                for fate in self.fates_of(mutant):
                    yield fate if fate is None else (mutant.name, fate)
            if n % 200 == 0:
                print(f"mutate: {n:,} faults of share {k} done", file=sys.stderr, flush=True)

    def fates_of(self, mutant: Mutant) -> Iterator[str | None]:
        """Yield None while a fault is looked for, then what became of it, if need be."""
        known = self.journal.fate_of(mutant.name)
        if known is not None:
            yield known
            return
        for fate in self.suite.fates_of(mutant):
            yield fate
        if fate not in FAULTS:
            self.journal.note(Outcome(mutant.name, fate))
        elif fate == "survived":
            print(f"survived: {mutant.name}", file=sys.stderr, flush=True)

    def lost(self, name: str) -> str:
        """Say what became of a fault at which the process died or did not come to an end."""
        print(f"ended by force, and so noticed: {name}", file=sys.stderr, flush=True)
        self.journal.note(Outcome(name, "killed"))
        return "killed"


def rule_files() -> list[Path]:
    """Return the modules of rules."""
    files = [*RULES.rglob("*.py"), *(RULES.parent / "scipy").rglob("*.py")]
    return sorted(f for f in files if f.stem not in NOT_RULES)


def unmet(outcomes: list[Outcome]) -> list[str]:
    """Return the exceptions that name none of these faults."""
    names = {bare_name(o.name) for o in outcomes}
    return [n for group in EQUIVALENT.values() for n in group if n not in names]


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
