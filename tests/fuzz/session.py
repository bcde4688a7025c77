"""One run of the fuzzer: programs one after another, progress, failures made small."""

from __future__ import annotations

import inspect
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from tests.fuzz.build import SUBJECTS, build
from tests.fuzz.failure import Failure, Refused
from tests.fuzz.families.table import MAKERS
from tests.fuzz.minimise import minimise
from tests.fuzz.peers import Peer
from tests.fuzz.program import Leaf, Program
from tests.fuzz.slopes import other_leaves
from tests.fuzz.verify import Report, examine
from yota.rules.registry import VJP, zero

EVERY = 5.0
SECOND = 5


class Session:
    """A run over the seeds from `seed` on, bounded by number, time and failures."""

    def __init__(
        self,
        seed: int,
        programs: int,
        seconds: float = 600.0,
        most_failures: int = 10,
        peers: Sequence[Peer] = (),
        out: TextIO | None = None,
    ) -> None:
        self.seeds = range(seed, seed + programs)
        self.seconds, self.most_failures, self.peers = seconds, most_failures, peers
        self.out = out or sys.stdout
        self.began = self.told = time.monotonic()
        self.done, self.compared, self.left_out, self.guarded = 0, 0, 0, 0
        self.agreed, self.disputed = 0, 0
        self.alone: list[int] = []
        self.refused: Counter[str] = Counter()
        self.reached: Counter[tuple[Callable[..., Any], int | str]] = Counter()
        self.failures: list[tuple[Program, Failure]] = []

    def run(self) -> None:
        """Examine programs until the number, the time or the failures are full."""
        for seed in self.seeds:
            if self.elapsed > self.seconds or len(self.failures) >= self.most_failures:
                break
            self.one(build(seed))
            self.progress()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def one(self, program: Program) -> None:
        """Examine one program; one that fails is made small and printed."""
        self.done += 1
        try:
            self.note(program, self.examine(program))
        except Refused as refused:
            self.refused[str(refused).split(":", 2)[-1].strip()[:90]] += 1
        except Failure as failure:
            small, failure = self.smallest(program, failure)
            self.failures.append((small, failure))
            self.tell(f"\n# program {program.seed} fails\n# {failure}\n{listing(small, failure)}")

    def examine(self, program: Program) -> Report:
        return examine(program, self.peers, second=program.seed % SECOND == 0)

    def note(self, program: Program, report: Report) -> None:
        self.compared += report.count.compared
        self.left_out += report.count.left_out
        self.guarded += report.guarded
        self.agreed += report.agreed
        self.disputed += report.disputed
        self.alone += [program.seed] * report.count.alone
        self.reached.update(report.reached)

    def smallest(self, program: Program, failure: Failure) -> tuple[Program, Failure]:
        """Return the smallest program found that fails in the same way, and its failure."""
        found = {"last": failure}

        def fails(candidate: Program) -> bool:
            try:
                self.examine(candidate)
            except Failure as other:
                if other.kind == failure.kind:
                    found["last"] = other
                    return True
            except Refused:
                pass
            return False

        return minimise(program, fails), found["last"]

    def progress(self) -> None:
        """Print a line now and then."""
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            self.tell(
                f"{self.done:,} of {len(self.seeds):,} programs, {len(self.failures)} failures, "
                f"{self.elapsed:.0f} s"
            )

    def tell(self, text: str) -> None:
        print(text, file=self.out, flush=True)

    def summary(self) -> str:
        """Return the figures of the run."""
        first, elements = self.seeds.start, self.compared + self.left_out
        functions = {fn for fn, _ in self.reached}
        lines = [
            f"{self.done:,} programs (seeds {first} to {first + self.done - 1}) "
            f"in {self.elapsed:.0f} s: {len(self.failures)} failures",
            f"{elements:,} gradient elements, {self.left_out:,} left out at kinks and poles",
            f"{len(functions)} of {len(VJP)} functions reached, in {len(self.reached)} arguments; "
            f"{self.guarded:,} tapes met another branch elsewhere",
        ]
        if self.peers:
            names = " and ".join(p.name for p in self.peers)
            lines.append(
                f"{self.agreed:,} gradients agree with {names}, {self.disputed:,} do not, "
                "but with differences"
            )
        if self.alone:
            lines.append(f"off at their very point alone: seeds {self.alone[:20]}")
        lines += [f"refused {n} times: {text}" for text, n in self.refused.most_common()]
        missing = sorted(set(rules_of(SUBJECTS)) - set(self.reached), key=str)
        lines += [f"not reached: {MAKERS[fn][0]}, argument {k}" for fn, k in missing]
        return "\n".join(lines)


def rules_of(functions: Sequence[Callable[..., Any]]) -> list[tuple[Callable[..., Any], int | str]]:
    """Return function and argument of each rule that can contribute."""
    found: list[tuple[Callable[..., Any], int | str]] = []
    for fn in functions:
        vjp = VJP[fn]
        placed = {k for k, rule in enumerate(vjp.rules) if rule not in (None, zero)}
        found += [(fn, k) for k in placed]
        # What may stand at a place is recorded there, however it was given.
        found += [(fn, k) for k in vjp.keywords if place_of(fn, k) not in placed]
    return found


def place_of(fn: Callable[..., Any], name: str) -> int | None:
    """Return the place of a parameter that may be given by place."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return None
    placed = [k for k, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    return placed.index(name) if name in placed else None


ENDINGS = {
    "gradient": "value, g = yota.grad(f, *args)\nprint(*g)\nyota.check_grads(f, *args)",
    "second": "yota.check_grads(f, *args, order=2)",
    "value": "print(yota.grad(f, *args)[0], f(*args))",
    "replay": "print(yota.grad(f, *args))\nprint(yota.gradtape(f, *args).play(*args))",
    "pass": "tape = yota.gradtape(f, *args)\nprint(tape.play(*args))\n"
    "print(tape.compile(passes={passes!r}, form='bound')(*args))",
    "code": "tape = yota.gradtape(f, *args)\nprint(tape.play(*args))\n"
    "print(tape.compile(form={form!r})(*args))",
    "simplegrad": "print(yota.grad(f, *args))\nprint(yota.simplegrad(f, *args)(*args))",
}


ELSEWHERE = """\
yota.grad(f, *args, exact=True)
tape = yota.gradtape(f, *args)
print(f(*others), *yota.grad(f, *others, exact=True))
print(*yota.grad(lambda *xs: f(*xs), *others, exact=True))
for run in (tape.play, tape.compile(exact=True), yota.simplegrad(f, *args)):
    print(run(*others))"""


def elsewhere_of(program: Program) -> str:
    """Return source that makes the other arguments that tape and code are tried with."""
    leaves = [Leaf(np.asarray(x), "C" if isinstance(x, np.ndarray) else leaf.layout)
              for x, leaf in zip(other_leaves(program), program.leaves, strict=True)]  # fmt: skip
    texts = (a.text() for a in program.with_leaves(leaves).arguments)
    return f"others = ({''.join(f'{t}, ' for t in texts)})\n"


def listing(program: Program, failure: Failure) -> str:
    """Return a failing program as a script that shows the failure."""
    kind, *rest = failure.kind.split()
    ending = ENDINGS.get(kind, "value, g = yota.grad(f, *args)\nprint(value, *g)")
    if "elsewhere" in rest:
        ending = elsewhere_of(program) + ELSEWHERE
    word = rest[0] if rest else ""
    again = f"\n# or: examine(build({program.seed})) of tests.fuzz"
    return program.listing(ending.format(passes=(word,), form=word) + again)
