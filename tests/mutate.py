"""Put faults into the rules, one at a time, and see whether the tests of the rules notice.

    python tests/mutate.py [--only WORD] [--jobs N]

Exits with 1 where a fault survives that is not on the list of those that change nothing.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import yota.rules
from tests.mutation.answers import answer_mutants
from tests.mutation.checks import collect, observe
from tests.mutation.sources import source_mutants
from tests.mutation.suite import FAULTS, Outcome, Suite

RULES = Path(yota.rules.__file__).parent
# What holds no rules, but the table itself or what is recorded of a call.
NOT_RULES = ("__init__", "functional", "namespace", "lazily", "registry", "composed")


def main(argv: list[str] | None = None) -> int:
    """Run and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only mutants with this word in their name")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args(argv)
    began = time.monotonic()
    outcomes = Run(options.only).outcomes(options.jobs)
    print(report(outcomes, time.monotonic() - began))
    return int(any(o.fate in FAULTS for o in outcomes))


class Run:
    """All mutants of the rules, against the tests of the rules."""

    def __init__(self, only: str = "") -> None:
        self.only = only
        files = [*RULES.rglob("*.py"), *(RULES.parent / "scipy").rglob("*.py")]
        self.files = sorted(f for f in files if f.stem not in NOT_RULES)
        checks = collect()
        quick = [c for c in checks if not c.is_slow]
        observe(quick, set(map(str, self.files)))
        self.suite = Suite(quick, [c for c in checks if c.is_slow])

    def outcomes(self, jobs: int = 1) -> list[Outcome]:
        """Return what became of all mutants, each process taking its share."""
        if jobs == 1:
            return self.share(0, 1)
        # Forked, for what was observed are the very functions of this process.
        with multiprocessing.get_context("fork").Pool(jobs, inherit, (self,)) as pool:
            parts = pool.starmap(inherited_share, [(k, jobs) for k in range(jobs)], 1)
        return sorted(itertools.chain(*parts), key=lambda o: o.name)

    def share(self, k: int, jobs: int) -> list[Outcome]:
        """Return what became of every mutant of a share."""
        table = itertools.islice(answer_mutants(), k, None, jobs)
        sources = source_mutants(self.files, k, jobs)
        wanted = (m for m in itertools.chain(sources, table) if self.only in m.name)
        fates = self.told(map(self.suite.fate_of, wanted))
        return list(fates)

    def told(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """Pass outcomes on; say now and then how far it is, and at once what survived."""
        for k, outcome in enumerate(outcomes, 1):
            if outcome.fate == "survived":
                print(f"survived: {outcome.name}", file=sys.stderr, flush=True)
            if k % 500 == 0:
                print(f"mutate: {k:,} mutants done", file=sys.stderr, flush=True)
            yield outcome


_inherited: list[Run] = []


def inherit(run: Run) -> None:
    """Keep the run of the process that this one was forked from."""
    _inherited.append(run)


def inherited_share(k: int, jobs: int) -> list[Outcome]:
    """Return a share of the run that was inherited."""
    return _inherited[0].share(k, jobs)


def report(outcomes: list[Outcome], seconds: float) -> str:
    """Return the survivors by name, and the figures."""
    fates = Counter(o.fate for o in outcomes)
    lines = [f"{o.fate}: {o.name}" for o in outcomes if o.fate in FAULTS]
    figures = ", ".join(f"{fates[f]:,} {f}" for f in sorted(fates))
    return "\n".join([*lines, f"{len(outcomes):,} mutants in {seconds:.0f} s: {figures}"])


if __name__ == "__main__":
    sys.exit(main())
