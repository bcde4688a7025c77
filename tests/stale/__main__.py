"""Run sequences: python -m tests.stale --sequences 2000 --first 0."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import yota
from tests.stale.functions import Sequence
from tests.stale.world import World

CALLS = 8


@dataclass
class Outcome:
    """What came of some sequences."""

    calls: int = 0
    hits: int = 0
    raised: int = 0
    quick: int = 0
    changed: int = 0
    wrong: list[str] = field(default_factory=list)
    slow: Counter[str] = field(default_factory=Counter)


def play(seed: int, outcome: Outcome) -> None:
    """Play one sequence in four worlds: with the cache, plainly, traced anew, and by a sibling."""
    sequence = Sequence(seed)
    ours, plain, traced, other = worlds = [World(sequence.source) for _ in range(4)]
    history, why, last, hits = [], "", None, yota.cache_info().hits
    for _ in range(CALLS):
        change, arguments = sequence.change(), sequence.next_arguments()
        for world in worlds:
            called(world.do, change)
        history += [change, f"f{arguments}"]
        expected = called(plain.call, arguments)
        slope = called(fresh_slope, traced, arguments)
        program, found = grad_of(ours, arguments, sequence.exact)
        outcome.calls += 1
        outcome.raised += isinstance(expected, str)
        outcome.changed += not same(expected, last)
        last, why = expected, program.why_retraced if program is not None else why
        asked = called(by_sibling, other, arguments, seed % 2 == 0, expected)
        state = plain.digest()
        fault = compare(found, expected, slope, ours.digest(), state)
        fault = fault or compare(asked, expected, slope, other.digest(), state)
        if fault:
            outcome.wrong.append(report(seed, sequence, history, fault))
            break
    outcome.hits += yota.cache_info().hits - hits
    outcome.quick += not why
    if why:
        outcome.slow[why.split(": ", 1)[-1][:60]] += 1


def called(function: Any, *args: Any) -> Any:
    """Return what a call gives, or the name of what it raises."""
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__


def fresh_slope(world: World, arguments: str) -> Any:
    """Return the gradient of the first argument by a trace of its own, without any cache."""
    args = world.value(arguments)
    tape = yota.gradtape(world.space["f"], *args)
    return tape.play(*args)[1][0]


def by_sibling(world: World, arguments: str, pull: bool, value: Any) -> Any:
    """Return value and gradient by a pullback, or by a Jacobian, which comes without the value."""
    args = world.value(arguments)
    if not pull:
        return value, yota.jacobian(world.space["f"])(*args)
    found, pullback = yota.vjp(world.space["f"], *args)
    return found, pullback(1.0)[0]


def grad_of(world: World, arguments: str, exact: bool) -> tuple[Any, Any]:
    """Return the program that answered, and value and gradient or the type of an error."""
    try:
        value, g = yota.grad(world.space["f"], *world.value(arguments), exact=exact)
    except Exception as error:
        return None, type(error).__name__
    return g.program, (value, g[0])


def compare(found: Any, value: Any, slope: Any, ours: list[str], plain: list[str]) -> str:
    """Return what differs, '' for nothing."""
    if isinstance(found, str):
        return "" if found == value else f"it raised {found}, not {value}"
    if not same(found[0], value):
        return f"value {found[0]!r}, not {value!r}"
    if not same(found[1], slope):
        return f"gradient {found[1]!r}, not {slope!r}"
    differing = [f"{a}   (plainly: {b})" for a, b in zip(ours, plain, strict=False) if a != b]
    if differing or len(ours) != len(plain):
        return "state: " + "; ".join(differing[:3] or ["of another size"])
    return ""


def same(a: Any, b: Any) -> bool:
    """Tell whether two results are equal, but for the last places."""
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return bool(a is b or a == b)
    return bool(np.allclose(a, b, rtol=1e-10, atol=1e-10, equal_nan=True))


def report(seed: int, sequence: Sequence, history: list[str], fault: str) -> str:
    """Return a failure with all that is needed to see it."""
    source = sequence.source
    f = source[source.index("    cell, cells") : source.index("    def set_cell")]
    return f"sequence {seed}: {fault}\n{f}" + "\n".join(f"  {line}" for line in history)


def main(argv: list[str]) -> int:
    """Run the sequences that are asked for and say what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.stale")
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(argv)
    outcome = Outcome()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(options.first, options.first + options.sequences):
            play(seed, outcome)
            if seed % 50 == 0:
                yota.reset()
                print(f"sequence {seed}: {len(outcome.wrong)} stale", file=sys.stderr, flush=True)
    print("\n\n".join(outcome.wrong[:10]))
    print(
        f"{options.sequences:,} sequences, {len(outcome.wrong)} stale; {outcome.calls:,} calls, "
        f"{outcome.quick} functions on the quick road, {outcome.hits} calls from the cache, "
        f"{outcome.changed} with another answer than the last, {outcome.raised} raised"
    )
    for why, count in outcome.slow.most_common(12):
        print(f"  {count:5d}  {why}")
    return bool(outcome.wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
