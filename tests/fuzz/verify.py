"""What must hold of every program: value, gradients, replay, passes, code."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import yota
from tests.fuzz.compare import Count, far
from tests.fuzz.failure import Failure, must_equal, telling
from tests.fuzz.peers import Peer
from tests.fuzz.program import Program
from tests.fuzz.reach import reached
from tests.fuzz.slopes import against_differences, compare_with, other_leaves, second_derivative
from yota.passes import PIPELINE, optimise
from yota.structs import flatten, is_float
from yota.tape import Tape


@dataclass
class Report:
    """What was seen of a program that holds."""

    count: Count = field(default_factory=Count)
    reached: set[tuple[Callable[..., Any], int | str]] = field(default_factory=set)
    guarded: int = 0
    agreed: int = 0
    disputed: int = 0

    def ask(self, peer: Peer, program: Program, gradients: tuple[Any, ...]) -> None:
        """Compare with another engine; what differences have settled is its own affair."""
        text = compare_with(program, peer, gradients)
        if text and self.count.left_out:
            raise Failure(f"peer {peer.name}", text)
        self.agreed += text is None
        self.disputed += bool(text)


def examine(program: Program, peers: Sequence[Peer] = (), second: bool = False) -> Report:
    """Raise Failure for the first promise that a program breaks; return what was seen.

    Refused is raised where a rule says why it has no answer.
    """
    report = Report()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = program.function()
        want = gradient_of(program, f)
        with telling("replay"):
            tape = yota.gradtape(f, *program.args())
        report.reached |= reached(tape)
        runs = runs_of(tape, f, program)
        same_everywhere(program, tape, runs, want)
        forms_are_near(program, f, tape, want)
        report.guarded = elsewhere(program, f, runs)
        against_differences(program, want[1], report.count)
        if second:
            second_derivative(program, report.count)
        for peer in peers:
            report.ask(peer, program, want[1])
    return report


def gradient_of(program: Program, f: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return value and gradients; the value is the plain one, the arguments stay as they were."""
    plain = f(*program.args())
    args, before = program.args(), program.args()
    with telling("grad"):
        value, g = yota.grad(f, *args, exact=True)
    must_equal("value", value, plain)
    must_equal("arguments", args, before)
    gradients = tuple(g)
    for arg, got in zip(before, gradients, strict=True):
        for x, dx in zip(*leaves_of(arg, got), strict=True):
            fits = np.shape(x) == np.shape(dx) and (
                type(x) is type(dx)
                and np.asarray(x).dtype.newbyteorder("=") == np.asarray(dx).dtype.newbyteorder("=")
            )
            if not fits:
                raise Failure("structure", f"gradient {dx!r} of {x!r}")
    return value, gradients


def leaves_of(arg: Any, gradient: Any) -> tuple[list[Any], list[Any]]:
    """Return the floating leaves of an argument and of its gradient."""
    return flatten(arg, leaf=is_float)[0], flatten(gradient, leaf=is_float)[0]


Run = Callable[..., Any]


def runs_of(tape: Tape, f: Any, program: Program) -> dict[str, Run]:
    """Return all the ways to run a tape again that change no bit, by name."""
    runs: dict[str, Run] = {"replay": tape.play}
    for form in ("lean", "bound"):
        with telling(f"code {form}"):
            runs[f"code {form}"] = tape.compile(form=form, exact=True)
    with telling("simplegrad"):
        plain = yota.simplegrad(f, *program.args())

    def simple(*args: Any) -> Any:
        value, *gradients = plain(*args)
        return value, tuple(gradients)

    runs["simplegrad"] = simple
    return runs


def same_everywhere(program: Program, tape: Tape, runs: dict[str, Run], want: Any) -> None:
    """Check replay, both forms of code and the plain function, and each pass alone and in order."""
    for name, run in runs.items():
        for _ in range(1 + name.startswith("code")):
            with telling(name):
                must_equal(name, run(*program.args()), want)
    for passes in (*((name,) for name in PIPELINE), PIPELINE):
        kind = "pass" if len(passes) == 1 else "stage"
        with telling(f"{kind} {passes[0]}"):
            stages = optimise(tape, passes, exact=True)
        for stage in stages:
            with telling(f"{kind} {stage.name}"):
                must_equal(f"{kind} {stage.name}", stage.tape.play(*program.args()), want)


def forms_are_near(program: Program, f: Any, tape: Tape, want: Any) -> None:
    """Check what may round otherwise, the default: a first call, a second one, and the code."""
    for name, run in (("forms first", None), ("forms again", None), ("forms code", tape.compile)):
        with telling(name):
            if run is None:
                value, g = yota.grad(f, *program.args())
                got = (value, tuple(g))
            else:
                got = run()(*program.args())
        text = far(got, want, program.eps)
        if text is not None:
            raise Failure(name, text)


def elsewhere(program: Program, f: Any, runs: dict[str, Run]) -> int:
    """Check that tape and code answer for other arguments as a new trace does, or all raise."""
    leaves = other_leaves(program)
    try:
        plain = f(*program.args(leaves))
    except Exception:
        return 0
    want = grad_elsewhere(program, f, leaves, plain)
    answered = {}
    for name, run in runs.items():
        try:
            with telling(f"{name} elsewhere"):
                answer = run(*program.args(leaves))
        except Failure as failure:
            if not isinstance(failure.__cause__, yota.GuardError | ValueError):
                raise
            answered[name] = False
            continue
        answered[name] = True
        must_equal(f"{name} elsewhere", answer, want)
    if len(set(answered.values())) > 1:
        raise Failure("guards elsewhere", f"not all hold: {answered}")
    return int(not answered["replay"])


def grad_elsewhere(program: Program, f: Any, leaves: list[Any], plain: Any) -> Any:
    """Return value and gradients for other arguments, as of a function never seen before."""
    fresh = program.function()
    with telling("grad elsewhere"):
        value, g = yota.grad(f, *program.args(leaves), exact=True)
        new, new_g = yota.grad(fresh, *program.args(leaves), exact=True)
    must_equal("value elsewhere", value, plain)
    must_equal("gradient elsewhere", (value, tuple(g)), (new, tuple(new_g)))
    with telling("forms elsewhere"):
        near, near_g = yota.grad(f, *program.args(leaves))
    text = far((near, tuple(near_g)), (new, tuple(new_g)), program.eps)
    if text is not None:
        raise Failure("forms elsewhere", text)
    return new, tuple(new_g)
