"""Whether each rewrite of a pass keeps the value: replayed on recorded and on random inputs.

Every op that a pass changed is computed from the values that its operands had before the pass, so
that a fault shows at the rewrite that brought it in and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from yota.program import Stage
from yota.tape import Call, Input, Op, Rewritten, Tape, Var, format_op, tree_vars
from yotaview.checks.draws import drawn
from yotaview.checks.magnitude import (
    absolute,
    allowed,
    forms_in,
    is_exact,
    is_of_terms,
    is_product,
    magnitude,
    roundings,
)
from yotaview.checks.structure import faults
from yotaview.model.bounds import Bounds
from yotaview.model.replay import quiet
from yotaview.model.same import Distance, distance, same_bits
from yotaview.model.stages import StageReplay, replay_stage

TRIALS, SECONDS = 100, 2.0


@dataclass
class Verdict:
    """What is known of one rewrite: bit-equal, within its bound, or wrong, and where."""

    compared: int = 0
    recorded: bool = False
    ulp: float = 0.0
    bound: float = 0.0
    wrong: str = ""
    unknown: str = ""

    @property
    def sign(self) -> str:
        """The verdict as a glyph with a word beside it where there is room."""
        if self.wrong:
            return "✗"
        return "?" if not self.compared else "✓" if not self.ulp else "≈"

    @property
    def text(self) -> str:
        """The verdict in words."""
        if self.wrong:
            return f"✗ {self.wrong}"
        if not self.compared:
            return f"not replayed: {self.unknown or 'its values are not known'}"
        random = self.compared - self.recorded
        many = f"{random} random inputs" if random != 1 else "1 random input"
        on = f"recorded inputs and {many}" if self.recorded else many
        if not self.ulp:
            return f"bit-equal ✓  on {on}"
        return f"≈ within {self.ulp:.3g} of {self.bound:.3g} ulp ✓  on {on}"


@dataclass
class Trial:
    """One set of inputs, with the values of the recorded tape."""

    name: str
    values: dict[Var, Any]
    inputs: Sequence[Any]
    problems: Mapping[Var, str]


@dataclass
class StageCheck:
    """The rewrites of one stage with what is known of each, and faults of the stage as a whole."""

    stage: Stage
    before: Tape
    verdicts: list[Verdict] = field(default_factory=list)
    silent: dict[Var, Verdict] = field(default_factory=dict)
    faults: list[tuple[Var, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rewrites = self.stage.rewrites
        self.verdicts = [Verdict() for _ in rewrites]
        self.of = {r.var: k for k, r in enumerate(rewrites)}
        self.places = {r.var: r.into for r in rewrites if r.kind == "merged"}
        for var, text in faults(self.before, self.stage):
            if var in self.of:
                self.verdicts[self.of[var]].wrong = text
            else:
                self.faults.append((var, text))
        self.changed = [v for v, op in self.stage.tape if self.is_new(v, op)]
        self.shifted = {r.var for r in rewrites if r.var in self.stage.tape} - {*self.changed}

    def is_new(self, var: Var, op: Op) -> bool:
        """Tell whether an op is another one than before, renamed operands aside."""
        old = self.before.ops.get(var)
        if old is None or old is op:
            return old is None
        same_fn = getattr(old, "fn", None) is getattr(op, "fn", None)
        return not same_fn or format_op(var, old) != format_op(var, op)

    def verdict_of(self, var: Var) -> Verdict:
        """Return the verdict of the rewrite of an op; a change without a record has its own."""
        at = self.of.get(var)
        return self.verdicts[at] if at is not None else self.silent.setdefault(var, Verdict())


class Replays:
    """The trials of one call, made when they are asked for."""

    def __init__(
        self,
        tape: Tape,
        inputs: Sequence[Any],
        values: Mapping[Var, Any],
        problems: Mapping[Var, str],
        bounds: Callable[[], Bounds | None] = lambda: None,
    ) -> None:
        self.tape, self.inputs, self.bounds = tape, inputs, bounds
        self.first = Trial("recorded inputs", dict(values), inputs, problems)

    def trials(self) -> Iterator[Trial]:
        """Yield the recorded trial, then random ones without end."""
        yield self.first
        number = 0
        while any(isinstance(op, Input) for _, op in self.tape):
            number += 1
            inputs = drawn(self.inputs, number)
            values, problems = replay_stage(self.tape, inputs, None, self.bounds())
            yield Trial(f"random inputs {number}", values, inputs, problems)

    def step(self, check: StageCheck, trial: Trial) -> None:
        """Compare all rewrites of a stage on one trial, and add the values of its fresh ops."""
        with quiet():
            _Step(check, trial, self.bounds()).run()


class _Step:
    """One stage on one trial."""

    def __init__(self, check: StageCheck, trial: Trial, bounds: Bounds | None) -> None:
        self.check, self.trial = check, trial
        self.tape = check.stage.tape
        self.replay = StageReplay(self.tape, trial.inputs, bounds)
        self.replay.values = dict(trial.values)
        self.sizes: dict[Var, Any] = {}
        self.rounds: dict[Var, float] = {}
        self.products: set[Var] = set()

    def run(self) -> None:
        for var in self.check.changed:
            self.compute(var, self.tape[var])
        for rewrite in self.check.stage.rewrites:
            self.moved(rewrite)
        self.results()

    def compute(self, var: Var, op: Op) -> None:
        """Compute a new op from the values before, and compare it with the one it replaces."""
        known = var in self.trial.values
        try:
            value = self.replay._compute(var, op)
        except Exception as error:  # a warning or refusal of one op says nothing of the others
            if known and var in self.check.before:
                verdict = self.check.verdict_of(var)
                verdict.unknown = verdict.unknown or f"{type(error).__name__}: {error}"
            return
        if isinstance(op, Call):
            self.measure(var, op, value)
        if var not in self.check.before:
            self.trial.values[var] = self.replay.values[var] = value
        elif known:
            self.compare(var, var, value)

    def measure(self, var: Var, op: Call, value: Any) -> None:
        """Note the magnitudes of what an op adds up, and the roundings on the way to it."""
        fresh = [v for v in op.operands if v in self.rounds and v not in self.check.before]
        self.rounds[var] = roundings(op, self.replay.values, value)
        self.rounds[var] += sum(self.rounds[v] for v in dict.fromkeys(fresh))
        self.sizes[var] = magnitude(op, self.size_of, value)
        if any(v in self.products for v in fresh) or (
            var not in self.check.before and is_product(op)
        ):
            self.products.add(var)

    def size_of(self, var: Var) -> Any:
        if var in self.sizes and var not in self.check.before:
            return self.sizes[var]
        return absolute(self.replay.values[var])

    def compare(self, var: Var, into: Var, value: Any) -> None:
        """Compare what stands for an op now with its value before."""
        verdict, before = self.check.verdict_of(var), self.trial.values[var]
        why = self.why(var)
        names = forms_in(why) if self.check.stage.name == "fuse" else []
        if names and into in self.products:
            names.append("products")  # what a form made anew, another one turned into a product
        if same_bits(before, value):
            self.count(verdict)
            return
        if not names or is_exact(names):
            self.wrong(verdict, distance(before, value))
            return
        found, bound = self.apart(names, into, before, value)
        if found.ulp > bound or np.isnan(found.ulp):
            self.wrong(verdict, found, bound)
        else:
            self.count(verdict)
            if found.ulp > verdict.ulp or not verdict.bound:
                verdict.ulp, verdict.bound = max(found.ulp, verdict.ulp), bound

    def apart(self, names: list[str], into: Var, before: Any, value: Any) -> tuple[Distance, float]:
        """Return how far two values are apart, and how far they may be by the bound of a form."""
        rounds = self.rounds.get(into, 1.0)
        scale = self.sizes.get(into) if is_of_terms(names) else absolute(before)
        found = distance(before, value, scale)
        return found, allowed(names, rounds)

    def why(self, var: Var) -> str:
        at = self.check.of.get(var)
        return "" if at is None else self.check.stage.rewrites[at].why

    def count(self, verdict: Verdict) -> None:
        verdict.compared += 1
        verdict.recorded |= self.trial.name.startswith("recorded")

    def wrong(self, verdict: Verdict, found: Distance, bound: float = 0.0) -> None:
        verdict.compared += 1
        if verdict.wrong:
            return
        if found.what:
            verdict.wrong = f"{found.what}, on {self.trial.name}"
            return
        place = f"element {list(found.index)}: " if found.index else ""
        numbers = f"{_number(found.first)} before, {_number(found.second)} behind"
        far = f", {found.ulp:.3g} ulp apart" if np.isfinite(found.ulp) and found.ulp else ""
        limit = f" where {bound:.3g} are allowed" if bound else ""
        verdict.wrong = f"{place}{numbers}{far}{limit}, on {self.trial.name}"

    def moved(self, rewrite: Rewritten) -> None:
        """Compare an op that another one stands for; one that is left out needs no value."""
        verdict = self.check.verdict_of(rewrite.var)
        into, values = rewrite.into, self.trial.values
        if rewrite.kind == "merged" and into is not None:
            if rewrite.var in values and into in values:
                self.compare(rewrite.var, into, values[into])
            else:
                verdict.unknown = self.trial.problems.get(rewrite.var, "")
        elif rewrite.kind in ("dropped", "inside", "inlined"):
            # nothing reads it: what stands there instead is compared under its own number
            self.count(verdict)
        elif rewrite.var in self.check.shifted:
            # the same op at another place: one before its operands is a fault of the stage
            self.count(verdict)

    def results(self) -> None:
        """Compare what is handed out where that is another op than before."""
        before, behind = self.check.before, self.tape
        for old_tree, new_tree in (
            (before.result, behind.result),
            *zip(before.gradients or (), behind.gradients or (), strict=False),
        ):
            for old, new in zip(tree_vars(old_tree), tree_vars(new_tree), strict=False):
                values = self.trial.values
                if old == new or self.check.places.get(old) == new or old not in values:
                    continue
                if new in values and distance(values[old], values[new]).ulp > 0:
                    text = f"result {old} is handed out as {new}, which has another value"
                    if (old, text) not in self.check.faults:
                        self.check.faults.append((old, text))


def _number(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def verify(
    stages: Sequence[Stage],
    replays: Replays,
    *,
    trials: int = TRIALS,
    seconds: float = SECONDS,
    stopped: Callable[[], bool] = lambda: False,
) -> list[StageCheck]:
    """Check every rewrite of a program on recorded inputs, then on random ones within a budget."""
    recorded = max((k for k, s in enumerate(stages) if s.name in ("trace", "reverse")), default=0)
    later = [s for s in stages[recorded + 1 :] if s.name not in ("buffers", "code")]
    befores = [stages[recorded].tape, *(s.tape for s in later)]
    checks = [StageCheck(s, b) for s, b in zip(later, befores, strict=False)]
    began = time.perf_counter()
    for number, trial in enumerate(replays.trials()):
        for check in checks:
            if stopped():
                return checks
            replays.step(check, trial)
        if number >= trials or time.perf_counter() - began > seconds:
            break
    return checks
