"""What must hold of every program: value, gradients, replay, passes, code."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
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
        in_another_layout(program, f)
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
            with telling(name), unwritten_memory_shows():
                must_equal(name, run(*program.args()), want)
    for passes in (*((name,) for name in PIPELINE), PIPELINE):
        kind = "pass" if len(passes) == 1 else "stage"
        with telling(f"{kind} {passes[0]}"):
            stages = optimise(tape, passes, exact=True)
        for stage in stages:
            with telling(f"{kind} {stage.name}"):
                must_equal(f"{kind} {stage.name}", stage.tape.play(*program.args()), want)


@contextlib.contextmanager
def unwritten_memory_shows() -> Iterator[None]:
    """Fill what np.empty gives with NaN: what is read before it is written shows."""

    def filled(*args: Any, **kwargs: Any) -> Any:
        made = empty(*args, **kwargs)
        made[...] = np.nan if made.dtype.kind in "fc" else made.dtype.type(1)
        return made

    empty = np.empty
    np.empty = filled
    try:
        yield
    finally:
        np.empty = empty


def in_another_layout(program: Program, f: Any) -> None:
    """Check that value and gradient follow arguments that lie in memory otherwise."""
    leaves = [turned(leaf.make()) for leaf in program.leaves]
    try:
        plain = f(*program.args(leaves))
    except Exception:
        return
    with telling("grad relaid"):
        value, g = yota.grad(f, *program.args(leaves), exact=True)
        new, new_g = yota.grad(program.function(), *program.args(leaves), exact=True)
    must_equal("value relaid", value, plain)
    must_equal("gradient relaid", (value, tuple(g)), (new, tuple(new_g)))
    with telling("forms relaid"):
        near, near_g = yota.grad(f, *program.args(leaves))
    text = far((near, tuple(near_g)), (new, tuple(new_g)), program.eps)
    if text is not None and far((near, tuple(near_g)), (new, tuple(new_g)), 1e3 * program.eps):
        raise Failure("forms relaid", text)


def turned(x: Any) -> Any:
    """Return an array of two axes or more in another memory layout, anything else as it is."""
    if not isinstance(x, np.ndarray) or x.ndim < 2:
        return x
    return np.array(x, order="F" if x.flags.c_contiguous else "C")


def forms_are_near(program: Program, f: Any, tape: Tape, want: Any) -> None:
    """Check what may round otherwise, the default: a first call, a second one, and the code."""
    for name, run in (("forms first", None), ("forms again", None), ("forms code", tape.compile)):
        with telling(name):
            if run is None:
                value, g = yota.grad(f, *program.args())
                got = (value, tuple(g))
            else:
                code = run()
                with unwritten_memory_shows():
                    got = code(*program.args())
        text = far(got, want, program.eps)
        if text is not None and far(got, want, program.eps, unsure(program, f, want)) is not None:
            raise Failure(name, text)


def unsure(program: Program, f: Any, want: Any) -> float:
    """Return how far value and gradients move with the last bit of the arguments."""
    rng, found = np.random.default_rng(program.seed), 0.0
    for _ in range(4):
        leaves = [nudged(leaf.make(), rng) for leaf in program.leaves]
        value, g = yota.grad(f, *program.args(leaves), exact=True)
        for x, y in zip(*leaves_of((value, tuple(g)), want), strict=True):
            if np.shape(x) == np.shape(y):
                apart = np.abs(np.asarray(x) - np.asarray(y))
                found = max(found, float(np.max(apart[np.isfinite(apart)], initial=0.0)))
    return found


def nudged(x: Any, rng: np.random.Generator) -> Any:
    """Return a leaf with each element moved by its last bit, up or down, or not at all."""
    if np.asarray(x).dtype.kind != "f":
        return x
    step = np.spacing(np.asarray(x)) * rng.integers(-1, 2, np.shape(x))
    if not isinstance(x, np.ndarray):
        return type(x)(x + step)
    return relaid(x + step.astype(x.dtype), x)


def relaid(values: Any, like: Any) -> Any:
    """Return values in the memory layout of another array."""
    new = np.empty_like(like)
    new[...] = values
    return new


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
